"""The method of moments, one line a stage: from rows with gaps to where components are.

References
----------
O. Gottesman, W. Pan, F. Doshi-Velez (2018), Weighted tensor decomposition for learning latent
variables with partial data. A. Anandkumar, R. Ge, D. Hsu, S. Kakade, M. Telgarsky (2014), Tensor
decompositions for learning latent variable models.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.errors import NumericalDataError, WeakMomentsWarning, warn
from halfseen.data.formatting import features, quoted
from halfseen.data.messages import joined, setting
from halfseen.data.progress import Stages
from halfseen.data.rows import Rows
from halfseen.inference.model import Evidence, Model, Start
from halfseen.inference.plan import FitPlan, Routes
from halfseen.moments.missing_patterns import FEW_ROWS
from halfseen.moments.regression import recovered
from halfseen.moments.second_moment import Moments
from halfseen.moments.survey import check_not_lost
from halfseen.moments.third_moment import Probe
from halfseen.moments.whitening import Signal, Whitening


def by_cumulants(
    model: Model[Any],
    winsorised: Rows,
    plan: FitPlan,
    routes: Routes,
    stages: Stages,
    *,
    turned: Callable[[Whitening, Moments], Whitening] | None = None,
    counted: Rows | None = None,
) -> Start:
    """Read ``model`` off the moments of ``winsorised`` rows, and recover the other features.

    Models whose rows are changed for their moments may have the whitened space ``turned``, and
    recover features from rows as they were ``counted``.
    """
    cumulants = model.cumulants
    with stages("pairs of features"):
        used = plan.used.copy()
        used[used] = routes.second.meeting(winsorised.select(used), plan.winsorised.select(used))
        part = winsorised.select(used)
        moments = routes.second.moments(part, plan.winsorised.select(used), cumulants.centred)
        check_not_lost(part.names, moments)
        k = _n_distinguishable(model, plan, routes, moments)
        rank = cumulants.rank(k)
        routes.second.check(moments, part, rank, k)
        with warnings_if(not (plan.refine and model.refinement_adds_components)):
            signal = cumulants.signal(moments, plan.kept.complete[used], k)
        weights = plan.weights(moments.observed_fraction, signal, used)
        check_finite_moments(part.names, signal, weights)
        whitening = routes.second.whiten(signal, weights / signal.unit, rank)
        whitening = whitening if turned is None else turned(whitening, moments)
    with stages("triples of features"):
        third = routes.third(part, moments, Probe(whitening, cumulants.beyond(signal)))
    evidence = Evidence(k, moments, signal, weights, whitening, third)
    if not (plan.refine and model.refinement_adds_components):
        warn_of_weak_moments(evidence, part.names)
    with stages("decomposition"):
        found, decomposition = cumulants.read(evidence, plan.decompose)
    with stages("incomplete features"):
        known = plan.known(used)
        regression = model.regression(replace(plan.kept, sums=plan.winsorised))
        if regression is not None and not known.all() and plan.recovery != "later":
            reference = regression.reference(found, known[used])
            found = recovered(
                winsorised if counted is None else counted, regression, reference, known
            )
    return Start(
        found=found,
        used=used,
        weights=weights,
        gaps=moments.gaps,
        spectrum=whitening.spectrum,
        n_kept=whitening.rank,
        decomposition=decomposition,
        route=third.route,
        reason=third.reason,
        n_unseen=third.n_unseen,
    )


def moment_start(
    model: Model[Any], winsorised: Rows, plan: FitPlan, routes: Routes, stages: Stages
) -> Start:
    """Where components are by the moments: by the cumulants, or in the model's own way."""
    return (model.moment_start or by_cumulants)(model, winsorised, plan, routes, stages)


def warn_of_weak_moments(evidence: Evidence, names: Sequence[str]) -> None:
    """Warn once of moments that are too uncertain to trust."""
    concerns = [*_unsupported(evidence), *_rarely_together(evidence.moments, names)]
    if concerns:
        warn(joined(" ", concerns), WeakMomentsWarning)


def _unsupported(evidence: Evidence) -> list[str]:
    whitening = evidence.whitening
    missing = whitening.rank - whitening.n_supported
    if not missing:
        return []
    k = evidence.n_components
    worst = whitening.spectrum[whitening.rank - 1]
    return [
        setting(n_components=k) + f" is more than the second moments support: {missing} of the "
        f"{whitening.rank} eigenvalues kept are not positive (the last is {worst:.3g}, the first "
        f"{whitening.spectrum[0]:.3g}). Use at most {max(k - missing, 1)} components, or add rows."
    ]


def _rarely_together(moments: Moments, names: Sequence[str]) -> list[str]:
    i, j, together = moments.gaps.rarest()
    if together >= FEW_ROWS:
        return []
    who = (
        f"{features(names, [i])} is observed in only {together:g} rows"
        if i == j
        else f"{features(names, [i, j])} are observed together in only {together:g} rows"
    )
    return [f"{who}: moments from so few are mostly noise. Drop a feature, or add rows."]


def check_finite_moments(names: Sequence[str], signal: Signal, weights: Array) -> None:
    """Refuse moments and weights that are no finite numbers."""
    variance = np.asarray(signal.variance)
    lost = np.flatnonzero(~(np.isfinite(variance + signal.noise) & np.isfinite(weights)))
    if len(lost):
        raise NumericalDataError(
            f"How {quoted(names, lost)} vary cannot be computed: a variance is zero, or too large "
            "or too small for a float. Leave them out, or write them in a unit in which their "
            "values are neither huge nor tiny.",
            [names[int(i)] for i in lost],
        )


@contextmanager
def warnings_if(final: bool) -> Iterator[None]:
    """Warn of weak moments only where they are the result, not one of many starts."""
    with warnings.catch_warnings():
        if not final:
            warnings.simplefilter("ignore", WeakMomentsWarning)
        yield


def _n_distinguishable(model: Model[Any], plan: FitPlan, routes: Routes, moments: Moments) -> int:
    """How many components the moments are asked for: fewer, if refinement can find the others."""
    cumulants, most = model.cumulants, plan.n_components
    if not (plan.refine and model.refinement_adds_components):
        return most
    available = routes.second.rank(moments)
    possible = min(most, cumulants.most_components(len(moments.mean)))
    return max((k for k in range(1, possible + 1) if cumulants.rank(k) <= available), default=1)
