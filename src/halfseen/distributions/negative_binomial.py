"""Count columns: negative binomial within a component.

    log p(x) = log Γ(x+r) - log Γ(r) - log x! + r log(r/(r+μ)) + x log(μ/(r+μ))

Where the shape r is large that is Poisson's. The likeliest rate is the mean whatever the shape; the
likeliest shape is where ``Σ_x h_x (ψ(x+r) - ψ(r)) + N log(r/(r+μ))`` is zero.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betainc, gammaln

from halfseen.data.arrays import Array
from halfseen.data.compiled import njit
from halfseen.data.errors import DataError
from halfseen.distributions.column_kinds import ColumnFacts, Random
from halfseen.distributions.mean_and_shape import LEAST_SHAPE, MOST_SHAPE, PICTURED, MeanAndShape
from halfseen.moments.product_mixture.encoding import Item

if TYPE_CHECKING:
    from halfseen.distributions.mixed_parameters import MixedParameters

LEAST_RATE = 1e-6
HALVINGS = 30
"""Of the range of log shapes: to nine digits."""
MOST_COUNTS = 1e6
"""Columns of higher counts are not tabulated."""
FAR_COUNTS = 10.0
"""Standard deviations above the rate beyond which counts are one cell."""


class Count(MeanAndShape):
    """Negative binomial: variance ``μ + μ²/r``."""

    word = "count"
    tabulated = True
    limits = (0.0, np.inf)

    def statistics(self, x: Array) -> tuple[Array, ...]:
        return (x,)

    def natural(self, mean: Array, shape: Array) -> tuple[Array, ...]:
        return np.log(mean / (shape + mean)), -shape * np.log1p(mean / shape)

    def variance(self, mean: Array, shape: Array) -> Array:
        return mean + mean * mean / shape

    def shape(self, mean: Array, variance: Array) -> Array:
        found: Array = mean**2 / np.maximum(variance - mean, 1e-6)
        return found

    def below(self, x: Array, mean: Array, shape: Array) -> Array:
        last = np.floor(x)
        found = betainc(shape, np.maximum(last, 0.0) + 1, shape / (shape + mean))
        return np.where(last < 0, 0.0, found)

    def drawn(self, mean: Array, shape: Array, random: Random) -> Array:
        counts: Array = random.poisson(random.gamma(shape, mean / shape)).astype(float)
        return counts

    def slopes(self, x: Array, mean: Array, shape: Array) -> tuple[Array, Array]:
        slope = shape * (x - mean) / (shape + mean)
        return slope, shape * mean * (x + shape) / (shape + mean) ** 2

    def item(self, column: ColumnFacts) -> Item:
        """Bounded features of square roots of counts."""
        roots = np.sqrt(np.arange(len(column.histogram)) + 0.375)
        mean = float(column.histogram @ roots)
        variance = max(float(column.histogram @ (roots - mean) ** 2), 1e-12)
        return Item("count", mean, float(np.sqrt(variance)))

    def statistics_of(self, column: ColumnFacts, x: Array) -> Array:
        usual = np.minimum(x, column.highest)
        return np.column_stack([usual, usual**2])

    def start_values(self, column: ColumnFacts, means: Array) -> dict[str, Array]:
        last = len(column.histogram) - 1.0
        overall = float(column.histogram @ np.arange(len(column.histogram)))
        rate = np.clip(means[:, 0], 0.05 * overall, max(last, 0.1))
        shape = self.shape(rate, means[:, 1] - rate**2)
        return {"rates": rate, "count_shapes": np.clip(shape, 10 * LEAST_SHAPE, MOST_SHAPE)}

    def _cuts(self, mean: Array, shape: Array) -> Array:
        spread = np.sqrt(self.variance(mean, shape))
        last = float((mean + FAR_COUNTS * spread).max()) + FAR_COUNTS
        cuts = [0.0]
        while cuts[-1] < last:  # a quarter of the least spread that so high a count has
            cuts.append(cuts[-1] + max(1.0, np.floor(np.sqrt(cuts[-1]) / 4)))
        return np.array(cuts)

    def pictured(self, mean: Array, shape: Array) -> tuple[Array, Array]:
        high = np.ceil(mean + PICTURED * np.sqrt(self.variance(mean, shape)))
        return np.zeros(len(mean)), high

    def as_numbers(self, column: ColumnFacts, x: Array) -> Array:
        """Square roots of counts, whose spread hardly depends on their mean."""
        return np.sqrt(np.minimum(x, column.highest) + 0.375)

    def centres_as_numbers(self, parameters: "MixedParameters", d: int) -> Array:
        return np.sqrt(parameters.rates[:, d, None] + 0.375)

    def table_at(self, column: ColumnFacts, places: Array) -> Array:
        """All rows at the counts with such square roots (k, 1); shares of the counts (k, l)."""
        shares = np.zeros((len(places), len(column.histogram)))
        value = np.clip(np.round(places[:, 0] ** 2 - 0.375), 0, shares.shape[1] - 1)
        shares[np.arange(len(places)), value.astype(int)] = 1.0
        return shares

    def profile(self, spread: Array, model: Any, d: int) -> dict[str, Any]:
        return {"kind": self.word, "rate": model.rates_[:, d], "std": spread}

    def check(self, name: str, values: Array) -> None:
        wrong = values[(values < 0) | (values != np.floor(values))]
        if len(wrong):
            raise DataError(
                f"Column '{name}' is to hold counts, but holds {wrong[0]:g}. Declare it "
                "continuous, or give whole numbers of at least 0."
            )
        if values[-1] > MOST_COUNTS:
            raise DataError(
                f"Column '{name}' is to hold counts, but holds {values[-1]:g}. Declare counts as "
                "large as that continuous."
            )


def log_density(x: Array, rate: Array, shape: Array) -> Array:
    """The log-density of counts x for each rate and shape."""
    own = gammaln(x + shape) - gammaln(shape) - gammaln(x + 1)
    found: Array = own - shape * np.log1p(rate / shape) + x * np.log(rate / (shape + rate))
    return found


def fitted(histogram: Array, before: Array) -> tuple[Array, Array]:
    """Maximum-likelihood rates and shapes (k,), from weighted counts of values (k, v).

    Where nothing was counted the shape stays as it was ``before`` (k,).
    """
    total = histogram.sum(axis=1)
    rate = histogram @ np.arange(histogram.shape[1], dtype=float) / np.maximum(total, 1e-300)
    rate = np.maximum(rate, LEAST_RATE)
    tail = total[:, None] - np.cumsum(histogram, axis=1)  # Σ_{x > j} h_x
    shape = np.array(before)
    run: Any = _shapes
    run(np.maximum(tail, 0.0), total, rate, shape)
    return rate, shape


@njit(cache=True, nogil=True)
def _shapes(tail: Array, total: Array, rate: Array, shape: Array) -> None:  # pragma: no cover
    """The root of the score by bisection: ``ψ(x+r) - ψ(r) = Σ_{j<x} 1/(r+j)``."""
    for c in range(len(total)):
        if total[c] <= 0:
            continue
        below, above = np.log(LEAST_SHAPE), np.log(MOST_SHAPE)
        for _ in range(HALVINGS):
            r = np.exp((below + above) / 2)
            slope = -total[c] * np.log1p(rate[c] / r)
            for j in range(tail.shape[1]):
                slope += tail[c, j] / (r + j)
            if slope > 0:
                below = (below + above) / 2
            else:
                above = (below + above) / 2
        shape[c] = np.exp((below + above) / 2)
