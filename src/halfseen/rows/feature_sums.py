"""First pass over the rows: how often each feature is observed, and its mean."""

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from halfseen.rows.arrays import Array, Mask


class Described(Protocol):
    """A block that can say what its features hold."""

    def feature_sums(self) -> "FeatureSums":
        """Counts, sums and ranges of the observed entries of each feature."""


@dataclass(frozen=True, eq=False)
class FeatureSums:
    """Counts, sums and ranges of the observed entries of each feature."""

    n_rows: float  # rows with at least one observed entry, by weight
    n_empty: int  # rows with none, which say nothing
    count: Array  # (d,)  by weight
    total: Array  # (d,)  by weight
    minimum: Array  # (d,)  +inf where nothing is observed
    maximum: Array  # (d,)  -inf where nothing is observed
    whole: Mask  # (d,)     whether every observed value is a whole number

    @staticmethod
    def of(block: Described) -> "FeatureSums":
        """The sums of one block of rows."""
        return block.feature_sums()

    @classmethod
    def of_entries(cls, values: Array, observed: Mask, weights: Array | None) -> Self:
        """The sums of rows (n, d) with values that are zero where not observed."""
        filled = observed.any(axis=1)
        per_row = np.ones(len(values)) if weights is None else weights
        return cls(
            n_rows=float(per_row @ filled),
            n_empty=int(np.count_nonzero(~filled)),
            count=per_row @ observed,
            total=_sum_of_finite(values if weights is None else values * weights[:, None]),
            minimum=np.where(observed, values, np.inf).min(axis=0, initial=np.inf),
            maximum=np.where(observed, values, -np.inf).max(axis=0, initial=-np.inf),
            whole=(values == np.floor(values)).all(axis=0),
        )

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.n_rows + other.n_rows,
            self.n_empty + other.n_empty,
            self.count + other.count,
            self.total + other.total,
            np.minimum(self.minimum, other.minimum),
            np.maximum(self.maximum, other.maximum),
            self.whole & other.whole,
        )

    def select(self, features: Mask) -> Self:
        """The sums of only some of the features."""
        return type(self)(
            self.n_rows,
            self.n_empty,
            self.count[features],
            self.total[features],
            self.minimum[features],
            self.maximum[features],
            self.whole[features],
        )

    @property
    def mean(self) -> Array:
        """Means of the observed entries, NaN for features that are never observed; (d,)."""
        return np.divide(
            self.total, self.count, out=np.full_like(self.total, np.nan), where=self.count > 0
        )

    @property
    def observed_fraction(self) -> Array:
        """``p_i = N_i / N`` over the rows that are not empty; (d,)."""
        return fraction_of(self.count, self.n_rows)


def fraction_of(count: Array, n_rows: float) -> Array:
    """``count / n_rows``, exactly one where rounding in sums of weights makes it nearly so."""
    fraction = count / max(n_rows, np.finfo(float).tiny)
    return np.where(fraction > 1 - 1e-9, 1.0, fraction)


def _sum_of_finite(values: Array) -> Array:
    """Sums over rows (d,); infinities, which are refused later, must not warn before."""
    with np.errstate(invalid="ignore"):
        total: Array = values.sum(axis=0)
    return total
