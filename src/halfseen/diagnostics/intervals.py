"""Confidence intervals of parameters, by bootstrap of moments or of the likelihood."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from scipy.special import betaincinv
from scipy.stats import norm
from scipy.stats import t as student

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import quoted
from halfseen.data.progress import Stages
from halfseen.data.resampling import Bins, reweighted
from halfseen.data.rows import Rows
from halfseen.diagnostics.cross_validation import of_models_not_kept
from halfseen.diagnostics.recovery import nearest
from halfseen.inference.fit import Fitted
from halfseen.inference.method_of_moments import moment_start
from halfseen.inference.model import Start
from halfseen.inference.parameters import FRACTION, Scale, reordered, scales, two_values
from halfseen.inference.plan import FitPlan, Routes, planned, routes
from halfseen.moments import symmetric_tensors
from halfseen.moments.regression import recovered_each
from halfseen.moments.resampling import BinSums, OriginSecond, OriginSums, origin_third
from halfseen.moments.second_moment import met
from halfseen.moments.survey import Survey

P = TypeVar("P")
MOST_BYTES = 1e9  # of the sums of triples that are kept for replicates


def replicated_parameters(
    fitted: Fitted[P], rows: Rows, seen: Survey, bins: Bins, weights: Array
) -> list[P]:
    """Parameters of kept features for each of ``weights`` (b, g) of bins.

    Moments of replicates are sums over bins, which are kept, and all regressions of incomplete
    features go over the rows once. Tables of too many features for that are fitted anew.
    """
    if not rows.sparse:  # what is sparse must not be filled in
        rows = rows.recentred(np.zeros(len(rows.names)))  # ready for many passes
    fitted, rows, seen = _winsorised(fitted, rows, seen)
    learned = _moment_replicates(fitted, rows, seen, bins, weights)
    found, plan = [one.found for one in learned], _planned(fitted, seen)
    known = plan.known(np.all([one.used for one in learned], axis=0))
    regression = fitted.model.regression(plan.kept)
    if regression is not None and not known.all():
        references = [regression.reference(one.found, known[one.used]) for one in learned]
        found = recovered_each(rows, regression, references, known, bins, weights)
    return [fitted.model.from_moments(one) for one in found]


def moment_replicates(
    fitted: Fitted[P], rows: Rows, seen: Survey, bins: Bins, weights: Array
) -> list[Start]:
    """Bootstrap replicates by moments alone."""
    return _moment_replicates(*_winsorised(fitted, rows, seen), bins, weights)


def _winsorised(fitted: Fitted[P], rows: Rows, seen: Survey) -> tuple[Fitted[P], Rows, Survey]:
    """The fit, and the kept features of the rows as its moments saw them."""
    part, kept, chosen = rows.select(seen.kept), seen.of_kept(), fitted.settings.feature_weights
    model = fitted.model.adapted_to(part, kept)
    winsorised = model.winsorised(part, kept)
    if winsorised is not part:
        kept = replace(kept, sums=winsorised.accumulate(FeatureSums.of))
    own = chosen if isinstance(chosen, str) else np.asarray(chosen)[seen.kept]
    settings = replace(fitted.settings, feature_weights=own)
    return replace(fitted, model=model, settings=settings), winsorised, kept


def _moment_replicates(
    fitted: Fitted[P], rows: Rows, seen: Survey, bins: Bins, weights: Array
) -> list[Start]:
    sums = None
    if fitted.settings.moments == "available":
        sums = _sums(rows, seen.sums.mean, bins)
    with of_models_not_kept():
        parts = [reweighted(rows, bins, one) for one in weights]
        if sums is None:
            return [_replicate(fitted, part, seen) for part in parts]
        return [
            _replicate_of_sums(fitted, part, seen, sums.whole, sums.reweighted(one))
            for part, one in zip(parts, weights, strict=True)
        ]


def sums_fit(n_features: int, n_bins: int) -> bool:
    """Whether triple sums of that many features in that many bins fit into memory."""
    return 16.0 * symmetric_tensors.size(n_features) * n_bins <= MOST_BYTES


def _sums(rows: Rows, origin: Array, bins: Bins) -> BinSums | None:
    """Sums of triples of features in each bin, unless they would be too many."""
    if not sums_fit(len(origin), bins.n):
        return None
    return rows.accumulate(BinSums.triples(origin, bins))


def _planned(fitted: Fitted[Any], seen: Survey) -> FitPlan:
    return planned(fitted.settings, fitted.model, seen, fitted.n_components)


def _replicate(fitted: Fitted[P], part: Rows, seen: Survey) -> Start:
    varied = _varies(seen.sums)  # means move too; which features are complete does not
    seen = replace(seen, sums=part.accumulate(FeatureSums.of))
    _check_vary(part.names, varied, _varies(seen.sums))
    plan = _planned(fitted, seen)
    return _started(fitted, part, plan, routes(plan, fitted.model, part))


def _replicate_of_sums(
    fitted: Fitted[P], part: Rows, seen: Survey, whole: OriginSums, replicate: OriginSums
) -> Start:
    plan = _planned(fitted, seen)
    used = plan.used.copy()  # as the fit did, without those that never meet
    used[used] = met(whole.pairs.count[np.ix_(used, used)])
    _check_vary(part.names, whole.varies, replicate.varies)
    moments = replicate if used.all() else replicate.select(used)
    ways = Routes(OriginSecond(moments), origin_third(moments))
    return _started(fitted, part, replace(plan, used=used), ways)


def _started(fitted: Fitted[P], part: Rows, plan: FitPlan, ways: Routes) -> Start:
    plan = replace(plan, recovery="later", refine=False)
    return moment_start(fitted.model, part, plan, ways, Stages())


def _varies(sums: FeatureSums) -> Mask:
    return np.asarray(sums.minimum < sums.maximum)


def _check_vary(names: tuple[str, ...], before: Mask, after: Mask) -> None:
    """Raise DataError if a feature is constant in a replicate.

    What does not vary ``before`` it either, as without outliers, was learned all the same.
    """
    lost = np.flatnonzero(before & ~after)
    if len(lost):
        raise DataError(
            f"Without some of the rows {quoted(names, lost)} would not vary, so that nothing can "
            "be learned of how sure the model is. Leave such columns out, or add rows."
        )


SAME = 1e-9  # shares of rows of the same table differ by rounding alone


def learned_from(fitted: Fitted[Any], seen: Survey) -> bool:
    """Whether a table looks like the one of the fit."""
    apart = np.abs(fitted.observed_fraction - seen.sums.observed_fraction)
    return bool((apart < SAME).all()) and np.array_equal(seen.kept, fitted.kept)


def check_learned_from(fitted: Fitted[Any], seen: Survey) -> None:
    """Refuse another table."""
    if not learned_from(fitted, seen):
        raise ValueError(
            "Intervals are those of the table that a model was learned from, and X is another: "
            f"{_difference(fitted, seen)}. Give the same X (and sample_weight), or fit to this "
            "one."
        )


def _difference(fitted: Fitted[Any], seen: Survey) -> str:
    before, now = fitted.observed_fraction, seen.sums.observed_fraction
    differs = np.abs(before - now) >= SAME
    if differs.any():
        first = int(np.argmax(differs))
        how = f"is observed in {now[first]:.4g} of its rows and was in {before[first]:.4g}"
    else:
        first = int(np.argmax(seen.kept != fitted.kept))
        how = "varies and did not" if seen.kept[first] else "is constant and was not"
    return f"{quoted(seen.names, [first])} {how}"


Public = Mapping[str, Array]
"""Learned parameters by the names of the attributes that hold them."""
N_REPLICATES = 200  # which give standard errors to within 5 %
FEWEST_REPLICATES = 50  # with fewer the ends are chance
HALF_ROW = 0.5
"""What Jeffreys' prior adds to the rows that show something and to those that do not."""


