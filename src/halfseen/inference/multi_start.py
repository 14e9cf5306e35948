"""The best of several starts, found on some of the rows."""

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from halfseen.data.arrays import Array
from halfseen.inference.model import EMResult

P = TypeVar("P")
RunEM = Callable[[P, int], EMResult[P]]
"""From parameters, in at most so many passes."""


Rounds = tuple[tuple[int, int], ...]
"""How many starts go on, and in how many passes, round after round."""


class StartPlan(NamedTuple):
    """How many starts there are, and how far they go before the worse are given up."""

    n_seeds: int  # of each kind
    n_further: int  # and more of them, if the first do not lead to one place
    thorough: bool  # whether rows are joined to groups in every way
    most_rows: int  # that starts are tried on
    rounds: Rounds  # on those
    agreeing: int  # so many that lead to one place are enough
    last: Rounds  # on all rows, before some go to the end
    n_ends: int = 1  # those, if it is not told before which of them ends highest
    n_joined: int = 1000  # ways in which rows are joined to groups, at most
    simpler_first: bool = False  # whether what the table asks for is judged by the first start


EVERY = 1000
MANY_ROWS = 5000
USUAL = StartPlan(
    n_seeds=7,
    n_further=0,
    thorough=True,
    most_rows=1000,
    rounds=((EVERY, 4), (12, 6), (6, 8)),
    agreeing=EVERY,
    last=((8, 12), (4, 20)),  # what is highest on some of the rows need not be so on all of them
    n_ends=2,
    simpler_first=True,  # which makes all other passes cheaper
)
FEW_ROWS = USUAL._replace(
    n_seeds=4,
    n_further=8,
    rounds=((EVERY, 4), (6, 14), (6, 16)),
    last=((6, 20),),
    n_ends=4,
    simpler_first=False,
)
"""Starts are tried on all of the rows, where every pass counts."""
LARGE = StartPlan(
    n_seeds=3,
    n_further=0,
    thorough=False,
    most_rows=1000,
    rounds=((EVERY, 6), (3, 12)),
    agreeing=3,
    last=((2, 15),),
    n_ends=1,
    simpler_first=True,
)
"""With many rows the moments know best, and what other starts find is only a check."""
FEWEST_SEEDS, MOST_SEEDS = 4, 25
"""Of each kind, where a pass takes microseconds to a millisecond. Of 25 with their rounds 97 % of
fits end at the best of 50 random starts (``benchmarks.class_agreement``)."""
MOST_LOOKED_UP = 2e6
"""Cells, times components of all starts, that one pass of all starts goes over: about 5 ms."""
MOVES_OF_MANY: Rounds = ((EVERY, 40), (6, 100), (2, 400))
"""Of starts that are moves from where the best of many ended."""
MOVES: Rounds = ((EVERY, 3), (6, 5), (3, 8))
"""Of starts that are moves from where an EM run ended."""
SAME = 1.0
"""Nats that two EM runs to one maximum may end apart, if neither is done."""
ONE = 0.01
"""Nats between EM runs that are as good as one."""
FEW_PLACES, MOST_OF_THEM = 4, 0.8
"""Starts that lead to one place, and hardly any elsewhere: more would do the same."""


class EMStart(NamedTuple, Generic[P]):
    """A start, and where EM led from it on a sample of the rows."""

    name: str
    parameters: P
    height: float = -np.inf  # log-likelihood of those rows, with the prior
    passes: int = 0  # over those rows


def plan_for(n_rows: float) -> StartPlan:
    """The plan by the number of rows: few rows have many maxima."""
    if n_rows <= USUAL.most_rows:
        return FEW_ROWS
    return USUAL if n_rows <= MANY_ROWS else LARGE


