"""The last stage of the method, if asked for: polishing by likelihood."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from halfseen.rows.rows import Rows

P = TypeVar("P")


@dataclass(frozen=True)
class Climb:
    """How a likelihood was climbed."""

    log_likelihood: float  # mean of the rows, of what is observed in them
    n_iterations: int  # passes over the rows
    converged: bool


@dataclass(frozen=True, eq=False)
class Refined(Generic[P]):
    """Parameters of higher likelihood, and how they were reached if they were climbed to."""

    parameters: P
    climb: Climb | None = None


Refinement = Callable[[Rows, P], Refined[P]]
"""From the parameters of all features to better ones."""
