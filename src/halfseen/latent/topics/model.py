"""Models whose rows have loadings on topics: all that such models share."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.formatting import plural
from halfseen.data.progress import Stages
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block, Rows
from halfseen.inference.model import Abilities, About, Cells, Cumulants, Each, EMResult, Start
from halfseen.inference.plan import Plan, Routes
from halfseen.latent.counts import check_counts, poisson
from halfseen.latent.topics.importance_sampling import ImportanceSample, importance_sample
from halfseen.latent.topics.loading_prior import LoadingPrior, Rest
from halfseen.latent.topics.outliers import (
    CountLimits,
    count_limits,
    outlier_score,
    without_impossible_counts,
)
from halfseen.latent.topics.posterior import factorised_posterior
from halfseen.latent.topics.refinement import refinement_gain, should_refine
from halfseen.latent.topics.regression import TopicRegression
from halfseen.moments.regression import Regression
from halfseen.moments.survey import Survey

L = TypeVar("L", bound=LoadingPrior)
RARE_ROW = 1e-4
"""A row that one of so many of the model is as far out as is as likely unlike all of them."""
LIKELIHOOD_SEED = 0
"""Of the likelihood's importance draws: scores are the same whenever they are asked for."""


class Kind(Protocol[L]):
    """What tells one model of loadings from another; its parameters are the law of loadings."""

    @property
    def numbered(self) -> bool:
        """Whether something is known of rows by their numbers."""

    def start(
        self, model: Any, winsorised: Rows, plan: Plan, routes: Routes, stages: Stages
    ) -> Start:
        """Where topics are by the moments of ``winsorised`` rows."""

    def from_moments(self, read: Any) -> L:
        """Its parameters, from what was read off the moments."""

    def refine(self, rows: Rows, start: L, kept: Survey, seed: int) -> EMResult:
        """Climb from ``start`` to higher likelihood."""

    def rest(self, block: Block, parameters: L) -> Rest | None:
        """What is known of counts that were not recorded."""

    def shown(self, loadings: Array) -> Array:
        """What people are told of loadings (..., k): these, or their shares."""

    def drawn(self, parameters: L, n_rows: int, random: Any) -> Array:
        """Loadings; (n, k)."""