def plan_of_many(n_cells: float, n_components: int) -> StartPlan:
    """The plan where passes are compiled: the fewer cells, the more starts."""
    most = int(MOST_LOOKED_UP / (2 * n_cells * n_components))  # there are two kinds of seeds
    n_seeds = min(max(most, FEWEST_SEEDS), MOST_SEEDS)
    return StartPlan(
        n_seeds=n_seeds,
        n_further=0,
        thorough=True,
        most_rows=MANY_ROWS,
        rounds=((EVERY, 40), (2 + 3 * n_seeds // 5, 100), (1 + n_seeds // 5, 400)),
        agreeing=EVERY,
        last=(),
    )


def halved(
    starts: Iterable[EMStart[P]], run_em: RunEM[P], n_rows: float, rounds: Rounds
) -> list[EMStart[P]]:
    """Run EM from starts in rounds, best first; after each round drop the worse for good.

    So are all but one of those that are as good as one.
    """
    found, given_up = list(starts), list[EMStart[P]]()
    for n_on, most in rounds:
        on, behind = _parted(found, n_on)
        found = sorted(
            (advanced(one, run_em, most, n_rows) for one in on), key=lambda one: -one.height
        )
        given_up += behind
    return [*found, *given_up]


def screened(
    starts: Iterable[EMStart[P]],
    run_em: RunEM[P],
    n_rows: float,
    rounds: Rounds,
    agreeing: int = EVERY,
) -> list[EMStart[P]]:
    """Run EM from starts in rounds, best first; after each round the worse stay behind.

    Once ``agreeing`` starts lead to one place there are no more rounds.
    """
    found = list(starts)
    if len(found) < 2:
        return found
    for n_on, most in rounds:
        on, behind = _parted(found, n_on)
        went = [advanced(one, run_em, most, n_rows) for one in on]
        found = sorted([*went, *behind], key=lambda one: -one.height)
        if len(agreed(found)) >= agreeing or one_maximum(found):
            break
    return found


def advanced(one: EMStart[P], run_em: RunEM[P], most: int, n_rows: float) -> EMStart[P]:
    """Run EM from a start for at most so many passes."""
    found, way = run_em(one.parameters, most)
    height = (way.log_likelihood or 0.0) * n_rows
    return EMStart(one.name, found, height, one.passes + way.n_iterations)


def agreed(found: list[EMStart[P]]) -> list[EMStart[P]]:
    """The starts that led to the highest maximum."""
    return [one for one in found if one.height > found[0].height - SAME]


def one_maximum(found: list[EMStart[P]]) -> bool:
    """Whether most starts that survived the first rounds led to one maximum."""
    longest = max(one.passes for one in found)
    on = [one for one in found if one.passes > 0.7 * longest]
    return len(on) < len(found) and len(agreed(on)) >= max(FEW_PLACES, MOST_OF_THEM * len(on))


def _parted(found: list[EMStart[P]], n_on: int) -> tuple[list[EMStart[P]], list[EMStart[P]]]:
    """Starts that continue, and those that stop: one start per maximum continues."""
    on: list[EMStart[P]] = []
    for one in found:
        alone = all(abs(one.height - other.height) > ONE for other in on if one.height > -np.inf)
        if alone and (one.name in FIRST or len(on) < n_on):
            on.append(one)
    return on, [one for one in found if not any(one is other for other in on)]


FIRST = ("moments",)
"""Starts that are never given up early: with many rows they are the right ones."""


def finalists(found: list[EMStart[P]], n_rows: float, plan: StartPlan) -> list[EMStart[P]]:
    """Starts that are run on all rows.

    With many rows what the moments say goes on, and another only if it was clearly better. Of those
    that agree one does.
    """
    same = agreed(found)
    if len(same) >= plan.agreeing or one_maximum(found):
        return [*(one for one in same if one.name in FIRST), *same][:1]
    if n_rows <= MANY_ROWS:
        return found
    safe = [one for one in found if one.name in FIRST]
    better = [one for one in found[:1] if all(one.height > s.height + SAME for s in safe)]
    return safe + better or found[:1]


LLOYD_STEPS = 20
BLUR = 0.1
"""What a row has of all components alike, if it has the rest of its cluster."""


def k_means(values: Array, weights: Array, k: int, random: np.random.Generator) -> Array:
    """Responsibilities (n, k) by Lloyd's algorithm from k-means++ seeds, slightly blurred."""
    centres = values[[random.choice(len(values), p=weights / weights.sum())]]
    while len(centres) < k:
        chance = weights * _squares(values, centres).min(axis=1)
        chance = chance if chance.sum() > 0 else weights
        row = random.choice(len(values), p=chance / chance.sum())
        centres = np.vstack([centres, values[row]])
    for _ in range(LLOYD_STEPS):
        groups = np.eye(k)[_squares(values, centres).argmin(axis=1)] * weights[:, None]
        count = groups.sum(axis=0)[:, None]
        centres = np.where(count > 0, groups.T @ values / np.maximum(count, 1e-300), centres)
    nearest = np.eye(k)[_squares(values, centres).argmin(axis=1)]
    share: Array = (1 - BLUR) * nearest + BLUR / k
    return share


def _squares(values: Array, centres: Array) -> Array:
    square = (values**2).sum(axis=1)[:, None] - 2 * values @ centres.T + (centres**2).sum(axis=1)
    found: Array = np.maximum(square, 0.0)
    return found
