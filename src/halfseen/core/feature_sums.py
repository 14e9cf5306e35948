"""First pass over the rows: how often each feature is observed, and its mean."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.core.arrays import Array, Counts, Mask
from halfseen.core.rows import Block


@dataclass(frozen=True, eq=False)
class FeatureSums:
    """Counts, sums and ranges of the observed entries of each feature."""

    n_rows: int  # rows with at least one observed entry
    n_empty: int  # rows with none, which say nothing
    count: Counts  # (d,)
    total: Array  # (d,)
    minimum: Array  # (d,)  +inf where nothing is observed
    maximum: Array  # (d,)  -inf where nothing is observed
    whole: Mask  # (d,)     whether every observed value is a whole number

    @classmethod
    def of(cls, block: Block) -> Self:
        """The sums of one block of rows."""
        n_rows = int(np.count_nonzero(block.observed.any(axis=1)))
        return cls(
            n_rows=n_rows,
            n_empty=len(block.observed) - n_rows,
            count=block.observed.sum(axis=0, dtype=np.int64),
            total=block.values.sum(axis=0),
            minimum=block.values.min(axis=0, where=block.observed, initial=np.inf),
            maximum=block.values.max(axis=0, where=block.observed, initial=-np.inf),
            whole=(block.values == np.floor(block.values)).all(axis=0),
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
        return self.count / max(self.n_rows, 1)
