"""Expectation-maximisation for mixtures with gaps, as sums over blocks of rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.method.refinement import Climb, Refined
from halfseen.models.gaussian_mixture.covariance_shape import CovarianceShape
from halfseen.models.gaussian_mixture.parameters import MixtureParameters
from halfseen.models.gaussian_mixture.posterior import normalised
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block, Rows

SMALLEST_SPREAD = 1e-6
"""Of a feature's range: a component with less has shrunk onto a point."""


@dataclass(frozen=True, eq=False)
class ExpectationSums:
    """What one E-step adds up: the likelihood, and moments weighted by responsibilities."""

    n_rows: float
    log_likelihood: float
    share: Array  # (k,)      Σ r
    count: Array  # (k, d)    Σ r m
    first: Array  # (k, d)    Σ r x, over the observed entries
    second: Array  # (k, s)   Σ r x², summed as the covariance's shape allows

    @classmethod
    def under(
        cls, parameters: MixtureParameters, shape: CovarianceShape
    ) -> Callable[[Block], "ExpectationSums"]:
        """The function that runs the E-step on a block.

        ``log π_k N(x; a_k, σ²_k) = x·θ_k + m·η_k + (squares)·ζ_k + log π_k``: matrix products.
        """
        precision = 1 / parameters.variances
        linear = parameters.means * precision  # (k, d)
        constant = np.log(2 * np.pi * parameters.variances) + parameters.means**2 * precision
        by_count = -0.5 * constant
        by_square = -0.5 * shape.precisions(parameters.variances)  # (k, s)
        log_weights = np.log(parameters.weights)[:, None]

        def summarise(block: Block) -> ExpectationSums:
            x, mask = block.values, block.observed.astype(float)
            squares = shape.squares(x)
            joint = linear @ x.T  # (k, n)
            joint += by_count @ mask.T
            joint += by_square @ squares.T
            joint += log_weights
            log_likelihood, responsibilities = normalised(joint)
            shares = block.weighed(responsibilities).T
            return cls(
                n_rows=float(len(x) if block.weights is None else block.weights.sum()),
                log_likelihood=float(block.weighed(log_likelihood).sum()),
                share=shares.sum(axis=1),
                count=shares @ mask,
                first=shares @ x,
                second=shares @ squares,
            )

        return summarise

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.n_rows + other.n_rows,
            self.log_likelihood + other.log_likelihood,
            self.share + other.share,
            self.count + other.count,
            self.first + other.first,
            self.second + other.second,
        )

    def maximise(
        self, shape: CovarianceShape, previous: MixtureParameters, floor: Array
    ) -> MixtureParameters:
        """The M-step. What no row says anything about stays as it was."""
        known = self.count > 1e-10
        means = np.divide(self.first, self.count, out=previous.means.copy(), where=known)
        # Σ r (x - a)² = Σ r x² - 2a Σ r x + a² Σ r m, summed over features if the squares are.
        cross = means * (means * self.count - 2 * self.first)
        if self.second.shape != cross.shape:
            cross = cross.sum(axis=1, keepdims=True)
        variances = np.maximum(shape.variances(self.second + cross, self.count), floor)
        # A component that no row belongs to keeps a trace of weight, so that it can come back.
        weights = np.maximum(self.share / self.n_rows, 1e-10)
        return MixtureParameters(weights / weights.sum(), means, variances)


def polish(
    rows: Rows,
    start: MixtureParameters,
    shape: CovarianceShape,
    feature_range: Array,
    *,
    tolerance: float,
    max_iterations: int,
) -> Refined[MixtureParameters]:
    """Climb from ``start`` to a maximum of the likelihood of what is observed in ``rows``.

    Two EM steps and a squared extrapolation from them (Varadhan and Roland 2008, SQUAREM), which is
    taken only if it does not lower the likelihood, so that the likelihood never falls. Stops when
    an EM step gains less than ``tolerance`` a row.
    """
    origin = start.weights @ start.means
    centred = rows.recentred(origin)
    ceiling = shape.shared(feature_range**2)
    floor = SMALLEST_SPREAD**2 * ceiling

    def step(parameters: MixtureParameters) -> tuple[float, MixtureParameters]:
        sums = centred.accumulate(ExpectationSums.under(parameters, shape))
        return sums.log_likelihood / sums.n_rows, sums.maximise(shape, parameters, floor)

    here = MixtureParameters(
        start.weights, start.means - origin, np.maximum(start.variances, floor)
    )
    height, once = step(here)
    n_iterations, converged = 1, False
    while n_iterations < max_iterations:
        higher, twice = step(once)
        n_iterations += 1
        converged = higher - height < tolerance
        if converged or n_iterations == max_iterations:
            here, height = once, higher
            break
        leap = _extrapolated(here, once, twice, floor, ceiling)
        leap_height, after = step(leap)
        n_iterations += 1
        if leap_height >= higher:
            here, height, once = leap, leap_height, after
        elif n_iterations < max_iterations:
            here = twice
            height, once = step(here)
            n_iterations += 1
        else:
            here, height = once, higher
    moved = MixtureParameters(here.weights, here.means + origin, here.variances)
    return Refined(moved, Climb(height, n_iterations, converged))


def _extrapolated(
    start: MixtureParameters,
    once: MixtureParameters,
    twice: MixtureParameters,
    floor: Array,
    ceiling: Array,
) -> MixtureParameters:
    """Where the last two steps point to, at the squared step length of SQUAREM's third scheme."""
    scale = np.sqrt(start.variances)

    def coordinates(p: MixtureParameters) -> tuple[Array, Array, Array]:
        return np.log(p.weights), p.means / scale, np.log(p.variances)

    points = list(zip(*map(coordinates, (start, once, twice)), strict=True))
    steps = [b - a for a, b, _ in points]
    bends = [c - 2 * b + a for a, b, c in points]
    length = np.sqrt(sum(float(np.sum(s**2)) for s in steps))
    bend = np.sqrt(sum(float(np.sum(b**2)) for b in bends))
    ratio = max(length / bend, 1.0) if bend > 0 else 1.0
    log_weights, means, log_variances = (
        point[0] + 2 * ratio * s + ratio**2 * b
        for point, s, b in zip(points, steps, bends, strict=True)
    )
    weights = np.exp(log_weights - log_weights.max())
    weights = np.maximum(weights / weights.sum(), 1e-10)
    # A leap may be wild; it is judged by its likelihood, which must not overflow.
    variances = np.exp(np.clip(log_variances, np.log(floor), np.log(ceiling)))
    return MixtureParameters(weights / weights.sum(), means * scale, variances)
