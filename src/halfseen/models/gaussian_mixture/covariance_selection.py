"""Choose the covariance type and the number of factors."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from halfseen.data.arrays import Mask
from halfseen.data.messages import setting
from halfseen.data.rows import Rows
from halfseen.diagnostics.choice import Choice
from halfseen.diagnostics.cross_validation import Candidate, Comparison, of_models_not_kept
from halfseen.diagnostics.number_of_components import choose
from halfseen.distributions.correlated_normal import CorrelatedNormal
from halfseen.distributions.covariance_types import SHAPES, CovarianceShape
from halfseen.distributions.factor_normal import FactorNormal, FactorParameters
from halfseen.distributions.full_normal import FullNormal, FullParameters
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.inference.plan import Settings
from halfseen.models.gaussian_mixture.cumulants import Noise, Spherical, TiedDiagonal, TiedSpherical
from halfseen.moments.robust_statistics import robust_summary
from halfseen.moments.survey import Survey

NUMBERS_OF_FACTORS, FACTORS_AMONG_OTHERS = (1, 2, 4, 8, 16), (2, 4, 8)
"""That are tried where factors are asked for, and where they are one kind of several."""
MAX_FULL_FEATURES = 200
"""Tables of more have factors, and no array of all pairs of features for each component."""


class CovarianceType(NamedTuple):
    """A covariance type and its description."""

    n_free: Callable[[int, int, int], int]
    """How many numbers covariances have of k components, d features and q factors."""
    words: str = ""
    """What it says of a table; none if ``"auto"`` does not try it."""
    shape: CovarianceShape | None = None  # which variances are alike, of independent columns
    noise: Noise | None = None  # how they show in moments
    by_moments: bool = False  # whether moments are the method, and not but a start
    correlated: Callable[[int], CorrelatedNormal[Any]] | None = None
    """Columns that go along with each other, from the number of factors."""
    parameters: type[Any] = MixtureParameters
    first: str = ""  # the independent columns with which components of correlated ones are found


COVARIANCES = {
    "tied_spherical": CovarianceType(
        lambda k, d, q: 1, shape=SHAPES["tied_spherical"], noise=TiedSpherical(), by_moments=True
    ),
    "spherical": CovarianceType(
        lambda k, d, q: k, shape=SHAPES["spherical"], noise=Spherical(), by_moments=True
    ),
    "tied_diag": CovarianceType(
        lambda k, d, q: d,
        "Within groups columns vary by themselves, each as much in all of them.",
        shape=SHAPES["tied_diag"],
        noise=TiedDiagonal(),
    ),
    "diag": CovarianceType(
        lambda k, d, q: k * d,
        "Within groups columns vary by themselves, more in some groups than in others.",
        shape=SHAPES["diag"],
        noise=TiedDiagonal(),
    ),
    "tied": CovarianceType(
        lambda k, d, q: d * (d + 1) // 2,
        "Within groups columns go along with each other, alike in all groups.",
        correlated=lambda q: FullNormal(tied=True),
        parameters=FullParameters,
        first="tied_diag",
    ),
    "full": CovarianceType(
        lambda k, d, q: k * d * (d + 1) // 2,
        "Within groups columns go along with each other, in each group in its own way.",
        correlated=lambda q: FullNormal(tied=False),
        parameters=FullParameters,
        first="diag",
    ),
    "factor": CovarianceType(
        lambda k, d, q: k * d + d * q,
        "Within groups columns go along with each other by {} common factors.",
        correlated=lambda q: FactorNormal(n_factors=q),
        parameters=FactorParameters,
        first="diag",
    ),
}
"""Every covariance type, by the name that users give."""
FIRST_TYPE = "tied_diag"
"""With which the number of components is chosen: which one does not matter to that."""


class CovarianceOption(NamedTuple):
    """A covariance type, with its number of factors."""

    kind: str
    n_factors: int | None

    @property
    def name(self) -> str:
        """The option as users would write it."""
        factors = {} if self.n_factors is None else {"n_factors": self.n_factors}
        return setting(covariance_type=self.kind, **factors)

    @property
    def words(self) -> str:
        """What the option says about a table."""
        return COVARIANCES[self.kind].words.format(self.n_factors)

    def n_free(self, k: int, d: int) -> int:
        """The number of free parameters."""
        return k * (d + 1) + COVARIANCES[self.kind].n_free(k, d, self.n_factors or 0)


class CovarianceChoice(NamedTuple):
    """The chosen covariance type and the reason."""

    option: CovarianceOption
    n_components: int
    choice: Choice | None  # how the number of components was, if it was open
    reason: str


def options_for(
    covariance_type: str, n_factors: int | str, n_features: int
) -> list[CovarianceOption]:
    """The covariance types to choose from."""
    tried = [kind for kind, one in COVARIANCES.items() if one.words]
    kinds = tried if covariance_type == "auto" else [covariance_type]
    wide = n_features > MAX_FULL_FEATURES
    found = []
    for kind in kinds:
        if kind == "factor":
            found += [
                CovarianceOption(kind, q)
                for q in _factor_numbers(n_factors, n_features, len(kinds) > 1)
            ]
        elif not (wide and COVARIANCES[kind].correlated and covariance_type == "auto"):
            found.append(CovarianceOption(kind, None))
    return found


def _factor_numbers(n_factors: int | str, n_features: int, of_several: bool) -> list[int]:
    if not isinstance(n_factors, str):
        return [max(1, min(int(n_factors), n_features - 1))]
    if of_several:  # factors that say less than covariances do are fewer by far than columns
        return [q for q in FACTORS_AMONG_OTHERS if q <= n_features // 4]
    return [q for q in NUMBERS_OF_FACTORS if q == 1 or q <= n_features // 3]


def choose_covariance(
    estimator: Any, settings: Settings, rows: Rows, seen: Survey
) -> CovarianceChoice:
    """Choose the covariance type by held-out likelihood.

    If that is open, it is chosen first, from mixtures of all numbers and covariances together.
    """
    choice = None
    if settings.n_components == "auto":
        first = _with_option(estimator, CovarianceOption(FIRST_TYPE, None))
        choice = choose(settings, first._model(), rows, seen, context=estimator.choosing())
    number = int(settings.n_components) if choice is None else choice.n_components
    n_features = int(np.count_nonzero(seen.kept))
    options = options_for(estimator.covariance_type, estimator.n_factors, n_features)
    # Fits that are compared differ in their kind and rows, not in their luck.
    steady = replace(
        settings, random_state=0 if settings.random_state is None else settings.random_state
    )
    comparison = Comparison.of(steady, rows, _without_spikes(rows, seen))

    def candidate(option: CovarianceOption) -> Candidate:
        return Candidate(option.name, _with_option(estimator, option).candidate(), number)

    with of_models_not_kept():
        tried = _without_idle_factors(options, comparison, candidate)
        simplest_first = sorted(tried, key=lambda one: one.n_free(number, n_features))
        place, reason = comparison.preferred([candidate(one) for one in simplest_first])
    chosen = simplest_first[place]
    return CovarianceChoice(chosen, number, choice, f"{chosen.words} " + reason)


def _without_idle_factors(
    options: Sequence[CovarianceOption],
    comparison: Comparison,
    candidate: Callable[[CovarianceOption], Candidate],
) -> list[CovarianceOption]:
    """Options without factors that do not improve the held-out likelihood."""
    by_factors = sorted(one for one in options if one.kind == "factor")
    if len(by_factors) < 3 or not comparison.scored.any():
        return list(options)
    worth, last = set(), -np.inf
    for one in by_factors:
        # More factors are tried as long as held-out rows gain by them.
        worth.add(one)
        mean = comparison.scores(candidate(one)).mean(0)
        if mean <= last:
            break
        last = mean
    return [one for one in options if one.kind != "factor" or one in worth]


def _with_option(estimator: Any, option: CovarianceOption) -> Any:
    like = clone(estimator).set_params(covariance_type=option.kind)
    return like if option.n_factors is None else like.set_params(n_factors=option.n_factors)


def _without_spikes(rows: Rows, seen: Survey) -> Mask:
    """Features without spikes, whose probabilities do not compare with densities."""
    found = robust_summary(rows.select(seen.kept), seen.of_kept().sums)
    measured = np.zeros(len(seen.kept), bool)
    measured[seen.kept] = np.isnan(found.spike)
    return measured