@dataclass(frozen=True, eq=False)
class Loadings(Generic[L]):
    """``x_d ~ Poisson(Σ_k α_k a_kd)`` with loadings α_k of some law."""

    kind: Kind[L]
    about: About
    abilities: Abilities
    cumulants: Cumulants[Any]
    checks: tuple[Callable[[Any], Iterator[Any]], ...]
    outliers: bool = False  # whether wild counts and long rows are kept from deciding
    bounds: CountLimits | None = None  # of a table, if something in it is beyond them
    starts: bool = False
    axes: Mapping[str, str] = field(default_factory=dict)

    @property
    def numbered(self) -> bool:
        """Whether something is known of rows by their numbers."""
        return self.kind.numbered

    def check(self, seen: Survey) -> None:
        """Columns hold counts."""
        check_counts(seen)

    def caution(self, seen: Survey) -> None:
        """What totals are like is a concern, not seen beforehand."""

    def start(self, winsorised: Rows, plan: Plan, routes: Routes, stages: Stages) -> Start:
        """By moments of the counts."""
        return self.kind.start(self, winsorised, plan, routes, stages)

    def regression(self, kept: Survey) -> Regression[Any]:
        """Incomplete features are found by regression on predicted loadings."""
        return TopicRegression(np.zeros(len(kept.names)))

    def from_moments(self, read: Any) -> L:
        """Parameters, from what was read off the moments."""
        return self.kind.from_moments(read)

    def fills(self, block: Block, parameters: L) -> Cells:
        """With expectations."""
        return self.cells(block, parameters)

    def unusual(self, block: Block, parameters: L) -> Array:
        """By the count that the others of its row say least of, or by the row's total; (n,)."""
        chance = 1 - outlier_score(block, parameters)
        odds: Array = RARE_ROW / (RARE_ROW + chance)
        return odds

    def limits(self, kept: Survey) -> Array:
        """All that was seen, but for wild counts."""
        highest = kept.sums.maximum
        if self.bounds is not None:
            highest = np.minimum(highest, np.floor(self.bounds.most))
        return np.array([kept.sums.minimum, highest])

    def adapted_to(self, rows: Rows, kept: Survey) -> Self:
        """The same with the limits of what is usual in a table, if something is beyond them."""
        limits = count_limits(rows, kept.sums) if self.outliers else None
        return self if limits is None or limits.all_usual else replace(self, bounds=limits)

    def winsorised(self, rows: Rows, kept: Survey) -> Rows:
        """Without wild counts and long rows."""
        return rows if self.bounds is None else self.bounds.masked(rows)

    def should_refine(self, kept: Survey) -> tuple[bool, str]:
        """If counts are few and far between, as words are in documents."""
        return should_refine(kept)

    def step(self, rows: Rows, parameters: L) -> EMResult:
        """Refused: loadings of rows are drawn one by one."""
        raise ValueError(
            f"{plural(self.about.noun).capitalize()} are polished by draws for every row, which "
            "sums do not hold. Stay with what the moments say."
        )

    def refine(
        self, rows: Rows, start: L, n_components: int, kept: Survey, seed: Callable[[], int]
    ) -> EMResult:
        """By drawing what is hidden, without wild counts and long rows."""
        winsorised = self.winsorised(rows, kept)
        found = self.kind.refine(winsorised, start, kept, seed())
        gain = refinement_gain(winsorised, kept.sums.n_rows, start, found.parameters)
        return found._replace(convergence=found.convergence._replace(gain=gain))

    def log_likelihood(self, block: Block, parameters: L) -> Array:
        """By importance sampling; (n,)."""
        return self.sampled(block, parameters).log_likelihood

    def sampled(
        self, block: Block, parameters: L, seed: int = LIKELIHOOD_SEED, n_draws: int = 0
    ) -> ImportanceSample:
        """Rows' likelihoods, and what is known of their loadings."""
        rest = self.kind.rest(block, parameters)
        return importance_sample(block, parameters, seed, n_draws, rest)

    def expected_latent(self, block: Block, parameters: L) -> Array:
        """Posterior mean loadings, by mean-field variational inference; (n, k)."""
        rest = self.kind.rest(block, parameters)
        return self.kind.shown(factorised_posterior(block, parameters, rest).mean)

    def cells(self, block: Block, parameters: L) -> Cells:
        """Poisson counts of uncertain loadings."""
        block, topics = self._credible(block, parameters), parameters.topics
        sample = self.sampled(block, parameters)
        rates = sample.mean @ topics
        of_rates = np.einsum("nkl,kd,ld->nd", sample.covariance, topics, topics, optimize=True)
        return Cells(rates, rates + of_rates)

    def expected_loadings(self, block: Block, parameters: L) -> Array:
        """What gaps are filled by; (n, k)."""
        return self.sampled(self._credible(block, parameters), parameters).mean

    def _credible(self, block: Block, parameters: L) -> Block:
        """Rows to fill gaps by: a count that must be an error would be written into them too."""
        return without_impossible_counts(block, parameters) if self.outliers else block

    def fill(self, each: Each, parameters: L, number: int, random: Any) -> list[Array]:
        """Draw loadings given the observed counts, and then counts."""
        fresh = random.randint(2**31)

        def drawn(block: Block) -> Array:
            return self.sampled(self._credible(block, parameters), parameters, fresh, number).draws

        rates = np.einsum("nmk,kd->mnd", each(drawn), parameters.topics)
        return [poisson(random, rate) for rate in rates]

    def draw(self, parameters: L, n_rows: int, random: Any) -> tuple[Array, Array]:
        """Rows of counts without gaps, and the loadings they come from."""
        drawn = self.kind.drawn(parameters, n_rows, random)
        return poisson(random, drawn @ parameters.topics), self.kind.shown(drawn)

    def shares(self, parameters: L) -> Array:
        """Of all that is counted; (k,)."""
        shares: Array = parameters.shapes / parameters.shapes.sum()
        return shares

    def places(self, parameters: L, home: L) -> Array:
        """The topics; (k, d)."""
        return parameters.topics

    def replicated(self, rows: Rows, parameters: L, bins: Bins, weights: Array) -> list[L]:
        """Refused, as :attr:`abilities` says."""
        raise ValueError(self.abilities.no_intervals)


def loadings(block: Block, law: LoadingPrior) -> tuple[Array, Array]:
    """Means and standard deviations of rows' loadings, by importance sampling; (n, k) each."""
    sample = importance_sample(block, law, LIKELIHOOD_SEED)
    variances = np.diagonal(sample.covariance, axis1=1, axis2=2)
    return sample.mean, np.sqrt(np.maximum(variances, 0.0))
