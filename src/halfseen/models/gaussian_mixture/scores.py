"""How the likelihood of a mixture bends at its maximum, and how each bin of rows pulls at it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import pinvh
from scipy.sparse import csr_array
from scipy.special import softmax

from halfseen.models.gaussian_mixture.covariance_shape import CovarianceShape
from halfseen.models.gaussian_mixture.parameters import MixtureParameters
from halfseen.models.gaussian_mixture.posterior import posterior
from halfseen.rows.arrays import Array
from halfseen.rows.bins import Bins
from halfseen.rows.rows import Block, Rows


class Coordinates(NamedTuple):
    """The free parameters of a mixture in one vector: log π, then means, then log variances.

    Shares are a softmax, so that moving all their logarithms alike moves nothing.
    """

    start: MixtureParameters
    labels: NDArray[np.intp]  # (k, d)  which log variance each one is

    @property
    def size(self) -> int:
        """How many there are."""
        k, d = self.labels.shape
        return int(k + k * d + self.labels.max() + 1)

    def means_of(self, component: int) -> NDArray[np.intp]:
        """Where the means of a component are; (d,)."""
        k, d = self.labels.shape
        places: NDArray[np.intp] = k + component * d + np.arange(d)
        return places

    def variances_of(self, component: int) -> tuple[NDArray[np.intp], Array]:
        """Where the log variances of a component are (s,), and which features share them (d, s)."""
        k, d = self.labels.shape
        own, place = np.unique(self.labels[component], return_inverse=True)
        return k + k * d + own, np.eye(len(own))[place.reshape(-1)]

    def moved(self, step: Array) -> MixtureParameters:
        """The mixture a ``step`` (size,) away from the start."""
        k, d = self.labels.shape
        means = self.start.means + step[k : k + k * d].reshape(k, d)
        factor = np.exp(step[k + k * d :])[self.labels]
        weights = softmax(np.log(self.start.weights) + step[:k])
        return MixtureParameters(weights, means, self.start.variances * factor)


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """The slope of the log-likelihood, bin by bin, and its curvature over all rows.

    With u the slope of the complete-data log-likelihood of a row and B its curvature, Louis (1982):
    the row's slope is ``E[u | x]`` and its curvature ``E[B | x] - cov[u | x]``.
    """

    slope: Array  # (g, p)
    curvature: Array  # (p, p)  of minus the log-likelihood

    @classmethod
    def at(cls, coordinates: Coordinates, bins: Bins) -> Callable[[Block], "ScoreSums"]:
        """The function that sums a block."""

        def summarise(block: Block) -> ScoreSums:
            return cls(*_score(block, coordinates, bins))

        return summarise

    def __add__(self, other: Self) -> Self:
        return type(self)(self.slope + other.slope, self.curvature + other.curvature)

    def steps(self, multipliers: Array) -> Array:
        """Newton's steps towards the maxima of replicates; (b, p).

        ``multipliers`` (b, g) say how much more than once each bin counts. What the rows say
        nothing about stays where it is.
        """
        # In units in which all bend alike: rounding must not pass over features of large numbers.
        bend = np.sqrt(np.abs(np.diag(self.curvature)))
        unit = np.divide(1.0, bend, out=np.zeros_like(bend), where=bend > 0)
        inverse = pinvh(unit[:, None] * self.curvature * unit)
        steps: Array = multipliers @ (self.slope * unit) @ inverse * unit
        return steps


def _score(block: Block, coordinates: Coordinates, bins: Bins) -> tuple[Array, Array]:
    mixture = coordinates.start
    k = len(mixture.weights)
    n, p = len(block), coordinates.size
    shares = posterior(block, mixture).responsibilities  # (n, k)
    apart = np.eye(k) - mixture.weights  # slopes of log π_k along the coordinates of π
    slope = np.zeros((n, p))
    slope[:, :k] = shares @ apart
    given = np.zeros((p, p))  # Σ E[u u' - B | x]
    ones = block.weighed(np.ones(n))
    given[:k, :k] -= ones.sum() * (np.diag(mixture.weights) - np.outer(*[mixture.weights] * 2))
    for component in range(k):
        share, weight = shares[:, component], block.weighed(shares[:, component])
        deviation = block.about(mixture.means[component])
        precision = 1 / mixture.variances[component]
        of_means = deviation * precision
        squares = deviation * of_means
        at, shared = coordinates.variances_of(component)
        of_variances = 0.5 * (squares - block.observed) @ shared
        where = np.concatenate([coordinates.means_of(component), at])
        u = np.hstack([of_means, of_variances])
        slope[:, where] += share[:, None] * u
        given[np.ix_(where, where)] += (u.T * weight) @ u
        given[np.ix_(where, where)] -= _bend(weight, block, of_means, squares, precision, shared)
        total = weight @ u
        given[:k, :k] += weight.sum() * np.outer(apart[component], apart[component])
        given[:k, where] += np.outer(apart[component], total)
        given[where, :k] += np.outer(total, apart[component])
    weighed = block.weighed(slope)
    curvature = slope.T @ weighed - given
    belongs = csr_array((np.ones(n), (bins.of(block), np.arange(n))), shape=(bins.n, n))
    return np.asarray(belongs @ weighed), curvature


def _bend(
    weight: Array, block: Block, of_means: Array, squares: Array, precision: Array, shared: Array
) -> Array:
    """Curvature of minus the complete-data log-likelihood of one component's rows."""
    d = len(precision)
    bend = np.diag(
        np.concatenate([(weight @ block.observed) * precision, 0.5 * (weight @ squares) @ shared])
    )
    cross = (weight @ of_means)[:, None] * shared
    bend[:d, d:] += cross
    bend[d:, :d] += cross.T
    return bend


def replicated(
    rows: Rows,
    parameters: MixtureParameters,
    shape: CovarianceShape,
    bins: Bins,
    multipliers: Array,
) -> list[MixtureParameters]:
    """The maxima of the likelihood of replicates, a Newton step from that of the rows.

    The score bootstrap: replicate b counts bin g ``1 + multipliers[b, g]`` times. Rows are gone
    over once, however many replicates there are.
    """
    origin = parameters.weights @ parameters.means
    centred = replace(parameters, means=parameters.means - origin)
    coordinates = Coordinates(centred, shape.labels(parameters.means.shape))
    sums = rows.recentred(origin).accumulate(ScoreSums.at(coordinates, bins))
    moved = map(coordinates.moved, sums.steps(multipliers))
    return [replace(one, means=one.means + origin) for one in moved]
