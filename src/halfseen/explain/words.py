"""A learned model in words."""

from typing import NamedTuple

import numpy as np

from halfseen.explain.shown import Shown
from halfseen.rows.arrays import Array

MOST = 8
"""More features than this are counted, not named."""
SOMEWHAT, CLEARLY, MUCH = 0.4, 0.8, 1.5
"""Standard deviations of all rows from which a difference is worth so many words."""


class Told(NamedTuple):
    """A group or topic in words."""

    title: str
    lines: list[str]


def number(value: float) -> str:
    """Three significant digits, or all of a whole number, without powers of ten if they can be.

    >>> number(1234.56), number(0.01234), number(2.5e9), number(-0.0)
    ('1,235', '0.0123', '2.50e+09', '0')
    """
    if not np.isfinite(value):
        return "unknown"
    size = abs(value)
    if size < 1e-12:
        return "0"
    if size >= 1e7 or size < 1e-4:
        return f"{value:.2e}"
    digits = max(0, 2 - int(np.floor(np.log10(size))))
    return f"{value:,.{digits}f}"


def percent(share: float) -> str:
    """Whole percentages, of which only nothing is 0 and only everything 100.

    >>> percent(0.254), percent(0.004), percent(0.999)
    ('25%', '<1%', '>99%')
    """
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{share:.0%}"


def told(model: Shown, members: str = "rows") -> list[Told]:
    """Each group or topic, most common first."""
    if model.kind == "topic":
        return [_topic(model, i) for i in range(model.k)]
    return [_group(model, i, members) for i in range(model.k)]


def _group(model: Shown, i: int, members: str) -> Told:
    scores = model.scores[i]
    apart = [int(d) for d in np.argsort(-np.abs(scores), kind="stable") if _tells(scores[d])]
    lines = [_difference(model, i, d) for d in apart[:MOST]]
    if len(apart) > MOST:
        lines.append(f"and {len(apart) - MOST} more that differ less")
    if not lines:
        lines = ["Nothing stands out: every column is about average."]
    return Told(f"Group {i + 1}: {percent(model.shares[i])} of {members}", lines)


def _tells(score: float) -> bool:
    return bool(abs(score) >= SOMEWHAT)


def _difference(model: Shown, i: int, d: int) -> str:
    score = model.scores[i, d]
    size = abs(score)
    degree = "much " if size >= MUCH else "" if size >= CLEARLY else "somewhat "
    direction = "higher" if score > 0 else "lower"
    return (
        f"{model.names[d]} {degree}{direction} than average: {number(model.centres[i, d])} "
        f"(average {number(model.average[d])})"
    )


def _topic(model: Shown, i: int) -> Told:
    topic = model.centres[i]
    top = [int(d) for d in np.argsort(-topic, kind="stable")[:MOST] if topic[d] > 0]
    ratio = np.where(topic >= topic[top[-1]] / 4, model.scores[i], -np.inf)
    special = [int(d) for d in np.argsort(-ratio, kind="stable")[:4] if ratio[d] > 1]
    lines = ["Mostly " + ", ".join(f"{model.names[d]} ({percent(topic[d])})" for d in top)]
    if special:
        named = ", ".join(f"{model.names[d]} ({2 ** ratio[d]:.1f} times)" for d in special)
        lines.append(f"More than elsewhere: {named}")
    return Told(f"Topic {i + 1}: {percent(model.shares[i])} of all that is counted", lines)


def weights_told(names: tuple[str, ...], weights: Array, observed: Array) -> list[str]:
    """How much each feature counted, and why some counted less."""
    top = float(weights.max(initial=0.0)) or 1.0
    relative = weights / top
    full = [names[d] for d in np.flatnonzero(relative >= 0.95)]
    lines = []
    if full:
        lines.append(f"In full: {_some(full)}.")
    less = [d for d in np.argsort(-relative, kind="stable") if 0 < relative[d] < 0.95]
    lines += [
        f"{names[d]}: weight {relative[d]:.2f}, being known for {percent(observed[d])} of rows."
        for d in less[:MOST]
    ]
    if len(less) > MOST:
        lines.append(f"{len(less) - MOST} more columns counted less than those.")
    unused = [names[d] for d in np.flatnonzero(weights == 0)]
    if unused:
        lines.append(f"Not used to find the components: {_some(unused)}.")
    return lines


def _some(names: list[str], most: int = 12) -> str:
    shown = names if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return ", ".join(shown)
