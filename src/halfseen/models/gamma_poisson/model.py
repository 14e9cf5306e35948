"""Gamma-Poisson topics: gamma loadings behind each row, Poisson counts in its columns."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from halfseen.explain.portrait import Portrait
from halfseen.explain.topics import Topics
from halfseen.method.fit import Fitted
from halfseen.method.model import Abilities, About, Cells, Each, Polished, Start
from halfseen.method.moment_start import by_cumulants
from halfseen.method.plan import Plan, Routes
from halfseen.models.counts import check_counts, poisson
from halfseen.models.gamma_poisson.concerns import alike, bursty, dispersion, odd_counts, routes
from halfseen.models.gamma_poisson.cumulants import GammaPoissonCumulants
from halfseen.models.gamma_poisson.importance import importance_sample
from halfseen.models.gamma_poisson.loading_moments import TopicParameters
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters
from halfseen.models.gamma_poisson.posterior import factorised_posterior
from halfseen.models.gamma_poisson.regression import TopicRegression
from halfseen.models.gamma_poisson.stochastic_em import polish
from halfseen.models.gamma_poisson.unusual import unusual, without_errors
from halfseen.models.usual_counts import UsualCounts, usual_counts
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.bins import Bins
from halfseen.rows.rows import Block, Rows
from halfseen.rows.stages import Stages

RARE_ROW = 1e-4
"""A row that one of so many of the model is as far out as is as likely unlike all of them."""
LIKELIHOOD_SEED = 0
"""Of the likelihood's importance draws: scores are the same whenever they are asked for."""
MOST_SCORED = 600
"""Rows by which numbers of topics are compared: likelihoods take a millisecond each."""
ABOUT = About(
    name="gamma-poisson",
    noun="topic",
    gives="topics, of counts",
    assumes="Counts vary as Poisson counts do once the topics of a row are known.",
    weighting="signal",
    labels=False,
    counts=True,
)
NO_INTERVALS = (
    "There are no intervals for topics polished with refine='saem'. Fit with refine=None for "
    "intervals."
)


