"""Gaussian mixtures from tables with gaps."""

import os
import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from halfseen.doubt.bootstrap import N_REPLICATES, Uncertain, bootstrapped
from halfseen.doubt.intervals import ANY, POSITIVE, SHARE, Interval
from halfseen.estimators.from_table import fit_table
from halfseen.estimators.imputation import impute
from halfseen.estimators.lazily import lazy_on_dask
from halfseen.estimators.parameters import (
    check_choice,
    check_choice_or_none,
    check_non_negative,
    check_positive_integer,
    check_sample_size,
)
from halfseen.estimators.predictive import of_mixture
from halfseen.estimators.reporting import list_concerns, write_page
from halfseen.estimators.sanity import warn_of_empty, warn_of_scales
from halfseen.estimators.streaming import streams, with_batch
from halfseen.method.fit import (
    Fit,
    check_shared_parameters,
    fit_stream,
    keep_shared,
)
from halfseen.method.recipe import Recipe
from halfseen.method.refinement import Refined, Refinement
from halfseen.models.forms import kind_of
from halfseen.models.gaussian_mixture.covariance_shape import SHAPES
from halfseen.models.gaussian_mixture.cumulants import GaussianMixtureModel
from halfseen.models.gaussian_mixture.em import polish
from halfseen.models.gaussian_mixture.form import FORMS
from halfseen.models.gaussian_mixture.noise import NOISES
from halfseen.models.gaussian_mixture.noise_floor import NOISE_EIGENVALUES
from halfseen.models.gaussian_mixture.parameters import MixtureParameters
from halfseen.models.gaussian_mixture.posterior import (
    MixturePosterior,
    MixtureRegression,
    posterior,
)
from halfseen.models.gaussian_mixture.scores import replicated
from halfseen.models.gaussian_mixture.to_sklearn import as_sklearn
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array, Labels, Mask
from halfseen.rows.bins import Bins
from halfseen.rows.rows import Block, Rows
from halfseen.store.model_file import save
from halfseen.tables.arrays_and_frames import in_memory, read_new_table, row_by_row
from halfseen.tables.columns import in_fitted_order


def _streams(estimator: Any) -> bool:
    if estimator.covariance_type == "diag":
        raise AttributeError(
            "covariance_type='diag' is learned by likelihood, which goes over rows again. Use "
            "covariance_type='spherical', or fit()."
        )
    return streams(estimator)


