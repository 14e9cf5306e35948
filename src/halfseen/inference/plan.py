"""What is decided after a look at the features: which are used, how much, and by which moments."""

from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError, WeakMomentsWarning, warn
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.messages import parameter, setting
from halfseen.data.rows import Rows
from halfseen.inference.model import Cumulants, Model
from halfseen.inference.tensor_decomposition import DECOMPOSERS, Decomposition
from halfseen.moments.adjusted_moments import AdjustedSecond, AdjustedThird, Prediction
from halfseen.moments.missing_patterns import INDEPENDENT_BELOW
from halfseen.moments.second_moment import AllPairs, Moments, SecondMoment
from halfseen.moments.second_moment_operator import ThinProducts
from halfseen.moments.survey import Survey
from halfseen.moments.third_moment import (
    Probe,
    ProjectedThird,
    ThirdMoment,
    explicit,
    implicit,
    least_squares,
)
from halfseen.moments.whitening import WEIGHTINGS, Signal, Weighting, equal, given, given_weights

CHEAP = 1e9
"""So many triple products take a fraction of a second: no reason to assume anything."""

ITERATIONS = 30
"""Least squares goes over the rows about so often, products in three modes counted."""

MOST_EXPLICIT = 1500
"""Features whose triples, two numbers each, still fit in a few gigabytes."""


def automatic(rows: Rows, moments: Moments, probe: Probe) -> ProjectedThird:
    """Choose the route that assumes least of those that cost little."""
    route, reason = choose(moments, probe)
    return replace(route(rows, moments, probe), reason=reason)


def asked_implicit(rows: Rows, moments: Moments, probe: Probe) -> ProjectedThird:
    """Never form all triples, because the user asked for that."""
    dependence = moments.gaps.dependence
    if dependence < INDEPENDENT_BELOW:
        return implicit(rows, moments, probe)
    if _solvable(moments, probe):
        return replace(least_squares(rows, moments, probe), reason=_depend(dependence))
    return as_if_independent(rows, moments, probe, "implicit")


def as_if_independent(
    rows: Rows, moments: Moments, probe: Probe, asked: str = "auto"
) -> ProjectedThird:
    """Treat gaps as independent although they are not, with a warning."""
    dependence = moments.gaps.dependence
    warn(
        f"third_moment={asked!r} takes features to be missing independently of each other here, "
        f"but they are not (largest deviation {dependence:.1f} of {INDEPENDENT_BELOW:g}). "
        + _remedy(moments),
        WeakMomentsWarning,
    )
    found = implicit(rows, moments, probe)
    return replace(found, reason=f"{_depend(dependence)}, and are taken not to")


def choose(moments: Moments, probe: Probe) -> tuple[ThirdMoment, str]:
    """The route to the third moment for a table, and why."""
    if (moments.observed_fraction == 1).all():
        return implicit, "there are no gaps, and all routes give the same"
    d, r = len(moments.mean), probe.whitening.rank
    products = d**3 / 6
    formable = d <= MOST_EXPLICIT and moments.gaps.all_pairs
    if formable and moments.gaps.n_rows * products <= CHEAP:
        return explicit, f"{moments.gaps.n_rows * products:.2g} triple products are few"
    dependence = moments.gaps.dependence
    if dependence < INDEPENDENT_BELOW:
        return implicit, (
            f"{moments.gaps.n_rows * products:.2g} triple products are many, and gaps look "
            f"independent (largest deviation {dependence:.1f} of {INDEPENDENT_BELOW:g})"
        )
    if _solvable(moments, probe) and (not formable or ITERATIONS * r**4 < products):
        return least_squares, _depend(dependence)
    return (explicit if formable else asked_implicit), _depend(dependence)


def _solvable(moments: Moments, probe: Probe) -> bool:
    return moments.gaps.exact and not probe.beyond.shape[1]


def _depend(dependence: float) -> str:
    return (
        f"gaps depend on each other (largest deviation {dependence:.1f} of {INDEPENDENT_BELOW:g})"
    )


