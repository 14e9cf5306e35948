"""Outlier limits: cells beyond them belong to no component.

Where one cell says what others should be, a mistyped one speaks for all of its row. It is taken as
a gap there, and its own density is that of a wide background, the same for all components.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.rows import Block, Rows
from halfseen.distributions.normal_em import (
    BEFORE,
    CELLS_BEFORE,
    LEAST_OUTLIERS,
    MOST_OUTLIERS,
)
from halfseen.distributions.normal_kernels import WIDTH
from halfseen.inference.parameters import ANY, FRACTION, GIVEN, POSITIVE, learned
from halfseen.moments.robust_statistics import RobustSummary, robust_summary
from halfseen.moments.survey import Survey

NOT_GIVEN: Any = None
REACH = 1e100
"""Standard deviations, beyond which a cell is as unlikely as it is there."""
LEAST_OWN, OF_SPIKES = 1e-10, 0.25
"""Of a feature's variance, what cells have of their own at least; the same if it has a spike. The
first is for rounding errors alone: components far apart have a small share of the variance."""
MOST_ROUNDING = 0.8
"""Of a feature's variance, what rounding may be taken to make at most."""


@dataclass(frozen=True, eq=False, kw_only=True)
class OutlierParameters:
    """What parameters say of cells that are of no component; NaN where nothing is."""

    outlier_share: float = learned("outlier_share_", "", FRACTION, role=GIVEN, default=0.0)
    middle: Array = learned("typical_values_", "d", ANY, np.nan, GIVEN, "spread", default=NOT_GIVEN)
    spread: Array = learned(
        "typical_spreads_", "d", POSITIVE, np.nan, GIVEN, "middle", default=NOT_GIVEN
    )
    low: Array = learned("lowest_usual_", "d", ANY, np.nan, GIVEN, "spread", default=NOT_GIVEN)
    high: Array = learned("highest_usual_", "d", ANY, np.nan, GIVEN, "spread", default=NOT_GIVEN)

    def __post_init__(self) -> None:
        nothing = np.full(self.means.shape[1], np.nan)  # type: ignore[attr-defined]
        for name in ("middle", "spread", "low", "high"):
            if getattr(self, name) is NOT_GIVEN:
                object.__setattr__(self, name, nothing)


class OutlierLimits(NamedTuple):
    """What is usual in the columns of a table; (d,) each."""

    low: Array  # the range, or what of it is within the outlier limits
    high: Array
    floors: Array  # (2, d)  of what cells vary by given all others of their row: of one component,
    # and of several
    shown: dict[str, Any]  # what parameters say of it

    @classmethod
    def of(cls, rows: Rows, kept: Survey, outliers: bool) -> "OutlierLimits":
        """From rows of features that vary, by a pass or two."""
        low, high, shown = kept.sums.minimum, kept.sums.maximum, {}
        seen: RobustSummary | None = None
        if outliers:
            seen = robust_summary(rows, kept.sums)
            shown = {
                "middle": seen.middle,
                "spread": seen.spread,
                "low": seen.low,
                "high": seen.high,
            }
            low, high = np.maximum(low, seen.low), np.minimum(high, seen.high)
        about = np.clip(kept.sums.mean, low, high)

        def summarise(block: Block) -> Array:
            usual = block.observed & (block.values >= low) & (block.values <= high)
            away, there = np.where(usual, block.values - about, 0.0), usual.astype(float)
            sums: Array = np.stack([block.weighed(x).sum(axis=0) for x in (there, away, away**2)])
            return sums

        count, first, second = rows.accumulate(summarise)
        mean = first / np.maximum(count, 1e-300)
        variance = second / np.maximum(count, 1e-300) - mean**2
        variance = np.maximum(variance, 1e-12 * (high - low) ** 2)
        return cls(low, high, _floors(seen, variance), shown)

    def floor(self, n_components: int) -> Array:
        """What the variance of a cell is at least, given all others of its row."""
        floor: Array = self.floors[int(n_components > 1)]
        return floor

    def quiet(self, kept: Survey) -> bool:
        """Whether no cell is beyond them."""
        low, high = kept.sums.minimum, kept.sums.maximum
        return bool((low >= self.low).all() and (high <= self.high).all())


