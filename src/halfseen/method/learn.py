"""The method, one line a stage: from rows with gaps to the parameters of a model.

References
----------
O. Gottesman, W. Pan, F. Doshi-Velez (2018), Weighted tensor decomposition for learning latent
variables with partial data. A. Anandkumar, R. Ge, D. Hsu, S. Kakade, M. Telgarsky (2014), Tensor
decompositions for learning latent variable models.
"""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from halfseen.method.decomposers.decomposition import Decomposition
from halfseen.method.model import Climb, Evidence, Model
from halfseen.method.plan import Plan, Routes
from halfseen.method.regression import recovered
from halfseen.method.weak_moments import warn_of_weak_moments
from halfseen.moments.thirds.third import Probe
from halfseen.rows.rows import Rows
from halfseen.rows.stages import Stages

P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class Learned(Generic[P]):
    """What the method learned, and the evidence for it."""

    parameters: P
    found: Any  # as read off the moments, with incomplete features
    evidence: Evidence
    decomposition: Decomposition
    climb: Climb | None


def learn(rows: Rows, model: Model[P], plan: Plan, routes: Routes, stages: Stages) -> Learned[P]:
    """Learn ``model`` from the used features of ``rows``, recover the others, polish."""
    cumulants, part = model.cumulants, rows.select(plan.used)
    k, rank = plan.n_components, cumulants.rank(plan.n_components)
    with stages("pairs of features"):
        moments = routes.second.moments(part, plan.kept.sums.select(plan.used), cumulants.centred)
        routes.second.check(moments, part, rank, k)
        signal = cumulants.signal(moments, plan.kept.complete[plan.used], k)
        weights = plan.weighting(moments.observed_fraction, signal)
        whitening = routes.second.whiten(signal, weights / signal.unit, rank)
    with stages("triples of features"):
        third = routes.third(part, moments, Probe(whitening, cumulants.beyond(signal)))
    evidence = Evidence(k, moments, signal, weights, whitening, third)
    warn_of_weak_moments(evidence, part.names)
    with stages("decomposition"):
        found, decomposition = cumulants.read(evidence, plan.decompose)
    with stages("incomplete features"):
        if plan.recovery == "regress":
            complete, regression = plan.kept.complete, model.regression(plan.kept)
            reference = regression.reference(found, complete[plan.used])
            found = recovered(rows, regression, reference, complete)
    parameters, climb = model.finished(found), None
    if plan.polish:
        with stages("polishing"):
            parameters, climb = model.polish(rows, parameters, plan.kept, plan.settings.seed)
    return Learned(parameters, found, evidence, decomposition, climb)
