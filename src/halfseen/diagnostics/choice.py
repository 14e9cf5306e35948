"""The choice of the number of components, and the sentences that explain it."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from halfseen.data.formatting import plural

if TYPE_CHECKING:  # which build on what is declared here
    from halfseen.diagnostics.cluster_tendency import Decision, Evidence
    from halfseen.diagnostics.split_half import Climbed


CLEARLY = 2.0
"""Standard errors that a likelihood must gain to move what the second moments say."""
TRIFLE = 0.01
"""What a row gains by components that stand only for noise that is not quite as assumed."""
ENOUGH_AGREEMENT = 0.8
"""The adjusted Rand index of what two halves make of all rows, in the mean."""


CLEARLY_ABOVE_NOISE = 1.25
"""Times the noise, from which on an eigenvalue is certainly not noise."""


@dataclass(frozen=True)
class RankTest:
    """A test whether more than ``k`` components are in the second moments."""

    n_components: int
    eigenvalue: float  # the largest that is left over
    noise: float  # what it stays below, at the chosen level, if only noise is left
    p_value: float

    @property
    def more(self) -> bool:
        return self.eigenvalue > self.noise

    @property
    def clearly_more(self) -> bool:
        return self.eigenvalue > CLEARLY_ABOVE_NOISE * self.noise


@dataclass(frozen=True)
class HeldOut:
    """A number of components, and its held-out likelihood.

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
        return self.clearly_better and self.gain > TRIFLE

    @property
    def clearly_better(self) -> bool:
        return self.gain > CLEARLY * self.error


