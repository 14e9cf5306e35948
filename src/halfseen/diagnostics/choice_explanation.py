"""Why a number of components was chosen, in words."""

import re
from collections.abc import Sequence

from halfseen.data.formatting import plural
from halfseen.diagnostics.choice import ENOUGH_AGREEMENT, Choice, ClusterTendency, HeldOut
from halfseen.diagnostics.cluster_tendency import Decision, Evidence
from halfseen.diagnostics.rank_test import RankTest
from halfseen.diagnostics.split_half import Climbed

SCALE = "1 would be the same, 0 is chance"


def of_spectrum(
    tests: tuple[RankTest, ...],
    chosen: int | None = None,
    found: Sequence[HeldOut] = (),
) -> str:
    """What the second moments say, and what rows apart say of that."""
    last = tests[-1]
    said = f"The second moments support {counted(last.n_components)}"
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


def of_climb(way: Climbed, noun: str) -> str:
    """What speaks for the last number that was accepted, and against others."""
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


def _of_none(way: Climbed, noun: str) -> str:
    refused = [step for step in way.steps if not step.accepted]
    if not refused:
        return f"1 {noun}.{_of_others(way)}"
    if all(step.agreement is None for step in refused):
        return f"1 {noun}.{_of_others(way)}"
    best = max(refused, key=lambda step: step.gain)
    likely = "more" if best.gain > 0 else "less"
    return (
        f"1 {noun}: no number of {plural(noun)} reproduces between halves of the rows and predicts "
        f"held-out rows better. Of those tried, {best.n_components} come closest: held-out rows "
        f"are {likely} likely than under 1, by {abs(best.gain):.3g} ± {best.error:.2g} a row, but "
        f"{best.refused}."
    ) + _of_others(way)


def _of_others(way: Climbed) -> str:
    above = [step for step in way.steps if step.n_components > way.chosen.n_components]
    said = ""
    if way.chosen.n_components > 1:
        for step in above[:1]:
            said += f" {step.n_components} were refused: {step.refused}."
    return f"{said} {way.ended}" if way.ended else said


def counted(n: int) -> str:
    """So many components."""
    return f"{n} component{'s' * (n != 1)}"


def as_choice(decision: Decision, noun: str) -> Choice:
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


def of_groups(decision: Decision, noun: str) -> str:
    """Which of the four cases holds, what speaks for it, and what else might be taken."""
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


def _cloud(e: Evidence) -> str:
    """The best single cloud in words."""
    name = re.sub(r" of scores.*| on principal axes.*| \d+$", "", e.cloud)
    said = CLOUDS.get(name, "one heavy-tailed cloud (a t distribution)")
    return f"{said}, skew allowed for" if "of scores" in e.cloud else said
