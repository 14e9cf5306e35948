"""Known values, hidden from a model and filled in by it: how well it does."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.errors import DataError
from halfseen.tables.containers import table_like


@dataclass(frozen=True, eq=False)
class HiddenValues:
    """Hidden values and what was filled in, in standard deviations from the mean of the feature."""

    feature: NDArray[np.intp]  # (m,)
    true: Array  # (m,)
    guess: Array  # (m,)
    spread: Array  # (m,)  the model's own standard deviation

    def explained(self, of: Mask | slice = slice(None)) -> float:
        """How much of the hidden values' variance the model explains; 0 is no better than means."""
        true, guess = self.true[of], self.guess[of]
        return 1 - float(np.mean((true - guess) ** 2) / np.mean(true**2))

    def within(self, n_spreads: float) -> float:
        """The fraction of values that lie within so many of the model's standard deviations."""
        return float((np.abs(self.true - self.guess) <= n_spreads * self.spread).mean())


def hide_and_fill(
    model: Any, X: Any, table: Array, *, fraction: float, random_state: Any
) -> HiddenValues:
    """Hide a fraction of the known values of ``X``, which is ``table`` (n, d) as an array."""
    hidden = _hidden(table, model.kept_features_, fraction, random_state)
    gappy = np.where(hidden, np.nan, table)
    filled, spread = map(np.asarray, model.impute(table_like(X, gappy), return_std=True))
    touched: Mask = np.any(hidden, axis=0)
    middle, scale = np.zeros((2, table.shape[1]))
    middle[touched] = np.nanmean(gappy[:, touched], axis=0)
    scale[touched] = np.nanstd(gappy[:, touched], axis=0)
    _, column = np.nonzero(hidden)
    unit = np.where(scale > 0, scale, 1.0)[column]
    true, guess = ((values[hidden] - middle[column]) / unit for values in (table, filled))
    return HiddenValues(column, true, guess, spread[hidden] / unit)


def _hidden(table: Array, kept: Mask, fraction: float, random_state: Any) -> Mask:
    candidates = ~np.isnan(table) & kept
    chosen = candidates & (check_random_state(random_state).random_sample(table.shape) < fraction)
    if not chosen.any():
        raise DataError(
            f"fraction={fraction:g} of the {np.count_nonzero(candidates)} observed values is none. "
            "Hide a larger fraction, or give more rows."
        )
    everything = candidates.any(axis=0) & ~(candidates & ~chosen).any(axis=0)
    if everything.any():
        chosen[:, everything] = False  # nothing would be left to compare with
    return np.asarray(chosen, dtype=np.bool_)
