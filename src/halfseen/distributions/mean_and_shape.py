"""Column kinds with a mean and a shape: their EM, priors and draws."""

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from halfseen.data.arrays import Array, Labels
from halfseen.data.errors import DataError
from halfseen.data.rows import Block
from halfseen.distributions.column_kinds import (
    NARROWEST,
    STANDARD_DEVIATIONS,
    WIDEST,
    ColumnFacts,
    ColumnKind,
    Random,
    between,
    by_kind,
)
from halfseen.moments.product_mixture.encoding import Item

if TYPE_CHECKING:
    from halfseen.distributions.mixed_parameters import MixedParameters

PICTURED = 2.6
"""Standard deviations about the mean of a component within which its density is drawn."""
LEAST_SHAPE, MOST_SHAPE = 0.02, 1e4
"""Between which shapes are; beyond them the likelihood hardly changes."""
LEAST_MEAN = 1e-6
FIELDS = ("rates", "count_shapes")
"""Of parameters: where means and shapes are."""
N_SUMS = 3
"""At most two statistics, and the number of cells."""
STEP = 1e-4
"""Of logarithms of a mean and a shape, in differences: second ones keep half of the digits."""
NEWTON_STEPS, HALVINGS = 8, 12
LONGEST_STEP = 1.0
"""Of those logarithms, in a step of Newton's."""