def _remedy(moments: Moments) -> str:
    if moments.gaps.all_pairs and len(moments.mean) <= MOST_EXPLICIT:
        return "Use third_moment='explicit', or 'auto', which chooses."
    return "Keep the features that are missing together in blocks, or drop the most entangled."


@dataclass(frozen=True, eq=False)
class Settings:
    """The shared parameters of an estimator."""

    estimator: str  # whose they are, for messages
    n_components: Any
    method: str
    feature_weights: Any
    complete_above: float
    incomplete_features: str
    decomposer: str
    third_moment: str
    moments: str
    outliers: str | None
    refine: str | None
    random_state: Any

    @classmethod
    def of(cls, estimator: Any) -> Self:
        names = [one.name for one in fields(cls) if one.name != "estimator"]
        return cls(type(estimator).__name__, *(getattr(estimator, name) for name in names))

    def generator(self) -> np.random.Generator:
        return np.random.default_rng(self.seed())

    def seed(self) -> int:
        """Draw a seed from the random state."""
        return int(check_random_state(self.random_state).randint(2**31))

    def steady_seed(self) -> int:
        """Draw a seed, which is 0 without a random state: for chance that hardly shows."""
        return 0 if self.random_state is None else self.seed()


THIRD_MOMENTS: dict[str, ThirdMoment] = {
    "auto": automatic,
    "explicit": explicit,
    "implicit": asked_implicit,
}
WIDE = 2048
"""More features than this have no array of all pairs: products with it take less time, a third of
it for 3,000 features."""
SPARSE_WIDE = 512
"""The same for sparse tables, whose products cost what is not zero."""
TOO_WIDE = 4096
"""More have no array of all triples, whoever asks for it."""


class Routes(NamedTuple):
    """How second and third moments are computed."""

    second: SecondMoment
    third: ThirdMoment


@dataclass(frozen=True, eq=False)
class FitPlan:
    """What was decided after the survey of a table."""

    settings: Settings
    n_components: int
    seen: Survey
    kept: Survey  # of the features that vary
    winsorised: FeatureSums  # of the same, as the moments see them
    used: Mask  # (kept,)  those that the moments are taken of
    weighting: Weighting
    recovery: str  # of incomplete features: "none", "regress" or "divide"; "later" by the caller
    refine: bool
    refine_reason: str = ""  # if the model decided that

    def weights(self, fraction: Array, signal: Signal, used: Mask) -> Array:
        """Weights of the ``used`` features (kept,), observed by ``fraction`` (used,)."""
        weights = self.weighting(fraction, signal)
        return weights[used] if len(weights) > len(fraction) else weights  # those of all are given

    def known(self, used: Mask) -> Mask:
        """Those of the ``used`` features (kept,) that all others are found from.

        By regression the complete ones, unless so many were left out that they cannot tell the
        components apart.
        """
        complete = used & self.kept.complete
        enough = np.count_nonzero(complete) >= self.n_components
        return complete if self.recovery == "regress" and enough else used

    def decompose(self, tensor: Array) -> Decomposition:
        """Decompose a tensor (k, k, k) by the decomposer of the settings."""
        return DECOMPOSERS[self.settings.decomposer](tensor, self.settings.generator())


def planned(settings: Settings, model: Model[Any], seen: Survey, n_components: int) -> FitPlan:
    """Make the plan for a table."""
    kept = seen.of_kept()
    used = used_features(settings, kept)
    check_used(settings, used)
    weighting = _weighting(settings, model.about.weighting, seen)
    recovery = recovery_of_incomplete(settings, kept, n_components)
    refine, reason = settings.refine is not None, ""
    if settings.refine == "auto":
        refine, reason = model.should_refine(kept)
    return FitPlan(
        settings, n_components, seen, kept, kept.sums, used, weighting, recovery, refine, reason
    )


