"""Replicates of a fit by moments: what it would have been with other rows of the same kind."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import quoted
from halfseen.data.progress import Stages
from halfseen.data.resampling import Bins, reweighted
from halfseen.data.rows import Rows
from halfseen.diagnostics.cross_validation import of_models_not_kept
from halfseen.inference.fit import Fitted
from halfseen.inference.method_of_moments import moment_start
from halfseen.inference.model import Start
from halfseen.inference.plan import Plan, Routes, planned, routes
from halfseen.moments import symmetric_tensors
from halfseen.moments.regression import recovered_each
from halfseen.moments.resampling import BinSums, OriginSecond, OriginSums, origin_third
from halfseen.moments.second_moment import met
from halfseen.moments.survey import Survey

P = TypeVar("P")
MOST_BYTES = 1e9


def replicated_parameters(
    fitted: Fitted[P], rows: Rows, seen: Survey, bins: Bins, weights: Array
) -> list[P]:
    """Parameters of the kept features for each of ``weights`` (b, g), bin g counting so often.

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
    """Replicates by moments alone, of the features that these are taken of."""
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
    """Whether sums of triples of so many features in so many bins can be kept."""
    return 16.0 * symmetric_tensors.size(n_features) * n_bins <= MOST_BYTES


def _sums(rows: Rows, origin: Array, bins: Bins) -> BinSums | None:
    """Sums of triples of features in each bin, unless they would be too many."""
    if not sums_fit(len(origin), bins.n):
        return None
    return rows.accumulate(BinSums.triples(origin, bins))


def _planned(fitted: Fitted[Any], seen: Survey) -> Plan:
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


def _started(fitted: Fitted[P], part: Rows, plan: Plan, ways: Routes) -> Start:
    plan = replace(plan, recovery="later", refine=False)
    return moment_start(fitted.model, part, plan, ways, Stages())


def _varies(sums: FeatureSums) -> Mask:
    return np.asarray(sums.minimum < sums.maximum)


def _check_vary(names: tuple[str, ...], before: Mask, after: Mask) -> None:
    """Raise DataError if a replicate leaves out all rows in which some feature differs.

    What does not vary ``before`` it either, as without outliers, was learned all the same.
    """
    lost = np.flatnonzero(before & ~after)
    if len(lost):
        raise DataError(
            f"Without some of the rows {quoted(names, lost)} would not vary, so that nothing can "
            "be learned of how sure the model is. Leave such columns out, or add rows."
        )


SAME = 1e-9


def learned_from(fitted: Fitted[Any], seen: Survey) -> bool:
    """Whether a table looks to be the one that the model was fitted to."""
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
    """What tells a table from the one that the model was fitted to, by its first feature."""
    before, now = fitted.observed_fraction, seen.sums.observed_fraction
    differs = np.abs(before - now) >= SAME
    if differs.any():
        first = int(np.argmax(differs))
        how = f"is observed in {now[first]:.4g} of its rows and was in {before[first]:.4g}"
    else:
        first = int(np.argmax(seen.kept != fitted.kept))
        how = "varies and did not" if seen.kept[first] else "is constant and was not"
    return f"{quoted(seen.names, [first])} {how}"
