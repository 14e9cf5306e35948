"""What one estimator does differently from another."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from halfseen.method.model import Model
from halfseen.method.refinement import Refinement
from halfseen.method.regression import Regression
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block

P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class Recipe(Generic[P]):
    """The parts of an estimator that the method is run with."""

    model: Model[P]
    auto_weighting: str  # what feature_weights="auto" stands for
    regression: Callable[[Survey], Regression[P]] | None
    refinement: Callable[[Survey], Refinement[P]] | None
    log_likelihood: Callable[[Block, P], Array]  # of each row of a block; (n,)
    check: Callable[[Survey], None] = lambda survey: None
    thin: bool = False  # whether it can do without an array of all pairs of features
    spectral: bool = True  # whether all that components leave of the second moments is noise
    refine_candidates: bool = True  # whether fits that are only compared are worth polishing
    most_scored: int | None = None  # rows that are enough to compare likelihoods, if those are slow

    def for_candidates(self) -> Self:
        """The recipe for fits that are only compared."""
        return self if self.refine_candidates else replace(self, refinement=None)
