"""Gamma-Poisson topics from tables of counts with gaps."""

from typing import Any, Self, TypedDict, Unpack

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from halfseen.core.arrays import Array
from halfseen.core.topic_parameters import TopicParameters
from halfseen.estimators.fitting import Fit, check_counts, check_shared_parameters, fit_moments
from halfseen.estimators.table import filled, read_table, row_by_row
from halfseen.models.gamma_poisson import GammaPoissonModel
from halfseen.posteriors.gamma_poisson import posterior_mean_loadings, recover


class FitOptions(TypedDict, total=False):
    """What :meth:`GammaPoisson.fit` takes besides the table."""

    sample_weight: Any


class GammaPoisson(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Topics whose gamma-distributed loadings add up to Poisson counts, from tables with gaps.

    Row n has a loading ``α_nk ~ Gamma(shape c_k, rate b)`` on each topic, and feature d the count
    ``x_nd ~ Poisson(Σ_k α_nk a_kd)``. A zero is an observed count; NaN marks a count that was not
    recorded. Assumes that counts are missing completely at random and that row totals vary more
    than Poisson ones.

    Parameters
    ----------
    n_components : int, default=1
        How many topics there are.
    method : {"weighted", "full", "partial"}, default="weighted"
        Weight the features, take all as equal, or use complete features only.
    feature_weights : {"auto", "observed", "sqrt", "none"} or array of shape (d,), default="auto"
        The weights of ``method="weighted"``. ``"auto"`` weighs a feature by how often it is
        observed and by how much of its variance is signal.
    complete_above : float, default=0.95
        A feature observed in at least this fraction of rows counts as complete.
    incomplete_features : {"regress", "divide"}, default="regress"
        Find incomplete features' shares by regression on predicted loadings, or divide by their
        weights as in the paper.
    decomposer : {"joint", "power", "jennrich"}, default="joint"
        Joint diagonalisation, the tensor power method, or one random contraction.
    third_moment : {"auto", "explicit"}, default="auto"
        How the third moment is had.
    random_state : int, RandomState or None, default=None
        Seeds the decomposer (``"joint"`` uses no randomness) and :meth:`sample`.
    n_jobs : int or None, default=None
        Threads over blocks of rows.
    verbose : int, default=0
        Show progress.

    Attributes
    ----------
    components_ : ndarray of shape (k, d)
        Topics: the share of each feature in each topic. Rows sum to one; zero for features that
        are constant or were never observed.
    shapes_ : ndarray of shape (k,)
        Shapes ``c`` of the loadings.
    rate_ : float
        Rate ``b`` of the loadings; ``shapes_.sum() / rate_`` is the mean row total.
    feature_weights_, observed_fraction_, complete_features_, kept_features_ : ndarray of shape (d,)
        Weights in the fit (zero if not used), fractions of rows observed, which features counted
        as complete, and which vary.
    n_components_ : int
        How many topics there are.
    diagnostics_ : Diagnostics
        How the fit went, and what to be careful about.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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

    def __init__(
        self,
        n_components: int = 1,
        *,
        method: str = "weighted",
        feature_weights: Any = "auto",
        complete_above: float = 0.95,
        incomplete_features: str = "regress",
        decomposer: str = "joint",
        third_moment: str = "auto",
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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, **options: Unpack[FitOptions]) -> Self:
        """Learn the topics from counts ``X`` (n, d), in which NaN marks the gaps.

        The one option is ``sample_weight`` (n,): a row with a weight of 2 counts as if it were
        there twice.
        """
        # A parameter by that name would make check_estimator fit fractions, tags or no tags.
        sample_weight = options.pop("sample_weight", None)
        if options:
            raise TypeError(f"GammaPoisson.fit() got an unexpected argument {min(options)!r}")
        check_shared_parameters(self)
        fit = fit_moments(
            self,
            read_table(self, X, reset=True),
            sample_weight,
            model=GammaPoissonModel(),
            auto_weighting="signal",
            regression=lambda kept: recover,
            check=check_counts,
        )
        return self._keep(fit)

    def _keep(self, fit: Fit[TopicParameters]) -> Self:
        seen, parameters = fit.survey, fit.parameters.normalised()
        self.components_ = np.zeros((self.n_components, len(seen.names)))
        self.components_[:, seen.kept] = parameters.topics
        self.shapes_ = parameters.shapes
        self.rate_ = parameters.rate
        self.feature_weights_ = fit.feature_weights
        self.observed_fraction_ = seen.sums.observed_fraction
        self.complete_features_ = seen.complete
        self.kept_features_ = seen.kept
        self.constants_ = np.where(seen.kept, np.nan, seen.sums.mean)
        self.n_components_ = self.n_components
        self.diagnostics_ = fit.diagnostics
        return self

    def transform(self, X: Any) -> Array:
        """Posterior mean loadings of each row given its observed counts; (n, k)."""
        check_is_fitted(self)
        table = read_table(self, X, reset=False)[:, self.kept_features_]
        topics = self.components_[:, self.kept_features_]
        return row_by_row(
            table,
            lambda block: posterior_mean_loadings(block, topics, self.shapes_, self.rate_),
        )

    def inverse_transform(self, X: Any) -> Array:
        """Expected counts of rows with loadings ``X`` (n, k); (n, d)."""
        check_is_fitted(self)
        expected: Array = check_array(X, dtype=float) @ self.components_
        return expected

    def impute(self, X: Any) -> Array:
        """``X`` with each gap filled by its expectation given the row's observed counts; (n, d).

        A constant feature is filled with its constant; one that was never observed in the fit
        stays as it is.
        """
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        expected = self.transform(X) @ self.components_
        return filled(table, np.where(self.kept_features_, expected, self.constants_))

    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """Draw rows of counts without gaps, and the loadings they come from."""
        check_is_fitted(self)
        random = check_random_state(self.random_state)
        loadings = random.gamma(self.shapes_, 1 / self.rate_, size=(n_samples, self.n_components_))
        counts = random.poisson(loadings @ self.components_).astype(float)
        return counts, loadings

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = True
        # scikit-learn has no tag for counts; this one makes its checks use whole numbers.
        tags.input_tags.categorical = True
        return tags
