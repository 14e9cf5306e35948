"""Numbers, names and weights in words."""

from typing import Any, NamedTuple

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import percent, some_of
from halfseen.inference.fit import Fitted
from halfseen.io.kind_inference import named_as_year

MOST = 8
"""More features than this are counted, not named."""
YEARS = (1500, 2200)
FULL = 0.95
"""Of the largest weight: a feature that has so much of it counts in full."""
KNOWN = 0.995
"""Of the rows: a feature that is known for so many does not count less for its gaps."""


class Told(NamedTuple):
    """A component in words."""

    title: str
    lines: list[str]


class Difference(NamedTuple):
    """What sets a component apart from all rows."""

    size: float  # in standard deviations
    said: str
    brief: str  # the same in two or three words
    known: float = 1.0  # how much of that is known, by which it counts where there is little room


def years_among(fitted: Fitted[Any]) -> Mask:
    """Which features hold years: whole numbers of the last centuries; (d,).

    Whoever reads 2,009 for 2009 thinks of something else. A column with the name of a year may hold
    one that is mistyped.
    """
    possible, done = fitted.possible, fitted.preprocessing
    whole, ends = possible.whole, np.array([possible.low, possible.high])
    if done is not None:
        ends = done.undo(ends)
        whole = np.zeros(len(whole), bool) if done.whole is None else done.whole
    named = np.array([named_as_year(name) for name in fitted.own_names], bool)
    low, high = ends.round()
    first, last = np.where(named, 1000, YEARS[0]), np.where(named, 3000, YEARS[1])
    years: Mask = whole & (low >= first) & (high <= last)
    return years


def weights_told(names: tuple[str, ...], weights: Array, observed: Array) -> list[str]:
    """How much each feature counted, and why some counted less."""
    top = float(weights.max(initial=0.0)) or 1.0
    relative = weights / top
    full = [names[d] for d in np.flatnonzero(relative >= FULL)]
    lines = []
    if full:
        lines.append(f"In full: {some_of(full)}.")
    less = [d for d in np.argsort(-relative, kind="stable") if 0 < relative[d] < FULL]
    lines += [
        f"{names[d]}: weight {relative[d]:.2f}{_being_known(observed[d])}." for d in less[:MOST]
    ]
    if len(less) > MOST:
        more = len(less) - MOST
        lines.append(f"{more} more column{'s' * (more > 1)} counted less than those.")
    unused = [names[d] for d in np.flatnonzero(weights == 0)]
    if unused:
        lines.append(f"Not used to find the components: {some_of(unused)}.")
    return lines


def _being_known(observed: float) -> str:
    """Why a feature counts less, if gaps are why."""
    return f", being known for {percent(observed)} of rows" if observed < KNOWN else ""
