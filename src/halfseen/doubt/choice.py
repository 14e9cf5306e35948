"""How many components to learn, and what speaks for that number."""

from dataclasses import dataclass
from typing import Any

from halfseen.doubt.rank_test import RankTest

CLEARLY = 2.0
"""Standard errors that a likelihood must gain to move what the second moments say."""
TRIFLE = 0.01
"""What a row gains by components that stand only for noise that is not quite as assumed."""
ENOUGH_AGREEMENT = 0.8
"""The adjusted Rand index of what two halves make of all rows, in the mean."""


@dataclass(frozen=True)
class HeldOut:
    """A number of components that was tried, and how it fared on rows apart.

    What came after the first model files has a default, which those get.
    """

    n_components: int
    log_likelihood: float  # mean of the held-out rows
    gain: float  # of that, over so many components as `over` says
    error: float  # standard error of the gain
    over: int | None = None  # None in older files: what the spectrum chose, or else one fewer
    agreement: float | None = None  # adjusted Rand index of two halves' fits; None if not asked
    overlap: float | None = None  # of the component that the halves share least; None if not asked
    smallest: float | None = None  # share of rows of the smallest component; None if not asked
    accepted: bool | None = None  # None if it was only compared
    refused: str = ""  # why, if it was
    enough_agreement: float = ENOUGH_AGREEMENT  # the least that is accepted

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
        Every number that was tried on rows apart, in order: the likelihood of held-out rows, what
        it gains and over which number, how far two halves of the rows agree on the components (the
        adjusted Rand index of what they make of all rows, and the part of its rows that the
        component they share least has in common), the share of the smallest one, and whether the
        number was accepted or why it was not.
    reason : str
        Why this number, in a sentence or two.
    """

    n_components: int
    tests: tuple[RankTest, ...]
    held_out: tuple[HeldOut, ...]
    reason: str

    @property
    def climbed(self) -> bool:
        """Whether numbers were judged from one upwards, each beside the last accepted."""
        return bool(self.held_out) and bool(self.held_out[0].accepted) and not self.held_out[0].over

    def plot(self, ax: Any = None) -> Any:
        """Gains in held-out likelihood and agreement of halves, or eigenvalues against noise."""
        from halfseen.plots.number import components_curve

        return components_curve(self, ax=ax)