class MeanAndShape(ColumnKind):
    """Kinds with a mean μ and a shape: ``log p(x) = Σ_i T_i(x) η_i(μ, shape) + η_0(μ, shape)``."""

    limits: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    """Values lie between these, ends not included."""
    holds: ClassVar[str] = "values"
    """What its columns hold, in messages."""

    @abstractmethod
    def statistics(self, x: Array) -> tuple[Array, ...]:
        """The statistics ``T_i`` of values x."""

    @abstractmethod
    def natural(self, mean: Array, shape: Array) -> tuple[Array, ...]:
        """The coefficients ``η_i``, then ``η_0``, with the shape of ``mean``."""

    @abstractmethod
    def variance(self, mean: Array, shape: Array) -> Array:
        """The variance for a mean and a shape."""

    @abstractmethod
    def shape(self, mean: Array, variance: Array) -> Array:
        """The shape for a mean and a variance."""

    @abstractmethod
    def below(self, x: Array, mean: Array, shape: Array) -> Array:
        """The distribution function: the probability of at most x."""

    @abstractmethod
    def drawn(self, mean: Array, shape: Array, random: Random) -> Array:
        """One random value for each mean and shape."""

    # What follows.

    def maximised(self, sums: Array, mean: Array, shape: Array) -> tuple[Array, Array]:
        """Maximum-likelihood mean and shape (k, m), from sums of ``T_i`` and of ones (i + 1, k, m).

        Newton's steps for their logarithms, from those of the step before; none goes down.
        """
        place = np.log([mean, shape])

        def height(at: Array) -> Array:
            return np.asarray(np.sum(sums * np.array(self.natural(*np.exp(at))), axis=0))

        for _ in range(NEWTON_STEPS):
            step = np.clip(_newton_step(height, place), -LONGEST_STEP, LONGEST_STEP)
            before, factor = height(place), np.ones(mean.shape)
            for _ in range(HALVINGS):
                there = np.log(self.inside(*np.exp(place + factor * step)))
                lower = ~(height(there) >= before)
                factor = np.where(lower, factor / 2, factor)
            place = np.where(lower, place, there)
        return np.exp(place[0]), np.exp(place[1])

    def inside(self, mean: Array, shape: Array) -> tuple[Array, Array]:
        """The nearest valid mean and shape."""
        low, high = max(self.limits[0], 0.0) + LEAST_MEAN, self.limits[1] - LEAST_MEAN
        return np.clip(mean, low, high), np.clip(shape, LEAST_SHAPE, MOST_SHAPE)

    def slopes(self, x: Array, mean: Array, shape: Array) -> tuple[Array, Array]:
        """Derivatives of log-densities along log μ, and minus the curvature; (n, m) each."""
        down, at, up = (self.natural(mean * np.exp(s), shape) for s in (-STEP, 0.0, STEP))
        statistics = (*self.statistics(x), np.ones_like(x))
        parts = list(zip(statistics, down, at, up, strict=True))
        slope = sum(t * (c - a) / (2 * STEP) for t, a, _, c in parts)
        bend = sum(t * (2 * b - a - c) / STEP**2 for t, a, b, c in parts)
        return np.asarray(slope), np.asarray(bend)

    def item(self, column: ColumnFacts) -> Item:
        return Item("number", column.middle, column.spread)

    def statistics_of(self, column: ColumnFacts, x: Array) -> Array:
        z = (x - column.middle) / column.spread
        return np.column_stack([z, z**2])

    def start_values(self, column: ColumnFacts, means: Array) -> dict[str, Array]:
        z, square = means.T
        variance = np.clip(square - z**2, NARROWEST, WIDEST) * column.spread**2
        mean, _ = self.inside(column.middle + z * column.spread, variance)
        return dict(zip(FIELDS, self.inside(mean, self.shape(mean, variance)), strict=True))

    def about(self, column: ColumnFacts, x: Array, share: float) -> tuple[Array, Array]:
        """Means and shapes of components that go a ``share`` of the way to x (k,); (k,) each."""
        z = share * (x - column.middle) / column.spread
        found = self.start_values(column, np.column_stack([z, z**2 + 1.0]))
        return found["rates"], found["count_shapes"]

    def means(self, parameters: "MixedParameters", columns: Labels) -> Array:
        rates: Array = parameters.rates[:, columns]
        return rates

    def variances(self, parameters: "MixedParameters", columns: Labels) -> Array:
        return self.variance(parameters.rates[:, columns], parameters.count_shapes[:, columns])

    def draw(self, parameters: "MixedParameters", d: int, labels: Labels, random: Random) -> Array:
        """A random value for each row of the given components; (n,)."""
        return self.drawn(parameters.rates[labels, d], parameters.count_shapes[labels, d], random)

    def masses(self, parameters: "MixedParameters", d: int, home: "MixedParameters") -> Array:
        cuts = self._cuts(home.rates[:, d], home.count_shapes[:, d])[:, None]
        return between(self.below(cuts, parameters.rates[:, d], parameters.count_shapes[:, d]))

    def _cuts(self, mean: Array, shape: Array) -> Array:
        spread = np.sqrt(self.variance(mean, shape))
        cuts = mean[:, None] + spread[:, None] * STANDARD_DEVIATIONS
        return np.unique(np.clip(cuts, *self.limits))

    def pictured(self, mean: Array, shape: Array) -> tuple[Array, Array]:
        """The range in which the density of each component is drawn; (k,) each."""
        away = PICTURED * np.sqrt(self.variance(mean, shape))
        low, high = (np.clip(end, *self.limits) for end in (mean - away, mean + away))
        return low, high

    def profile(self, spread: Array, model: Any, d: int) -> dict[str, Any]:
        return {"kind": self.word, "mean": model.rates_[:, d], "std": spread}

    def check(self, name: str, values: Array) -> None:
        low, high = self.limits
        wrong = values[(values <= low) | (values >= high)]
        if len(wrong):
            raise DataError(
                f"Column '{name}' is to hold {self.holds}, but holds {wrong[0]:g}. Declare it "
                f"continuous, or give values above {low:g} and below {high:g}."
            )


