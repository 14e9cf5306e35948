"""Which variances of a mixture are shared, for EM.

With x measured from one origin for all components, only ``Σ r x``, ``Σ r m`` and squares of x are
needed. Where a component has one variance, squares need not be kept apart by feature.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array


class CovarianceShape(Protocol):
    """How squares are summed, and variances had from them."""

    @property
    def axes(self) -> str:
        """What variances differ by: components (k), features (d)."""

    def squares(self, x: Array) -> Array:
        """Squares of deviations ``x`` (n, d), summed as far as the shape allows; (n, s)."""

    def precisions(self, variances: Array) -> Array:
        """What multiplies those squares, from variances (k, d); (k, s)."""

    def variances(self, residual: Array, count: Array) -> Array:
        """Variances (k, d) from sums of squared residuals (k, s) and counts (k, d)."""

    def shared(self, per_feature: Array) -> Array:
        """A number a feature (d,), made equal for features that share a variance; (d,)."""

    def labels(self, sides: tuple[int, ...]) -> NDArray[np.intp]:
        """Which of the different variances each of (k, d) is, numbered from zero; (k, d)."""

    def completed(self, known: Array, residual: Array) -> Array:
        """Variances (k, t) of further features with ``residual`` (t,), given ``known`` (k, d)."""


class Diagonal:
    """Each feature of each component has its own."""

    axes = "kd"

    def squares(self, x: Array) -> Array:
        """All of them."""
        return x * x

    def precisions(self, variances: Array) -> Array:
        """One a feature."""
        return 1 / variances

    def variances(self, residual: Array, count: Array) -> Array:
        """Feature by feature."""
        return _ratio(residual, count)

    def shared(self, per_feature: Array) -> Array:
        """As they are."""
        return per_feature

    def labels(self, sides: tuple[int, ...]) -> NDArray[np.intp]:
        """All different."""
        return np.arange(np.prod(sides)).reshape(sides)

    def completed(self, known: Array, residual: Array) -> Array:
        """What a regression on the components leaves over."""
        return np.broadcast_to(residual, (len(known), len(residual)))


class Spherical:
    """Each component has one for all features."""

    axes = "k"

    def squares(self, x: Array) -> Array:
        """Summed over features."""
        lengths: Array = np.einsum("nd,nd->n", x, x)
        return lengths[:, None]

    def precisions(self, variances: Array) -> Array:
        """The same for all features."""
        return 1 / variances[:, :1]

    def variances(self, residual: Array, count: Array) -> Array:
        """Over all features together."""
        shared = _ratio(residual.sum(axis=1), count.sum(axis=1))
        return np.repeat(shared[:, None], count.shape[1], axis=1)

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

    def variances(self, residual: Array, count: Array) -> Array:
        """Over all features and components together."""
        return np.full(count.shape, residual.sum() / count.sum())

    def labels(self, sides: tuple[int, ...]) -> NDArray[np.intp]:
        """All the same."""
        return np.zeros(sides, dtype=np.intp)


SHAPES: dict[str, CovarianceShape] = {
    "tied_spherical": TiedSpherical(),
    "spherical": Spherical(),
    "diag": Diagonal(),
}


def _ratio(total: Array, count: Array) -> Array:
    """``total / count``, zero where nothing was counted."""
    return np.divide(total, count, out=np.zeros_like(total), where=count > 0)
