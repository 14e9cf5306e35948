"""The method: where components are by the moments, and the likelihood from there."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from halfseen.method.model import Climb, Model, Start
from halfseen.method.plan import Plan, Routes
from halfseen.rows.rows import Rows
from halfseen.rows.stages import Stages

P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class Learned(Generic[P]):
    """What the method learned, and from where."""

    parameters: P
    start: Start
    climb: Climb | None


def learn(
    rows: Rows, calm: Rows, model: Model[P], plan: Plan, routes: Routes, stages: Stages
) -> Learned[P]:
    """Learn ``model`` from the moments of ``calm`` rows, and polish it by all ``rows``."""
    start = model.start(calm, plan, routes, stages)
    parameters, climb = model.finished(start.found), None
    if plan.polish:
        with stages("polishing"):
            wanted, settings = plan.n_components, plan.settings
            seed = settings.steady_seed if model.starts else settings.seed
            parameters, climb = model.polish(rows, parameters, wanted, plan.kept, seed)
    return Learned(parameters, start, climb)
