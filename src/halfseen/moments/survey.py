"""The first pass: which columns vary, and how complete they are."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError, NumericalDataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import quoted
from halfseen.data.messages import remedy
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import Sums
from halfseen.moments.second_moment import Moments

NEVER_OBSERVED = "never observed"
CONSTANT = "constant"
RARE = "observed in less than two rows, by weight,"


@dataclass(frozen=True, eq=False)
class Survey:
    """The features of a table: usable ones, and the reason why others are not."""

    names: tuple[str, ...]
    sums: FeatureSums
    kept: Mask  # (d,)      features that vary
    complete: Mask  # (d,)  kept features observed in at least the required fraction of rows

    @property
    def dropped(self) -> dict[str, str]:
        """The reason why each unusable feature is dropped."""
        reasons = np.where(self.sums.count < 2, RARE, CONSTANT)
        reasons = np.where(self.sums.count == 0, NEVER_OBSERVED, reasons)
        names = compress(self.names, ~self.kept)
        return dict(zip(names, reasons[~self.kept].tolist(), strict=True))

    def of_kept(self) -> "Survey":
        names = tuple(name for name, keep in zip(self.names, self.kept, strict=True) if keep)
        kept = self.kept
        return Survey(names, self.sums.select(kept), kept[kept], self.complete[kept])


def survey(rows: Rows, complete_above: float) -> Survey:
    """Survey the rows in one pass."""
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


@dataclass(frozen=True, eq=False)
class Spread(Sums):
    """Sums of squared deviations from an origin."""

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
        """Mean squared deviations; (d,)."""
        return self.square / np.maximum(self.count, np.finfo(float).tiny)


# Which numbers can be computed with: no fill values, and of a size whose powers are numbers too.
#
# Moments are sums of products of three values, and errors of variances come from fourth powers.
# Beyond 1e60 these overflow, and of what varies by less than 1e-60 they vanish.


class FillValue(NamedTuple):
    """A number that programs write for missing values."""

    value: float
    writer: str


FILL_VALUES = (
    FillValue(9.969209968386869e36, "netCDF's fill value"),
    FillValue(3.4028234663852886e38, "the largest single, which GDAL and others fill gaps with"),
    FillValue(-3.4028234663852886e38, "the lowest single, which GDAL and others fill gaps with"),
    FillValue(1.7976931348623157e308, "the largest double, with which gaps are filled"),
    FillValue(-1.7976931348623157e308, "the lowest double, with which gaps are filled"),
    FillValue(1.70141e38, "Surfer's blanking value"),
    FillValue(-1e34, "Ferret's fill value"),
    FillValue(1e20, "the fill value of climate models (CMIP)"),
    FillValue(-2147483648.0, "R's NA of whole numbers"),
    FillValue(-9223372036854775808.0, "pandas' NaT as a whole number"),
)
SAME = 1e-5
"""Fill values lose digits when they are written as text."""
LARGEST = 1e60
NARROWEST = 1e-60
LOST = 1e-12
"""Of a square: so small a variance is what rounding leaves when the square of the mean is taken."""


def check_magnitudes(seen: Survey) -> None:
    """Refuse columns with fill values, or values too large or too equal to compute with."""
    check_sizes(seen, seen.kept)
    low, high = seen.sums.minimum, seen.sums.maximum
    with np.errstate(over="ignore", invalid="ignore"):
        width = np.where(seen.kept, high - low, np.inf)
    narrow = np.flatnonzero(width < NARROWEST)
    if len(narrow):
        least = narrow[np.argmin(width[narrow])]
        raise NumericalDataError(
            f"Values in {quoted(seen.names, narrow)} are too much alike to compute with: those of '"
            f"{seen.names[least]}' differ by {width[least]:.3g} at most, less than {NARROWEST:g}. "
            "Write the column in a smaller unit, or leave it out.",
            [seen.names[i] for i in narrow],
        )


def check_sizes(seen: Survey, used: Mask) -> None:
    """Refuse fill values, and values of ``used`` (d,) columns that are too large."""
    _check_filled(seen)
    low, high = seen.sums.minimum, seen.sums.maximum
    furthest = np.where(used, np.maximum(-low, high), 0.0)
    large = np.flatnonzero(furthest > LARGEST)
    if len(large):
        worst = large[np.argmax(furthest[large])]
        value = high[worst] if high[worst] >= -low[worst] else low[worst]
        raise NumericalDataError(
            f"Values in {quoted(seen.names, large)} are too large to compute with: '"
            f"{seen.names[worst]}' holds {value:.6g}, beyond {LARGEST:g}. Put NaN in their place "
            "if they stand for gaps, or write the column in a larger unit or on a log scale.",
            [seen.names[i] for i in large],
        )


def _check_filled(seen: Survey) -> None:
    fills = np.array([fill.value for fill in FILL_VALUES])[:, None]
    room = np.where(np.abs(fills) > 1e19, SAME * np.abs(fills), 0.0)
    halves = (seen.sums.minimum / 2, seen.sums.maximum / 2)  # no difference of halves overflows
    found = np.any([np.abs(half - fills / 2) <= room / 2 for half in halves], axis=0)
    if not found.any():
        return
    which = int(np.argmax(found.any(axis=1)))
    filled = np.flatnonzero(found[which])
    value, writer = FILL_VALUES[which]
    raise NumericalDataError(
        f"{quoted(seen.names, filled)} {'hold' if len(filled) > 1 else 'holds'} {value:.6g}, which "
        f"is {writer}: it stands for a gap and is no value. Put NaN in its place.",
        [seen.names[i] for i in filled],
        filled=True,
    )


def check_not_lost(names: Sequence[str], moments: Moments) -> None:
    """Refuse moments about zero if rounding hides the variation of columns far from zero."""
    if moments.centred:
        return
    squares = np.asarray(moments.second.diagonal())
    variance = squares - moments.offset**2
    lost = np.flatnonzero(~(variance > LOST * squares))
    if len(lost):
        worst = lost[np.argmin(variance[lost] / np.maximum(squares[lost], np.finfo(float).tiny))]
        raise NumericalDataError(
            f"form='raw' takes moments about zero, and {quoted(names, lost)} "
            f"{'are' if len(lost) > 1 else 'is'} so far from it that rounding hides how "
            f"{'they vary' if len(lost) > 1 else 'it varies'} ('{names[worst]}' has the mean "
            f"{moments.mean[worst]:.6g}). Use form='centred', or subtract the means.",
            [names[int(i)] for i in lost],
        )


@contextmanager
def numerical_errors_explained(seen: Survey) -> Iterator[None]:
    """Explain numerical failures of a fit by the columns that cause them."""
    try:
        yield
    except (np.linalg.LinAlgError, ArithmeticError) as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        low, high = seen.sums.minimum, seen.sums.maximum
        worst = strangest(low, high)
        raise NumericalDataError(
            f"The numbers of the table cannot be computed with ({reason}). Of its columns "
            f"'{seen.names[worst]}' stands out, with values from {low[worst]:g} to "
            f"{high[worst]:g}. Write it in a unit in which its values are neither huge nor tiny, "
            "or leave it out.",
            [seen.names[worst]],
        ) from error


def strangest(low: Array, high: Array) -> int:
    """The column with the most extreme order of magnitude, or the first.

    >>> strangest(np.array([0.0, -1e9, 1.0]), np.array([1.0, 1e200, 1.0 + 1e-12]))
    1
    """
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(low), np.abs(high))
        size, width = (np.abs(np.log10(np.maximum(x, 5e-324))) for x in (size, high - low))
    return int(np.argmax(np.where(np.isfinite(size + width), np.maximum(size, width), 0.0)))
