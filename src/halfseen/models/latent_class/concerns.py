"""A concern: a column that follows from another, so that what both say counts twice."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import xlogy
from scipy.stats import chi2, rankdata

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.formatting import percent, quoted
from halfseen.data.messages import leave_out, setting
from halfseen.data.progress import Stages
from halfseen.data.rows import Block, Rows, gathered, with_gaps
from halfseen.diagnostics.agreement import adjusted_rand
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity, Subject
from halfseen.diagnostics.cross_validation import few_rows, of_models_not_kept
from halfseen.distributions.column_kinds import of_levels
from halfseen.inference.fit import fit_rows
from halfseen.latent.mixture.mutual_information import of_class
from halfseen.moments.survey import survey


class LabelChange(NamedTuple):
    """Two labellings of the same rows, beside each other."""

    agreement: float  # adjusted Rand index
    moved: float  # the share of rows that are not with most of those they were with

    @classmethod
    def of(cls, before: Labels, after: Labels) -> Self:
        """Of the labels (n,) of each row.

        >>> LabelChange.of(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 1])).moved
        0.25
        """
        table = np.zeros((int(before.max()) + 1, int(after.max()) + 1))
        np.add.at(table, (before, after), 1.0)
        return cls(adjusted_rand(table), float(1 - table.max(axis=1).sum() / table.sum()))


MAX_ROWS, MAX_COLUMNS = 5000, 64
"""That are looked at; of columns, those that tell most of the class."""
MIN_JOINT_ROWS = 50
"""That must hold both columns."""
EXPLAINED_ENTROPY = 0.95
"""Of what there is to know of a column of few values: it follows from one that tells so much."""
MIN_ENTROPY = 0.1
"""Nats: of columns that vary less, rare values follow from anything by chance."""
RANK_CORRELATION = 0.99
"""The correlation of ranks from which two columns of numbers are one."""
MAX_AGREEMENT, MIN_GAIN = 0.9, 1.1
"""Agreement of labels from which on it does not matter, and what leaving out must bring: so many
times what classes told of the other columns."""


class RedundantColumn(NamedTuple):
    """A column that follows from another, by their places among those that are kept."""

    column: int
    source: int


def redundant_columns(case: ConcernContext) -> Iterator[Concern]:
    """Columns that follow from others, if classes without them tell more of the rest."""
    fitted: Any = case.fitted
    if fitted.n_components < 2 or case.rows.sparse:
        return
    few = few_rows(case.rows, case.bins, MAX_ROWS).rows
    told = of_class(fitted.parameters)
    found = find_redundant(
        gathered(few.select(fitted.kept), with_gaps), fitted.parameters.kinds, told
    )
    others = np.setdiff1d(np.arange(len(told)), [place for pair in found for place in pair])
    before = float(told[others].sum())
    if not found or not before > 0:
        return
    changed, after = _refitted_without(case, few, [one.column for one in found], others)
    if changed.agreement >= MAX_AGREEMENT or after < MIN_GAIN * before:
        return
    names = [str(name) for name in np.array(fitted.own_names, dtype=object)[fitted.kept]]
    pairs = [f"'{names[one.column]}' follows from '{names[one.source]}'" for one in found]
    yield Concern(
        "said_twice",
        f"{' and '.join(pairs)}, and what is said twice decides the {case.components}. "
        + leave_out([names[one.column] for one in found], capital=True)
        + f": then {percent(changed.moved)} of rows change "
        f"theirs, and the {case.components} tell {after / before:.1f} times as much of the other "
        "columns.",
    )


def find_redundant(table: Array, kinds: Array, told: Array) -> list[RedundantColumn]:
    """Columns of a table (n, d) that follow from one of the others, which does not leave itself.

    Of two that follow from each other the one with more gaps does, or the later. ``told`` (d,) is
    how much columns tell of the class.
    """
    some = np.argsort(-told, kind="stable")[:MAX_COLUMNS]
    by_gaps = sorted(some[told[some] > 0], key=lambda d: (np.isnan(table[:, d]).sum(), d))
    follows = _determined_pairs(table, of_levels(kinds), by_gaps)
    found: dict[int, int] = {}
    for place, column in enumerate(by_gaps):
        others = [*by_gaps[:place], *by_gaps[place + 1 :]]
        for source in others:
            mutual = follows[source, column] and by_gaps.index(source) > place
            if follows[column, source] and not mutual and source not in found:
                found[int(column)] = int(source)
                break
    return [RedundantColumn(column, source) for column, source in sorted(found.items())]


def _determined_pairs(table: Array, levels: Mask, columns: list[int]) -> Mask:
    """Whether each of the ``columns`` follows from each other one; (d, d), of all columns."""
    found = np.zeros((len(levels), len(levels)), dtype=bool)
    for place, one in enumerate(columns):
        for other in columns[:place]:
            if levels[one] != levels[other]:
                continue
            both = ~np.isnan(table[:, [one, other]]).any(axis=1)
            if both.sum() >= MIN_JOINT_ROWS:
                x, y = table[both, one], table[both, other]
                way = _by_mutual_information(x, y) if levels[one] else _by_rank_correlation(x, y)
                found[one, other], found[other, one] = way
    return found


def _by_mutual_information(x: Array, y: Array) -> tuple[bool, bool]:
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
    return bool(nats > EXPLAINED_ENTROPY * of_x > EXPLAINED_ENTROPY * MIN_ENTROPY), bool(
        nats > EXPLAINED_ENTROPY * of_y > EXPLAINED_ENTROPY * MIN_ENTROPY
    )


def _entropy(shares: Array) -> float:
    return float(-xlogy(shares, shares).sum())


def _by_rank_correlation(x: Array, y: Array) -> tuple[bool, bool]:
    """Whether numbers rise and fall together, which is the same both ways."""
    about = np.stack([rankdata(x), rankdata(y)]) - (len(x) + 1) / 2
    square, product = np.sum(about**2, axis=1), abs(float(about[0] @ about[1]))
    together = bool(product > RANK_CORRELATION * np.sqrt(square.prod()))
    return together, together


def _refitted_without(
    case: ConcernContext, few: Rows, columns: list[int], others: Array
) -> tuple[LabelChange, float]:
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
    before = gathered(
        few.select(fitted.kept), partial(model.expected_latent, parameters=fitted.parameters)
    )
    after = gathered(
        rows.select(seen.kept), partial(model.expected_latent, parameters=fit.parameters)
    )
    told = np.zeros(len(fitted.kept))
    told[left[seen.kept]] = of_class(fit.parameters)
    changed = LabelChange.of(before.argmax(axis=1), after.argmax(axis=1))
    return changed, float(told[fitted.kept][others].sum())


MAX_REFITTED_ROWS = 5000
MIN_DIFFERENCE, MISSINGNESS_SIGNIFICANCE = 0.1, 1e-3
"""By how much shares of observed cells differ between classes, and how rarely that is chance."""
MAX_LABEL_AGREEMENT = 0.9
"""Agreement of labels from which on it does not matter."""


def informative_missingness(case: ConcernContext) -> Iterator[Concern]:
    """Columns that some classes have more often than others, if that changes the classes."""
    fitted: Any = case.fitted
    if fitted.n_components < 2 or fitted.model.emission.informative:
        return
    telling = np.flatnonzero(_informative_columns(case))
    if not len(telling):
        return
    changed = _refitted_both_ways(case)
    if changed.agreement >= MAX_LABEL_AGREEMENT:
        return
    names = list(np.array(fitted.own_names, dtype=object)[fitted.kept])
    yield Concern(
        "telling_gaps",
        f"How often {quoted(names, telling)} {'is' if len(telling) == 1 else 'are'} known differs "
        f"between the {case.components}. If gaps are let to tell of them ("
        + setting(gaps="informative")
        + f"), {percent(changed.moved)} of rows change theirs. Compare both, and ask why cells are "
        "missing.",
        Subject.GAPS,
        Gravity.DOUBT,
    )


def _informative_columns(case: ConcernContext) -> Mask:
    """Columns of which classes have different shares observed; (kept,)."""
    fitted = case.fitted
    model, parameters = fitted.model, fitted.parameters

    def summarise(block: Block) -> Array:
        shares = block.weighed(model.expected_latent(block, parameters))
        sums: Array = np.column_stack([shares.T @ block.observed, shares.sum(axis=0)])
        return sums

    sums = case.rows.select(fitted.kept).accumulate(summarise)
    present, total = sums[:, :-1], sums[:, -1:]
    share, overall = present / total, present.sum(axis=0) / total.sum()
    spread = overall * (1 - overall)
    gappy = spread > 1e-12  # rounding can leave something where nothing is missing
    away = total * (share - overall) ** 2 / np.where(gappy, spread, np.inf)
    by_chance = chi2.sf(away.sum(axis=0), len(total) - 1)
    found: Mask = (np.ptp(share, axis=0) > MIN_DIFFERENCE) & (
        by_chance < MISSINGNESS_SIGNIFICANCE / len(overall)
    )
    return found


def _refitted_both_ways(case: ConcernContext) -> LabelChange:
    """Classes learned both ways."""
    fitted: Any = case.fitted
    few = few_rows(case.rows, case.bins, MAX_REFITTED_ROWS)
    seen = survey(few.rows, fitted.settings.complete_above)
    settings = replace(fitted.settings, random_state=0)
    given = []
    for informative in (False, True):
        emission = replace(fitted.model.emission, informative=informative)
        model = replace(fitted.model, emission=emission)
        with of_models_not_kept():
            fit = fit_rows(settings, model, few.rows, seen, fitted.n_components, Stages())
        part = few.rows.select(seen.kept)
        hidden = gathered(part, partial(model.expected_latent, parameters=fit.parameters))
        given.append(hidden.argmax(axis=1))
    return LabelChange.of(*given)
