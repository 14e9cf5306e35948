"""Gamma-Poisson topics from tables of counts with gaps."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.stats import t as student

from halfseen.data.arrays import Array, Mask
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.data.messages import setting
from halfseen.data.resampling import Bins
from halfseen.data.rows import Rows
from halfseen.data.sampling import sample_rows
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity
from halfseen.diagnostics.intervals import learned_from, moment_replicates, sums_fit
from halfseen.diagnostics.recovery import match
from halfseen.estimators.dask_methods import lazy_on_dask, lazy_transformer
from halfseen.estimators.estimator import Estimator
from halfseen.estimators.parameter_checks import check_sweeps
from halfseen.inference.fit import Fitted
from halfseen.inference.model import Abilities, About, EMResult
from halfseen.io.sparse_matrix import ObservedBlocks
from halfseen.latent.loadings import (
    TopicParameters,
    likelihood_bound,
)
from halfseen.latent.topic_concerns import alike, bursty, odd_counts
from halfseen.latent.topics import LoadingDistribution, Loadings
from halfseen.models.gamma_poisson.parameters import GammaPoissonCumulants, GammaPoissonParameters
from halfseen.models.gamma_poisson.stochastic_em import refine
from halfseen.models.topic_estimator import TopicEstimator
from halfseen.moments.resampling import Influence, OriginSums
from halfseen.moments.survey import Survey, survey

MOST_SCORED = 600
"""Rows by which numbers of topics are compared: likelihoods take a millisecond each."""
ABOUT = About(
    name="gamma-poisson",
    noun="topic",
    gives="topics, of counts",
    assumes="Given the topics of a row, counts are Poisson.",
    weighting="signal",
    labels=False,
    counts=True,
)
NO_INTERVALS = (
    "There are no intervals for topics refined with "
    + setting(refine="saem")
    + ". Fit with "
    + setting(refine=None)
    + " for intervals."
)


@dataclass(frozen=True, eq=False)
class Gammas(LoadingDistribution[GammaPoissonParameters]):
    """Independent gamma loadings ``α_k ~ Gamma(shape c_k, rate b)``."""

    n_sweeps: int

    def from_moments(self, read: TopicParameters) -> GammaPoissonParameters:
        return GammaPoissonParameters.matching(read)

    def refine(
        self, rows: Rows, start: GammaPoissonParameters, kept: Survey, seed: int
    ) -> EMResult[GammaPoissonParameters]:
        return refine(rows, start, seed=seed, n_sweeps=self.n_sweeps)

    def drawn(self, parameters: GammaPoissonParameters, n_rows: int, random: Any) -> Array:
        size = (n_rows, len(parameters.shapes))
        drawn: Array = random.gamma(parameters.shapes, 1 / parameters.rate, size=size)
        return drawn


def gamma_poisson(
    n_sweeps: int, *, refined: bool, outliers: bool
) -> Loadings[GammaPoissonParameters]:
    """The gamma-Poisson model."""
    return Loadings(
        kind=Gammas(n_sweeps),
        about=ABOUT,
        abilities=Abilities(
            thin_products=True,
            rank_tests=True,
            not_streamed="",
            no_intervals=NO_INTERVALS if refined else "",
            no_weights="",
            refine_candidates=False,
            scored_rows=MOST_SCORED,
        ),
        cumulants=GammaPoissonCumulants(),
        checks=(odd_counts, bursty, alike, dispersion, routes),
        outliers=outliers,
    )


N_PARTS = 20
CHANCE = 0.01
FAR_APART = 1.5
"""Shapes by two routes that differ by less than this factor agree well enough."""
LEAST_DISPERSION = 0.01
N_DRAWS, MOST_DRAWN = 20, 5000
"""Tables that the model draws, to see how far routes are apart by chance, and rows of each."""


def dispersion(case: ConcernContext) -> Iterator[Concern]:
    """The dispersion of the total of all features.

    With loadings ``α_k ~ Gamma(c_k, b)`` the total l has ``var(l)/E(l)² - 1/E(l) = 1/Σ c_k``.
    """
    if case.unseen_pairs:
        return
    found = Influence.on(_dispersion, case.pairs)
    value, error = float(found.value), float(found.error)
    if value - 2 * error < LEAST_DISPERSION:
        yield Concern(
            "not_over_dispersed",
            "Row totals hardly vary more than Poisson counts do: their excess variance is "
            f"{value:.2g} ± {error:.1g} of the squared mean, and gamma-Poisson topics are read "
            "off just that. They are not to be trusted here. If rows were cut to a length, or "
            "hold a fixed number of items, this is the wrong model.",
        )


def _dispersion(sums: OriginSums) -> Array:
    """The dispersion of the total of all features."""
    moments = sums.moments(centred=True)
    mean = moments.mean.sum()
    return np.asarray((moments.covariance.sum() - mean) / mean**2)


def routes(case: ConcernContext) -> Iterator[Concern]:
    """Warn if shapes from second and third moments disagree.

    Both follow from gamma loadings: ``c_k = m_k²/s_k`` and ``c_k = 4/λ_k²``.
    """
    if case.unseen_pairs or not learned_from(case.fitted, case.seen):
        return
    # Replicates need a sum of pairs for each part of the rows.
    if not sums_fit(int(np.count_nonzero(case.seen.kept)), N_PARTS):
        return
    n = min(N_PARTS, case.bins.n)
    parts = Bins(n, None if case.bins.labels is None else case.bins.labels % n)
    try:
        fitted, weights = case.fitted, np.vstack([np.ones(n), 1 - np.eye(n)])
        ratios = _log_ratios(fitted, case.rows, case.seen, parts, weights)
        ratio, others = ratios[0], ratios[1:]
        error = np.sqrt((n - 1) / n * np.sum((others - others.mean(axis=0)) ** 2, axis=0))
        clear = student.isf(CHANCE / (2 * len(ratio)), n - 1)
        stands_out = (np.abs(ratio) > clear * error) & (np.abs(ratio) > np.log(FAR_APART))
        # Only then is it worth drawing tables, which takes a fit each.
        if stands_out.any():
            stands_out &= _beyond_draws(case, ratio)
    except DataError:  # without some rows nothing is left to learn from: errors have no bound
        return
    if stands_out.any():
        worst = int(np.argmax(np.abs(ratio) * stands_out))
        yield Concern(
            "routes_disagree",
            f"Two routes to the shape of {case.called(worst)} disagree: third moments give "
            f"{np.exp(ratio[worst]):.2g} times what second moments give. Loadings are then not "
            "gamma-distributed, or there are more topics; take shapes and likelihoods with care.",
            gravity=Gravity.CARE,
        )


def _beyond_draws(case: ConcernContext, ratio: Array) -> Mask:
    """Which log ratios (k,) are outside those of tables drawn from the model; (k,).

    Third moments of few rows are biased and skewed, which leaving out parts of them does not show.
    """
    fitted, sample = case.fitted, sample_rows(case.rows, MOST_DRAWN)
    seen, random = ~np.isnan(sample.table), np.random.RandomState(0)
    bins, found = Bins(1, np.zeros(len(seen), np.intp)), []
    for _ in range(N_DRAWS):
        table = np.full(seen.shape, np.nan)
        table[:, fitted.kept] = fitted.model.draw(fitted.parameters, len(seen), random)[0]
        rows = MemoryRows(np.where(seen, table, np.nan), case.rows.names)
        drawn = survey(rows, fitted.settings.complete_above)
        if not np.array_equal(drawn.kept, fitted.kept):  # too rare a feature to tell by so few rows
            return np.zeros(len(ratio), dtype=bool)
        found.append(_log_ratios(fitted, rows, drawn, bins, np.ones((1, 1)))[0])
    size = np.sqrt(len(seen) / (case.seen.sums.n_rows + case.seen.sums.n_empty))
    error = np.std(found, axis=0, ddof=1) * size
    clear = student.isf(CHANCE / (2 * len(ratio)), N_DRAWS - 1)
    beyond: Mask = np.abs(ratio - np.mean(found, axis=0)) > clear * error
    return beyond


def _log_ratios(
    fitted: Fitted[Any], rows: Rows, seen: Survey, parts: Bins, weights: Array
) -> Array:
    """Log ratios of third-order to second-order shapes, for ``weights``; (b, k)."""
    found = moment_replicates(fitted, rows, seen, parts, weights)
    used = fitted.feature_weights[fitted.kept] > 0
    home = fitted.parameters.topics[:, used]  # the order by which components are called
    ratios = []
    for one in found:
        strengths = np.maximum(one.decomposition.values, np.finfo(float).eps)
        ratio = np.log(4 / strengths**2) - np.log(one.found.shapes)
        ratios.append(ratio[match(one.found.topics, home)])
    return np.array(ratios)


class Likelihood(NamedTuple):
    """Log-likelihoods of rows and their standard errors; (n,) each."""

    log_likelihood: Array
    standard_error: Array
    effective_draws: Array  # of the draws of importance sampling
    bound: Array  # what the log-likelihood cannot be below


@lazy_transformer
class GammaPoisson(TopicEstimator, Estimator):  # type: ignore[misc]
    """Topics whose gamma-distributed loadings add up to Poisson counts, from tables with gaps.

    Row n has a loading ``α_nk ~ Gamma(shape c_k, rate b)`` on each topic, and feature d the count
    ``x_nd ~ Poisson(Σ_k α_nk a_kd)``. A zero is an observed count; NaN marks a count that was not
    recorded. Assumes that counts are missing completely at random and that row totals vary more
    than Poisson ones.

    Parameters
    ----------
    outliers : {"auto"} or None, default="auto"
        Leave counts and rows that are far beyond what the others allow out of what is learned, if
        there are any, or take every count at its word, as the paper does.
    refine : {"auto", "saem"} or None, default=None
        Refine by stochastic approximation EM, or stay with what the moments say. ``"auto"``
        refines where cells count less than one item on average, as words in documents do: there
        moments alone make topics of single odd rows. ``diagnostics_.refine_reason`` says why.
    n_sweeps : int, default=1000
        Sweeps of stochastic approximation EM over the rows.

    Attributes
    ----------
    shapes_ : ndarray of shape (k,)
        Shapes ``c`` of the loadings.
    rate_ : float
        Rate ``b`` of the loadings; ``shapes_.sum() / rate_`` is the mean row total.

    References
    ----------
    A. Podosinnikova, F. Bach, S. Lacoste-Julien (2015), Rethinking LDA: moment matching for
    discrete ICA. O. Gottesman, W. Pan, F. Doshi-Velez (2018), Weighted tensor decomposition for
    learning latent variables with partial data.

    Examples
    --------
    >>> import numpy as np
    >>> from halfseen import GammaPoisson
    >>> rng = np.random.default_rng(0)
    >>> topics = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
    >>> X = rng.poisson(rng.gamma(1.0, 20.0, size=(5000, 2)) @ topics).astype(float)
    >>> X[rng.random(5000) < 0.5, 3] = np.nan
    >>> model = GammaPoisson(n_components=2).fit(X)
    >>> np.sort(model.components_, axis=0).round(1)
    array([[0. , 0. , 0. , 0. ],
           [0.5, 0.5, 0.5, 0.5]])
    >>> model.transform(X).shape
    (5000, 2)
    """

    about = ABOUT
    Parameters = GammaPoissonParameters
    refinements: ClassVar[tuple[str, ...]] = ("saem", "auto")
    _otherwise_compare = ", or compare models by likelihood(X).bound"

    n_sweeps: int

    def __init__(
        self,
        n_components: int | str = 1,
        *,
        method: str = "weighted",
        feature_weights: Any = "auto",
        complete_above: float = 0.95,
        incomplete_features: str = "regress",
        decomposer: str = "joint",
        third_moment: str = "auto",
        moments: str = "available",
        outliers: str | None = "auto",
        prior: float | None = 1.0,
        refine: str | None = None,
        n_sweeps: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self._keep_parameters(locals())

    def _check(self) -> None:
        check_sweeps(self)

    def _model(self) -> Loadings[GammaPoissonParameters]:
        return gamma_poisson(
            self.n_sweeps,
            refined=self.refine == "saem" or getattr(self, "n_iter_", 0) > 0,
            outliers=self.outliers is not None,
        )

    @lazy_on_dask
    def likelihood(self, X: Any, observed: ObservedBlocks | None = None) -> Likelihood:
        """Log-likelihoods of rows' observed counts, and their standard errors.

        By importance sampling at the posterior mode of the loadings; the same for a row wherever it
        stands. The bound is that of mean-field variational inference, usually half a unit too low.
        """
        parameters, found = self.fitted.parameters, self._sampled(X, observed)
        bound = self._each(X, observed)(lambda block: likelihood_bound(block, parameters))
        return Likelihood(found[:, 0], found[:, 1], found[:, 2], bound)
