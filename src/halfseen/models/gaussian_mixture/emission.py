"""Independent normal columns, given the component."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from halfseen.method.learned import learned
from halfseen.method.scale import ANY, POSITIVE, SHARE
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array, Labels, Mask
from halfseen.rows.rows import Block
from halfseen.structures.one_class.emission import Pull


@dataclass(frozen=True, eq=False)
class MixtureParameters:
    """``x | component k ~ N(a_k, diag(σ²_k))`` with probability π_k."""

    weights: Array = learned("weights_", "k", SHARE)  # π
    means: Array = learned("means_", "kd", ANY)  # a_k in rows
    variances: Array = learned("covariances_", ("", "k", "kd"), POSITIVE, 0.0)  # σ², (k, d)


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


SMALLEST_SPREAD = 1e-6
"""Of a feature's range: a component with less has shrunk onto a point."""


@dataclass(frozen=True, eq=False)
class Normal:
    """``log N(x; a_k, σ²_k) = x·a_k/σ²_k + m·(-½ log 2πσ²_k - ½ a_k²/σ²_k) + x²·(-½/σ²_k)``.

    With x measured from one origin for all components, squares need not be kept apart by feature
    where a component has one variance.
    """

    constant: ClassVar[None] = None  # nothing is the same for all components
    shape: CovarianceShape
    floor: Array | float = 0.0  # (d,)  of the variances
    ceiling: Array | float = np.inf  # (d,)

    def for_table(self, kept: Survey) -> Self:
        """Variances from a millionth of a feature's range, squared, up to its range."""
        ceiling = self.shape.shared((kept.sums.maximum - kept.sums.minimum) ** 2)
        return replace(self, floor=SMALLEST_SPREAD**2 * ceiling, ceiling=ceiling)

    def origin(self, parameters: MixtureParameters) -> Array:
        """The mean of the mixture: squares expand without losing digits."""
        middle: Array = parameters.weights @ parameters.means
        return middle

    def moved(self, parameters: MixtureParameters, by: Array) -> MixtureParameters:
        """Means move, spreads do not."""
        return replace(parameters, means=parameters.means + by)

    def statistics(self, values: Array, mask: Array) -> tuple[Array, ...]:
        """Values, mask and squares, the last summed as the covariance's shape allows."""
        return values, mask, self.shape.squares(values)

    def natural(self, parameters: MixtureParameters) -> tuple[Array, ...]:
        """What they are multiplied with."""
        means, variances = parameters.means, parameters.variances
        precision = 1 / variances
        constant = np.log(2 * np.pi * variances) + means**2 * precision
        return means * precision, -0.5 * constant, -0.5 * self.shape.precisions(variances)

    def maximise(
        self, weights: Array, sums: tuple[Array, ...], before: MixtureParameters
    ) -> MixtureParameters:
        """Means and variances of what belongs to each component."""
        first, count, second = sums
        means = np.divide(first, count, out=before.means.copy(), where=count > 1e-10)
        # Σ r (x - a)² = Σ r x² - 2a Σ r x + a² Σ r m, summed over features if the squares are.
        cross = means * (means * count - 2 * first)
        if second.shape != cross.shape:
            cross = cross.sum(axis=1, keepdims=True)
        variances = np.maximum(self.shape.variances(second + cross, count), self.floor)
        return MixtureParameters(weights, means, variances)

    def units(self, parameters: MixtureParameters) -> Mapping[str, Array]:
        """Means move by spreads."""
        return {"means": np.sqrt(parameters.variances)}

    def within(self, parameters: MixtureParameters) -> MixtureParameters:
        """Variances between what a point and what the whole range would have."""
        variances = np.clip(parameters.variances, self.floor, self.ceiling)
        return replace(parameters, variances=variances)

    def means(self, parameters: MixtureParameters) -> Array:
        """As learned."""
        return parameters.means

    def variances(self, parameters: MixtureParameters) -> Array:
        """As learned."""
        return parameters.variances

    def completed(
        self, reference: MixtureParameters, complete: Mask, means: Array, left_over: Array
    ) -> MixtureParameters:
        """Variances of the others are shared with, or are what regression leaves over."""
        shape = (len(reference.weights), len(complete))
        every, variances = np.empty(shape), np.empty(shape)
        every[:, complete], every[:, ~complete] = reference.means, means
        variances[:, complete] = reference.variances
        variances[:, ~complete] = self.shape.completed(reference.variances, left_over)
        return MixtureParameters(reference.weights, every, variances)

    def draw(self, parameters: MixtureParameters, labels: Labels, random: Any) -> Array:
        """Means and noise."""
        noise = random.standard_normal((len(labels), parameters.means.shape[1]))
        rows: Array = parameters.means[labels] + noise * np.sqrt(parameters.variances[labels])
        return rows

    def free(self, parameters: MixtureParameters) -> "FreeNormal":
        """Means, and logarithms of the variances that differ."""
        return FreeNormal(parameters, self.shape.labels(parameters.means.shape))


@dataclass(frozen=True, eq=False)
class FreeNormal:
    """The free numbers of a mixture in one vector: log π, then means, then log variances.

    Shares are a softmax, so that moving all their logarithms alike moves nothing.
    """

    start: MixtureParameters
    labels: NDArray[np.intp]  # (k, d)  which log variance each one is

    @property
    def size(self) -> int:
        """How many there are."""
        k, d = self.labels.shape
        return int(k + k * d + self.labels.max() + 1)

    def moved(self, step: Array) -> MixtureParameters:
        """The mixture a ``step`` (size,) away from the start."""
        k, d = self.labels.shape
        means = self.start.means + step[k : k + k * d].reshape(k, d)
        factor = np.exp(step[k + k * d :])[self.labels]
        weights = softmax(np.log(self.start.weights) + step[:k])
        return MixtureParameters(weights, means, self.start.variances * factor)

    def pull(self, block: Block, component: int) -> Pull:
        """Slopes along the means and the log variances of a component."""
        k, d = self.labels.shape
        own, place = np.unique(self.labels[component], return_inverse=True)
        shared = np.eye(len(own))[place.reshape(-1)]  # (d, s)  which features share a variance
        where = np.concatenate([k + component * d + np.arange(d), k + k * d + own])
        deviation = block.about(self.start.means[component])
        precision = 1 / self.start.variances[component]
        of_means = deviation * precision
        squares = deviation * of_means
        slope = np.hstack([of_means, 0.5 * (squares - block.observed) @ shared])

        def bend(weight: Array) -> Array:
            of_mean = (weight @ block.observed) * precision
            whole = np.diag(np.concatenate([of_mean, 0.5 * (weight @ squares) @ shared]))
            whole[:d, d:] += (weight @ of_means)[:, None] * shared
            whole[d:, :d] += whole[:d, d:].T
            return whole

        return Pull(where, slope, bend)