class Interval(NamedTuple):
    """Confidence intervals and standard errors of one attribute, entry by entry."""

    low: Array
    high: Array
    std: Array  # standard error


def bootstrapped(
    fitted: Fitted[P], rows: Rows, seen: Survey, bins: Bins, level: float, n_replicates: int
) -> dict[str, Interval]:
    """Confidence intervals of all attributes learned from ``rows``."""
    check_level(level)
    return replicates(fitted, rows, seen, bins, n_replicates).of_attributes(level)


@dataclass(frozen=True, eq=False)
class Replicates(Generic[P]):
    """Bootstrap replicates of the parameters."""

    fitted: Fitted[P]
    parameters: list[P]
    n_bins: int

    def of_attributes(self, level: float) -> dict[str, Interval]:
        here = self.fitted.parameters
        estimate, *values = map(self.fitted.attributes, (here, *self.parameters))
        two = two_values(here, estimate)
        return intervals_from(estimate, values, scales(here), two, level, self.n_bins)

    def of(self, follows: Callable[[P], Array], scale: Scale, level: float) -> Interval:
        """Intervals of a function of the parameters."""
        estimate, values = follows(self.fitted.parameters), map(follows, self.parameters)
        return _interval(estimate, np.array(list(values)), scale, level, self.n_bins)


