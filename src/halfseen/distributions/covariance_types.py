"""Covariance types: which variances components and columns share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.errors import WeakMomentsWarning, warn
from halfseen.data.formatting import quoted
from halfseen.data.messages import setting
from halfseen.distributions.covariances import shrunk_variances
from halfseen.moments.survey import Survey

VANISHED = 1e-8
"""Cells of a component that say nothing of it."""


@dataclass(frozen=True, eq=False)
class CovarianceShape:
    """Which of the variances (k, d) components and features share.

    Features may each be measured in a unit of its own: what is alike is then alike in units.
    """

    by_component: bool
    by_feature: bool
    unit: Array | float | None = None  # (d,)

    @property
    def in_units(self) -> bool:
        """Whether each feature has its own unit."""
        return self.unit is not None

    def measured_in(self, unit: Array | float) -> Self:
        """The same shape in other units (d,)."""
        return replace(self, unit=unit)

    @property
    def axes(self) -> str:
        """The axes along which variances differ: components (k), features (d)."""
        return "k" * self.by_component + "d" * (self.by_feature or self.in_units)

    def squares(self, x: Array) -> Array:
        """Squared deviations ``x`` (n, d), summed over shared features; (n, s)."""
        if "d" in self.axes:
            return x * x
        lengths: Array = np.einsum("nd,nd->n", x, x)
        return lengths[:, None]

    def precisions(self, variances: Array) -> Array:
        """Coefficients of those squares, from variances (k, d); (k, s)."""
        return 1 / (variances if "d" in self.axes else variances[:, :1])

    def variances(self, residual: Array, count: Array, before: Array, rows: float) -> Array:
        """Variances (k, d) from sums of squared residuals (k, s) and counts (k, d).

        Those that differ between components have a prior of ``rows`` of each component, about the
        common variance of those ``before`` (k, d).
        """
        square = np.square(1.0 if self.unit is None else self.unit)
        residual, before, (k, d) = residual / square, before / square, count.shape
        if not self.by_feature:
            residual, count = (one.sum(axis=1, keepdims=True) for one in (residual, count))
            before, rows = before[:, :1], rows * d
        if not self.by_component:
            residual, count = (one.sum(axis=0, keepdims=True) for one in (residual, count))
            before = before[:1]
        if rows and len(before) > 1:
            found = shrunk_variances(residual, count, before, rows)
        else:  # that of a component without cells stays as it was
            found = np.where(count > VANISHED, _ratio(residual, count), before)
        return np.broadcast_to(found, (k, d)) * square

    def shared(self, per_feature: Array) -> Array:
        """Values (d,) averaged over features that share a variance; (d,)."""
        if self.by_feature:
            return per_feature
        square = np.square(1.0 if self.unit is None else self.unit)
        return np.full_like(per_feature, (per_feature / square).mean()) * square

    def labels(self, sides: tuple[int, ...]) -> NDArray[np.intp]:
        """The number of the variance at each of (k, d), from zero; (k, d)."""
        k, d = (np.arange(side) for side in sides)
        found = k[:, None] * self.by_component * (len(d) if self.by_feature else 1)
        return np.asarray(found + d * self.by_feature)

    def completed(self, known: Array, residual: Array) -> Array:
        """Variances (k, t) of further features with ``residual`` (t,), given ``known`` (k, d)."""
        return np.broadcast_to(
            residual if "d" in self.axes else known[:, :1], (len(known), len(residual))
        )


SHAPES = {
    "tied_spherical": CovarianceShape(by_component=False, by_feature=False),
    "spherical": CovarianceShape(by_component=True, by_feature=False),
    "tied_diag": CovarianceShape(by_component=False, by_feature=True),
    "diag": CovarianceShape(by_component=True, by_feature=True),
}


def _ratio(total: Array, count: Array) -> Array:
    """``total / count``, zero where nothing was counted."""
    return np.divide(total, count, out=np.zeros_like(total), where=count > 0)


FAR_APART = 1000.0
"""Features whose values spread this much further apart have no noise in common."""


def warn_of_ranges(seen: Survey) -> None:
    """Warn of very different units by the ranges of a table."""
    kept = seen.of_kept()
    warn_of_scales(kept.names, kept.sums.maximum - kept.sums.minimum)


def warn_of_scales(names: Sequence[str], widths: Array) -> None:
    """Warn if features of a spherical mixture have very different units."""
    if len(widths) and widths.max() > FAR_APART * widths.min():
        wide, narrow = int(widths.argmax()), int(widths.argmin())
        warn(
            f"Features are on very different scales ({quoted(names, [wide])} ranges over "
            f"{widths.max():.3g}, {quoted(names, [narrow])} over {widths.min():.3g}), but a "
            "spherical mixture has the same noise in all. Use "
            + setting(covariance_type="tied_diag")
            + ", or "
            + setting(scale="robust")
            + ".",
            WeakMomentsWarning,
        )