def _newton_step(height: Any, place: Array) -> Array:
    """``-H⁻¹g`` of functions of two numbers (2, ...), by differences; uphill in any case."""
    one, other = STEP * np.eye(2).reshape(2, 2, *[1] * (place.ndim - 1))
    at = height(place)
    ends = [(height(place + by), height(place - by)) for by in (one, other)]
    slope = np.array([(up - down) / (2 * STEP) for up, down in ends])
    a, c = ((up - 2 * at + down) / STEP**2 for up, down in ends)
    corners = height(place + one + other) + height(place - one - other)
    b = (corners - height(place + one - other) - height(place - one + other)) / (4 * STEP**2)
    det = a * c - b * b
    concave = (a < 0) & (det > 0)
    det = np.where(concave, det, 1.0)
    newton = np.array([b * slope[1] - c * slope[0], b * slope[0] - a * slope[1]]) / det
    size = np.maximum(np.abs(np.array([a, c])), 1e-12)
    return np.where(concave, newton, slope / size)


# The E-step and the M-step of columns whose densities are in no table.


def untabulated(codes: Array) -> list[tuple[MeanAndShape, Labels]]:
    """Kinds with a mean and a shape whose densities are computed, not looked up."""
    return [(one, own) for one, own in by_kind(codes) if not (one.normal or one.tabulated)]


def _statistics(kind: MeanAndShape, block: Block, own: Labels) -> tuple[Array, ...]:
    """Statistics of observed cells, and ones for them; (n, m) each, zero in the gaps."""
    there = block.observed[:, own]
    values = np.where(there, block.values[:, own], np.clip(0.5, *kind.limits))
    return *(one * there for one in kind.statistics(values)), there.astype(float)


def _natural(kind: MeanAndShape, parameters: "MixedParameters", own: Labels) -> tuple[Array, ...]:
    return kind.natural(parameters.rates[:, own], parameters.count_shapes[:, own])


def cell_log_densities(block: Block, parameters: "MixedParameters", out: Array) -> None:
    """Put those of such columns into ``out`` (k, n, d), zero in the gaps."""
    for kind, own in untabulated(parameters.kinds):
        pairs = zip(_statistics(kind, block, own), _natural(kind, parameters, own), strict=True)
        out[:, :, own] = sum(each * natural[:, None] for each, natural in pairs)


def log_densities(block: Block, parameters: "MixedParameters") -> Array:
    """Log-densities of such columns of each row, in each component; (k, n)."""
    found = np.zeros((len(parameters.weights), len(block)))
    for kind, own in untabulated(parameters.kinds):
        pairs = zip(_natural(kind, parameters, own), _statistics(kind, block, own), strict=True)
        for natural, each in pairs:
            found += natural @ each.T
    return found


def sums(block: Block, shares: Array, codes: Array) -> Array:
    """Statistics by component, with weighted ``shares`` (k, n); (N_SUMS, k, d)."""
    found = np.zeros((N_SUMS, len(shares), len(codes)))
    for kind, own in untabulated(codes):
        for place, each in enumerate(_statistics(kind, block, own)):
            found[place][:, own] = shares @ each
    return found


def maximised(before: "MixedParameters", sums: Array, prior: Array) -> "MixedParameters":
    """Maximum-likelihood means and shapes, with prior sums (N_SUMS, d)."""
    rates, shapes = before.rates.copy(), before.count_shapes.copy()
    for kind, own in untabulated(before.kinds):
        n = len(kind.natural(rates[:, own], shapes[:, own]))
        every = sums[:n][..., own] + prior[:n, None, own]
        rates[:, own], shapes[:, own] = kind.maximised(every, rates[:, own], shapes[:, own])
    return replace(before, rates=rates, count_shapes=shapes)


def log_prior(parameters: "MixedParameters", prior: Array) -> float:
    """The log-prior of means and shapes."""
    return sum(
        float(np.sum(prior[place, own] * natural))
        for kind, own in untabulated(parameters.kinds)
        for place, natural in enumerate(_natural(kind, parameters, own))
    )


def within(parameters: "MixedParameters") -> "MixedParameters":
    """Valid means and shapes."""
    rates, shapes = parameters.rates.copy(), parameters.count_shapes.copy()
    for kind, own in untabulated(parameters.kinds):
        rates[:, own], shapes[:, own] = kind.inside(rates[:, own], shapes[:, own])
    return replace(parameters, rates=rates, count_shapes=shapes)
