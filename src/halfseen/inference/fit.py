"""From rows to a fit: the survey of their features, the plan, and learning."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.engines.precomputed import SummedRows
from halfseen.data.errors import DataError, DroppedFeatureWarning, warn
from halfseen.data.feature_sums import FeatureSums, PossibleValues, value_limits
from halfseen.data.formatting import features, quoted
from halfseen.data.messages import setting
from halfseen.data.progress import Stages
from halfseen.data.rows import Rows
from halfseen.inference.method_of_moments import moment_start
from halfseen.inference.model import Convergence, Model
from halfseen.inference.parameters import attributes, check_finite, name_of, whole
from halfseen.inference.plan import (
    FitPlan,
    Routes,
    Settings,
    asked_implicit,
    planned,
    routes,
    with_winsorised_sums,
)
from halfseen.inference.small_tables import load_small_table
from halfseen.io.coding import Coding
from halfseen.moments.joint_counts import pair_counts
from halfseen.moments.missing_patterns import INDEPENDENT_BELOW
from halfseen.moments.moment_sums import MomentSums, SummedSecond, check_varies, summed_third
from halfseen.moments.survey import (
    Survey,
    check_magnitudes,
    numerical_errors_explained,
    survey,
    survey_of,
)

P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """How a fit went, and what to be careful about.

    Attributes
    ----------
    spectrum : ndarray
        Eigenvalues of the weighted signal, largest first. The ones kept should stand out.
    n_kept_eigenvalues : int
        How many of them, from the first, were kept: as many as the components span dimensions.
    off_diagonal_fraction : float
        How much of the tensor the components leave unexplained, from 0 to 1.
    dropped_features : dict
        Features left out of the fit, with the reason.
    n_empty_rows : int
        Rows in which nothing was observed. They were ignored.
    dependence_of_gaps : float
        Largest standardised deviation from features missing independently of each other.
    third_moment : str
        The route by which the third moment was had.
    third_moment_reason : str
        Why that one.
    n_unseen_triples : int
        Triples of features that no row holds together; their third cumulants were taken as 0.
    incomplete_features : str
        How the parameters of incomplete features were found: "none", "regress" or "divide".
    seconds : dict
        Time spent in each stage.
    strengths : ndarray or None
        ``λ_k``, how strongly each component shows in the whitened tensor; None in models from
        older files.
    start : str
        The start that refinement led highest from: "moments", or one of several seeds.
    n_starts : int
        How many starts were tried.
    n_agreeing : int
        How many of them led to the same place on the rows that they were tried on.
    never_together : dict
        Features that the moments were taken without, as each is never observed together with
        another, which is named. Their parameters are found by regression and refinement.
    choice : Choice or None
        How ``n_components="auto"`` was decided.
    covariance_reason : str
        Why covariances are of that kind, if the fit decided that; empty otherwise.
    refine_reason : str
        Why the likelihood was maximised, or not, if the fit decided that; empty otherwise.
    refine_gain : float or None
        How much likelier refinement made items of rows given others of the same row, in nats an
        item: perplexity became ``exp(-refine_gain)`` times what it was. Of models of topics, by
        some of the rows that were learned from; None otherwise. Its time is in ``seconds``.
    columns : Coding or None
        What became of each column of the table, used or not, and why; None where columns have no
        names, and in models from older files.
    """

    spectrum: Array
    n_kept_eigenvalues: int
    off_diagonal_fraction: float
    dropped_features: dict[str, str]
    n_empty_rows: int
    dependence_of_gaps: float
    third_moment: str
    third_moment_reason: str
    n_unseen_triples: int
    incomplete_features: str
    seconds: dict[str, float]
    strengths: Array | None = None
    start: str = "moments"
    n_starts: int = 1
    n_agreeing: int = 1
    never_together: dict[str, str] = field(default_factory=dict)
    choice: Any = None  # a Choice, which knows more than fits do
    covariance_reason: str = ""
    refine_reason: str = ""
    refine_gain: float | None = None
    columns: Coding | None = None

    @property
    def refine_told(self) -> str:
        """Why the likelihood was maximised, for how long and to what gain; empty if unknown."""
        if self.refine_gain is None:
            return self.refine_reason
        change = 1 - math.exp(-self.refine_gain)
        space = " " if self.refine_reason else ""
        return self.refine_reason + (
            f"{space}Refinement took {self.seconds.get('polishing', 0.0):.1f} seconds "
            f"and made perplexity {abs(change):.0%} {'lower' if change >= 0 else 'higher'} than "
            "the moments alone have it."
        )

    @property
    def gaps_independent(self) -> bool:
        """Whether features look to be missing independently of each other."""
        return self.dependence_of_gaps < INDEPENDENT_BELOW


def noise_level(values: Array) -> float:
    """The size of the lowest negative eigenvalue; 0 without one.

    Eigenvalues without signal scatter about zero, to both sides nearly alike.

    >>> import numpy as np
    >>> noise_level(np.array([9.0, 4.0, 0.5, -0.75]))
    0.75
    """
    return float(max(-values.min(initial=0.0), 0.0))


@dataclass(frozen=True, eq=False)
class Fitted(Generic[P]):
    """The fitted model: parameters, features, and how they were found."""

    model: Model[P]
    settings: Settings
    parameters: P  # of the kept features
    names: tuple[str, ...]  # of all features
    kept: Mask  # (d,)   features that vary
    complete: Mask  # (d,)
    observed_fraction: Array  # (d,)
    feature_weights: Array  # (d,)  zero for features that were not used
    constants: Array  # (d,)  of features that do not vary; NaN for others
    n_components: int
    converged: bool
    diagnostics: Diagnostics
    preprocessing: Any  # what was done to the columns before, or None
    estimator: str  # the class by which users know it
    streamed: bool  # learned from rows that were seen once and are gone
    possible: PossibleValues  # of all features, as the fit saw them
    coding: Coding | None = None  # how columns of words became numbers, if there may be any

    def attributes(self, parameters: P) -> dict[str, Any]:
        """Learned attributes, for these parameters of the kept features."""
        return attributes(parameters, self.kept, self.constants, self.model.axes)

    def name_of(self, values: Array) -> str | None:
        """The public attribute that holds this array, if one does."""
        return name_of(self.parameters, values)

    @property
    def order(self) -> NDArray[np.intp]:
        """Components from the most common to the rarest; (k,)."""
        return np.argsort(-self.model.shares(self.parameters), kind="stable")

    @property
    def taken(self) -> Mask:
        """Which features may be used; identifiers are not; (d,)."""
        return np.ones(len(self.names), bool) if self.coding is None else ~self.coding.left_out

    @property
    def nominal(self) -> Mask:
        """Which features are categories without order; (d,)."""
        return np.zeros(len(self.names), bool) if self.coding is None else self.coding.nominal

    @property
    def own_names(self) -> tuple[str, ...]:
        """Names of features before preprocessing."""
        return self.names if self.preprocessing is None else tuple(self.preprocessing.columns)


@dataclass(frozen=True, eq=False)
class Fit(Generic[P]):
    """Parameters learned from a table, and how it went."""

    model: Model[P]
    n_components: int
    survey: Survey
    parameters: P  # of the kept features
    convergence: Convergence | None
    feature_weights: Array  # (d,)  zero for features that were not used
    usual: Array  # (2, d)  the lowest and the highest value of each feature that is no outlier
    limits: Array  # (2, d)  what no value can be beyond, infinite if there is no limit
    diagnostics: Diagnostics


def look_through(
    settings: Settings,
    model: Model[Any],
    rows: Rows,
    stages: Stages,
    told: Collection[str] = (),
) -> Survey:
    """Survey the features of a table, and refuse tables that the model cannot learn from.

    Of features that people were ``told`` of already nothing more is said.
    """
    with stages("features"):
        seen = survey(rows, settings.complete_above)
    check_magnitudes(seen)
    model.check(seen)
    model.caution(seen)
    _check_survey(settings, seen)
    _warn_of_dropped(seen, told)
    return seen


def fit_rows(
    settings: Settings,
    model: Model[P],
    rows: Rows,
    seen: Survey,
    n_components: int,
    stages: Stages,
) -> Fit[P]:
    """Fit a model to surveyed rows."""
    plan, part = planned(settings, model, seen, n_components), rows.select(seen.kept)
    in_order = model.refinement_adds_components or not plan.refine
    if in_order and not model.uses_row_numbers:
        plan, part = _small_table(plan, part)
    with numerical_errors_explained(seen):
        with stages("outliers"):
            model = model.adapted_to(part, plan.kept)
            winsorised = model.winsorised(part, plan.kept)
            plan = with_winsorised_sums(plan, part, winsorised)
        ways = routes(plan, model, winsorised)
        return learn(part, winsorised, model, plan, ways, stages)


def _small_table(plan: FitPlan, rows: Rows) -> tuple[FitPlan, Rows]:
    """The rows in memory and in canonical order if they are few, and the plan for them."""
    few = load_small_table(rows, plan.kept)
    if few is rows:
        return plan, rows
    before = plan.kept.sums  # in which rows of nothing but other features count
    sums = few.accumulate(FeatureSums.of)
    sums = replace(sums, n_rows=before.n_rows, n_empty=before.n_empty)
    return replace(plan, kept=replace(plan.kept, sums=sums), winsorised=sums), few


def fit_sums(
    settings: Settings,
    model: Model[P],
    names: tuple[str, ...],
    sums: MomentSums,
    rows: SummedRows | None = None,
) -> Fit[P]:
    """Fit a model by moments alone, to sums of rows that are not available.

    What else is asked for ``rows`` answer, if they can.
    """
    if settings.n_components == "auto":
        raise ValueError(
            setting(n_components="auto")
            + " goes over the rows again, and those of a stream are gone. Choose "
            "with halfseen.choose_components() on some rows, or use fit()."
        )
    seen = survey_of(names, sums.features, settings.complete_above)
    if rows is not None:  # whose ranges are those of a plan
        seen = replace(seen, kept=seen.kept & sums.varies, complete=seen.complete & sums.varies)
    check_magnitudes(seen)
    _check_survey(settings, seen)
    _warn_of_dropped(seen)
    plan = planned(settings, model, seen, settings.n_components)
    recovery = "none" if plan.recovery == "none" else "divide"
    plan, sums = replace(plan, recovery=recovery, refine=False), sums.select(seen.kept)
    part = (SummedRows(names) if rows is None else rows).select(seen.kept)
    check_varies(sums, part.names)
    third = summed_third(sums) if sums.triples else asked_implicit
    with numerical_errors_explained(seen):
        if part.stand_in is not None:
            model = model.adapted_to(part.stand_in, plan.kept)
        fit = learn(part, part, model, plan, Routes(SummedSecond(sums), third), Stages())
    if rows is None:
        return fit
    return replace(fit, limits=np.array([seen.sums.minimum, seen.sums.maximum]))


def learn(
    rows: Rows, winsorised: Rows, model: Model[P], plan: FitPlan, routes: Routes, stages: Stages
) -> Fit[P]:
    """Learn ``model`` from moments of ``winsorised`` rows, and refine it by all ``rows``."""
    start = moment_start(model, winsorised, plan, routes, stages)
    parameters, convergence = model.from_moments(start.found), None
    if plan.refine:
        with stages("polishing"):
            settings = plan.settings
            seed = settings.steady_seed if model.refinement_adds_components else settings.seed
            parameters, convergence = model.refine(
                rows, parameters, plan.n_components, plan.kept, seed
            )
    check_finite(parameters)
    used = start.used
    feature_weights = np.zeros(len(plan.seen.names))
    feature_weights[np.flatnonzero(plan.seen.kept)[used]] = start.weights
    gaps = start.gaps if used.all() else routes.second.gaps(rows, plan.kept.sums)
    end = convergence or Convergence(None, 0, True)
    diagnostics = Diagnostics(
        spectrum=start.spectrum,
        n_kept_eigenvalues=start.n_kept,
        off_diagonal_fraction=start.decomposition.off_diagonal,
        dropped_features=plan.seen.dropped,
        n_empty_rows=plan.seen.sums.n_empty,
        dependence_of_gaps=gaps.dependence_of_features,
        third_moment=start.route,
        third_moment_reason=start.reason,
        n_unseen_triples=start.n_unseen,
        incomplete_features=plan.recovery,
        seconds=dict(stages.seconds),
        strengths=start.decomposition.values,
        start=end.start,
        n_starts=end.n_starts,
        n_agreeing=end.n_agreeing,
        never_together=_never_together(winsorised, plan.used & ~used),
        refine_reason=plan.refine_reason,
        refine_gain=end.gain,
    )
    return Fit(
        model,
        len(model.shares(parameters)),
        plan.seen,
        parameters,
        convergence,
        feature_weights,
        whole(model.limits(plan.kept), plan.seen.kept, np.nan),
        value_limits(plan.seen.sums),
        diagnostics,
    )


def _never_together(rows: Rows, left_out: Mask) -> dict[str, str]:
    """Features that are left out of the moments, and what each is never observed together with."""
    if not left_out.any():
        return {}
    count = rows.accumulate(pair_counts)
    found = {}
    for i in np.flatnonzero(left_out):
        others = np.flatnonzero(count[i] == 0)
        # Moments may be of some rows only, as documents of one or two items have none.
        some = quoted(rows.names, others) if len(others) else "another where moments can be taken"
        found[rows.names[i]] = f"never observed together with {some}"
    return found


def _check_survey(settings: Settings, seen: Survey) -> None:
    n_rows, n_components = seen.sums.n_rows, settings.n_components
    if n_components == "auto":
        n_components = 1
    needed = max(n_components, 3)  # two rows have no third moment
    if n_rows < needed:
        raise DataError(
            setting(n_components=n_components)
            + f" needs at least {needed} rows in which something is "
            f"observed, but there are {n_rows:g} (n_samples={n_rows:g}; {seen.sums.n_empty} rows "
            "are empty; a sample_weight counts as so many rows). Add rows, use fewer components, "
            "or scale weights to sum to the number of rows."
        )
    if not seen.kept.any():
        raise DataError(
            f"No feature varies (n_features={len(seen.names)}; all are constant or never "
            "observed), so there is nothing to learn. Add features that vary."
        )


def _warn_of_dropped(seen: Survey, told: Collection[str] = ()) -> None:
    dropped = {name: why for name, why in seen.dropped.items() if name not in told}
    for reason in dict.fromkeys(dropped.values()):
        alike = [i for i, name in enumerate(seen.names) if dropped.get(name) == reason]
        verb = "is" if len(alike) == 1 else "are"
        it = "it" if len(alike) == 1 else "them"
        warn(
            f"{features(seen.names, alike)} {verb} {reason} and left out of the fit. "
            f"Remove {it} from the table to be rid of this warning.",
            DroppedFeatureWarning,
        )
