"""Gaussian mixtures from tables with gaps."""

from typing import Any, ClassVar

import numpy as np

from halfseen.estimators.checks import check_choice, check_non_negative, check_positive_integer
from halfseen.estimators.estimator import Estimator
from halfseen.method.model import Abilities, About
from halfseen.models.gaussian_mixture.cumulants import (
    NOISE_EIGENVALUES,
    NOISES,
    GaussianCumulants,
    warn_of_scales,
)
from halfseen.models.gaussian_mixture.emission import SHAPES, MixtureParameters, Normal
from halfseen.models.gaussian_mixture.to_sklearn import as_sklearn
from halfseen.models.gaussian_mixture.uneven_noise import uneven_noise
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

    Attributes
    ----------
    weights_ : ndarray of shape (k,)
        How common each component is.
    means_ : ndarray of shape (k, d)
        Means of the components. NaN for features that were never observed.
    covariances_ : float or ndarray of shape (k,) or (k, d)
        The variance, each component's, or each feature's in each component, as
        ``covariance_type`` says.

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
    }

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
        super().__init__(
            n_components,
            method=method,
            feature_weights=feature_weights,
            complete_above=complete_above,
            incomplete_features=incomplete_features,
            decomposer=decomposer,
            third_moment=third_moment,
            moments=moments,
            refine=refine,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.covariance_type = covariance_type
        self.form = form
        self.noise_eigenvalues = noise_eigenvalues

    def _check(self) -> None:
        check_choice(self, "covariance_type", NOISES)
        check_choice(self, "form", FORMS)
        check_choice(self, "noise_eigenvalues", NOISE_EIGENVALUES)
        check_non_negative(self, "tol")
        check_positive_integer(self, "max_iter")
        if self.covariance_type == "diag" and self.refine is None:
            raise ValueError(
                "covariance_type='diag' is learned by likelihood. Use refine='em', or "
                "covariance_type='spherical'."
            )

    def _model(self) -> OneClass[MixtureParameters]:
        shape, free = SHAPES[self.covariance_type], self.covariance_type == "diag"
        return OneClass(
            about=ABOUT,
            abilities=Abilities(
                thin_products=FORMS[self.form].centred,
                rank_tests=not free,
                not_streamed=free * NOT_STREAMED,
                no_intervals="",
                no_weights=free * NO_WEIGHTS,
                polish_candidates=True,
                scored_rows=None,
            ),
            emission=Normal(shape),
            cumulants=GaussianCumulants(
                FORMS[self.form],
                NOISES[self.covariance_type],
                NOISE_EIGENVALUES[self.noise_eigenvalues],
            ),
            tol=self.tol,
            max_iter=self.max_iter,
            axes={"variances": shape.axes},
            check=anything,
            caution=anything if free else warn_of_scales,
            own_checks=() if free else (uneven_noise,),
        )

    def to_sklearn(self) -> Any:
        """The same mixture as a fitted ``sklearn.mixture.GaussianMixture``.

        Its initial values are these parameters too, so that its own ``fit`` starts from them; read
        them off as ``means_init``, ``weights_init`` and ``precisions_init`` for other mixtures.
        """
        fitted = self.fitted
        return as_sklearn(self, fitted.parameters.variances)


NO_WEIGHTS = (
    "covariance_type='diag' is learned by likelihood, in which weights play no part. Use "
    "covariance_type='spherical' to compare them."
)
NOT_STREAMED = (
    "covariance_type='diag' is learned by likelihood, which goes over rows again. Use "
    "covariance_type='spherical', or fit()."
)
