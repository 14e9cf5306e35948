"""Gamma-Poisson topics from tables of counts with gaps."""

from typing import Any, ClassVar, NamedTuple

from halfseen.data.arrays import Array
from halfseen.estimators.dask_methods import lazy_on_dask, lazy_transformer
from halfseen.estimators.estimator import Estimator
from halfseen.estimators.parameter_checks import check_sweeps
from halfseen.io.sparse_matrix import ObservedBlocks
from halfseen.latent.topics.model import Loadings
from halfseen.latent.topics.posterior import likelihood_bound
from halfseen.models.gamma_poisson.model import ABOUT, gamma_poisson
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters
from halfseen.models.topic_estimator import TopicEstimator


class Likelihood(NamedTuple):
    """Log-likelihoods of rows and how exact they are, each (n,)."""

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
    n_components : int or "auto", default=1
        How many topics there are. ``"auto"`` chooses: see :func:`halfseen.choose_components`.
    feature_weights : {"auto", "observed", "sqrt", "none", "signal"} or array, default="auto"
        The weights of ``method="weighted"``. ``"auto"`` weighs a feature by how often it is
        observed and by how much of its variance is signal.
    incomplete_features : {"regress", "divide"}, default="regress"
        Find incomplete features' shares by regression on predicted loadings, or divide by their
        weights as in the paper.
    outliers : {"auto"} or None, default="auto"
        Leave counts and rows that are far beyond what the others allow out of what is learned, if
        there are any, or take every count at its word, as the paper does.
    refine : {"auto", "saem"} or None, default=None
        Polish by stochastic approximation EM, or stay with what the moments say. ``"auto"``
        refines where cells count less than one item on average, as words in documents do: there
        moments alone make topics of single odd rows. ``diagnostics_.refine_reason`` says why.
    n_sweeps : int, default=1000
        Sweeps of stochastic approximation EM over the rows.

    Attributes
    ----------
    components_ : ndarray of shape (k, d)
        Topics: the share of each feature in each topic. Rows sum to one; zero for features that
        are constant or were never observed.
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
        self.n_components = n_components
        self.method = method
        self.feature_weights = feature_weights
        self.complete_above = complete_above
        self.incomplete_features = incomplete_features
        self.decomposer = decomposer
        self.third_moment = third_moment
        self.moments = moments
        self.outliers = outliers
        self.prior = prior
        self.refine = refine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.n_sweeps = n_sweeps

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
        """Log-likelihoods of rows' observed counts, and how exact they are.

        By importance sampling at the posterior mode of the loadings; the same for a row wherever it
        stands. The bound is that of mean-field variational inference, usually half a unit too low.
        """
        parameters, found = self.fitted.parameters, self._sampled(X, observed)
        bound = self._each(X, observed)(lambda block: likelihood_bound(block, parameters))
        return Likelihood(found[:, 0], found[:, 1], found[:, 2], bound)