def replicates(
    fitted: Fitted[P], rows: Rows, seen: Survey, bins: Bins, n_replicates: int
) -> Replicates[P]:
    """Replicates from the rows of the fit."""
    check_learned_from(fitted, seen)
    # The Bayesian bootstrap: every bin counts for something, so no feature is ever lost.
    weights = np.random.default_rng(0).exponential(size=(n_replicates, bins.n))
    weights /= weights.mean(axis=0)  # balanced: replicates are about the estimate
    return Replicates(fitted, _replicates(fitted, rows, seen, bins, weights), bins.n)


def _replicates(fitted: Fitted[P], rows: Rows, seen: Survey, bins: Bins, weights: Array) -> list[P]:
    """Replicates from the rows of the fit."""
    model, home = fitted.model, fitted.parameters
    if fitted.settings.refine is not None:
        return model.replicated(rows.select(seen.kept), home, bins, weights)
    places = model.places(home, home)
    return [
        reordered(one, nearest(places, model.places(one, home)))
        for one in replicated_parameters(fitted, rows, seen, bins, weights)
    ]


def intervals_from(
    estimate: Public,
    replicates: Sequence[Public],
    scales: Mapping[str, Scale],
    two_values: Mapping[str, Array],
    level: float,
    n_bins: int,
) -> dict[str, Interval]:
    """Intervals for every attribute of ``estimate``.

    Means of features that have only ``two_values`` (2, d) are probabilities of the higher one.
    """
    found = {}
    for name, scale in scales.items():
        if np.isnan(estimate[name]).all():
            continue  # which only other columns have
        values = np.array([replicate[name] for replicate in replicates])
        found[name] = _interval(np.asarray(estimate[name]), values, scale, level, n_bins)
        if name in two_values:
            low, high = two_values[name]
            here, there = ((one - low) / (high - low) for one in (estimate[name], values))
            share, other = _interval(here, there, FRACTION, level, n_bins), found[name]
            two, width = np.isfinite(high), high - low
            found[name] = Interval(
                np.where(two, low + width * share.low, other.low),
                np.where(two, low + width * share.high, other.high),
                np.where(two, width * share.std, other.std),
            )
    return found


def _interval(
    estimate: Array, replicates: Array, scale: Scale, level: float, n_bins: int
) -> Interval:
    rule = _of_probabilities if scale.probability else _of_numbers
    return rule(estimate, replicates, scale, level, n_bins)


