"""Concerns about duplicate columns, informative missingness and local dependence."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import ndtri, softmax, xlogy
from scipy.stats import chi2, rankdata

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.formatting import percent, quoted
from halfseen.data.messages import Message, leave_out, setting
from halfseen.data.progress import Stages
from halfseen.data.rows import Block, Rows, gathered, with_gaps
from halfseen.data.sampling import sample_binned
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity, Subject
from halfseen.diagnostics.cross_validation import of_models_not_kept
from halfseen.diagnostics.recovery import adjusted_rand
from halfseen.distributions.cell_densities import cell_log_densities
from halfseen.distributions.column_kinds import those
from halfseen.distributions.mixed_parameters import MixedParameters
from halfseen.inference.fit import fit_rows
from halfseen.inference.parameters import select
from halfseen.latent.mutual_information import of_class
from halfseen.moments.missing_patterns import FEW_ROWS
from halfseen.moments.survey import survey


class LabelChange(NamedTuple):
    """The cross-tabulation of two labellings of the same rows."""

    agreement: float  # adjusted Rand index
    moved: float  # the share of rows that are not with most of those they were with

    @classmethod
    def of(cls, before: Labels, after: Labels) -> Self:
        """The cross-tabulation of labels (n,).

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
    """A column that follows from another."""

    column: int
    source: int


def redundant_columns(case: ConcernContext) -> Iterator[Concern]:
    """Warn of columns that follow from others and dominate the classes."""
    fitted: Any = case.fitted
    if fitted.n_components < 2 or case.rows.sparse:
        return
    few = sample_binned(case.rows, case.bins, MAX_ROWS).rows
    told = of_class(fitted.parameters)
    found = find_redundant(
        gathered(few.select(fitted.kept), with_gaps), fitted.parameters.kinds, told
    )
    # Classes are compared by what they tell of columns that are in no such pair.
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
    """Columns of a table (n, d) that follow from a column that stays.

    Of two that follow from each other the one with more gaps does, or the later. ``told`` (d,) is
    how much columns tell of the class.
    """
    some = np.argsort(-told, kind="stable")[:MAX_COLUMNS]
    by_gaps = sorted(some[told[some] > 0], key=lambda d: (np.isnan(table[:, d]).sum(), d))
    follows = _determined_pairs(table, those(kinds, "has_values"), by_gaps)
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
    """Whether each of the ``columns`` follows from each other one; (d, d)."""
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
    """Whether x follows from y, and y from x, by mutual information.

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
    """Whether numbers are monotone functions of each other."""
    about = np.stack([rankdata(x), rankdata(y)]) - (len(x) + 1) / 2
    square, product = np.sum(about**2, axis=1), abs(float(about[0] @ about[1]))
    together = bool(product > RANK_CORRELATION * np.sqrt(square.prod()))
    return together, together


def _refitted_without(
    case: ConcernContext, few: Rows, columns: list[int], others: Array
) -> tuple[LabelChange, float]:
    """A fit without some columns.

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
    """Warn if missingness differs between classes and changes them."""
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
    """Columns whose observed share differs between classes; (kept,)."""
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
    fitted: Any = case.fitted
    few = sample_binned(case.rows, case.bins, MAX_REFITTED_ROWS)
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


SIGNIFICANCE = 0.01
"""Probability that any pair of independent columns is named."""
MIN_CORRELATION = 0.1
"""Correlations within classes below this are too small to matter."""
TAILS = 0.005
"""Share of the cells of a column of numbers, at each end, that are drawn in: tails are no pairs."""
MOST_NAMED = 3


class NumericColumns(NamedTuple):
    """Columns as numbers, categories as indicators."""

    values: Array  # (n, q)  NaN in the gaps
    column: Array  # (q,)    the column each is of


def locally_dependent(case: ConcernContext) -> Iterator[Concern]:
    """Warn of pairs of columns that are correlated within classes."""
    fitted: Any = case.fitted
    if fitted.n_components < 2 or case.rows.sparse:
        return
    few = sample_binned(case.rows, case.bins, MAX_ROWS).rows.select(fitted.kept)
    table = gathered(few, with_gaps)
    told = np.where((~np.isnan(table)).sum(axis=0) < FEW_ROWS, -1.0, of_class(fitted.parameters))
    most = np.sort(np.argsort(-told, kind="stable")[: min(MAX_COLUMNS, int((told >= 0).sum()))])
    if len(most) < 2:
        return
    views = _views(fitted.parameters, table, most)
    pairs = _pairs(views, gathered(few, lambda block: _without_each(fitted, block, most)))
    if not pairs:
        return
    names = np.array(fitted.own_names, dtype=object)[fitted.kept][most]
    listed = "; ".join(
        f"'{names[i]}' and '{names[j]}' ({abs(strength):.2f})"
        for i, j, strength in pairs[:MOST_NAMED]
    )
    others = f"; and {len(pairs) - MOST_NAMED} other pairs" if len(pairs) > MOST_NAMED else ""
    remedy = Message(
        "Combine such columns into one, or leave one of them out; if there are many pairs, try "
        f"more {case.components}."
    )
    if fitted.parameters.numbers.all():
        remedy = "Let them, by a GaussianMixture with " + setting(covariance_type="auto") + "."
    yield Concern(
        "dependent_within",
        f"Columns go along with each other within {case.components}, which the model does not "
        f"allow for (strongest correlation of their values): {listed}{others}. Some "
        f"{case.components} may stand for that alone. " + remedy,
        gravity=Gravity.CARE,
    )


