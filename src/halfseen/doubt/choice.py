"""How many components to learn, and what speaks for that number."""

from dataclasses import dataclass
from typing import Any

from halfseen.doubt.rank_test import RankTest

CLEARLY = 2.0
"""Standard errors that a likelihood must gain to move the choice."""
TRIFLE = 0.01
"""What a row gains by components that stand only for noise that is not quite as assumed."""


@dataclass(frozen=True)
class HeldOut:
    """How well so many components predict rows that they were not learned from."""

    n_components: int
    log_likelihood: float  # mean of the rows
    gain: float  # of that, over what the spectrum chose or, if it was not asked, over one fewer
    error: float  # standard error of the gain

    @property
    def worth_more(self) -> bool:
        """Whether a larger number is worth it: clearly better, and by more than a trifle."""
        return self.clearly_better and self.gain > TRIFLE

    @property
    def clearly_better(self) -> bool:
        """Whether the gain is more than chance would give."""
        return self.gain > CLEARLY * self.error


@dataclass(frozen=True)
class Choice:
    """A number of components, and the evidence for it.

    Attributes
    ----------
    n_components : int
        The choice.
    tests : tuple of RankTest
        For 1, 2, … components: the largest eigenvalue of the second moments that they leave, the
        noise that it is compared with, and the p-value. Empty if the model has no such test.
    held_out : tuple of HeldOut
        Likelihoods of held-out rows for the numbers around it.
    reason : str
        Why this number, in a sentence.
    """

    n_components: int
    tests: tuple[RankTest, ...]
    held_out: tuple[HeldOut, ...]
    reason: str

    def plot(self, ax: Any = None) -> Any:
        """Eigenvalues against noise, and held-out likelihoods where they were compared."""
        from halfseen.plots.number import components_curve

        return components_curve(self, ax=ax)
