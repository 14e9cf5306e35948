"""Gaussian mixtures from tables with gaps."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from halfseen.core.arrays import Array, Labels, Mask
from halfseen.core.mixture_parameters import MixtureParameters
from halfseen.core.rows import Rows
from halfseen.core.survey import Survey
from halfseen.estimators.fitting import Fit, Regression, check_shared_parameters, fit_moments
from halfseen.estimators.parameters import check_choice
from halfseen.estimators.table import filled, read_table, row_by_row
from halfseen.models.gaussian_form import FORMS
from halfseen.models.gaussian_mixture import GaussianMixtureModel
from halfseen.models.gaussian_noise import NOISES
from halfseen.models.noise_floor import NOISE_EIGENVALUES
from halfseen.posteriors.mixture import posterior, recover


class GaussianMixture(DensityMixin, BaseEstimator):
    """Mixture of spherical Gaussians, learned from whatever is observed.

    No random starts: the second and third moments of the observed entries, each feature weighted
    by how well it is known, are decomposed into components. Assumes that values are missing
    completely at random.

    Parameters
    ----------
    n_components : int, default=1
        How many components there are.
    method : {"weighted", "full", "partial"}, default="weighted"
        Weight the features, take all as equal, or use complete features only.
    feature_weights : {"auto", "observed", "sqrt", "none"} or array of shape (d,), default="auto"
        The weights of ``method="weighted"``. ``"auto"`` is ``"observed"``: the fraction of rows
        in which a feature is observed.
    complete_above : float, default=0.95
        A feature observed in at least this fraction of rows counts as complete.
    covariance_type : {"tied_spherical", "spherical"}, default="tied_spherical"
        One variance for all components, or one for each.
    form : {"centred", "raw"}, default="centred"
        Moments about the mean with a constant coordinate, or moments about zero as in the paper.
    noise_eigenvalues : {"D-K+1", "D-K"}, default="D-K+1"
        How many of the complete features' smallest eigenvalues estimate the noise: all that are
        noise, or one fewer as in the paper.
    incomplete_features : {"regress", "divide"}, default="regress"
        Find incomplete features' means by regression on the components' probabilities, or divide
        by their weights as in the paper.
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
    weights_ : ndarray of shape (k,)
        How common each component is.
    means_ : ndarray of shape (k, d)
        Means of the components. NaN for features that were never observed.
    covariances_ : float or ndarray of shape (k,)
        The variance, or each component's.
    feature_weights_ : ndarray of shape (d,)
        Weight of each feature in the fit, zero if it was not used.
    observed_fraction_ : ndarray of shape (d,)
        Fraction of rows in which each feature is observed.
    complete_features_ : ndarray of bool of shape (d,)
        Which features counted as complete.
    kept_features_ : ndarray of bool of shape (d,)
        Which features vary, and so are part of the model.
    n_components_ : int
        How many components there are.
    diagnostics_ : Diagnostics
        How the fit went, and what to be careful about.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    D. Hsu, S. Kakade (2013), Learning mixtures of spherical Gaussians. O. Gottesman, W. Pan,
    F. Doshi-Velez (2018), Weighted tensor decomposition for learning latent variables with partial
    data.

    Examples
    --------
    >>> import numpy as np
    >>> from halfseen import GaussianMixture
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 4)) + np.repeat([[0.0, 0, 0, 0], [6, 6, 6, 6]], 1500, axis=0)
    >>> X[rng.random(3000) < 0.7, 3] = np.nan
    >>> mixture = GaussianMixture(n_components=2).fit(X)
    >>> np.sort(mixture.means_, axis=0).round()
    array([[0., 0., 0., 0.],
           [6., 6., 6., 6.]])
    >>> mixture.feature_weights_.round(1)
    array([1. , 1. , 1. , 0.3])
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        method: str = "weighted",
        feature_weights: Any = "auto",
        complete_above: float = 0.95,
        covariance_type: str = "tied_spherical",
        form: str = "centred",
        noise_eigenvalues: str = "D-K+1",
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
        self.covariance_type = covariance_type
        self.form = form
        self.noise_eigenvalues = noise_eigenvalues
        self.incomplete_features = incomplete_features
        self.decomposer = decomposer
        self.third_moment = third_moment
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the mixture from ``X`` (n, d), in which NaN marks the gaps.

        A row with a ``sample_weight`` of 2 counts as if it were there twice.
        """
        check_shared_parameters(self)
        check_choice(self, "covariance_type", NOISES)
        check_choice(self, "form", FORMS)
        check_choice(self, "noise_eigenvalues", NOISE_EIGENVALUES)
        fit = fit_moments(
            self,
            read_table(self, X, reset=True),
            sample_weight,
            model=GaussianMixtureModel(
                FORMS[self.form],
                NOISES[self.covariance_type],
                NOISE_EIGENVALUES[self.noise_eigenvalues],
            ),
            auto_weighting="observed",
            regression=_regression,
        )
        return self._keep(fit)

    def _keep(self, fit: Fit[MixtureParameters]) -> Self:
        seen, parameters = fit.survey, fit.parameters
        # A constant feature has its constant as every component's mean.
        self.means_ = np.tile(seen.sums.mean, (self.n_components, 1))
        self.means_[:, seen.kept] = parameters.means
        self.weights_ = parameters.weights
        variances = parameters.variances[:, 0]
        tied = self.covariance_type == "tied_spherical"
        self.covariances_: Any = float(variances[0]) if tied else variances
        self.feature_weights_ = fit.feature_weights
        self.observed_fraction_ = seen.sums.observed_fraction
        self.complete_features_ = seen.complete
        self.kept_features_ = seen.kept
        self.n_components_ = self.n_components
        self.diagnostics_ = fit.diagnostics
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Labels:
        """Learn the mixture and return the most probable component of each row."""
        return self.fit(X).predict(X)

    def predict(self, X: Any) -> Labels:
        """The most probable component of each row given what is observed in it; (n,)."""
        labels: Labels = self.predict_proba(X).argmax(axis=1)
        return labels

    def predict_proba(self, X: Any) -> Array:
        """The probability of each component given what is observed in a row; (n, k)."""
        parameters = self._parameters()
        return row_by_row(
            self._kept_table(X), lambda block: posterior(block, parameters).responsibilities
        )

    def score_samples(self, X: Any) -> Array:
        """Log-likelihood of what is observed in each row; (n,)."""
        parameters = self._parameters()
        return row_by_row(
            self._kept_table(X), lambda block: posterior(block, parameters).log_likelihood
        )

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows."""
        return float(self.score_samples(X).mean())

    def aic(self, X: Any) -> float:
        """Akaike's information criterion: lower is better."""
        return float(-2 * self.score_samples(X).sum() + 2 * self._n_free_parameters())

    def bic(self, X: Any) -> float:
        """Bayesian information criterion: lower is better."""
        log_likelihood = self.score_samples(X)
        penalty = self._n_free_parameters() * np.log(len(log_likelihood))
        return float(-2 * log_likelihood.sum() + penalty)

    def impute(self, X: Any) -> Array:
        """``X`` with each gap filled by its expectation given what is observed in the row; (n, d).

        Features that were never observed in the fit stay as they are.
        """
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        return filled(table, self.predict_proba(X) @ self.means_)

    def sample(self, n_samples: int = 1) -> tuple[Array, Labels]:
        """Draw rows without gaps, and the components they come from."""
        check_is_fitted(self)
        random = check_random_state(self.random_state)
        labels = random.choice(self.n_components_, size=n_samples, p=self.weights_)
        spread = np.sqrt(np.broadcast_to(self.covariances_, self.n_components_))[labels]
        noise = random.standard_normal((n_samples, self.n_features_in_)) * spread[:, None]
        return self.means_[labels] + noise * self.kept_features_, labels

    def _kept_table(self, X: Any) -> np.ndarray[Any, Any]:
        return read_table(self, X, reset=False)[:, self.kept_features_]

    def _parameters(self) -> MixtureParameters:
        """The mixture of the features that vary."""
        check_is_fitted(self)
        means = self.means_[:, self.kept_features_]
        variances = np.broadcast_to(np.atleast_1d(self.covariances_)[:, None], means.shape)
        return MixtureParameters(self.weights_, means, variances)

    def _n_free_parameters(self) -> int:
        n_kept = int(np.count_nonzero(self.kept_features_))
        return self.n_components_ * (n_kept + 1) - 1 + int(np.size(self.covariances_))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _regression(kept: Survey) -> Regression[MixtureParameters]:
    def regress(
        rows: Rows, parameters: MixtureParameters, used: Mask, complete: Mask
    ) -> MixtureParameters:
        return recover(rows, parameters, used, complete, kept.sums.mean)

    return regress
