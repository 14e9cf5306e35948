"""Classes of mixed columns: of many starts where rows are few and columns have a few values."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from halfseen.method.model import Climb, Polished
from halfseen.method.starts import (
    MANY_ROWS,
    MOVES_OF_MANY,
    Tried,
    agreed,
    narrowed,
    plan_of_many,
)
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.engines.memory import MemoryRows
from halfseen.rows.gathered import gathered
from halfseen.rows.rows import Rows
from halfseen.rows.some_rows import some_rows
from halfseen.structures.one_class.mixed.level_em import LevelEM
from halfseen.structures.one_class.mixed.parameters import MixedParameters
from halfseen.structures.one_class.model import EQUAL, MOST_MOVES, OneClass
from halfseen.structures.one_class.moves import moves
from halfseen.structures.one_class.seeds import Seeding

Start = Tried[MixedParameters]
CLOSER = 0.01
"""Times the tolerance, at which starts are at their end: what gains little may be on a plateau."""
BLENDS = (0.1, 0.3, 0.5)
"""What components get of the table's probabilities, so that values which they never have come back.

EM brings probabilities of nearly zero back so slowly that it stops before.
"""


class MixedClasses(OneClass[MixedParameters]):
    """A mixture of mixed columns.

    Where all columns have a few values, rows that are the same are one and a pass takes
    microseconds: there are many starts, which go far.
    """

    def polish(
        self,
        rows: Rows,
        start: MixedParameters,
        n_components: int,
        kept: Survey,
        seed: Callable[[], int],
    ) -> Polished:
        """By expectation-maximisation, from the best of several starts."""
        n_rows = kept.sums.n_rows
        every = self._every_row(rows, start, n_rows) if n_components > 1 else None
        if every is None:
            return super().polish(rows, start, n_components, kept, seed)
        plan = plan_of_many(every.table.size, n_components)
        starts, _ = self._starts(every, start, n_components, plan, seed)
        emission: Any = self.emission  # of mixed columns
        em = LevelEM.of(every, emission, start)

        def climb(here: MixedParameters, most: int) -> Polished:
            return em.climbed(here, min(most, self.max_iter), CLOSER * self.tol)

        found = narrowed(starts, climb, n_rows, plan.rounds)
        moved = self._moved_on(every, found[0], climb, n_rows)
        best = max([found[0], *moved], key=lambda one: one.height)
        how = Climb(
            log_likelihood=None,
            n_iterations=best.passes,
            converged=False,
            start=found[0].name,
            n_starts=len(starts),
            n_agreeing=len(agreed(found)),
            work=float(sum(one.passes for one in [*found, *moved])),
        )
        reached = self.climbed(rows, best.parameters, self.max_iter)
        return self._finished(rows, reached, start, n_rows, how)

    @staticmethod
    def _every_row(rows: Rows, start: MixedParameters, n_rows: float) -> MemoryRows | None:
        """All rows in memory, if they are few and have columns of a few values only."""
        if n_rows > MANY_ROWS or start.informative or not start.of_levels.all():
            return None
        every = some_rows(rows, MANY_ROWS + 1)
        return every if len(every.table) <= MANY_ROWS else None

    def _moved_on(
        self,
        every: MemoryRows,
        best: Start,
        climb: Callable[[MixedParameters, int], Polished],
        n_rows: float,
    ) -> list[Start]:
        """Where moves of components lead, each from the one before, as long as that is higher."""
        values, found = Seeding.of(*self.emission.as_numbers(every.table)).values, []
        for _ in range(MOST_MOVES):
            begun = self._moves(every, best.parameters, values)
            there = narrowed([Tried("moved", one) for one in begun], climb, n_rows, MOVES_OF_MANY)
            found.append(there[0])
            if not there[0].height > best.height + EQUAL:
                break
            best = there[0]
        return found

    def _moves(
        self, every: MemoryRows, here: MixedParameters, values: Array
    ) -> Iterator[MixedParameters]:
        """Components cut in two in place of others, and all of them with every value possible."""
        steps = self.law.steps(self.emission)
        shares = gathered(every, partial(self.hidden, parameters=here))
        for one in moves(shares, values):
            yield steps.begun(every, one, here)
        pooled = np.einsum("k,lkd->ld", here.weights, here.level_shares)[:, None]
        for part in BLENDS:
            yield replace(here, level_shares=(1 - part) * here.level_shares + part * pooled)
