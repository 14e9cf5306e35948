"""Why a number of components was chosen, in words."""

from collections.abc import Sequence

from halfseen.doubt.choice import ENOUGH_AGREEMENT, HeldOut
from halfseen.doubt.climb import Climbed
from halfseen.doubt.rank_test import RankTest
from halfseen.rows.naming import plural

SCALE = "1 would be the same, 0 is chance"


def of_spectrum(
    tests: tuple[RankTest, ...],
    chosen: int | None = None,
    found: Sequence[HeldOut] = (),
    agreement: float | None = None,
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
    if agreement is not None and chosen > 1:
        said += (
            " Halves of the rows, fitted apart, find the same components (agreement "
            f"{agreement:.2f}; {SCALE})."
        )
    return said


def unconfirmed(tests: tuple[RankTest, ...], why: str) -> str:
    """That the second moments are not to be followed; ends with a space."""
    return (
        f"The second moments would support {counted(tests[-1].n_components)}, but {why}, so noise "
        "is not alike in all columns and rows, as they take for granted. "
    )


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