def _of_probabilities(
    estimate: Array, replicates: Array, scale: Scale, level: float, n_bins: int
) -> Interval:
    """Jeffreys intervals with the effective number of rows of each probability.

    If n independent rows show something or not, the log-odds of its probability p have variance
    ``1 / (n p (1-p))``: that of the replicates gives n. The interval is that of a beta
    distribution with half a row of either kind added. If less than half a row of one kind was
    seen, it reaches the edge and goes as far from it as if there had been half a row: with none
    of n rows, up to ``1 - tail^(1/n)``, which is 3.7 / n. That is the modified interval of
    L. Brown, T. Cai and A. DasGupta (2001), Interval estimation for a binomial proportion.
    """
    tail = (1 - level) / 2
    middle, spread = _log_odds(replicates, scale)
    error = middle * (1 - middle) * spread
    few_bins = student.ppf(1 - tail, n_bins - 1) / norm.ppf(1 - tail)
    varies = error > 0
    n_rows = np.divide(
        middle * (1 - middle), (few_bins * error) ** 2, where=varies, out=1.0 * error
    )
    yes, no = n_rows * estimate, n_rows * (1 - estimate)
    half_yes, half_no = np.maximum(yes, HALF_ROW), np.maximum(no, HALF_ROW)
    low = betaincinv(yes + HALF_ROW, half_no + HALF_ROW, tail)
    high = betaincinv(half_yes + HALF_ROW, no + HALF_ROW, 1 - tail)
    low, high = np.where(yes < HALF_ROW, 0.0, low), np.where(no < HALF_ROW, 1.0, high)
    low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    return Interval(np.where(varies, low, estimate), np.where(varies, high, estimate), error)


def _log_odds(replicates: Array, scale: Scale) -> tuple[Array, Array]:
    """Probabilities about which replicates vary, and standard deviations of their log-odds.

    To first order in the logarithms of probabilities that sum to one: with r_l the deviation of
    that of p_l, the log-odds of p_l deviate by ``(r_l - Σ_m p_m r_m) / (1 - p_l)``. One that
    varies widely would otherwise take the others with it.
    """
    if scale.sums_along is None:
        odds = scale.to(replicates)
        return scale.back(odds.mean(axis=0)), odds.std(axis=0, ddof=1)
    logs = np.log(np.maximum(replicates, np.finfo(float).tiny))
    centre = logs.mean(axis=0)
    middle = np.exp(centre - np.fmax.reduce(centre, axis=scale.sums_along, keepdims=True))
    middle /= np.nansum(middle, axis=scale.sums_along, keepdims=True)
    deviation = np.moveaxis(logs - centre, 0, -1)  # (..., b)
    side = scale.sums_along - (scale.sums_along < 0)
    common = np.nansum(middle[..., None] * deviation, axis=side, keepdims=True)
    spread = (deviation - common).std(axis=-1, ddof=1)
    return middle, np.divide(spread, 1 - middle, where=middle < 1, out=np.zeros_like(spread))


def _of_numbers(
    estimate: Array, replicates: Array, scale: Scale, level: float, n_bins: int
) -> Interval:
    """Student's t interval, widened to the quantiles of replicates.

    The first knows how few bins there were, the second what happens at the edge of what is
    possible; either alone is somewhat short.
    """
    tail = (1 - level) / 2
    at, spread = scale.to(estimate), scale.to(replicates).std(axis=0, ddof=1)
    reach = student.ppf(1 - tail, n_bins - 1) * spread
    low, high = np.quantile(replicates, [tail, 1 - tail], axis=0)
    return Interval(
        np.minimum(scale.back(at - reach), low),
        np.maximum(scale.back(at + reach), high),
        replicates.std(axis=0, ddof=1),
    )


def check_level(level: Any) -> None:
    """A level of confidence is between zero and one."""
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < float(level) < 1:
        raise ValueError(f"level must be a number above 0 and below 1. Got {level!r} instead.")
