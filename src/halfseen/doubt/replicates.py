"""Replicates of a fit by moments: what it would have been with other rows of the same kind."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from halfseen.doubt.cross_scores import of_models_not_kept
from halfseen.method.fit import (
    Fit,
    Routes,
    fit_rows,
    recovery_of_incomplete,
    restricted,
    used_features,
)
from halfseen.method.recipe import Recipe
from halfseen.method.regression import recovered_each
from halfseen.moments.bin_sums import BinSums
from halfseen.moments.origin_sums import StreamSecond, stream_third
from halfseen.moments.survey import Survey
from halfseen.moments.thirds import packed
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.bins import Bins
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.reweighted import ReweightedRows
from halfseen.rows.rows import Rows
from halfseen.rows.stages import Stages

P = TypeVar("P")
MOST_BYTES = 1e9


def moment_replicates(
    estimator: Any,
    rows: Rows,
    seen: Survey,
    recipe: Recipe[P],
    n_components: int,
    bins: Bins,
    weights: Array,
) -> list[P]:
    """Parameters of the kept features for each of ``weights`` (b, g), bin g counting so often.

    Moments of replicates are sums over bins, which are kept, and all regressions of incomplete
    features go over the rows once. Tables of too many features for that are fitted anew.
    """
    if not rows.sparse:  # what is sparse must not be filled in
        rows = rows.recentred(np.zeros(len(rows.names)))  # ready for many passes
    fits = moment_fits(estimator, rows, seen, recipe, n_components, bins, weights)
    found = [fit.parameters for fit in fits]
    return _with_incomplete(estimator, rows, seen, recipe, n_components, bins, weights, found)


def moment_fits(
    estimator: Any,
    rows: Rows,
    seen: Survey,
    recipe: Recipe[P],
    n_components: int,
    bins: Bins,
    weights: Array,
) -> list[Fit[P]]:
    """Replicates by moments alone, of the features that these are taken of."""
    by_moments = replace(recipe, regression=None, refinement=None)
    sums = None
    if estimator.moments == "available":
        sums = _sums(rows.select(seen.kept), seen.sums.mean[seen.kept], bins)
    with of_models_not_kept():
        return [
            _replicate(
                estimator, ReweightedRows(rows, bins, one), seen, by_moments, n_components, sums
            )
            for one in weights
        ]


def sums_fit(n_features: int, n_bins: int) -> bool:
    """Whether sums of triples of so many features in so many bins can be kept."""
    return 16.0 * packed.size(n_features) * n_bins <= MOST_BYTES


def _sums(rows: Rows, origin: Array, bins: Bins) -> BinSums | None:
    """Sums of triples of features in each bin, unless they would be too many."""
    if not sums_fit(len(origin), bins.n):
        return None
    return rows.accumulate(BinSums.triples(origin, bins))


def _replicate(
    estimator: Any,
    part: ReweightedRows,
    seen: Survey,
    recipe: Recipe[P],
    n_components: int,
    sums: BinSums | None,
) -> Fit[P]:
    if sums is not None:
        routes = _from_sums(sums, part.weights)
        return fit_rows(estimator, part, seen, recipe, n_components, Stages(), routes)
    # Means move too; which features are complete does not.
    seen = replace(seen, sums=part.accumulate(FeatureSums.of))
    return fit_rows(estimator, part, seen, recipe, n_components, Stages())


def _with_incomplete(
    estimator: Any,
    rows: Rows,
    seen: Survey,
    recipe: Recipe[P],
    n_components: int,
    bins: Bins,
    weights: Array,
    found: list[P],
) -> list[P]:
    """Replicates of the used features, with the incomplete ones as the estimator finds them."""
    kept = restricted(seen)
    if recipe.regression is None:
        return found
    if recovery_of_incomplete(estimator, kept, n_components) != "regress":
        return found
    regression = recipe.regression(kept)
    known = kept.complete[used_features(estimator, kept)]
    references = [regression.reference(one, known) for one in found]
    part = rows.select(seen.kept)
    return recovered_each(part, regression, references, kept.complete, bins, weights)


def _from_sums(sums: BinSums, weights: Array) -> Callable[[Mask], Routes]:
    replicate = sums.reweighted(weights)

    def routes(used: Mask) -> Routes:
        moments = replicate if used.all() else replicate.select(used)
        return Routes(StreamSecond(moments), stream_third(moments))

    return routes
