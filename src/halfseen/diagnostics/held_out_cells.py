"""Imputation check: hide known values, fill them, and measure the error."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from halfseen.data.arrays import Array, Mask
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.data.missing_patterns import ImitatedGaps, imitated_gaps, measurable
from halfseen.data.rows import Block, Rows, gathered, with_gaps
from halfseen.data.sequences import Sequences
from halfseen.inference.fit import Fitted

MOST_CELLS = 500_000
"""That are filled at a time."""
SPREADS = 2.0
"""Predictive standard deviations within which hidden values are counted."""
N_DRAWS = 5
"""Values drawn from the model for each hidden cell; all cells together tell the expected share."""


@dataclass(frozen=True, eq=False)
class HiddenValues:
    """Hidden values and their fills, in standard deviations of the feature."""

    feature: NDArray[np.intp]  # (m,)
    true: Array  # (m,)
    guess: Array  # (m,)
    spread: Array  # (m,)  the model's own standard deviation
    covered: Array  # (m,)  share of the model's own draws within two of them of the guess
    right: Mask  # (m,)    whether the value itself was filled in, which is asked of categories
    usual: Mask  # (m,)    whether it is the commonest of the feature
    weight: Array  # (m,)  how much it counts, so that gaps of a feature are as usual as real ones

    def only(self, some: Mask) -> "HiddenValues":
        return HiddenValues(*(part[some] for part in vars(self).values()))

    def explained(self, of: Mask | slice = slice(None)) -> float:
        """The variance explained of hidden values; 0 is no better than means."""
        true, guess, weight = self.true[of], self.guess[of], self.weight[of]
        return 1 - float((weight @ (true - guess) ** 2) / (weight @ true**2))

    @property
    def within(self) -> float:
        """The share of values within two of the model's standard deviations."""
        return float((np.abs(self.true - self.guess) <= SPREADS * self.spread).mean())

    @property
    def expected_within(self) -> float:
        """The same fraction of values that the model draws: 95 % of normal ones.

        Of two values of which the rarer has probability p < .2, the commoner one alone is within.
        """
        return float(self.covered.mean())


def hide_and_fill(
    fitted: Fitted[Any],
    table: Array,
    *,
    fraction: float,
    random_state: Any,
    sequences: Sequences | None = None,
) -> HiddenValues:
    """Hide a fraction of the known values of a ``table`` (n, d), and fill them in again.

    Values of features that have gaps are hidden together as they are missing in other rows, those
    of complete features one by one, in rows that are left. If rows follow each other,
    ``sequences`` says which.
    """
    hidden, weight, judged = hidden_as_missing(table, fitted.kept, fraction, random_state)
    gappy = np.where(hidden, np.nan, table)
    part = MemoryRows(gappy, fitted.names, sequences=sequences).select(fitted.kept)
    guess, spread, covered, filled = _filled(fitted, part, hidden[:, fitted.kept])
    touched: Mask = np.any(hidden, axis=0)
    middle, scale = np.zeros((2, table.shape[1]))
    middle[touched] = np.nanmean(gappy[:, touched], axis=0)
    scale[touched] = np.nanstd(gappy[:, touched], axis=0)
    row, column = np.nonzero(hidden)
    unit = np.where(scale > 0, scale, 1.0)[column]
    right, usual = table[hidden] == filled, table[hidden] == _commonest(fitted, gappy)[column]
    true, guess = ((values - middle[column]) / unit for values in (table[hidden], guess))
    found = HiddenValues(column, true, guess, spread / unit, covered, right, usual, weight[row])
    return found.only(judged[column])


