"""Fit an imputation model to rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError, DroppedFeatureWarning, warn
from halfseen.data.feature_sums import PossibleValues
from halfseen.data.formatting import features
from halfseen.data.missing_patterns import imitated_gaps
from halfseen.data.rows import Block, Rows, gathered, with_gaps
from halfseen.data.sampling import sample_shuffled
from halfseen.imputation.accuracy import FillAccuracy, Refilled, number_of_tests
from halfseen.imputation.chained_equations import Chain, Columns, chains_for
from halfseen.imputation.single_imputation import CrossFitted, SingleImputation, learned
from halfseen.imputation.time_budget import TimeBudget
from halfseen.io.coding import Coding
from halfseen.models.latent_class import LatentClass
from halfseen.moments.survey import check_magnitudes, numerical_errors_explained, survey

MOST_CELLS = 2_500_000
FEWEST_MOST, MAX_LEARNED_ROWS = 5_000, 100_000
"""Rows that are learned from: as many as the features of all of them have room for in memory."""
LEAST_CHANCE = 1e-6
"""Of a category: one that was ruled out counts as a large loss, and not as an infinite one."""
MOST_DECIMALS = 5
"""Of values that were rounded."""


@dataclass(frozen=True, eq=False)
class Learned:
    """A fitted imputation model of a table."""

    imputation: SingleImputation | None  # of columns that vary; None if none does
    kept: Mask  # (d,)       which those are
    constants: Array  # (d,) of the others; NaN if they were never observed
    possible: PossibleValues
    gappy: Mask  # (d,)      columns that had gaps
    decimals: Array  # (d,)  that values have at most; infinite if there is no telling
    zero_beside: NDArray[np.intp]  # (d,)  whose zeros its gaps go with; -1 if none
    chains: tuple[Chain, ...] = ()  # for draws
    accuracy: FillAccuracy | None = None  # of columns with gaps; None if there was no time

    @property
    def explained(self) -> Array:
        """How well each column is predicted by the others, from 0 to 1; NaN if unknown.

        Cells of columns with gaps were hidden as they are missing, others one at a time.
        """
        found = np.full(len(self.kept), np.nan)
        if self.imputation is not None:
            found[self.kept] = self.imputation.explained
        tested = np.nan if self.accuracy is None else self.accuracy.explained
        return np.where(self.gappy, tested, found)

    def filled(self, rows: Rows, possible: bool) -> tuple[Array, Array]:
        """Fills of cells and their standard deviations; (n, d) each."""
        n = rows.accumulate(len)
        mean = np.tile(self.constants, (n, 1))
        spread = np.where(np.isnan(mean), np.nan, 0.0)
        if self.imputation is not None:
            fill = self.imputation.fills
            both = gathered(rows.select(self.kept), lambda block: np.hstack(fill(block, possible)))
            mean[:, self.kept], spread[:, self.kept] = np.hsplit(both, 2)
        return self._possible(mean) if possible else self.possible.within(mean), spread

    def _possible(self, values: Array) -> Array:
        """The nearest possible values (n, d)."""
        found = self.possible.nearest(values)
        for j in np.flatnonzero(np.isfinite(self.decimals)):
            found[:, j] = np.round(found[:, j], int(self.decimals[j]))
        return found

    def drawn(self, rows: MemoryRows, number: int, random: Any) -> list[Array]:
        """Completed tables (n, d) with random draws, one chain each."""
        mean, _ = self.filled(rows, possible=False)
        tables = []
        for chain in self.chains[:number]:
            own = np.random.default_rng(random.randint(2**31))
            table = np.where(np.isnan(rows.table), mean, rows.table)
            known = ~np.isnan(rows.table[:, self.kept])
            table[:, self.kept] = chain.drawn(table[:, self.kept], known, own)
            tables.append(self._possible(table))
        return tables

    def probabilities(self, rows: Rows) -> dict[str, Array]:
        """Probabilities of categories, by column; (n, l) each."""
        if self.imputation is None:
            return {}
        imputation, part = self.imputation, rows.select(self.kept)

        def probabilities_by_row(block: Block) -> Array:
            table = with_gaps(block)
            known, own = imputation.view.known(table), imputation.view
            return np.where(known[:, own.owner], own(table), imputation.targets(block))

        every = gathered(part, probabilities_by_row)
        return {
            part.names[j]: every[:, imputation.view.features(j)] for j in imputation.view.of_levels
        }

    def categories(self, coding: Coding) -> dict[str, list[Any]]:
        """Categories by column: words, or numbers."""
        if self.imputation is None:
            return {}
        places = np.flatnonzero(self.kept)[self.imputation.view.of_levels]
        pairs = zip(places, self.imputation.view.of_levels, strict=True)
        return {
            coding.names[place]: [
                _shown(value, coding.labels[place]) for value in self.imputation.view.levels[j]
            ]
            for place, j in pairs
        }


def _shown(value: float, labels: tuple[str, ...]) -> Any:
    if labels:
        return labels[int(value)]
    return int(value) if value == int(value) else float(value)


def learned_from(
    rows: Rows,
    coding: Coding,
    draws: int,
    seed: int,
    budget: TimeBudget,
    possible_only: bool = True,
) -> Learned:
    """Survey all rows, and learn from as many as fit into memory."""
    seen = survey(rows, 1.0)
    if not seen.names:
        raise DataError("The table has no columns, so there is nothing to fill. Give at least one.")
    if not seen.sums.n_rows + seen.sums.n_empty:
        raise DataError("The table has no rows, so there is nothing to learn from. Give some.")
    check_magnitudes(seen)
    most = int(np.clip(MOST_CELLS // len(seen.names), FEWEST_MOST, MAX_LEARNED_ROWS))
    some = sample_shuffled(rows, most)
    own = survey(some, 1.0)
    _warn_of_never_observed(own.sums.count == 0, coding)
    constants = np.where(own.kept, np.nan, np.where(own.sums.count > 0, own.sums.mean, np.nan))
    imputation, cross_fitted = None, None
    if own.kept.any():
        part = MemoryRows(
            np.ascontiguousarray(some.table[:, own.kept]), own.of_kept().names, some.weights
        )
        classes = LatentClass()
        classes.coding_ = coding
        with numerical_errors_explained(own):
            cross_fitted = learned(part, own.of_kept(), classes, seed, budget)
        imputation = cross_fitted.of_all_rows
    gappy = (seen.sums.observed_fraction < 1) & ~coding.left_out
    possible = PossibleValues.of(seen.sums)
    beside = zero_beside(some.table, np.array([not words for words in coding.labels], dtype=bool))
    found = Learned(imputation, own.kept, constants, possible, gappy, _decimals(some.table), beside)
    if cross_fitted is not None and not budget.spent():
        found = replace(found, accuracy=_accuracy(found, some, cross_fitted, possible_only, seed))
    if not draws or imputation is None:
        return found
    table, kept = some.table[:, own.kept], own.kept
    known = imputation.view.known(table)
    filled = np.where(known, table, found.filled(some, possible=False)[0][:, kept])
    whole = (possible.step > 0)[kept] | ~np.isnan(imputation.spikes)
    ends = (possible.low, possible.high, possible.floor, possible.ceiling)
    columns = Columns(whole, imputation.spikes, *(one[kept] for one in ends))
    chains = chains_for(imputation.view, filled, known, columns, draws, seed, budget)
    return replace(found, chains=chains)


def _accuracy(
    every: Learned, rows: MemoryRows, cross_fitted: CrossFitted, possible: bool, seed: int
) -> FillAccuracy:
    """Accuracy on cells hidden in patterns of real gaps, filled from other folds."""
    known, view, kept = ~np.isnan(rows.table), cross_fitted.of_all_rows.view, every.kept
    tests = imitated_gaps(known, number_of_tests(known), np.random.default_rng(seed))
    found = Refilled(rows.table[tests.row], *np.full((2, *tests.hidden.shape), np.nan))
    for fold, imputation in cross_fitted.by_fold.items():
        here = np.flatnonzero(cross_fitted.folds[tests.row] == fold)
        if not len(here):
            continue
        gappy = np.where(tests.hidden[here], np.nan, found.true[here])
        part = MemoryRows(gappy, rows.names)
        found.filled[here] = replace(every, imputation=imputation).filled(part, possible)[0]
        found.surprise[np.ix_(here, kept)] = _surprise(
            imputation, part.select(kept), found.true[np.ix_(here, kept)]
        )
    levels, numbers = np.zeros((2, len(kept)), bool)
    levels[kept] = ~view.numbers
    several = np.array([len(one) != 2 for one in view.levels])
    numbers[kept] = view.numbers | (cross_fitted.of_all_rows.ordered & several)
    return FillAccuracy.of(known, tests, found, numbers, levels)


def _surprise(imputation: SingleImputation, rows: Rows, true: Array) -> Array:
    """``-log p`` of hidden categories (t, d), NaN for others."""
    view, found = imputation.view, np.full(true.shape, np.nan)
    probabilities_by_row = gathered(rows, imputation.targets)
    for j in view.of_levels:
        own = probabilities_by_row[:, view.features(j)]
        here = (view.column(j, true[:, j]) * own).sum(axis=1) / own.sum(axis=1)
        found[:, j] = -np.log(np.maximum(here, LEAST_CHANCE))
    return found


def _decimals(table: Array) -> Array:
    """The largest number of decimals of each column; infinite if many."""
    found = np.full(table.shape[1], np.inf)
    for j, values in enumerate(table.T):
        known = values[~np.isnan(values)]
        for number in range(1, MOST_DECIMALS + 1):
            if len(known) and (np.round(known, number) == known).all():
                found[j] = number
                break
    return found


def _warn_of_never_observed(never: Mask, coding: Coding) -> None:
    empty = np.flatnonzero(never & ~coding.left_out)
    if len(empty):
        one = len(empty) == 1
        warn(
            f"{features(coding.names, empty)} {'is' if one else 'are'} never observed, so that "
            f"gaps there stay. Remove {'it' if one else 'them'} from the table.",
            DroppedFeatureWarning,
        )


NEARLY_ALL = 0.95
"""Of the gaps go with zeros, of the zeros with gaps, and of other values with none."""
FEWEST = 10
"""Zeros, and other values beside them: fewer are chance."""


def zero_beside(table: Array, numbers: Mask) -> NDArray[np.intp]:
    """The column whose zeros go with the gaps of each column, -1 without one; (d,).

    Of a table (n, d), in which only ``numbers`` (d,) have a zero that means none.
    """
    gaps = np.isnan(table).T.astype(float)
    zeros = (table == 0) & numbers
    others = ~np.isnan(table) & ~zeros
    both = gaps @ zeros  # (d, d)  gaps of one column and zeros of another
    agreeing = np.minimum.reduce(
        [
            both / np.maximum(gaps.sum(axis=1), 1)[:, None],
            both / np.maximum(zeros.sum(axis=0), 1),
            1 - gaps @ others / np.maximum(others.sum(axis=0), 1),
        ]
    )
    agreeing[:, (zeros.sum(axis=0) < FEWEST) | (others.sum(axis=0) < FEWEST)] = 0.0
    best = agreeing.argmax(axis=1) if agreeing.size else np.zeros(len(agreeing), dtype=np.intp)
    found = agreeing[np.arange(len(best)), best] >= NEARLY_ALL
    return np.where(found, best, -1)
