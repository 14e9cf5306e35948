"""Where topics are by the moments: those of rows as shares of their lengths."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from halfseen.method.decomposers.decomposition import Decomposition
from halfseen.method.model import Start
from halfseen.method.moment_start import by_cumulants
from halfseen.method.plan import (
    MOST_EXPLICIT,
    Plan,
    Routes,
    as_if_independent,
    check_used,
    choose,
)
from halfseen.method.plan import routes as routes_of
from halfseen.models.lda.cumulants import ShareCumulants
from halfseen.models.lda.lengths import (
    SHORTEST,
    Lengths,
    LengthSums,
    found_lengths,
    length_sums,
)
from halfseen.models.lda.parameters import LdaParameters, LengthLaw, ReadTopics
from halfseen.moments.moments import Moments
from halfseen.moments.pairs import SecondMoment
from halfseen.moments.thirds.implicit import implicit
from halfseen.moments.thirds.third import Probe, ProjectedThird, explicit
from halfseen.rows.arrays import Array
from halfseen.rows.engines.changed import ChangedRows
from halfseen.rows.errors import DataError
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.rows import Block, Rows
from halfseen.rows.stages import Stages
from halfseen.structures.loadings.importance import importance_sample

N_SCORED = 200
"""Rows whose likelihood tells concentrations apart."""
FEWEST = 2.0
"""Rows in which a feature is observed, by weight, for moments of it."""


def by_shares(
    model: Any,
    calm: Rows,
    plan: Plan,
    routes: Routes,
    stages: Stages,
    totals: Array | None,
    concentration: float | None,
) -> Start:
    """Read topics off the moments of ``calm`` rows."""
    with stages("lengths of rows"):
        complete = bool((plan.calm.observed_fraction == 1).all())
        lengths = found_lengths(calm, plan.calm.mean, complete, totals)
        known = length_sums(calm, lengths)
        if plan.n_components == 1:
            return _single(calm, plan, routes.second, lengths, known.law, concentration or 1.0)
        _check_long(known)
        shares = ChangedRows.of(calm, lengths.shared_out)
        sums = shares.accumulate(FeatureSums.of)
        # Features that vary in short rows only are found from the others.
        varied = (sums.count >= FEWEST) & (sums.minimum < sums.maximum)
        plan = replace(plan, calm=sums, used=plan.used & varied)
        check_used(plan.settings, plan.used)
    second, third = routes_of(plan, model, shares)
    if plan.n_components == 2:  # whose concentration rows decide, of the features that meet
        used = plan.used.copy()
        used[used] = second.meeting(shares.select(used), plan.calm.select(used))
        plan = replace(plan, used=used)
    stride = max(1, int(plan.kept.sums.n_rows // N_SCORED))

    def likelihood(read: ReadTopics) -> float:
        rows = calm.select(plan.used) if read.topics.shape[1] < len(plan.used) else calm
        return float(rows.accumulate(_likelihood(read.parameters(), stride)))

    cumulants = ShareCumulants(known, concentration, likelihood)
    reading = replace(model, cumulants=cumulants)
    way = Routes(second, automatic if plan.settings.third_moment == "auto" else third)
    return by_cumulants(reading, shares, plan, way, stages, turned=cumulants.turned, counted=calm)


def _check_long(known: LengthSums) -> None:
    if known.weight <= 0:
        raise DataError(
            f"No row counts {SHORTEST} items or more, and topics are told apart by what comes "
            "together in a row. Give rows that count more, such as whole documents, or use "
            "n_components=1."
        )


def _single(
    calm: Rows,
    plan: Plan,
    second: SecondMoment,
    lengths: Lengths,
    law: LengthLaw,
    concentration: float,
) -> Start:
    """One topic: the shares of the features in all that is counted."""
    ones = np.ones(1)
    return Start(
        found=ReadTopics.of(lengths.share[None], ones, concentration, law),
        used=np.ones(len(plan.kept.names), dtype=bool),
        weights=np.ones(len(plan.kept.names)),
        gaps=second.gaps(calm, plan.calm),
        spectrum=np.zeros(0),
        n_kept=0,
        decomposition=Decomposition(ones, ones[:, None], 0.0),
        route="none",
        reason="one topic needs none",
        n_unseen=0,
    )


def automatic(rows: Rows, moments: Moments, probe: Probe) -> ProjectedThird:
    """Triples formed, or gaps taken to be independent: least squares know no such directions."""
    route, reason = choose(moments, probe)
    if route not in (implicit, explicit):
        if not (moments.gaps.all_pairs and len(moments.mean) <= MOST_EXPLICIT):
            return as_if_independent(rows, moments, probe)
        route = explicit
    return replace(route(rows, moments, probe), reason=reason)


def _likelihood(parameters: LdaParameters, stride: int) -> Callable[[Block], Array]:
    """The function that sums likelihoods of some of a block's rows."""

    def summarise(block: Block) -> Array:
        chosen = np.flatnonzero((block.start + np.arange(len(block))) % stride == 0)
        sample = importance_sample(block.rows(chosen), parameters, 0)
        return np.asarray(sample.log_likelihood.sum())

    return summarise