def hide_and_fill_sparse(
    fitted: Fitted[Any], rows: Rows, features: Mask, *, fraction: float, random_state: Any
) -> HiddenValues:
    """Hide a fraction of what is known of some ``features`` (d,) in sparse rows, and fill it in.

    A model says something of every cell of a row: so that never more than a few of those are in
    memory, rows are gone over a few at a time, and of wide tables a few features are enough.
    """
    kept = fitted.kept & features
    table = gathered(rows.select(kept), with_gaps)  # (n, f)
    every: Mask = np.ones(table.shape[1], bool)
    hidden, weight, judged = hidden_as_missing(table, every, fraction, random_state)
    column = np.flatnonzero(kept[fitted.kept])  # of the features, among all that are kept
    model, parameters = fitted.model, fitted.parameters
    at_a_time = max(MOST_CELLS // max(int(fitted.kept.sum()), 1), 1)

    def filled(block: Block) -> Array:
        own = hidden[block.start : block.start + len(block)]
        row, place = np.nonzero(own)
        gappy, found = block.without(row, column[place]), []
        for start in range(0, len(block), at_a_time):
            some = np.arange(start, min(start + at_a_time, len(block)))
            cells = model.cells(gappy.rows(some), parameters)
            asked = own[some]
            mean, spread = cells.mean[:, column][asked], np.sqrt(cells.variance[:, column][asked])
            drawn = _draws(fitted, gappy.rows(some), block.start + start)
            covered = _covered([one[:, column][asked] for one in drawn], mean, spread)
            found.append([mean, spread, covered])
        return np.concatenate([np.transpose(part) for part in found])

    guess, spread, covered = gathered(rows.select(fitted.kept), filled).T
    gappy = np.where(hidden, np.nan, table)
    middle, scale = np.nanmean(gappy, axis=0), np.nanstd(gappy, axis=0)
    row, place = np.nonzero(hidden)
    unit = np.where(scale > 0, scale, 1.0)[place]
    true, guess = ((values - middle[place]) / unit for values in (table[hidden], guess))
    never = np.zeros(len(true), bool)  # counts are no categories
    feature = np.flatnonzero(kept)[place]
    found = HiddenValues(feature, true, guess, spread / unit, covered, never, never, weight[row])
    return found.only(judged[place])


def _draws(fitted: Fitted[Any], block: Block, seed: int) -> list[Array]:
    random = np.random.RandomState(seed % 2**32)
    return fitted.model.fill(lambda of_block: of_block(block), fitted.parameters, N_DRAWS, random)


def _covered(draws: list[Array], mean: Array, spread: Array) -> Array:
    """The share of draws (m,) within two standard deviations of what is expected; (m,)."""
    near = [np.abs(one - mean) <= SPREADS * spread for one in draws]
    share: Array = np.mean(near, axis=0)
    return share


def _commonest(fitted: Fitted[Any], table: Array) -> Array:
    """The most common category of each categorical column, NaN for others; (d,)."""
    found = np.full(table.shape[1], np.nan)
    for d in np.flatnonzero(fitted.nominal & fitted.kept):
        values, counts = np.unique(table[~np.isnan(table[:, d]), d], return_counts=True)
        if len(values):
            found[d] = values[counts.argmax()]
    return found


def _filled(fitted: Fitted[Any], rows: MemoryRows, hidden: Mask) -> tuple[Array, ...]:
    """Of hidden cells means, standard deviations, shares of draws within two, and fills; (m,) each.

    A fill is what would be filled in, if not the mean. ``hidden`` (n, kept) is of kept features.
    """
    found = []
    for block in rows.blocks():
        expected = fitted.model.cells(block, fitted.parameters)
        instead = expected
        if fitted.nominal.any():
            instead = fitted.model.fills(block, fitted.parameters)
        cells = hidden[block.start : block.start + len(block)]
        mean, spread = expected.mean[cells], np.sqrt(expected.variance[cells])
        covered = _covered([one[cells] for one in _draws(fitted, block, block.start)], mean, spread)
        found.append((mean, spread, covered, instead.mean[cells]))
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))


def hidden_as_missing(
    table: Array, kept: Mask, fraction: float, random_state: Any
) -> tuple[Mask, Array, Mask]:
    """Cells to hide in patterns of real gaps (n, d), row weights (n,), and features (d,)."""
    random = check_random_state(random_state)
    known = ~np.isnan(table[:, kept])
    gappy = np.zeros(len(kept), dtype=bool)
    gappy[kept] = ~known.all(axis=0)
    weight, judged = np.ones(len(table)), kept.copy()
    if not measurable(known).any():  # no gaps, or too few rows to imitate them
        return _hidden(table, kept, fraction, random), weight, judged
    tests = _tests(known, fraction, np.random.default_rng(random.randint(2**31)))
    weight[tests.row] = tests.weight / tests.weight.mean()
    hidden = np.zeros(table.shape, dtype=bool)
    hidden[np.ix_(tests.row, np.flatnonzero(kept))] = tests.hidden
    others = _candidates(table, kept & ~gappy) & (random.random_sample(table.shape) < fraction)
    others[tests.row] = False
    judged[kept] = measurable(known) | known.all(axis=0)
    return _leaving_some(table, kept, hidden | others), weight, judged


def _tests(known: Mask, fraction: float, random: np.random.Generator) -> ImitatedGaps:
    """Gaps imitated once in each of some rows, at most half of them."""
    gaps = ~known[~known.all(axis=1)]
    wanted = fraction * known[:, measurable(known)].sum() / gaps.sum(axis=1).mean()
    tests = imitated_gaps(known, int(np.clip(wanted, 1, max(len(known) // 2, 1))), random)
    _, first = np.unique(tests.row, return_index=True)
    return ImitatedGaps(*(part[first] for part in tests))  # type: ignore[arg-type]


def _candidates(table: Array, features: Mask) -> Mask:
    return np.asarray(~np.isnan(table) & features)


def _hidden(table: Array, kept: Mask, fraction: float, random_state: Any) -> Mask:
    candidates = _candidates(table, kept)
    chosen = candidates & (check_random_state(random_state).random_sample(table.shape) < fraction)
    if not chosen.any():
        raise DataError(
            f"fraction={fraction:g} of the {np.count_nonzero(candidates)} observed values is none. "
            "Hide a larger fraction, or give more rows."
        )
    return _leaving_some(table, kept, chosen)


def _leaving_some(table: Array, kept: Mask, chosen: Mask) -> Mask:
    """The same without features that would have no value left."""
    candidates = _candidates(table, kept)
    everything = candidates.any(axis=0) & ~(candidates & ~chosen).any(axis=0)
    return np.asarray(chosen & ~everything, dtype=np.bool_)
