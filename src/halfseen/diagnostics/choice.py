"""How many components to learn, and what speaks for that number."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from halfseen.diagnostics.rank_test import RankTest

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


class ClusterTendency(StrEnum):
    """What rows are, if each may belong to one group."""

    CLEAR = "clear groups"
    OVERLAPPING = "overlapping groups"
    ONE_CLOUD = "one cloud"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class TriedNumber:
    """A number of groups that was tried, by its best mixture.

    Likelihoods are in nats, of the rows that were compared (a sample if there are many).
    """

    n_components: int
    covariance_type: str
    scores: bool  # whether the mixture is of the normal scores of the columns
    log_likelihood: float
    n_parameters: int
    aic: float
    bic: float
    icl: float  # bic, and twice the entropy of all rows
    entropy: float  # of the posterior probabilities, in nats a row
    held_out: float | None  # log-likelihood a row, of each half under the fit to the other half
    held_out_error: float | None  # its standard error
    smallest: float  # share of rows of the smallest group
    stability: float | None  # adjusted Rand index of fits to halves of the rows


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
    case : str
        Whether rows are "clear groups", "overlapping groups", "one cloud" or "undecided"; empty for
        models of topics and of sequences.
    runner_up : int or None
        The number that would be taken if the choice is not: at least 2 if one was chosen.
    tried : tuple of TriedNumber
        The table of all numbers that were tried, by their best mixture.
    """

    n_components: int
    tests: tuple[RankTest, ...]
    held_out: tuple[HeldOut, ...]
    reason: str
    case: str = ""
    runner_up: int | None = None
    tried: tuple[TriedNumber, ...] = ()

    def table(self) -> list[dict[str, Any]]:
        """A row for every number that was tried, for a data frame."""
        return [asdict(one) for one in self.tried or self.held_out]

    @property
    def climbed(self) -> bool:
        """Whether numbers were judged from one upwards, each beside the last accepted."""
        return bool(self.held_out) and bool(self.held_out[0].accepted) and not self.held_out[0].over

    def plot(self, ax: Any = None) -> Any:
        """Held-out likelihood and BIC by number, agreement of halves, or eigenvalues."""
        from halfseen.plots.number import components_curve

        return components_curve(self, ax=ax)
