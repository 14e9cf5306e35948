"""What models with loadings on topics share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows
from halfseen.inference.model import Cells, Each, EMResult, Model
from halfseen.latent.counts import (
    CountLimits,
    check_counts,
    count_limits,
    outlier_score,
    poisson,
    without_impossible_counts,
)
from halfseen.latent.importance_sampling import ImportanceSample, importance_sample
from halfseen.latent.loadings import LoadingPrior, Rest, factorised_posterior
from halfseen.latent.topic_refinement import refinement_gain, should_refine
from halfseen.latent.topic_regression import TopicRegression
from halfseen.moments.regression import Regression
from halfseen.moments.survey import Survey

L = TypeVar("L", bound=LoadingPrior)
RARE_ROW = 1e-4
"""A row that one of so many of the model is as far out as is as likely unlike all of them."""
LIKELIHOOD_SEED = 0
"""Of the likelihood's importance draws: scores are the same whenever they are asked for."""


class LoadingDistribution(ABC, Generic[L]):
    """The prior of loadings, in which models of topics differ."""

    @property
    def uses_row_numbers(self) -> bool:
        """Whether something is known of rows by their numbers."""
        return False

    @abstractmethod
    def refine(self, rows: Rows, start: L, kept: Survey, seed: int) -> EMResult[L]:
        """Parameters of higher likelihood than ``start``."""

    @abstractmethod
    def drawn(self, parameters: L, n_rows: int, random: Any) -> Array:
        """Loadings drawn from the prior; shape (n, k)."""

    def from_moments(self, read: Any) -> L:
        """The model's parameters, from what was read off the moments."""
        parameters: L = read
        return parameters

    def rest(self, block: Block, parameters: L) -> Rest | None:
        """What is known of counts that were not recorded."""
        return None

    def shown(self, loadings: Array) -> Array:
        """What people are told of loadings (..., k): these, or their shares."""
        return loadings


@dataclass(frozen=True, eq=False, kw_only=True)
class LoadingLikelihood(Model[L]):
    """What rows of counts say of their loadings, and loadings of counts."""

    kind: LoadingDistribution[L]
    outliers: bool = False  # whether wild counts and long rows are kept from deciding
    bounds: CountLimits | None = None  # of a table, if something in it is beyond them

    def unusual(self, block: Block, parameters: L) -> Array:
        # By the count that the others of its row say least of, or by the row's total.
        chance = 1 - outlier_score(block, parameters)
        odds: Array = RARE_ROW / (RARE_ROW + chance)
        return odds

    def limits(self, kept: Survey) -> Array:
        highest = kept.sums.maximum
        if self.bounds is not None:
            highest = np.minimum(highest, np.floor(self.bounds.most))
        return np.array([kept.sums.minimum, highest])

    def log_likelihood(self, block: Block, parameters: L) -> Array:
        return self.sampled(block, parameters).log_likelihood

    def sampled(
        self, block: Block, parameters: L, seed: int = LIKELIHOOD_SEED, n_draws: int = 0
    ) -> ImportanceSample:
        """Log-likelihoods of rows and posteriors of their loadings, by importance sampling."""
        rest = self.kind.rest(block, parameters)
        return importance_sample(block, parameters, seed, n_draws, rest)

    def expected_latent(self, block: Block, parameters: L) -> Array:
        rest = self.kind.rest(block, parameters)
        return self.kind.shown(factorised_posterior(block, parameters, rest).mean)

    def cells(self, block: Block, parameters: L) -> Cells:
        block, topics = self._credible(block, parameters), parameters.topics
        sample = self.sampled(block, parameters)
        rates = sample.mean @ topics
        of_rates = np.einsum("nkl,kd,ld->nd", sample.covariance, topics, topics, optimize=True)
        return Cells(rates, rates + of_rates)

    def expected_loadings(self, block: Block, parameters: L) -> Array:
        """Expected loadings by which gaps are filled; (n, k)."""
        return self.sampled(self._credible(block, parameters), parameters).mean

    def _credible(self, block: Block, parameters: L) -> Block:
        """The rows without impossible counts, which would be written into filled cells."""
        return without_impossible_counts(block, parameters) if self.outliers else block

    def fill(self, each: Each, parameters: L, number: int, random: Any) -> list[Array]:
        fresh = random.randint(2**31)

        def drawn(block: Block) -> Array:
            return self.sampled(self._credible(block, parameters), parameters, fresh, number).draws

        rates = np.einsum("nmk,kd->mnd", each(drawn), parameters.topics)
        return [poisson(random, rate) for rate in rates]

    def draw(self, parameters: L, n_rows: int, random: Any) -> tuple[Array, Array]:
        drawn = self.kind.drawn(parameters, n_rows, random)
        return poisson(random, drawn @ parameters.topics), self.kind.shown(drawn)


@dataclass(frozen=True, eq=False, kw_only=True)
class Loadings(LoadingLikelihood[L]):
    """``x_d ~ Poisson(Σ_k α_k a_kd)`` with loadings α_k of some distribution."""

    checks: tuple[Callable[[Any], Iterator[Any]], ...] = ()
    check: Callable[[Survey], None] = check_counts

    @property
    def uses_row_numbers(self) -> bool:
        return self.kind.uses_row_numbers

    def regression(self, kept: Survey) -> Regression[Any]:
        return TopicRegression(np.zeros(len(kept.names)))

    def from_moments(self, read: Any) -> L:
        return self.kind.from_moments(read)

    def adapted_to(self, rows: Rows, kept: Survey) -> Self:
        limits = count_limits(rows, kept.sums) if self.outliers else None
        return self if limits is None or limits.all_usual else replace(self, bounds=limits)

    def winsorised(self, rows: Rows, kept: Survey) -> Rows:
        return rows if self.bounds is None else self.bounds.masked(rows)

    def should_refine(self, kept: Survey) -> tuple[bool, str]:
        return should_refine(kept)

    def refine(
        self, rows: Rows, start: L, n_components: int, kept: Survey, seed: Callable[[], int]
    ) -> EMResult[L]:
        winsorised = self.winsorised(rows, kept)
        found = self.kind.refine(winsorised, start, kept, seed())
        gain = refinement_gain(winsorised, kept.sums.n_rows, start, found.parameters)
        return found._replace(convergence=found.convergence._replace(gain=gain))

    def shares(self, parameters: L) -> Array:
        shares: Array = parameters.shapes / parameters.shapes.sum()
        return shares


def loadings(block: Block, law: LoadingPrior) -> tuple[Array, Array]:
    """Means and standard deviations of rows' loadings, by importance sampling; (n, k) each."""
    sample = importance_sample(block, law, LIKELIHOOD_SEED)
    variances = np.diagonal(sample.covariance, axis1=1, axis2=2)
    return sample.mean, np.sqrt(np.maximum(variances, 0.0))
