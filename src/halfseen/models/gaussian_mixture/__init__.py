"""Gaussian mixtures from tables with gaps."""

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.errors import DataError
from halfseen.data.formatting import features
from halfseen.data.messages import setting
from halfseen.data.progress import Stages
from halfseen.data.rows import Rows
from halfseen.distributions.covariance_types import warn_of_ranges
from halfseen.distributions.normal import Normal
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.estimators.estimator import Estimator
from halfseen.estimators.parameter_checks import (
    check_choice,
    check_non_negative,
    check_positive_integer,
)
from halfseen.federated.sums import Stream
from halfseen.inference.fit import Fit, fit_rows
from halfseen.inference.model import Abilities, About, Model, anything
from halfseen.inference.plan import Settings
from halfseen.inference.small_tables import in_canonical_order
from halfseen.io.sparse_matrix import ObservedBlocks
from halfseen.latent.correlated import Correlated
from halfseen.latent.mixture import OneClass
from halfseen.latent.moment_tensor import FORMS
from halfseen.models.gaussian_mixture.concerns import correlated_within, heteroscedastic_noise
from halfseen.models.gaussian_mixture.covariance_selection import COVARIANCES, choose_covariance
from halfseen.models.gaussian_mixture.cumulants import (
    NOISE_EIGENVALUES,
    GaussianCumulants,
)
from halfseen.moments.survey import Survey


def as_sklearn(mixture: Any, variances: Array) -> Any:
    """A fitted ``sklearn.mixture.GaussianMixture`` with the parameters of ours.

    ``variances`` (k, d) are those of all components and features. It knows neither outliers nor
    spikes: its normals have the means and variances that these give.
    """
    kind = "spherical" if (variances == variances[:, :1]).all() else "diag"
    covariances = variances.copy() if kind == "diag" else variances[:, 0].copy()
    return _as_sklearn(mixture, kind, covariances, 1 / covariances, covariances**-0.5)


def as_correlated_sklearn(mixture: Any, covariances: Array) -> Any:
    """The same for mixtures with ``covariances`` (k, d, d)."""
    tied = bool((covariances == covariances[:1]).all()) and mixture.covariance_type_ != "full"
    some = covariances[0] if tied else covariances
    root = np.linalg.inv(np.linalg.cholesky(some)).swapaxes(-1, -2)
    precisions = root @ root.swapaxes(-1, -2)
    return _as_sklearn(mixture, "tied" if tied else "full", some.copy(), precisions, root)


def _as_sklearn(mixture: Any, kind: str, covariances: Array, precisions: Array, root: Array) -> Any:
    from sklearn.mixture import GaussianMixture  # slow to import, and few need it

    dropped = list(mixture.diagnostics_.dropped_features)
    if dropped:
        raise DataError(
            f"{features(dropped, range(len(dropped)))} cannot be part of scikit-learn's mixture, "
            "in which every feature varies. Fit again without."
        )
    other = GaussianMixture(
        mixture.n_components_,
        covariance_type=kind,
        weights_init=mixture.weights_,
        means_init=mixture.means_,
        precisions_init=precisions,
    )
    other.weights_, other.means_, other.covariances_ = mixture.weights_, mixture.means_, covariances
    other.precisions_, other.precisions_cholesky_ = precisions, root
    other.converged_, other.n_iter_ = mixture.converged_, mixture.n_iter_
    other.lower_bound_, other.n_features_in_ = mixture.lower_bound_, mixture.n_features_in_
    if hasattr(mixture, "feature_names_in_"):
        other.feature_names_in_ = mixture.feature_names_in_
    return other


