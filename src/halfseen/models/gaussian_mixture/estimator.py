"""Gaussian mixtures from tables with gaps."""

from typing import Any, ClassVar

import numpy as np

from halfseen.estimators.checks import (
    check_choice,
    check_non_negative,
    check_positive_integer,
)
from halfseen.estimators.estimator import Estimator
from halfseen.method.model import Abilities, About
from halfseen.models.gaussian_mixture.covariance import SHAPES, InUnits
from halfseen.models.gaussian_mixture.cumulants import (
    NOISE_EIGENVALUES,
    NOISES,
    GaussianCumulants,
)
from halfseen.models.gaussian_mixture.emission import Normal
from halfseen.models.gaussian_mixture.parameters import MixtureParameters
from halfseen.models.gaussian_mixture.scales import warn_of_ranges
from halfseen.models.gaussian_mixture.to_sklearn import as_sklearn
from halfseen.models.gaussian_mixture.uneven_noise import going_along, uneven_noise
from halfseen.structures.one_class import OneClass, anything
from halfseen.structures.one_class.form import FORMS

ABOUT = About(
    name="gaussian",
    noun="group",
    gives="groups of rows of measurements",
    assumes="Within a group columns vary independently of each other, and evenly to both sides.",
    weighting="observed",
    labels=True,
    counts=False,
)


