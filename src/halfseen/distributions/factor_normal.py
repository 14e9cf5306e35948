"""Normal columns that go along with each other by a few factors, which all components share."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from halfseen.data.arrays import Array, Labels
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Block, Rows
from halfseen.distributions.correlated_normal import CorrelatedNormal
from halfseen.distributions.covariances import LEAST, collapsed_variances
from halfseen.distributions.emission import Step
from halfseen.distributions.factor_analysis import (
    LEAST_OWN,
    FactorParameters,
    factors_of,
    first_factors,
    log_prior,
    maximised,
    summed,
    turned,
    whole,
)
from halfseen.distributions.outlier_limits import Fences, inside, limits
from halfseen.inference.model import Cells
from halfseen.moments.survey import Survey


@dataclass(frozen=True, eq=False, kw_only=True)
class FactorNormal(CorrelatedNormal[FactorParameters]):
    """``x | k ~ N(μ_k, s_k∘(ΛΛ' + diag ψ)∘s_k)``, with numbers that grow with columns alone.

    Z. Ghahramani, G. Hinton (1996), The EM algorithm for mixtures of factor analyzers; here all
    components share the factors, and have spreads of their own.
    """

    n_factors: int

    def for_table(self, rows: Rows, kept: Survey) -> Self:
        """Means stay within what is usual in each column; factors are fewer than columns."""
        few = max(1, min(self.n_factors, len(kept.names) - 1))
        return replace(self, n_factors=few, fences=Fences.of(rows, kept, self.outliers))

    def independent(self, weights: Array, means: Array, variances: Array) -> FactorParameters:
        """Components of which columns do not go along with each other."""
        pattern = np.zeros((means.shape[1], self.n_factors))
        return FactorParameters(
            weights=weights, means=means, spreads=np.sqrt(variances), pattern=pattern
        )

    def single(self, some: MemoryRows, mean: Array, variance: Array) -> FactorParameters:
        """One component, with the factors that some rows show where gaps are in the middle."""
        found = self.independent(np.ones(1), mean[None], variance[None])
        pattern = first_factors(some, mean, np.sqrt(variance), self.n_factors)
        return self.em_start(replace(found, pattern=pattern))

    def apart(self, alone: FactorParameters, weights: Array, means: Array) -> FactorParameters:
        """Components at ``means`` (k, d), from the single one that all rows have ``alone``."""
        means = np.clip(means, *limits(self.fences))
        between = weights @ (means - weights @ means) ** 2
        left = np.maximum(alone.variances[0] - between, LEAST * alone.variances[0])
        spreads = np.repeat(np.sqrt(left)[None], len(means), axis=0)
        return self.within(replace(alone, weights=weights, means=means, spreads=spreads))

    def log_densities(self, block: Block, parameters: FactorParameters) -> Array:
        """Of what is observed in each row, under each component; (n, k)."""
        block, alone = inside(block, parameters)
        found = factors_of(block, parameters).log_densities
        return found if alone is None else found + alone[:, None]

    def expect(self, parameters: FactorParameters) -> Step:
        """The E-step on a block, of which no cell is beyond the fences."""

        def step(block: Block, log_weights: Array) -> tuple[float, Array, tuple[Array, ...]]:
            found = factors_of(block, parameters)
            joint = found.log_densities + log_weights
            highest = joint.max(axis=1, keepdims=True, initial=-np.inf)
            shares = np.exp(joint - highest)
            total = shares.sum(axis=1, keepdims=True)
            shares = block.weighed(shares / total)
            likelihood = block.weighed((np.log(total) + highest)[:, 0]).sum()
            return float(likelihood), shares.sum(axis=0), summed(found, shares)

        return step

    def given(self, block: Block, shares: Array, parameters: FactorParameters) -> tuple[Array, ...]:
        """The same sums, if rows belong to components by ``shares`` (n, k)."""
        return summed(factors_of(block, parameters), shares)

    def prior(self, parameters: FactorParameters) -> float:
        """Variances of a feature are near each other, and no feature is explained whole.

        Without a prior places where a component shrinks to a point are ruled out.
        """
        if not self.strength and collapsed_variances(parameters.variances):
            return -np.inf
        return log_prior(parameters, self.strength)

    def maximise(
        self, weights: Array, sums: tuple[Array, ...], before: FactorParameters
    ) -> FactorParameters:
        """Means, spreads and factors."""
        return maximised(weights, sums, before, self.strength, self._floor(before))

    def _floor(self, parameters: FactorParameters) -> Array:
        if self.fences is None:
            return np.zeros(parameters.means.shape[1])
        return self.fences.floor(len(parameters.weights))

    def within(self, parameters: FactorParameters) -> FactorParameters:
        """Means within what is usual, and no feature explained whole."""
        size = np.sum(parameters.pattern**2, axis=1)
        shrink = np.sqrt(np.minimum(1.0, (1 - LEAST_OWN) / np.maximum(size, 1e-300)))
        spreads = parameters.spreads
        if self.fences is not None:
            widest = self.fences.high - self.fences.low
            own = np.maximum(1 - np.minimum(size, 1 - LEAST_OWN), LEAST_OWN)
            spreads = np.clip(spreads, 1e-6 * widest, widest)
            spreads = np.maximum(spreads, np.sqrt(self._floor(parameters) / own))
        return replace(
            parameters,
            means=np.clip(parameters.means, *limits(self.fences)),
            spreads=spreads,
            pattern=parameters.pattern * shrink[:, None],
        )

    def finalised(self, rows: Rows, parameters: FactorParameters) -> FactorParameters:
        """Factors turned so that the first explains most: how they are turned changes nothing."""
        return replace(parameters, pattern=turned(parameters.pattern, parameters.own))

    def units(self, parameters: FactorParameters) -> Mapping[str, Array]:
        """Means move by spreads; loadings are correlations."""
        return {"means": parameters.spreads, "pattern": np.ones(1)}

    def covariances(self, parameters: FactorParameters) -> Array:
        """Of the columns in each component; (k, d, d)."""
        shared = parameters.pattern @ parameters.pattern.T + np.diag(parameters.own)
        s = parameters.spreads
        found: Array = shared * s[:, :, None] * s[:, None, :]
        return found

    def squares(self, block: Block, parameters: FactorParameters) -> Array:
        return factors_of(block, parameters).squares

    def expected(self, block: Block, shares: Array, parameters: FactorParameters) -> Cells:
        """Cells given the others of their row, over components that it has ``shares`` (n, k) of."""
        block, _ = inside(block, parameters)
        found, pattern = factors_of(block, parameters), parameters.pattern
        square = whole(found.uncertain, pattern.shape[1])
        unsure = np.einsum("npq,dp,dq->nd", square, pattern, pattern, optimize=True)
        unsure += parameters.own
        each = [
            mean + s * (z @ pattern.T)
            for mean, s, z in zip(
                parameters.means, parameters.spreads, found.expected.swapaxes(0, 1), strict=True
            )
        ]
        mean = sum(r[:, None] * one for r, one in zip(shares.T, each, strict=True))
        variance = (shares @ parameters.variances) * unsure
        for r, one in zip(shares.T, each, strict=True):
            variance += r[:, None] * (one - mean) ** 2
        there = block.observed
        return Cells(np.where(there, block.values, mean), np.where(there, 0.0, variance))

    def draw_given(
        self, block: Block, labels: Labels, parameters: FactorParameters, random: Any
    ) -> Array:
        """Rows of the given components, drawn given the cells that are there; (n, d)."""
        block, _ = inside(block, parameters)
        found, q = factors_of(block, parameters), parameters.pattern.shape[1]
        root = np.linalg.cholesky(whole(found.uncertain, q))
        z = found.expected[np.arange(len(block)), labels]
        z = z + np.einsum("npq,nq->np", root, random.standard_normal(z.shape))
        drawn = self._from(z, parameters, labels, random)
        return np.where(block.observed, block.values, drawn)

    def alike(self, parameters: FactorParameters, like: FactorParameters) -> FactorParameters:
        """With factors turned to those of another."""
        left, _, right = np.linalg.svd(parameters.pattern.T @ like.pattern)
        return replace(parameters, pattern=parameters.pattern @ left @ right)

    def draw(self, parameters: FactorParameters, labels: Labels, random: Any) -> Array:
        """Rows of the given components; (n, d)."""
        z = random.standard_normal((len(labels), parameters.pattern.shape[1]))
        return self._from(z, parameters, labels, random)

    def _from(self, z: Array, parameters: FactorParameters, labels: Labels, random: Any) -> Array:
        own = np.sqrt(parameters.own)
        alike = z @ parameters.pattern.T + own * random.standard_normal((len(z), len(own)))
        rows: Array = parameters.means[labels] + parameters.spreads[labels] * alike
        return rows
