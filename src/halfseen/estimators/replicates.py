"""Replicates of a fit by moments: what it would have been with other rows of the same kind."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from halfseen.core import packed
from halfseen.core.arrays import Array, Mask
from halfseen.core.bin_sums import BinSums
from halfseen.core.bins import Bins
from halfseen.core.reweighted import ReweightedRows
from halfseen.core.rows import Rows
from halfseen.core.stages import Stages
from halfseen.core.stream_sums import StreamSecond, stream_third
from halfseen.core.survey import Survey
from halfseen.estimators.fitting import Fit, Routes, fit_rows
from halfseen.estimators.recipe import Recipe

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
) -> Iterator[Fit[P]]:
    """A fit for each of ``weights`` (b, g), in which bin g counts so many times.

    Second and third moments of a replicate are sums over bins, which are kept; only the regression
    of incomplete features goes over the rows again. Too many features for that are fitted anew.
    """
    kept, sums = rows.select(seen.kept), None
    if 16.0 * packed.size(len(kept.names)) * bins.n <= MOST_BYTES:
        sums = kept.accumulate(BinSums.triples(seen.sums.mean[seen.kept], bins))
    rows = rows.recentred(np.zeros(len(rows.names)))  # ready for many passes
    for one in weights:
        part = ReweightedRows(rows, bins, one)
        routes = None if sums is None else _from_sums(sums, one)
        yield fit_rows(estimator, part, seen, recipe, n_components, Stages(), routes)


def _from_sums(sums: BinSums, weights: Array) -> Callable[[Mask], Routes]:
    replicate = sums.reweighted(weights)

    def routes(used: Mask) -> Routes:
        moments = replicate if used.all() else replicate.select(used)
        return Routes(StreamSecond(moments), stream_third(moments))

    return routes
