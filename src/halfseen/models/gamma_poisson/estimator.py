"""Gamma-Poisson topics from tables of counts with gaps."""

from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted

from halfseen.estimators.checks import check_positive_integer
from halfseen.estimators.estimator import Estimator
from halfseen.estimators.lazily import lazily, lazy_transformer
from halfseen.models.counts import FitOptions, OfCounts
from halfseen.models.gamma_poisson.importance import importance_sample
from halfseen.models.gamma_poisson.model import (
    ABOUT,
    LIKELIHOOD_SEED,
    GammaPoissonModel,
    loadings,
)
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters
from halfseen.models.gamma_poisson.posterior import likelihood_bound
from halfseen.rows.arrays import Array
from halfseen.rows.errors import LikelihoodWarning, warn
from halfseen.rows.rows import Block
from halfseen.tables.observed_blocks import ObservedBlocks

FEW_DRAWS = 20


class Likelihood(NamedTuple):
    """Log-likelihoods of rows and how exact they are, each (n,)."""

    log_likelihood: Array
    standard_error: Array
    effective_draws: Array  # of the draws of importance sampling
    bound: Array  # what the log-likelihood cannot be below


class Loadings(NamedTuple):
    """What is known of rows' loadings given their observed counts, each (n, k)."""

    mean: Array
    std: Array


@lazy_transformer
class GammaPoisson(  # type: ignore[misc]
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, OfCounts, Estimator
):
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
    refine : {"saem"} or None, default=None
        Polish by stochastic approximation EM, or stay with what the moments say. Worth its time
        when rows hold many counts.
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
    refinements: ClassVar[tuple[str, ...]] = ("saem",)

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
        self.refine = refine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.n_sweeps = n_sweeps

    def _check(self) -> None:
        check_positive_integer(self, "n_sweeps")

    def _model(self) -> GammaPoissonModel:
        return GammaPoissonModel(
            self.n_sweeps,
            polished=self.refine is not None,
            outliers=self.outliers is not None,
        )

    def transform(self, X: Any, observed: ObservedBlocks | None = None) -> Array:
        """Posterior mean loadings of each row given its observed counts; (n, k).

        By mean-field variational inference. What it expects of counts is close to exact; of topics
        that share many features it may give one the loading of another.
        """
        return self.hidden(X, observed)

    def fit_transform(self, X: Any, y: Any = None, **options: Unpack[FitOptions]) -> Any:
        """Fit, and the posterior mean loadings of the same rows; (n, k)."""
        observed = options.get("observed")
        return self.fit(X, y, **options).transform(X, observed=observed)

    @lazily
    def posterior(self, X: Any, observed: ObservedBlocks | None = None) -> Loadings:
        """Means and standard deviations of each row's loadings given its observed counts.

        By importance sampling, which takes longer than :meth:`transform` and knows that topics
        which share features trade loadings.
        """
        parameters, each = self.fitted.parameters, self._each(X, observed)
        both = each(lambda block: np.hstack(loadings(block, parameters)))
        return Loadings(*np.hsplit(both, 2))

    def inverse_transform(self, X: Any) -> Array:
        """Expected counts of rows with loadings ``X`` (n, k); (n, d)."""
        check_is_fitted(self)
        loadings = check_array(X, dtype=float)
        if loadings.shape[1] != self.n_components_:
            raise ValueError(
                f"Loadings need a column a topic, {self.n_components_} in all. "
                f"Got {loadings.shape[1]} instead."
            )
        expected: Array = loadings @ self.components_
        return expected

    @lazily
    def likelihood(self, X: Any, observed: ObservedBlocks | None = None) -> Likelihood:
        """Log-likelihoods of rows' observed counts, and how exact they are.

        By importance sampling at the posterior mode of the loadings; the same for a row wherever it
        stands. The bound is that of mean-field variational inference, usually half a unit too low.
        """
        parameters, each = self.fitted.parameters, self._each(X, observed)

        def columns(block: Block) -> Array:
            sample = importance_sample(block, parameters, LIKELIHOOD_SEED)
            return np.column_stack([*sample[:3], likelihood_bound(block, parameters)])

        found = Likelihood(*each(columns).T)
        rough = int(np.count_nonzero(found.effective_draws < FEW_DRAWS))
        if rough:
            warn(
                f"The likelihoods of {rough} of {len(found.bound)} rows rest on fewer than "
                f"{FEW_DRAWS} effective draws and are probably too low. Use fewer components, or "
                "compare models by likelihood(X).bound.",
                LikelihoodWarning,
            )
        return found

    @lazily
    def score_samples(self, X: Any, observed: ObservedBlocks | None = None) -> Array:
        """Log-likelihood of the observed counts of each row; (n,)."""
        found: Likelihood = self.likelihood(X, observed)
        return found.log_likelihood

    def perplexity(self, X: Any, observed: ObservedBlocks | None = None) -> float:
        """``exp(-log-likelihood per counted item)``: lower is better."""
        n_items = float(self._totals(X, observed).sum())
        return float(np.exp(-float(self.score_samples(X, observed).sum()) / max(n_items, 1.0)))

    @lazily
    def _totals(self, X: Any, observed: ObservedBlocks | None) -> Array:
        """How much each row counts in all; (n,)."""
        return self._each(X, observed)(lambda block: block.nonzeros().totals())

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
