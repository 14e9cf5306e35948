"""A concern: a column that follows from another, so that what both say counts twice."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy
from scipy.stats import rankdata

from halfseen.doubt.concerns.case import Case
from halfseen.doubt.concerns.concern import Concern
from halfseen.doubt.cross_scores import of_models_not_kept
from halfseen.doubt.few_rows import few_rows
from halfseen.method.fit import fit_rows
from halfseen.models.latent_class.changed_labels import ChangedLabels
from halfseen.moments.survey import survey
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.gathered import gathered, with_gaps
from halfseen.rows.percentages import percent
from halfseen.rows.rows import Rows
from halfseen.rows.stages import Stages
from halfseen.structures.one_class.mixed.information import of_class
from halfseen.structures.one_class.mixed.kinds import of_levels

MOST_ROWS, MOST_COLUMNS = 5000, 64
"""That are looked at; of columns, those that tell most of the class."""
FEWEST_ROWS = 50
"""That must hold both columns."""
TOLD = 0.95
"""Of what there is to know of a column of few values: it follows from one that tells so much."""
SOME = 0.1
"""Nats: of columns that vary less, rare values follow from anything by chance."""
IN_STEP = 0.99
"""The correlation of ranks from which two columns of numbers are one."""
SAME, MORE = 0.9, 1.1
"""Agreement of labels from which on it does not matter, and what leaving out must bring: so many
times what classes told of the other columns."""


class Repeated(NamedTuple):
    """A column that follows from another, by their places among those that are kept."""

    column: int
    source: int


def said_twice(case: Case) -> Iterator[Concern]:
    """Columns that follow from others, if classes without them tell more of the rest."""
    fitted: Any = case.fitted
    if fitted.n_components < 2 or case.rows.sparse:
        return
    few = few_rows(case.rows, case.bins, MOST_ROWS).rows
    told = of_class(fitted.parameters)
    found = repeated(gathered(few.select(fitted.kept), with_gaps), fitted.parameters.kinds, told)
    others = np.setdiff1d(np.arange(len(told)), [place for pair in found for place in pair])
    before = float(told[others].sum())
    if not found or not before > 0:
        return
    changed, after = _without(case, few, [one.column for one in found], others)
    if changed.agreement >= SAME or after < MORE * before:
        return
    names = [str(name) for name in np.array(fitted.own_names, dtype=object)[fitted.kept]]
    pairs = [f"'{names[one.column]}' follows from '{names[one.source]}'" for one in found]
    yield Concern(
        "said_twice",
        f"{' and '.join(pairs)}, and what is said twice decides the {case.components}. Leave out "
        f"{[names[one.column] for one in found]}: then {percent(changed.moved)} of rows change "
        f"theirs, and the {case.components} tell {after / before:.1f} times as much of the other "
        "columns.",
    )


def repeated(table: Array, kinds: Array, told: Array) -> list[Repeated]:
    """Columns of a table (n, d) that follow from one of the others, which does not leave itself.

    Of two that follow from each other the one with more gaps does, or the later. ``told`` (d,) is
    how much columns tell of the class.
    """
    some = np.argsort(-told, kind="stable")[:MOST_COLUMNS]
    by_gaps = sorted(some[told[some] > 0], key=lambda d: (np.isnan(table[:, d]).sum(), d))
    follows = _following(table, of_levels(kinds), by_gaps)
    found: dict[int, int] = {}
    for place, column in enumerate(by_gaps):
        others = [*by_gaps[:place], *by_gaps[place + 1 :]]
        for source in others:
            mutual = follows[source, column] and by_gaps.index(source) > place
            if follows[column, source] and not mutual and source not in found:
                found[int(column)] = int(source)
                break
    return [Repeated(column, source) for column, source in sorted(found.items())]


def _following(table: Array, levels: Mask, columns: list[int]) -> Mask:
    """Whether each of the ``columns`` follows from each other one; (d, d), of all columns."""
    found = np.zeros((len(levels), len(levels)), dtype=bool)
    for place, one in enumerate(columns):
        for other in columns[:place]:
            if levels[one] != levels[other]:
                continue
            both = ~np.isnan(table[:, [one, other]]).any(axis=1)
            if both.sum() >= FEWEST_ROWS:
                x, y = table[both, one], table[both, other]
                way = _of_values(x, y) if levels[one] else _of_ranks(x, y)
                found[one, other], found[other, one] = way
    return found


def _of_values(x: Array, y: Array) -> tuple[bool, bool]:
    """Whether x follows from y, and y from x.

    Values tell of each other by chance too, in n rows by about ``(l_x - 1)(l_y - 1)/2n`` nats.
    """
    codes = [np.unique(one, return_inverse=True)[1] for one in (x, y)]
    counts = np.zeros([int(one.max()) + 1 for one in codes])
    np.add.at(counts, tuple(codes), 1.0)
    shares = counts / len(x)
    of_x, of_y = (_entropy(shares.sum(axis=axis)) for axis in (1, 0))
    by_chance = np.prod(np.array(counts.shape) - 1) / (2 * len(x))
    nats = of_x + of_y - _entropy(shares) - by_chance
    return bool(nats > TOLD * of_x > TOLD * SOME), bool(nats > TOLD * of_y > TOLD * SOME)


def _entropy(shares: Array) -> float:
    return float(-xlogy(shares, shares).sum())


def _of_ranks(x: Array, y: Array) -> tuple[bool, bool]:
    """Whether numbers rise and fall together, which is the same both ways."""
    about = np.stack([rankdata(x), rankdata(y)]) - (len(x) + 1) / 2
    square, product = np.sum(about**2, axis=1), abs(float(about[0] @ about[1]))
    together = bool(product > IN_STEP * np.sqrt(square.prod()))
    return together, together


def _without(
    case: Case, few: Rows, columns: list[int], others: Array
) -> tuple[ChangedLabels, float]:
    """Classes without some columns beside those that were learned.

    And how many nats they tell of ``others``.
    """
    fitted: Any = case.fitted
    model, left = fitted.model, np.delete(np.flatnonzero(fitted.kept), columns)
    rows = few.select(np.isin(np.arange(len(fitted.kept)), left))
    seen = survey(rows, fitted.settings.complete_above)
    settings = replace(fitted.settings, random_state=0)
    with of_models_not_kept():
        fit = fit_rows(settings, model, rows, seen, fitted.n_components, Stages())
    before = gathered(few.select(fitted.kept), partial(model.hidden, parameters=fitted.parameters))
    after = gathered(rows.select(seen.kept), partial(model.hidden, parameters=fit.parameters))
    told = np.zeros(len(fitted.kept))
    told[left[seen.kept]] = of_class(fit.parameters)
    changed = ChangedLabels.of(before.argmax(axis=1), after.argmax(axis=1))
    return changed, float(told[fitted.kept][others].sum())