def _floors(seen: RobustSummary | None, variance: Array) -> Array:
    """Variances of at least ``h²/2π`` for values recorded in steps of h.

    Without it components would be the levels of a column with few, or the zeros of one that has
    many, as a normal without width is as likely as one likes there.
    """
    least = LEAST_OWN * variance
    if seen is None:
        return np.array([least, least])
    rounding = np.minimum(seen.step**2 / (2 * np.pi), MOST_ROUNDING * variance)
    rounding = np.where(seen.two_valued, MOST_ROUNDING * variance, rounding)
    narrowest = np.where(seen.spiked, OF_SPIKES, LEAST_OWN) * variance
    return np.array([least, np.maximum(rounding, narrowest)])


def limits(outlier_limits: OutlierLimits | None) -> tuple[Any, Any]:
    """Bounds of means."""
    return (
        (-np.inf, np.inf) if outlier_limits is None else (outlier_limits.low, outlier_limits.high)
    )


def beyond(block: Block, parameters: OutlierParameters) -> Mask:
    """Which cells are beyond the limits; (n, d)."""
    with np.errstate(invalid="ignore"):
        outlying = (block.values < parameters.low) | (block.values > parameters.high)
    found: Mask = outlying & block.observed
    return found


def inside(block: Block, parameters: OutlierParameters) -> tuple[Block, Array | None]:
    """The rows with cells beyond the limits as gaps, and the log-density of those; (n,) or None.

    Cells so far out that squares would not be numbers are moved nearer.
    """
    outlying = beyond(block, parameters)
    usual = math.log1p(-parameters.outlier_share) * block.observed.sum(axis=1)
    if not outlying.any():
        return _in_reach(block, parameters), usual if parameters.outlier_share > 0 else None
    share = max(parameters.outlier_share, LEAST_OUTLIERS)
    row, column = np.nonzero(outlying)
    half = 1 / (WIDTH * parameters.spread[column])
    away = np.minimum(np.abs((block.values[row, column] - parameters.middle[column]) * half), 1e150)
    density = np.log(half / np.pi) - np.log1p(away**2) + math.log(share)
    density -= math.log1p(-parameters.outlier_share)
    alone: Array = usual + np.bincount(row, density, minlength=len(block))
    return _in_reach(block.without(row, column), parameters), alone


def _in_reach(block: Block, parameters: Any) -> Block:
    reach = REACH * np.sqrt(parameters.variances).max(axis=0)
    low, high = parameters.means.min(axis=0) - reach, parameters.means.max(axis=0) + reach
    far = ((block.values < low) | (block.values > high)) & block.observed
    return block.clipped(low, high) if far.any() else block


def share_beyond(rows: Rows, parameters: OutlierParameters) -> float:
    """The share of cells beyond the limits, in one pass."""

    def summarise(block: Block) -> Array:
        both = np.stack([beyond(block, parameters), block.observed]).sum(axis=2)
        sums: Array = block.weighed(both.T.astype(float)).sum(axis=0)
        return sums

    outlying, cells = rows.accumulate(summarise)
    share = (outlying + BEFORE) / (cells + CELLS_BEFORE)
    return float(np.clip(share, LEAST_OUTLIERS, MOST_OUTLIERS)) if outlying else 0.0


def fewest_together(rows: Rows) -> float:
    """The number of rows that hold the rarest pair of columns; infinite for one column."""
    together = rows.accumulate(_held_together)
    if len(together) < 2:
        return np.inf
    return float(together[np.triu_indices(len(together), 1)].min())


def _held_together(block: Block) -> Array:
    there = block.observed.astype(float)
    held: Array = there.T @ block.weighed(there)
    return held