class GaussianMixture(Estimator):
    """Mixture of Gaussians with independent noise, learned from whatever is observed.

    No random starts: the second and third moments of the observed entries, each feature weighted
    by how well it is known, are decomposed into components; from there EM climbs to the maximum of
    the likelihood. The moments assume that values are missing completely at random, the likelihood
    only that they are missing at random given what is observed.

    Parameters
    ----------
    feature_weights : {"auto", "observed", "sqrt", "none", "signal"} or array, default="auto"
        The weights of ``method="weighted"``. ``"auto"`` is ``"observed"``: the fraction of rows
        in which a feature is observed.
    covariance_type : {"tied_spherical", "spherical", "tied_diag", "diag"}
        One variance for all components (the default), one for each, one for each feature that all
        components share, or one for each feature of each (the last two need ``refine="em"``).
    scale : {None, "robust"}, default=None
        Variances that features share are in the units of the table, or in units of each feature's
        robust spread, as features in different units need (with ``refine="em"``).
    form : {"centred", "raw"}, default="centred"
        Moments about the mean with a constant coordinate, or moments about zero as in the paper.
    noise_eigenvalues : {"D-K+1", "D-K"}, default="D-K+1"
        How many of the complete features' smallest eigenvalues estimate the noise: all that are
        noise, or one fewer as in the paper.
    incomplete_features : {"regress", "divide"}, default="regress"
        Find incomplete features' means by regression on the components' probabilities, or divide
        by their weights as in the paper.

    Attributes
    ----------
    weights_ : ndarray of shape (k,)
        How common each component is.
    means_ : ndarray of shape (k, d)
        Means of the components. NaN for features that were never observed.
    covariances_ : float or ndarray of shape (k,), (d,) or (k, d)
        The variance, each component's, each feature's, or each feature's in each component, as
        ``covariance_type`` says.
    outlier_share_ : float
        How many of the observed cells are outliers: of no component. 0 if none are allowed for.
    centres_ : ndarray of shape (k, d)
        Where the normal of each component is: its means without spikes and skew.
    spike_values_ : ndarray of shape (d,)
        The value that many cells of a feature hold exactly; NaN if there is none.
    second_values_ : ndarray of shape (d,)
        The other value of features that hold two; NaN for others.
    spike_shares_ : ndarray of shape (k, d)
        How often each component holds the feature's spike; NaN for features without one.
    typical_values_ : ndarray of shape (d,)
        The middle of each feature's values, from which outliers are far; NaN if none are allowed
        for.
    typical_spreads_ : ndarray of shape (d,)
        How far the bulk of each feature's values is from there; NaN likewise.

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

    about = ABOUT
    Parameters = MixtureParameters
    later: ClassVar[dict[str, Any]] = {
        # A constant feature has its constant as every component's mean.
        "constants_": lambda was: np.where(was["kept_features_"], np.nan, was["means_"][0]),
        "centres_": lambda was: was["means_"],
        "outlier_share_": lambda was: 0.0,
        "spike_shares_": lambda was: np.full_like(was["means_"], np.nan),
        **dict.fromkeys(
            ("typical_values_", "typical_spreads_", "spike_values_", "second_values_"),
            lambda was: np.full(len(was["kept_features_"]), np.nan),
        ),
    }

    def __init__(
        self,
        n_components: int | str = 1,
        *,
        method: str = "weighted",
        feature_weights: Any = "auto",
        complete_above: float = 0.95,
        covariance_type: str = "tied_spherical",
        scale: str | None = None,
        form: str = "centred",
        noise_eigenvalues: str = "D-K+1",
        incomplete_features: str = "regress",
        decomposer: str = "joint",
        third_moment: str = "auto",
        moments: str = "available",
        outliers: str | None = "auto",
        refine: str | None = "em",
        tol: float = 1e-7,
        max_iter: int = 500,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(
            n_components,
            method=method,
            feature_weights=feature_weights,
            complete_above=complete_above,
            incomplete_features=incomplete_features,
            decomposer=decomposer,
            third_moment=third_moment,
            moments=moments,
            outliers=outliers,
            refine=refine,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.covariance_type = covariance_type
        self.scale = scale
        self.form = form
        self.noise_eigenvalues = noise_eigenvalues

    def _check(self) -> None:
        check_choice(self, "covariance_type", NOISES)
        check_choice(self, "scale", ("robust", None))
        check_choice(self, "form", FORMS)
        check_choice(self, "noise_eigenvalues", NOISE_EIGENVALUES)
        check_non_negative(self, "tol")
        check_positive_integer(self, "max_iter")
        if self._by_likelihood and self.refine is None:
            raise ValueError(
                f"{self._by_likelihood} is learned by likelihood. Use refine='em', or "
                "covariance_type='spherical' as it is."
            )

    @property
    def _by_likelihood(self) -> str:
        """The parameter, if any, for which the moments are but a start."""
        if self.covariance_type in ("diag", "tied_diag"):
            return f"covariance_type={self.covariance_type!r}"
        return "" if self.scale is None else f"scale={self.scale!r}"

    def _model(self) -> OneClass[MixtureParameters]:
        by_likelihood = self._by_likelihood
        noise, shape = NOISES[self.covariance_type], SHAPES[self.covariance_type]
        if self.scale is not None and "d" not in shape.axes:
            noise, shape = NOISES["tied_diag"], InUnits(shape)
        return OneClass(
            about=ABOUT,
            abilities=Abilities(
                thin_products=FORMS[self.form].centred,
                rank_tests=not by_likelihood,
                not_streamed=by_likelihood and NOT_STREAMED.format(by_likelihood),
                no_intervals="",
                no_weights=by_likelihood and NO_WEIGHTS.format(by_likelihood),
                polish_candidates=True,
                scored_rows=None,
            ),
            emission=Normal(shape, outliers=self.outliers is not None),
            cumulants=GaussianCumulants(
                FORMS[self.form], noise, NOISE_EIGENVALUES[self.noise_eigenvalues]
            ),
            tol=self.tol,
            max_iter=self.max_iter,
            axes={"variances": shape.axes},
            check=anything,
            caution=anything if by_likelihood or self.outliers else warn_of_ranges,
            own_checks=(going_along,) if by_likelihood else (uneven_noise, going_along),
        )

    def to_sklearn(self) -> Any:
        """The same mixture as a fitted ``sklearn.mixture.GaussianMixture``.

        Its initial values are these parameters too, so that its own ``fit`` starts from them; read
        them off as ``means_init``, ``weights_init`` and ``precisions_init`` for other mixtures.
        """
        fitted = self.fitted
        return as_sklearn(self, self._model().emission.variances(fitted.parameters))


NO_WEIGHTS = (
    "{} is learned by likelihood, in which weights play no part. Use "
    "covariance_type='spherical' as it is to compare them."
)
NOT_STREAMED = (
    "{} is learned by likelihood, which goes over rows again. Use "
    "covariance_type='spherical' as it is, or fit()."
)
