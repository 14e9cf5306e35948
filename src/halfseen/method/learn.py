"""The method, one line a stage: from rows with gaps to the parameters of a model.

References
----------
O. Gottesman, W. Pan, F. Doshi-Velez (2018), Weighted tensor decomposition for learning latent
variables with partial data. A. Anandkumar, R. Ge, D. Hsu, S. Kakade, M. Telgarsky (2014), Tensor
decompositions for learning latent variable models.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from halfseen.method.decomposers.decomposition import Decomposer, Decomposition
from halfseen.method.model import Evidence, Model
from halfseen.method.refinement import Climb, Refined, Refinement
from halfseen.method.weights import Weighting
from halfseen.moments.checks import warn_of_weak_moments
from halfseen.moments.second import SecondMoment
from halfseen.moments.survey import Survey
from halfseen.moments.thirds.third import Probe, ThirdMoment
from halfseen.rows.arrays import Mask
from halfseen.rows.rows import Rows
from halfseen.rows.stages import Stages

P = TypeVar("P")
Recovery = Callable[[Rows, P], P]
"""From the parameters of the features used to those of all features."""


@dataclass(frozen=True, eq=False)
class Learned(Generic[P]):
    """What the method learned, and the evidence for it."""

    parameters: P
    evidence: Evidence
    decomposition: Decomposition
    climb: Climb | None


def learn(
    rows: Rows,
    survey: Survey,
    used: Mask,
    *,
    model: Model[P],
    n_components: int,
    weighting: Weighting,
    second_moment: SecondMoment,
    third_moment: ThirdMoment,
    decomposer: Decomposer,
    recovery: Recovery[P],
    refinement: Refinement[P] | None,
    generator: np.random.Generator,
    stages: Stages,
) -> Learned[P]:
    """Learn ``model`` from the ``used`` features (d,) of ``rows``, recover the others, polish."""
    part = rows.select(used)
    rank = model.rank(n_components)
    with stages("pairs of features"):
        moments = second_moment.moments(part, survey.sums.select(used), model.centred)
        second_moment.check(moments, part, rank, n_components)
        signal = model.signal(moments, survey.complete[used], n_components)
        weights = weighting(moments.observed_fraction, signal)
        whitening = second_moment.whiten(signal, weights / signal.unit, rank)
    with stages("triples of features"):
        third = third_moment(part, moments, Probe(whitening, model.beyond(signal)))
    evidence = Evidence(n_components, moments, signal, weights, whitening, third)
    warn_of_weak_moments(evidence, part.names)
    with stages("decomposition"):
        decomposition = decomposer(model.tensor(evidence), generator)
        parameters = model.parameters(evidence, decomposition)
    with stages("incomplete features"):
        refined = Refined(recovery(rows, parameters))
    if refinement is not None:
        with stages("polishing"):
            refined = refinement(rows, refined.parameters)
    return Learned(refined.parameters, evidence, decomposition, refined.climb)
