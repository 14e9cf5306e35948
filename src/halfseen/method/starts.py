"""The best of several starts, found on some of the rows."""

from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

from halfseen.method.model import Polished

P = TypeVar("P")
ClimbFrom = Callable[[P, int], Polished]
"""From parameters, in at most so many passes."""


class Plan(NamedTuple):
    """How many starts there are, and how far each goes."""

    n_seeds: int
    most_rows: int  # that starts are tried on
    passes: int  # of each
    more_passes: int  # of the best
    finalists: int  # that go to the end


FEW_ROWS, MANY_ROWS = 500, 5000
SMALL = Plan(n_seeds=32, most_rows=1000, passes=10, more_passes=30, finalists=5)
USUAL = Plan(n_seeds=16, most_rows=1000, passes=10, more_passes=30, finalists=3)
SAME = 1.0
"""Nats that two climbs to one maximum may end apart."""


class Tried(NamedTuple, Generic[P]):
    """A start, and where it led on some of the rows."""

    name: str
    parameters: P
    height: float  # log-likelihood of those rows, with the prior


def plan_for(n_rows: float) -> Plan:
    """Few rows have many maxima."""
    return SMALL if n_rows < FEW_ROWS else USUAL


def tried(
    starts: Mapping[str, P], climb: ClimbFrom[P], n_rows: float, plan: Plan
) -> list[Tried[P]]:
    """Where the starts lead, best first; the first few of them have gone further."""

    def go(name: str, start: P, passes: int) -> Tried[P]:
        found, way = climb(start, passes)
        return Tried(name, found, (way.log_likelihood or 0.0) * n_rows)

    once = [go(name, start, plan.passes) for name, start in starts.items()]
    once.sort(key=lambda one: -one.height)
    first, rest = once[: plan.finalists], once[plan.finalists :]
    known = [one for one in rest if one.name in FIRST]
    further = [go(one.name, one.parameters, plan.more_passes) for one in [*first, *known]]
    others = [one for one in rest if one.name not in FIRST]
    return sorted([*further, *others], key=lambda one: -one.height)


FIRST = ("moments",)
"""Starts that are never given up early: with many rows they are the right ones."""


def finalists(found: list[Tried[P]], n_rows: float, plan: Plan) -> list[Tried[P]]:
    """Those that are worth climbing from on all rows.

    With many rows what the moments say goes on, and another only if it was clearly better.
    """
    if n_rows <= MANY_ROWS:
        best = found[: plan.finalists]
        return sorted(best, key=lambda one: one.name not in FIRST)
    safe = [one for one in found if one.name in FIRST]
    better = [one for one in found[:1] if all(one.height > s.height + SAME for s in safe)]
    return safe + better or found[:1]
