"""What one estimator does differently from another."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from halfseen.core.arrays import Array
from halfseen.core.model import Model
from halfseen.core.refinement import Refinement
from halfseen.core.regression import Regression
from halfseen.core.rows import Block
from halfseen.core.survey import Survey

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
