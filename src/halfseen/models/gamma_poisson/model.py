"""Gamma-Poisson topics: gamma loadings behind each row, Poisson counts in its columns."""

from dataclasses import dataclass
from typing import Any, ClassVar

from halfseen.method.model import Abilities, About, Polished, Start
from halfseen.method.moment_start import by_cumulants
from halfseen.method.plan import Plan, Routes
from halfseen.models.gamma_poisson.concerns import dispersion, routes
from halfseen.models.gamma_poisson.cumulants import GammaPoissonCumulants
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters
from halfseen.models.gamma_poisson.stochastic_em import polish
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block, Rows
from halfseen.rows.stages import Stages
from halfseen.structures.loadings.concerns import alike, bursty, odd_counts
from halfseen.structures.loadings.loading_moments import TopicParameters
from halfseen.structures.loadings.model import Loadings

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
class Gammas:
    """Loadings ``α_k ~ Gamma(shape c_k, rate b)``, independent of each other."""

    n_sweeps: int
    numbered: ClassVar[bool] = False

    def start(self, model: Any, calm: Rows, plan: Plan, routes: Routes, stages: Stages) -> Start:
        """By the cumulants of the counts."""
        return by_cumulants(model, calm, plan, routes, stages)

    def finished(self, read: TopicParameters) -> GammaPoissonParameters:
        """With gamma loadings of the means and variances that were read."""
        return GammaPoissonParameters.matching(read)

    def polish(
        self, rows: Rows, start: GammaPoissonParameters, kept: Survey, seed: int
    ) -> Polished:
        """By stochastic approximation EM."""
        return polish(rows, start, seed=seed, n_sweeps=self.n_sweeps)

    def rest(self, block: Block, parameters: GammaPoissonParameters) -> None:
        """Totals are not known."""

    def shown(self, loadings: Array) -> Array:
        """As they are."""
        return loadings

    def drawn(self, parameters: GammaPoissonParameters, n_rows: int, random: Any) -> Array:
        """Gammas; (n, k)."""
        size = (n_rows, len(parameters.shapes))
        drawn: Array = random.gamma(parameters.shapes, 1 / parameters.rate, size=size)
        return drawn


def gamma_poisson(
    n_sweeps: int, *, polished: bool, outliers: bool
) -> Loadings[GammaPoissonParameters]:
    """The model: likelihoods are slow, and stochastic polish leaves no curvature to learn from."""
    return Loadings(
        kind=Gammas(n_sweeps),
        about=ABOUT,
        abilities=Abilities(
            thin_products=True,
            rank_tests=True,
            not_streamed="",
            no_intervals=polished * NO_INTERVALS,
            no_weights="",
            polish_candidates=False,
            scored_rows=MOST_SCORED,
        ),
        cumulants=GammaPoissonCumulants(),
        checks=(odd_counts, bursty, alike, dispersion, routes),
        outliers=outliers,
    )
