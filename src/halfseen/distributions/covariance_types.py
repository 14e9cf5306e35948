"""Which variances components and features share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

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


class CovarianceShape(Protocol):
    """How squares are summed, and variances had from them."""

    @property
    def axes(self) -> str:
        """What variances differ by: components (k), features (d)."""

    def squares(self, x: Array) -> Array:
        """Squares of deviations ``x`` (n, d), summed as far as the shape allows; (n, s)."""

    def precisions(self, variances: Array) -> Array:
        """What multiplies those squares, from variances (k, d); (k, s)."""

    def variances(self, residual: Array, count: Array, before: Array, rows: float) -> Array:
        """Variances (k, d) from sums of squared residuals (k, s) and counts (k, d).

        Those that differ between components have a prior of ``rows`` of each component, about the
        common variance of those ``before`` (k, d).
        """

    def shared(self, per_feature: Array) -> Array:
        """A number a feature (d,), made equal for features that share a variance; (d,)."""

    def labels(self, sides: tuple[int, ...]) -> NDArray[np.intp]:
        """Which of the different variances each of (k, d) is, numbered from zero; (k, d)."""

    def completed(self, known: Array, residual: Array) -> Array:
        """Variances (k, t) of further features with ``residual`` (t,), given ``known`` (k, d)."""

    @property
    def in_units(self) -> bool:
        """Whether features are measured in units of their own."""

    def measured_in(self, unit: Array) -> "CovarianceShape":
        """The same in these units (d,), if it is in any."""


class _AsItIs:
    """Measured in no units."""

    in_units = False

    def measured_in(self, unit: Array) -> Self:
        """As it is."""
        return self


class Diagonal(_AsItIs):
    """Each feature of each component has its own."""

    axes = "kd"

    def squares(self, x: Array) -> Array:
        """All of them."""
        return x * x

    def precisions(self, variances: Array) -> Array:
        """One a feature."""
        return 1 / variances

    def variances(self, residual: Array, count: Array, before: Array, rows: float) -> Array:
        """Feature by feature."""
        return _with_prior(residual, count, before, rows)

    def shared(self, per_feature: Array) -> Array:
        """As they are."""
        return per_feature

    def labels(self, sides: tuple[int, ...]) -> NDArray[np.intp]:
        """All different."""
        return np.arange(np.prod(sides)).reshape(sides)

    def completed(self, known: Array, residual: Array) -> Array:
        """What a regression on the components leaves over."""
        return np.broadcast_to(residual, (len(known), len(residual)))


class Spherical(_AsItIs):
    """Each component has one for all features."""

    axes = "k"

    def squares(self, x: Array) -> Array:
        """Summed over features."""
        lengths: Array = np.einsum("nd,nd->n", x, x)
        return lengths[:, None]

    def precisions(self, variances: Array) -> Array:
        """The same for all features."""
        return 1 / variances[:, :1]

    def variances(self, residual: Array, count: Array, before: Array, rows: float) -> Array:
        """Over all features together."""
        d = count.shape[1]
        shared = _with_prior(residual.sum(axis=1), count.sum(axis=1), before[:, 0], rows * d)
        return np.repeat(shared[:, None], d, axis=1)

    def shared(self, per_feature: Array) -> Array:
        """Their mean."""
        return np.full_like(per_feature, per_feature.mean())

    def labels(self, sides: tuple[int, ...]) -> NDArray[np.intp]:
        """One a component."""
        return np.repeat(np.arange(sides[0])[:, None], sides[1], axis=1)

    def completed(self, known: Array, residual: Array) -> Array:
        """The same as the other features'."""
        return np.broadcast_to(known[:, :1], (len(known), len(residual)))


class TiedSpherical(Spherical):
    """All components have the same one."""

    axes = ""

    def variances(self, residual: Array, count: Array, before: Array, rows: float) -> Array:
        """Over all features and components together."""
        shared = _with_prior(residual.sum(keepdims=True), count.sum(keepdims=True), before[:1], 0.0)
        return np.full(count.shape, shared[0, 0])

    def labels(self, sides: tuple[int, ...]) -> NDArray[np.intp]:
        """All the same."""
        return np.zeros(sides, dtype=np.intp)


class TiedDiagonal(Diagonal):
    """Each feature has its own, the same in all components."""

    axes = "d"

    def variances(self, residual: Array, count: Array, before: Array, rows: float) -> Array:
        """Over all components together."""
        shared = _with_prior(residual.sum(axis=0), count.sum(axis=0), before[0], 0.0)
        return np.repeat(shared[None, :], len(count), axis=0)

    def labels(self, sides: tuple[int, ...]) -> NDArray[np.intp]:
        """One a feature."""
        return np.repeat(np.arange(sides[1])[None, :], sides[0], axis=0)


@dataclass(frozen=True, eq=False)
class InUnits(Diagonal):
    """Another shape, of features that are each measured in a unit of its own."""

    in_units = True
    shape: CovarianceShape
    unit: Array | float = 1.0  # (d,)

    @property
    def axes(self) -> str:  # type: ignore[override]
        """Features differ by their units at least."""
        return "kd" if "k" in self.shape.axes else "d"

    def variances(self, residual: Array, count: Array, before: Array, rows: float) -> Array:
        """As the other has them."""
        square = np.square(self.unit)
        return self.shape.variances(residual / square, count, before / square, rows) * square

    def shared(self, per_feature: Array) -> Array:
        """As the other has it."""
        square = np.square(self.unit)
        return self.shape.shared(per_feature / square) * square

    def measured_in(self, unit: Array) -> "InUnits":
        """The same in these units (d,)."""
        return InUnits(self.shape, unit)

    def labels(self, sides: tuple[int, ...]) -> NDArray[np.intp]:
        """As the other has them: what moves one moves those that it shares with."""
        return self.shape.labels(sides)


SHAPES: dict[str, CovarianceShape] = {
    "tied_spherical": TiedSpherical(),
    "spherical": Spherical(),
    "tied_diag": TiedDiagonal(),
    "diag": Diagonal(),
}


def _with_prior(squares: Array, count: Array, before: Array, rows: float) -> Array:
    """Variances that differ between components, which there may be one of.

    That of a component without cells stays as it was.
    """
    if rows and len(before) > 1:
        return shrunk_variances(squares, count, before, rows)
    return np.where(count > VANISHED, _ratio(squares, count), before)


def _ratio(total: Array, count: Array) -> Array:
    """``total / count``, zero where nothing was counted."""
    return np.divide(total, count, out=np.zeros_like(total), where=count > 0)


FAR_APART = 1000.0
"""Features whose values spread this much further apart have no noise in common."""


def warn_of_ranges(seen: Survey) -> None:
    """The same by the ranges of a table that is taken at its word."""
    kept = seen.of_kept()
    warn_of_scales(kept.names, kept.sums.maximum - kept.sums.minimum)


def warn_of_scales(names: Sequence[str], widths: Array) -> None:
    """A spherical mixture of features in very different units sees only the largest."""
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