class ClusterTendency(StrEnum):
    """Whether rows form groups or one cloud."""

    CLEAR = "clear groups"
    OVERLAPPING = "overlapping groups"
    ONE_CLOUD = "one cloud"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class TriedNumber:
    """A tried number of groups, by its best mixture.

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
        """One row for each tried number, for a data frame."""
        return [asdict(one) for one in self.tried or self.held_out]

    @property
    def climbed(self) -> bool:
        """Whether numbers were tried upwards, each against the last accepted one."""
        return bool(self.held_out) and bool(self.held_out[0].accepted) and not self.held_out[0].over

    def plot(self, ax: Any = None) -> Any:
        """Held-out likelihood and BIC by number, agreement of halves, or eigenvalues."""
        from halfseen.plots.number_of_components import components_curve

        return components_curve(self, ax=ax)


SCALE = "1 would be the same, 0 is chance"


def of_spectrum(
    tests: tuple[RankTest, ...],
    chosen: int | None = None,
    found: Sequence[HeldOut] = (),
) -> str:
    """The reason for a number chosen by second moments and held-out rows."""
    last = tests[-1]
    k = last.n_components
    said = f"The second moments support {k} component{'s' * (k != 1)}"
    if last.more:
        said += ", the most tried."
    else:
        said += (
            f": the next eigenvalue, {last.eigenvalue:.3g}, is within the noise, {last.noise:.3g}."
        )
    if chosen is None:
        return said
    if chosen != last.n_components:
        best = next(one for one in found if one.n_components == chosen)
        said += (
            f" But held-out rows are more likely under {chosen}, by {best.gain:.3g} ± "
            f"{best.error:.2g} a row."
        )
    else:
        said += " Held-out rows are not clearly more likely under others."
    return said


def of_climb(way: "Climbed", noun: str) -> str:
    """The reason for the last accepted number, and against others."""
    chosen = way.chosen
    if chosen.n_components == 1:
        return _of_none(way, noun)
    said = f"{chosen.n_components} {plural(noun)}: "
    if chosen.agreement is not None:
        alike = "the same ones" if chosen.agreement >= ENOUGH_AGREEMENT else "much the same ones"
        said += (
            f"halves of the rows, fitted apart, find {alike} (agreement "
            f"{chosen.agreement:.2f}; {SCALE}), "
        )
    said += (
        f"held-out rows are more likely than under {chosen.over}, by {chosen.gain:.3g} ± "
        f"{chosen.error:.2g} a row, and the smallest holds {chosen.smallest:.1%} of the rows."
    )
    return said + _of_others(way)


def _of_none(way: "Climbed", noun: str) -> str:
    refused = [step for step in way.steps if not step.accepted]
    if not refused:
        return f"1 {noun}.{_of_others(way)}"
    best = max(refused, key=lambda step: step.gain)
    likely = "more" if best.gain > 0 else "less"
    return (
        f"1 {noun}: no number of {plural(noun)} reproduces between halves of the rows and predicts "
        f"held-out rows better. Of those tried, {best.n_components} come closest: held-out rows "
        f"are {likely} likely than under 1, by {abs(best.gain):.3g} ± {best.error:.2g} a row, but "
        f"{best.refused}."
    ) + _of_others(way)


def _of_others(way: "Climbed") -> str:
    k = way.chosen.n_components
    above = [step for step in way.steps if step.n_components > k > 1]
    said = "".join(f" {one.n_components} were refused: {one.refused}." for one in above[:1])
    return f"{said} {way.ended}" if way.ended else said


def as_choice(decision: "Decision", noun: str) -> Choice:
    """The choice of a number of groups, with its reason."""
    return Choice(
        decision.n_components,
        (),
        (),
        of_groups(decision, noun),
        str(decision.case),
        decision.runner_up,
        decision.evidence.tried,
    )


def of_groups(decision: "Decision", noun: str) -> str:
    """The case that holds, its reason, and the runner-up."""
    e, k, other = decision.evidence, decision.n_components, decision.runner_up
    nouns = plural(noun)
    if not e.tried:
        return f"1 {noun}: {e.n_rows} rows are too few to tell {nouns} from a single cloud."
    if decision.case is ClusterTendency.ONE_CLOUD:
        better = e.gain < -e.gain_error
        likely = (
            f"more likely under {_cloud(e)} than" if better else f"as likely under {_cloud(e)} as"
        )
        return (
            f"One cloud, no {nouns}: held-out rows are {likely} under {e.k} {nouns}. Cutting it is "
            f"a convenience, not a finding; if you want {nouns} anyway, take {other}."
        )
    if decision.case is ClusterTendency.UNDECIDED:
        best = k if k > 1 else other
        return (
            f"Undecided: {e.n_rows:,} rows cannot tell {best} {nouns} from a single cloud "
            f"({_cloud(e)}); the difference on held-out rows is {e.gain:+.2g} ± "
            f"{e.gain_error:.1g} a row. " + (f"Runner-up: {other}." if k > 1 else "")
        ).rstrip()
    said = (
        f"{k} {decision.case.split()[0]} {nouns}: held-out rows are more likely under them than "
        f"under the best single cloud ({_cloud(e)}), by {e.gain:.2g} ± {e.gain_error:.1g} a row"
    )
    if decision.case is ClusterTendency.CLEAR:
        said += (
            f", and most rows belong to one {noun} beyond doubt."
            if e.categorical
            else ", and rows are fewer between each two of them."
        )
    else:
        said += (
            ". They blend into each other: use probabilities rather than labels. A single cloud of "
            "another shape could look like this."
        )
    return f"{said.strip()} Runner-up: {other}."


CLOUDS = {
    "independent columns": "columns that are independent of each other",
    "normal": "one normal distribution",
    "free radius": "one elliptical cloud",
    "curved": "one curved cloud",
    "0 traits": "columns that are independent of each other",
    "1 traits": "one trait by which rows differ in degree",
    "2 traits": "two traits by which rows differ in degree",
}


def _cloud(e: "Evidence") -> str:
    """The name of the best single-cloud model."""
    name = re.sub(r" of scores.*| on principal axes.*| \d+$", "", e.cloud)
    said = CLOUDS.get(name, "one heavy-tailed cloud (a t distribution)")
    return f"{said}, skew allowed for" if "of scores" in e.cloud else said