@dataclass(frozen=True, eq=False)
class GammaPoissonModel:
    """``x_d ~ Poisson(Σ_k α_k a_kd)`` with ``α_k ~ Gamma(shape c_k, rate b)``."""

    n_sweeps: int
    polished: bool
    starts: bool = False
    outliers: bool = False  # whether wild counts and long rows are kept from deciding
    bounds: UsualCounts | None = None  # of a table, if something in it is beyond them
    about: About = ABOUT
    axes: Mapping[str, str] = field(default_factory=dict)
    cumulants: GammaPoissonCumulants = field(default_factory=GammaPoissonCumulants)
    checks: tuple[Callable[[Any], Iterator[Any]], ...] = (
        odd_counts,
        bursty,
        alike,
        dispersion,
        routes,
    )

    @property
    def abilities(self) -> Abilities:
        """Likelihoods are slow, and stochastic polish leaves no curvature to learn errors from."""
        return Abilities(
            thin_products=True,
            rank_tests=True,
            not_streamed="",
            no_intervals=self.polished * NO_INTERVALS,
            no_weights="",
            polish_candidates=False,
            scored_rows=MOST_SCORED,
        )

    def portrait(self, fitted: Fitted[GammaPoissonParameters]) -> Portrait:
        """As topics."""
        return Topics.of(fitted, fitted.parameters.topics, loadings)

    def check(self, seen: Survey) -> None:
        """Columns hold counts."""
        check_counts(seen)

    def caution(self, seen: Survey) -> None:
        """Whether totals vary enough is a concern, not seen beforehand."""

    def start(self, calm: Rows, plan: Plan, routes: Routes, stages: Stages) -> Start:
        """By the cumulants of the counts."""
        return by_cumulants(self, calm, plan, routes, stages)

    def regression(self, kept: Survey) -> TopicRegression:
        """Incomplete features are found by regression on predicted loadings."""
        return TopicRegression(np.zeros(len(kept.names)))

    def finished(self, read: TopicParameters) -> GammaPoissonParameters:
        """With gamma loadings of the means and variances that were read."""
        return GammaPoissonParameters.matching(read)

    def fills(self, block: Block, parameters: GammaPoissonParameters) -> Cells:
        """With expectations."""
        return self.cells(block, parameters)

    def unusual(self, block: Block, parameters: GammaPoissonParameters) -> Array:
        """By the count that the others of its row say least of, or by the row's total; (n,)."""
        chance = 1 - unusual(block, parameters)
        odds: Array = RARE_ROW / (RARE_ROW + chance)
        return odds

    def limits(self, kept: Survey) -> Array:
        """All that was seen, but for wild counts."""
        highest = kept.sums.maximum
        if self.bounds is not None:
            highest = np.minimum(highest, np.floor(self.bounds.most))
        return np.array([kept.sums.minimum, highest])

    def suited(self, rows: Rows, kept: Survey) -> Self:
        """The same with the limits of what is usual in a table, if something is beyond them."""
        limits = usual_counts(rows, kept.sums) if self.outliers else None
        return self if limits is None or limits.all_usual else replace(self, bounds=limits)

    def calmed(self, rows: Rows, kept: Survey) -> Rows:
        """Without wild counts and long rows."""
        return rows if self.bounds is None else self.bounds.calmed(rows)

    def polish(
        self,
        rows: Rows,
        start: GammaPoissonParameters,
        n_components: int,
        kept: Survey,
        seed: Callable[[], int],
    ) -> Polished:
        """By stochastic approximation EM, without wild counts and long rows."""
        calm = self.calmed(rows, kept)
        return polish(calm, start, seed=seed(), n_sweeps=self.n_sweeps)

    def log_likelihood(self, block: Block, parameters: GammaPoissonParameters) -> Array:
        """By importance sampling; (n,)."""
        return importance_sample(block, parameters, LIKELIHOOD_SEED).log_likelihood

    def hidden(self, block: Block, parameters: GammaPoissonParameters) -> Array:
        """Posterior mean loadings, by mean-field variational inference; (n, k)."""
        return factorised_posterior(block, parameters).mean

    def cells(self, block: Block, parameters: GammaPoissonParameters) -> Cells:
        """Poisson counts of uncertain loadings."""
        block, topics = self._credible(block, parameters), parameters.topics
        sample = importance_sample(block, parameters, LIKELIHOOD_SEED)
        rates = sample.mean @ topics
        of_rates = np.einsum("nkl,kd,ld->nd", sample.covariance, topics, topics, optimize=True)
        return Cells(rates, rates + of_rates)

    def _credible(self, block: Block, parameters: GammaPoissonParameters) -> Block:
        """Rows to fill gaps by: a count that must be an error would be written into them too."""
        return without_errors(block, parameters) if self.outliers else block

    def fill(
        self, each: Each, parameters: GammaPoissonParameters, number: int, random: Any
    ) -> list[Array]:
        """Draw loadings given the observed counts, and then counts."""
        fresh = random.randint(2**31)

        def drawn(block: Block) -> Array:
            block = self._credible(block, parameters)
            return importance_sample(block, parameters, fresh, number).draws

        loadings = each(drawn)
        rates = np.einsum("nmk,kd->mnd", loadings, parameters.topics)
        return [poisson(random, rate) for rate in rates]

    def draw(
        self, parameters: GammaPoissonParameters, n_rows: int, random: Any
    ) -> tuple[Array, Array]:
        """Rows of counts without gaps, and the loadings they come from."""
        size = (n_rows, len(parameters.shapes))
        loadings = random.gamma(parameters.shapes, 1 / parameters.rate, size=size)
        return poisson(random, loadings @ parameters.topics), loadings

    def shares(self, parameters: GammaPoissonParameters) -> Array:
        """Of all that is counted; (k,)."""
        shares: Array = parameters.shapes / parameters.shapes.sum()
        return shares

    def places(self, parameters: GammaPoissonParameters, home: GammaPoissonParameters) -> Array:
        """The topics; (k, d)."""
        return parameters.topics

    def replicated(
        self, rows: Rows, parameters: GammaPoissonParameters, bins: Bins, weights: Array
    ) -> list[GammaPoissonParameters]:
        """Refused, as :attr:`abilities` says."""
        raise ValueError(NO_INTERVALS)


def loadings(block: Block, parameters: GammaPoissonParameters) -> tuple[Array, Array]:
    """Means and standard deviations of rows' loadings, by importance sampling; (n, k) each."""
    sample = importance_sample(block, parameters, LIKELIHOOD_SEED)
    variances = np.diagonal(sample.covariance, axis1=1, axis2=2)
    return sample.mean, np.sqrt(np.maximum(variances, 0.0))