def with_winsorised_sums(plan: FitPlan, rows: Rows, winsorised: Rows) -> FitPlan:
    """The plan for moments of ``winsorised`` rows, which may be the ``rows`` themselves."""
    if winsorised is rows:
        return plan
    return replace(plan, winsorised=winsorised.accumulate(FeatureSums.of))


def routes(plan: FitPlan, model: Model[Any], rows: Rows) -> Routes:
    """How moments of the kept features are computed."""
    settings = plan.settings
    if settings.moments == "adjusted":
        used = plan.used.copy()  # what is predicted has to be what moments are taken of
        used[used] = AllPairs().meeting(rows.select(used), plan.winsorised.select(used))
        complete = plan.kept.complete[used]
        check_adjustable(model.cumulants, complete)
        part, sums = rows.select(used), plan.winsorised.select(used)
        prediction = Prediction.learn(part, sums, complete)
        return Routes(AdjustedSecond(prediction), AdjustedThird(prediction))
    n_features, thin = len(plan.kept.names), model.abilities.thin_products
    second = _second_moment(settings.third_moment, rows.sparse, n_features, thin)
    return Routes(second, THIRD_MOMENTS[settings.third_moment])


def _second_moment(third_moment: str, sparse: bool, n_features: int, thin: bool) -> SecondMoment:
    """An array of all pairs or, where that is too large, products with it."""
    many = n_features > (SPARSE_WIDE if sparse else WIDE)
    if not (thin and many):
        return AllPairs()
    if third_moment == "explicit" and n_features > TOO_WIDE:
        raise DataError(
            f"third_moment='explicit' would hold {n_features**3 / 3:.1g} numbers for the triples "
            f"of {n_features} features. Use third_moment='auto', which never forms them."
        )
    return AllPairs() if third_moment == "explicit" else ThinProducts()


def check_adjustable(cumulants: Cumulants[Any], complete: Mask) -> None:
    """Refuse adjusted moments without complete features, or of too many features."""
    if not cumulants.centred:
        raise ValueError(setting(moments="adjusted") + " are about the mean. Use form='centred'.")
    if not complete.any():
        raise DataError(
            setting(moments="adjusted")
            + " predicts incomplete features from complete ones, but none is complete. Lower "
            + parameter("complete_above")
            + ", or use "
            + setting(moments="available")
            + "."
        )
    if len(complete) > MOST_EXPLICIT:
        raise DataError(
            setting(moments="adjusted")
            + f" holds all triples of features, and {len(complete)} are too many (at most "
            f"{MOST_EXPLICIT}). Use " + setting(moments="available") + "."
        )


def _weighting(settings: Settings, auto: str, seen: Survey) -> Weighting:
    choice = settings.feature_weights
    if isinstance(choice, str) and choice in ("auto", *WEIGHTINGS):
        rule = WEIGHTINGS[auto if choice == "auto" else choice]
    else:
        rule = given(given_weights(settings.estimator, choice, len(seen.names))[seen.kept])
    return rule if settings.method == "weighted" else equal


def used_features(settings: Settings, kept: Survey) -> Mask:
    """Features that moments are taken of."""
    return kept.complete if settings.method == "partial" else np.ones_like(kept.complete)


def check_used(settings: Settings, used: Mask) -> None:
    """Refuse a table without features to take moments of."""
    if not used.any():
        raise DataError(
            setting(method="partial")
            + " uses complete features only, but none is observed in at least "
            f"{settings.complete_above:.0%} of the rows. Lower "
            + parameter("complete_above")
            + ", or use "
            + setting(method="weighted")
            + "."
        )


def recovery_of_incomplete(settings: Settings, kept: Survey, n_components: int) -> str:
    """How incomplete features are found: "none", "regress" or "divide"."""
    n_complete = int(np.count_nonzero(kept.complete))
    if n_complete == len(kept.names):
        return "none"
    if n_complete < n_components:
        return "divide"
    return settings.incomplete_features