@lazy_on_dask("predict", "predict_proba", "score_samples", "impute")
class GaussianMixture(DensityMixin, BaseEstimator):
    """Mixture of Gaussians with independent noise, learned from whatever is observed.

    No random starts: the second and third moments of the observed entries, each feature weighted
    by how well it is known, are decomposed into components; from there EM climbs to the maximum of
    the likelihood. The moments assume that values are missing completely at random, the likelihood
    only that they are missing at random given what is observed.

    Parameters
    ----------
    n_components : int or "auto", default=1
        How many components there are. ``"auto"`` chooses: see :func:`halfseen.choose_components`.
    method : {"weighted", "full", "partial"}, default="weighted"
        In the moments, weight the features, take all as equal, or use complete features only.
    feature_weights : {"auto", "observed", "sqrt", "none", "signal"} or array, default="auto"
        The weights of ``method="weighted"``. ``"auto"`` is ``"observed"``: the fraction of rows
        in which a feature is observed.
    complete_above : float, default=0.95
        A feature observed in at least this fraction of rows counts as complete.
    covariance_type : {"tied_spherical", "spherical", "diag"}, default="tied_spherical"
        One variance for all components, one for each, or one for each feature of each (which needs
        ``refine="em"``).
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
    third_moment : {"auto", "explicit", "implicit"}, default="auto"
        Form the third moment of all triples of features, or never form it, which takes time linear
        in the table but assumes that features (or groups of features) are missing independently of
        each other. ``"auto"`` chooses by cost and by a test; ``diagnostics_`` says what and why.
    moments : {"available", "adjusted"}, default="available"
        Take each moment from the rows that hold what it needs, or also use what the complete
        features predict in the others (control variates), which takes about three times as long
        and often makes moments of rarely observed features more certain.
    refine : {"em"} or None, default="em"
        Polish by expectation-maximisation, or stay with what the moments say.
    tol : float, default=1e-7
        EM stops when a step gains less than this in mean log-likelihood.
    max_iter : int, default=500
        EM stops after this many passes over the rows.
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
    covariances_ : float or ndarray of shape (k,) or (k, d)
        The variance, each component's, or each feature's in each component, as
        ``covariance_type`` says.
    n_iter_ : int
        Passes over the rows that EM took.
    converged_ : bool
        Whether EM stopped by itself.
    lower_bound_ : float or None
        Mean log-likelihood of the rows at the end of EM.
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
    preprocessing_ : Preprocessing or None
        What the command line did to the columns before the fit; None if nothing.
    columns_by_name_ : bool
        Whether data frames may have their columns in any order: true of models from files.
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
    >>> np.abs(np.sort(mixture.means_, axis=0).round())
    array([[0., 0., 0., 0.],
           [6., 6., 6., 6.]])
    >>> mixture.feature_weights_.round(1)
    array([1. , 1. , 1. , 0.3])
    """

    def __init__(
        self,
        n_components: int | str = 1,
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
        moments: str = "available",
        refine: str | None = "em",
        tol: float = 1e-7,
        max_iter: int = 500,
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
        self.moments = moments
        self.refine = refine
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the mixture from ``X`` (n, d), in which NaN marks the gaps.

        X is an array or a data frame; the path of a Parquet, Arrow, Feather, CSV, TSV or NumPy file
        or of a folder of them (:class:`halfseen.Files` to choose columns); or a list of batches of
        rows, or any other object that gives the same batches each time it is gone through. A
        ``dask.array`` or ``dask.dataframe`` is summed by Dask's workers.
        A row with a ``sample_weight`` of 2 counts as if it were there twice.
        """
        self._check_parameters()
        return self._keep(fit_table(self, X, sample_weight, self._recipe()))

    @available_if(_streams)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, refit: bool = True
    ) -> Self:
        """Learn from another batch of rows, which need not be kept.

        The sums of all batches so far are in ``stream_``, to be saved and taken up again; X may
        also be such a :class:`Stream`, which is added. The mixture is read off the moments alone:
        ``refine`` needs rows that can be gone over again. The first batch should be typical, as
        moments are taken about its means. With ``refit=False`` rows are added and nothing is
        learned, which is faster, and right while there are too few.
        """
        self._check_parameters()
        self.stream_ = with_batch(self, X, sample_weight, lambda seen: None)
        if not refit:
            return self
        return self._keep(fit_stream(self, self.stream_, self._recipe()))

    def _check_parameters(self) -> None:
        check_shared_parameters(self)
        check_choice(self, "covariance_type", NOISES)
        check_choice(self, "form", FORMS)
        check_choice(self, "noise_eigenvalues", NOISE_EIGENVALUES)
        check_choice_or_none(self, "refine", ("em",))
        check_non_negative(self, "tol")
        check_positive_integer(self, "max_iter")
        if self.covariance_type == "diag" and self.refine is None:
            raise ValueError(
                "covariance_type='diag' is learned by likelihood. Use refine='em', or "
                "covariance_type='spherical'."
            )

    def _recipe(self) -> Recipe[MixtureParameters]:
        free = self.covariance_type == "diag"
        return Recipe(
            model=GaussianMixtureModel(
                FORMS[self.form],
                NOISES[self.covariance_type],
                NOISE_EIGENVALUES[self.noise_eigenvalues],
            ),
            auto_weighting="observed",
            regression=self._regression,
            refinement=None if self.refine is None else self._refinement,
            log_likelihood=lambda block, parameters: posterior(block, parameters).log_likelihood,
            check=lambda seen: None if free else warn_of_scales(seen),
            thin=FORMS[self.form].centred,
            spectral=not free,
        )

    def _keep(self, fit: Fit[MixtureParameters]) -> Self:
        seen = fit.survey
        for name, value in self._public(fit.parameters, seen).items():
            setattr(self, name, value)
        keep_shared(self, fit)
        climb = fit.climb
        self.n_iter_ = 0 if climb is None else climb.n_iterations
        self.converged_ = climb is None or climb.converged
        self.lower_bound_ = None if climb is None else climb.log_likelihood
        warn_of_empty("Component", self.weights_, seen.sums.n_rows)
        if not self.converged_:
            warnings.warn(
                f"The likelihood was still rising after max_iter={self.max_iter} passes. Raise "
                "max_iter, or raise tol to be content with less.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _public(self, parameters: MixtureParameters, seen: Survey) -> dict[str, Any]:
        """What is learned, by the names under which it is kept."""
        # A constant feature has its constant as every component's mean.
        means = np.tile(seen.sums.mean, (len(parameters.weights), 1))
        means[:, seen.kept] = parameters.means
        covariances = self._public_covariances(parameters.variances, seen.kept)
        return {"weights_": parameters.weights, "means_": means, "covariances_": covariances}

    def _public_covariances(self, variances: Array, kept: Mask) -> Any:
        """Variances (k, d kept) in the form that ``covariances_`` has."""
        if self.covariance_type == "tied_spherical":
            return float(variances[0, 0])
        if self.covariance_type == "spherical":
            return variances[:, 0]
        every = np.zeros((len(variances), len(kept)))
        every[:, kept] = variances
        return every

    def _regression(self, kept: Survey) -> MixtureRegression:
        return MixtureRegression(kept.sums.mean, SHAPES[self.covariance_type])

    def _refinement(self, kept: Survey) -> Refinement[MixtureParameters]:
        feature_range = kept.sums.maximum - kept.sums.minimum
        shape = SHAPES[self.covariance_type]

        def refine(rows: Rows, start: MixtureParameters) -> Refined[MixtureParameters]:
            return polish(
                rows, start, shape, feature_range, tolerance=self.tol, max_iterations=self.max_iter
            )

        return refine

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Labels:
        """Learn the mixture and return the most probable component of each row."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def predict(self, X: Any) -> Labels:
        """The most probable component of each row given what is observed in it; (n,)."""
        labels: Labels = self.predict_proba(X).argmax(axis=1)
        return labels

    def predict_proba(self, X: Any) -> Array:
        """The probability of each component given what is observed in a row; (n, k)."""
        return self._posterior(self._kept_table(X)).responsibilities

    def score_samples(self, X: Any) -> Array:
        """Log-likelihood of what is observed in each row; (n,)."""
        return self._posterior(self._kept_table(X)).log_likelihood

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows."""
        return float(self.score_samples(X).mean())

    def aic(self, X: Any) -> float:
        """Akaike's information criterion: lower is better."""
        return float(-2 * self.score_samples(X).sum() + 2 * self._n_free_parameters())

    def bic(self, X: Any) -> float:
        """Bayesian information criterion: lower is better."""
        log_likelihood = self.score_samples(X)
        n_rows = float(np.isfinite(log_likelihood).sum())  # which Dask may have to count
        penalty = self._n_free_parameters() * np.log(n_rows)
        return float(-2 * log_likelihood.sum() + penalty)

    def impute(self, X: Any, *, return_std: bool = False, draws: int | None = None) -> Any:
        """``X`` with each gap filled by its expectation given what is observed in the row.

        Arrays come back as arrays and data frames as data frames, with observed cells, names and
        index as they were; those of Dask come back lazily. Features that were never observed in the
        fit stay as they are.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            The table to fill.
        return_std : bool, default=False
            Return also each cell's predictive standard deviation, zero where it was observed.
        draws : int or None, default=None
            Return this many tables with gaps filled by random draws from their distribution given
            what is observed, for multiple imputation.
        """
        ordered = in_fitted_order(self, X)
        table = read_new_table(self, ordered)
        variances = self._variances() * self.kept_features_  # constants do not vary
        random = check_random_state(self.random_state)
        shares = self._posterior(table[:, self.kept_features_]).responsibilities
        predictive = of_mixture(shares, self.means_, variances, random)
        return impute(X, ordered, table, predictive, return_std=return_std, draws=draws)

    def intervals(
        self,
        X: Any,
        level: float = 0.95,
        *,
        groups: Any = None,
        n_replicates: int = N_REPLICATES,
        sample_weight: Any = None,
    ) -> dict[str, Interval]:
        """Confidence intervals for ``weights_``, ``means_`` and ``covariances_``.

        By the score bootstrap: how far the maximum of the likelihood moves, to first order, when
        rows (in bins) count more or less. It allows for a model that is not quite right, takes one
        pass over the rows, and gives each entry an interval of its own. Without ``refine`` the
        moments themselves are bootstrapped.

        Parameters
        ----------
        X : array or data frame of shape (n, d), path or list of batches
            The table that the model was learned from.
        level : float, default=0.95
            The probability that an interval holds the truth.
        groups : array of shape (n,) or None, default=None
            A label for each row if rows depend on each other, such as the patient it is of.
        n_replicates : int, default=200
            How many replicates there are.
        sample_weight : array of shape (n,) or None, default=None
            As given to :meth:`fit`.

        Returns
        -------
        dict of str to Interval
            For each attribute the arrays ``low``, ``high`` and ``std`` (standard errors), shaped
            like the attribute.

        Examples
        --------
        >>> import numpy as np
        >>> from halfseen import GaussianMixture
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(2000, 3)) + 5 * rng.integers(2, size=(2000, 1))
        >>> mixture = GaussianMixture(2).fit(X)
        >>> share = mixture.intervals(X)["weights_"]
        >>> (share.low < 0.5) & (0.5 < share.high)
        array([ True,  True])
        """
        check_is_fitted(self)
        parameters, shape = self._parameters(), SHAPES[self.covariance_type]

        def refined(rows: Rows, bins: Bins, weights: Array) -> list[MixtureParameters]:
            return replicated(rows, parameters, shape, bins, weights - 1)

        uncertain = Uncertain(
            parameters,
            scales={"weights_": SHARE, "means_": ANY, "covariances_": POSITIVE},
            public=self._public,
            places=lambda mixture: mixture.means / np.sqrt(parameters.variances.mean(axis=0)),
            reordered=MixtureParameters.reordered,
            refined=None if self.refine is None else refined,
        )
        return bootstrapped(
            self,
            X,
            self._recipe(),
            uncertain,
            level=level,
            groups=groups,
            n_replicates=n_replicates,
            sample_weight=sample_weight,
        )

    def to_sklearn(self) -> Any:
        """The same mixture as a fitted ``sklearn.mixture.GaussianMixture``.

        Its initial values are these parameters too, so that its own ``fit`` starts from them; read
        them off as ``means_init``, ``weights_init`` and ``precisions_init`` for other mixtures.
        """
        return as_sklearn(self, self._variances())

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted model to one file, for :func:`halfseen.load`.

        A file that is there already is not replaced unless ``overwrite`` says so. Until the new one
        is whole the old one stays, even if the process is killed.
        """
        save(self, path, kind_of(type(self)), overwrite=overwrite)

    def concerns(self, X: Any, *, groups: Any = None) -> list[Any]:
        """What speaks against taking the model at its word, in sentences.

        Checks whether gaps depend on values or come in blocks, whether pairs of features are seen
        together often enough, whether features are related at all, how many components the second
        moments support, whether components overlap, and whether the noise is as assumed. Each is a
        test that rarely fires without cause.

        Parameters
        ----------
        X : array or data frame of shape (n, d), path or list of batches
            The table that the model was learned from.
        groups : array of shape (n,) or None, default=None
            A label for each row if rows depend on each other, such as the patient it is of.

        Returns
        -------
        list of Concern
            Each with a ``kind`` and a ``sentence`` that says what to do.
        """
        check_is_fitted(self)
        return list_concerns(self, X, groups=groups)

    def report(
        self,
        X: Any,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        include_rows: bool = False,
        overwrite: bool = False,
        groups: Any = None,
    ) -> None:
        """Write one HTML page that explains the model, learned from ``X`` (n, d) or the like.

        It opens without a network, and holds no row of X unless ``include_rows`` says so. A file
        that is there already is not replaced unless ``overwrite`` says so. ``groups`` (n,) label
        rows that depend on each other, such as those of one patient.
        """
        check_is_fitted(self)
        write_page(
            self,
            X,
            path,
            title=title,
            include_rows=include_rows,
            overwrite=overwrite,
            groups=groups,
        )

    def sample(self, n_samples: int = 1) -> tuple[Array, Labels]:
        """Draw rows without gaps, and the components they come from."""
        check_is_fitted(self)
        check_sample_size(n_samples)
        random = check_random_state(self.random_state)
        labels = random.choice(self.n_components_, size=n_samples, p=self.weights_)
        noise = random.standard_normal((n_samples, self.n_features_in_))
        spread = np.sqrt(self._variances())[labels]
        return self.means_[labels] + noise * spread * self.kept_features_, labels

    def _kept_table(self, X: Any) -> np.ndarray[Any, Any]:
        return read_new_table(self, X)[:, self.kept_features_]

    def _posterior(self, kept_table: np.ndarray[Any, Any]) -> MixturePosterior:
        """Likelihoods and components' shares of rows of the features that vary."""
        parameters = self._parameters()

        def columns(block: Block) -> Array:
            return np.column_stack(posterior(block, parameters))

        both = row_by_row(in_memory(kept_table), columns)
        return MixturePosterior(both[:, 0], both[:, 1:])

    def _parameters(self) -> MixtureParameters:
        """The mixture of the features that vary."""
        check_is_fitted(self)
        kept = self.kept_features_
        return MixtureParameters(self.weights_, self.means_[:, kept], self._variances()[:, kept])

    def _variances(self) -> Array:
        """Variances of all components and features, whatever the covariance type; (k, d)."""
        check_is_fitted(self)
        covariances = np.asarray(self.covariances_)
        while covariances.ndim < 2:
            covariances = covariances[..., None]
        return np.broadcast_to(covariances, self.means_.shape)

    def _n_free_parameters(self) -> int:
        k, n_kept = len(self.weights_), int(np.count_nonzero(self.kept_features_))
        n_variances = {"tied_spherical": 1, "spherical": k, "diag": k * n_kept}
        return k - 1 + k * n_kept + n_variances[self.covariance_type]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
