"""What a table holds, before any model: which features vary, and how complete they are."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import compress

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import quoted
from halfseen.data.messages import remedy
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import Sums

NEVER_OBSERVED = "never observed"
CONSTANT = "constant"
RARE = "observed in less than two rows, by weight,"


@dataclass(frozen=True, eq=False)
class Survey:
    """The features of a table: those that can be used, and those that cannot, with the reason."""

    names: tuple[str, ...]
    sums: FeatureSums
    kept: Mask  # (d,)      features that vary
    complete: Mask  # (d,)  kept features observed in at least the required fraction of rows

    @property
    def dropped(self) -> dict[str, str]:
        """Why each unusable feature is left out."""
        reasons = np.where(self.sums.count < 2, RARE, CONSTANT)
        reasons = np.where(self.sums.count == 0, NEVER_OBSERVED, reasons)
        names = compress(self.names, ~self.kept)
        return dict(zip(names, reasons[~self.kept].tolist(), strict=True))

    def of_kept(self) -> "Survey":
        """The survey of the features that are kept."""
        names = tuple(name for name, keep in zip(self.names, self.kept, strict=True) if keep)
        kept = self.kept
        return Survey(names, self.sums.select(kept), kept[kept], self.complete[kept])


def survey(rows: Rows, complete_above: float) -> Survey:
    """Look through the rows once."""
    return survey_of(rows.names, rows.accumulate(FeatureSums.of), complete_above)


def check_finite(names: tuple[str, ...], sums: FeatureSums) -> None:
    """Refuse features that hold infinite values."""
    infinite = (np.isinf(sums.minimum) | np.isinf(sums.maximum)) & (sums.count > 0)
    if infinite.any():
        raise DataError(
            f"Infinite values in {quoted(names, np.flatnonzero(infinite))}. "
            "Replace them by numbers, "
            + remedy("infinities are gaps", "or by NaN if they stand for missing values")
            + "."
        )


def survey_of(names: tuple[str, ...], sums: FeatureSums, complete_above: float) -> Survey:
    """The survey that the sums of all rows give."""
    check_finite(names, sums)
    kept = (sums.count >= 2) & (sums.minimum < sums.maximum)
    complete = kept & (sums.observed_fraction >= complete_above)
    return Survey(names, sums, kept, complete)


FEW_ROWS = 30
"""Below this many rows a mean or a covariance over them says next to nothing."""


@dataclass(frozen=True, eq=False)
class Spread(Sums):
    """Squares of deviations from an origin."""

    count: Array  # (d,)
    square: Array  # (d,)

    @classmethod
    def about(cls, origin: Array) -> Callable[[Block], "Spread"]:
        """The function that sums a block about ``origin`` (d,)."""
        every = np.ones(len(origin), dtype=bool)

        def summarise(block: Block) -> Spread:
            ones = block.weighed(np.ones((len(block), 1)))
            return cls(
                block.presence().back(ones)[:, 0],
                block.deviations(origin).squares(ones, every)[:, 0],
            )

        return summarise

    @property
    def variance(self) -> Array:
        """Mean squares, of use only for what is observed; (d,)."""
        return self.square / np.maximum(self.count, np.finfo(float).tiny)