def _views(parameters: MixedParameters, table: Array, columns: Labels) -> NumericColumns:
    """Some of the kept ``columns`` of a table (n, kept) as numbers."""
    values, column = [], []
    for place, d in enumerate(columns):
        own = table[:, d, None]
        if parameters.of_levels[d]:
            levels = parameters.level_values[:, d]
            levels = levels[np.isfinite(levels)]
            levels = levels[1:] if len(levels) == 2 else levels
            values.append(np.where(np.isnan(own), np.nan, own == levels))
        else:
            values.append(np.clip(own, *np.nanquantile(own, [TAILS, 1 - TAILS])))
        column += [place] * values[-1].shape[1]
    return NumericColumns(np.hstack(values), np.array(column))


def _without_each(fitted: Any, block: Block, columns: Labels) -> Array:
    """Responsibilities given all cells of a row but one, and given all; (n, d+1, k).

    The cell that is left out is that of each of the columns in turn.
    """
    own = np.isin(np.arange(block.n_features), columns)
    densities = fitted.model.emission.log_densities(block, fitted.parameters)
    joint = densities + np.log(fitted.parameters.weights)  # (n, k)
    cells = cell_log_densities(block.select(own), select(fitted.parameters, own))  # (k, n, d)
    others = joint[:, None] - cells.transpose(1, 2, 0)
    return np.asarray(softmax(np.concatenate([others, joint[:, None]], axis=1), axis=2))


def _pairs(views: NumericColumns, without: Array) -> list[tuple[int, int, float]]:
    """Dependent pairs of columns within classes, strongest first.

    For columns i and j with views φ and ψ the score is ``Σ (φ - E φ)(ψ - E ψ)``, both expectations
    given all cells of a row but j. As φ is known then, the score has mean zero and variance
    ``Σ (φ - E φ)² var ψ`` whatever the gaps, skip patterns included. Of the two directions of a
    pair the weaker counts. That parameters were fitted makes scores smaller, not larger.
    """
    seen = ~np.isnan(views.values)
    values, known = np.where(seen, views.values, 0.0), seen.astype(float)
    weights = np.maximum(without[:, -1].T @ known, np.finfo(float).tiny)  # (k, q)
    mean = without[:, -1].T @ values / weights
    square = without[:, -1].T @ values**2 / weights
    q = values.shape[1]
    deviation, correlation = np.zeros((2, q, q))
    for j in range(without.shape[1] - 1):
        own, given = views.column == j, without[:, j]
        left = (values - given @ mean) * seen
        variance = (given @ square[:, own] - (given @ mean[:, own]) ** 2) * seen[:, own]
        score = left.T @ left[:, own]
        spread = np.sqrt(np.maximum((left**2).T @ variance, np.finfo(float).tiny))
        size = np.sqrt(((left**2).T @ known[:, own]) * (known.T @ left[:, own] ** 2))
        deviation[:, own] = score / spread
        correlation[:, own] = score / np.maximum(size, np.finfo(float).tiny)
    return _clear(views, known, deviation, correlation)


def _clear(
    views: NumericColumns, known: Array, deviation: Array, correlation: Array
) -> list[tuple[int, int, float]]:
    """Pairs of columns whose dependence is significant in both directions."""
    compared = views.column[:, None] < views.column
    compared &= known.T @ known >= FEW_ROWS
    clear = -ndtri(SIGNIFICANCE / max(2 * int(compared.sum()), 1))
    # Leaving out either column of a pair must show the dependence: chance rarely does twice.
    weaker = np.minimum(np.abs(deviation), np.abs(deviation.T))
    both = np.where(np.abs(correlation) < np.abs(correlation.T), correlation, correlation.T)
    stands_out = compared & (weaker > clear) & (np.abs(both) > MIN_CORRELATION)
    found: dict[tuple[int, int], float] = {}
    for a, b in np.argwhere(stands_out):
        pair = int(views.column[a]), int(views.column[b])
        if abs(both[a, b]) > abs(found.get(pair, 0.0)):
            found[pair] = float(both[a, b])
    ordered = sorted(found.items(), key=lambda one: -abs(one[1]))
    return [(*pair, strength) for pair, strength in ordered]