ABOUT = About(
    name="gaussian",
    noun="group",
    gives="groups of rows of measurements",
    assumes="Within a group columns are independent of each other and symmetric.",
    weighting="observed",
    labels=True,
    counts=False,
)
FIRST = "tied_diag"
"""The kind of covariance that a fit begins with if it chooses."""
MOST_FACTORS = 4
"""How many factors there are before a fit chose."""


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
    covariance_type : str, default="tied_spherical"
        One variance for all components (``"tied_spherical"``), one for each (``"spherical"``), one
        for each feature that all components share (``"tied_diag"``), or one for each feature of
        each (``"diag"``); or features that go along with each other, with one covariance that all
        components share (``"tied"``), one for each (``"full"``), or by a few factors that all share
        (``"factor"``), for tables of many features. All but the first two need ``refine="em"``.
        With the last three gaps are filled from the other cells of the row too, cells beyond fences
        are gaps for everything but their own likelihood (``outliers="auto"``), and spikes are not
        allowed for. ``"auto"`` compares all but the first two by how likely held-out rows are,
        takes a richer one only if that is clear, and says why in
        ``diagnostics_.covariance_reason``: what to use for a table that nobody has looked at. The
        default is that of the paper and of version 0.1, for features that vary alike.
    n_factors : int or "auto", default="auto"
        How many factors columns share with ``covariance_type="factor"``; ``"auto"`` chooses a few
        by how likely held-out rows are.
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
    covariances_ : float or ndarray of shape (k,), (d,), (k, d), (d, d) or (k, d, d)
        The variance, each component's, each feature's, each feature's in each component, or
        covariances for all components or of each, as ``covariance_type`` says.
    covariance_type_ : str
        The kind of covariance, as asked for or chosen.
    n_factors_ : int or None
        How many factors there are; None if ``covariance_type_`` has none.
    standard_deviations_ : ndarray of shape (k, d)
        Of each feature in each component, with ``covariance_type="factor"``, as are the following.
    shared_loadings_ : ndarray of shape (d, q)
        How each feature, in standard deviations, goes along with each of the factors.
    loadings_ : ndarray of shape (k, d, q)
        The same in the units of the table.
    noise_variances_ : ndarray of shape (k, d)
        What of each feature's variance no factor explains.
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
    lowest_usual_ : ndarray of shape (d,)
        The lower fence, beyond which cells are outliers, of features that go along with each other;
        NaN if none are allowed for.
    highest_usual_ : ndarray of shape (d,)
        The upper fence; NaN likewise.

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
    decided: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "covariance_type_": ("str",),
        "n_factors_": ("int", "NoneType"),
    }
    later: ClassVar[dict[str, Any]] = {
        "covariance_type_": lambda was: was["covariance_type"],
        "n_factors_": lambda was: None,
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

    covariance_type: str
    n_factors: int | str
    scale: str | None
    form: str
    noise_eigenvalues: str

    def __init__(
        self,
        n_components: int | str = 1,
        *,
        method: str = "weighted",
        feature_weights: Any = "auto",
        complete_above: float = 0.95,
        covariance_type: str = "tied_spherical",
        n_factors: int | str = "auto",
        scale: str | None = None,
        form: str = "centred",
        noise_eigenvalues: str = "D-K+1",
        incomplete_features: str = "regress",
        decomposer: str = "joint",
        third_moment: str = "auto",
        moments: str = "available",
        outliers: str | None = "auto",
        prior: float | None = 1.0,
        refine: str | None = "em",
        tol: float = 1e-7,
        max_iter: int = 500,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self._keep_parameters(locals())

    def _check(self) -> None:
        check_choice(self, "covariance_type", (*COVARIANCES, "auto"))
        known = COVARIANCES.get(self.covariance_type)
        if (known is None or known.correlated) and self.scale is not None:
            raise ValueError(
                setting(covariance_type=self.covariance_type)
                + " has variances for each feature, and so no use for "
                + setting(scale=self.scale)
                + ". Leave "
                + setting(scale=None)
                + "."
            )
        check_choice(self, "scale", ("robust", None))
        check_choice(self, "form", FORMS)
        check_choice(self, "noise_eigenvalues", NOISE_EIGENVALUES)
        check_non_negative(self, "tol")
        check_positive_integer(self, "max_iter")
        if self.n_factors != "auto":
            check_positive_integer(self, "n_factors")
        if self._by_likelihood and self.refine is None:
            raise ValueError(
                self._by_likelihood
                + " is learned by likelihood. Use "
                + setting(refine="em")
                + ", or "
                + SPHERICAL
                + "."
            )

    @property
    def _by_likelihood(self) -> str:
        """The parameter, if any, that requires refinement by likelihood."""
        if not any(
            one.by_moments and self.covariance_type == name for name, one in COVARIANCES.items()
        ):
            return setting(covariance_type=self.covariance_type)
        return "" if self.scale is None else setting(scale=self.scale)

    def learns(self, decided: Mapping[str, Any]) -> type[Any]:
        """Covariances of columns that go along with each other are another kind of parameters."""
        kind = decided.get("covariance_type_", self.covariance_type)
        if not (isinstance(kind, str) and kind in (*COVARIANCES, "auto")):
            raise ValueError(f"its covariance_type_ is {kind!r}")
        return COVARIANCES[FIRST if kind == "auto" else kind].parameters

    def _learn(
        self, X: Any, sample_weight: Any, observed: ObservedBlocks | None, vocabulary: Any = None
    ) -> Self:
        self._decide(self.covariance_type, self.n_factors)
        return super()._learn(X, sample_weight, observed, vocabulary)

    def _learn_sums(self, stream: Stream) -> Self:
        if self.covariance_type == "auto":
            raise ValueError(
                setting(covariance_type="auto")
                + " holds rows out to choose, and sums hold none. Say which: "
                "'diag', 'full' and the like."
            )
        return super()._learn_sums(stream)

    def _learn_more(self, X: Any, sample_weight: Any, refit: bool) -> Self:
        self._decide(self.covariance_type, self.n_factors)
        return super()._learn_more(X, sample_weight, refit)

    def _decide(self, kind: str, n_factors: Any) -> None:
        """Keep the chosen covariance type, or the start type if none is chosen yet."""
        self.covariance_type_ = FIRST if kind == "auto" else kind
        number = int(n_factors) if isinstance(n_factors, Integral) else MOST_FACTORS
        self.n_factors_ = number if kind == "factor" else None

    def _fit(
        self, settings: Settings, model: Model[Any], rows: Rows, seen: Survey, stages: Stages
    ) -> Fit[Any]:
        by_factors = self.covariance_type == "factor" and self.n_factors == "auto"
        if not (self.covariance_type == "auto" or by_factors):
            fit = super()._fit(settings, model, rows, seen, stages)
        else:
            with stages("kind of covariance"):
                # Which rows are held out is drawn by lot, and not by how they are sorted.
                own = in_canonical_order(rows, seen)
                (kind, n_factors), k, choice, reason = choose_covariance(self, settings, own, seen)
            self._decide(kind, n_factors)
            fit = fit_rows(settings, self._model(), rows, seen, k, stages)
            said = replace(fit.diagnostics, choice=choice, covariance_reason=reason)
            fit = replace(fit, diagnostics=said)
        if self.n_factors_ is not None:  # of fewer columns there are fewer
            self.n_factors_ = int(fit.parameters.pattern.shape[1])
        return fit

    def _model(self) -> OneClass[Any]:
        kind = getattr(self, "covariance_type_", self.covariance_type)
        covariance = COVARIANCES[FIRST if kind == "auto" else kind]
        if covariance.correlated is None:
            return self._independent(FIRST if kind == "auto" else kind)
        first = self._independent(covariance.first)
        n_factors = getattr(self, "n_factors_", self.n_factors)
        number = n_factors if isinstance(n_factors, int) else MOST_FACTORS
        emission = replace(
            covariance.correlated(number),
            outliers=self.outliers is not None,
            strength=self.prior or 0.0,
        )
        return Correlated(
            about=replace(ABOUT, assumes=ASSUMES_NORMAL),
            abilities=first.abilities,
            emission=emission,
            cumulants=first.cumulants,
            tol=self.tol,
            max_iter=self.max_iter,
            axes=emission.axes,
            first=first,
        )

    def _independent(self, kind: str) -> OneClass[MixtureParameters]:
        by_likelihood = self._by_likelihood
        known: Any = COVARIANCES[kind]
        noise, shape = known.noise, known.shape
        if self.scale is not None and "d" not in shape.axes:
            noise, shape = COVARIANCES["tied_diag"].noise, shape.measured_in(1.0)
        return OneClass(
            about=ABOUT,
            abilities=Abilities(
                thin_products=FORMS[self.form].centred,
                rank_tests=not by_likelihood,
                not_streamed=by_likelihood and by_likelihood + NOT_STREAMED,
                no_intervals="",
                no_weights=by_likelihood and by_likelihood + NO_WEIGHTS,
                refine_candidates=True,
                scored_rows=None,
            ),
            emission=Normal(shape, self.outliers is not None, self.prior or 0.0),
            cumulants=GaussianCumulants(
                FORMS[self.form], noise, NOISE_EIGENVALUES[self.noise_eigenvalues]
            ),
            tol=self.tol,
            max_iter=self.max_iter,
            axes={"variances": shape.axes},
            caution=anything if by_likelihood or self.outliers else warn_of_ranges,
            own_checks=(correlated_within,)
            if by_likelihood
            else (heteroscedastic_noise, correlated_within),
        )

    def to_sklearn(self) -> Any:
        """The same mixture as a fitted ``sklearn.mixture.GaussianMixture``.

        Its initial values are these parameters too, so that its own ``fit`` starts from them; read
        them off as ``means_init``, ``weights_init`` and ``precisions_init`` for other mixtures.
        """
        fitted = self.fitted
        if COVARIANCES[self.covariance_type_].correlated:
            emission: Any = self._model().emission
            return as_correlated_sklearn(self, emission.covariances(fitted.parameters))
        return as_sklearn(self, self._model().emission.variances(fitted.parameters))


ASSUMES_NORMAL = "Within a group columns are symmetric, and related to each other linearly."
SPHERICAL = setting(covariance_type="spherical") + " as it is"
NO_WEIGHTS = (
    " is learned by likelihood, in which weights play no part. Use "
    + SPHERICAL
    + " to compare them."
)
NOT_STREAMED = (
    " is learned by likelihood, which goes over rows again. Use " + SPHERICAL + ", or fit()."
)
