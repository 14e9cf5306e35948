"""Multi-start EM for latent classes of mixed columns."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.compiled import njit
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Rows, gathered
from halfseen.data.sampling import sample_shuffled
from halfseen.distributions.categorical import LEAST_SHARE, Levels, Places
from halfseen.distributions.mixed import Mixed
from halfseen.distributions.mixed_parameters import MixedParameters
from halfseen.inference.em import LEAST_SHARE as LEAST_WEIGHT
from halfseen.inference.em import Squarem
from halfseen.inference.model import Convergence, EMResult
from halfseen.inference.multi_start import (
    MANY_ROWS,
    MOVES_OF_MANY,
    EMStart,
    agreed,
    halved,
    plan_of_many,
)
from halfseen.latent.initialisation import Seeding, moves
from halfseen.latent.mixture import MOST_MOVES, TIED, OneClass
from halfseen.moments.survey import Survey

Start = EMStart[MixedParameters]
FACTOR = Squarem.FACTOR  # a global, as compiled functions read no attributes of classes
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

    def refine(
        self,
        rows: Rows,
        start: MixedParameters,
        n_components: int,
        kept: Survey,
        seed: Callable[[], int],
    ) -> EMResult[MixedParameters]:
        """Run EM from the best of many starts, if passes are compiled."""
        n_rows = kept.sums.n_rows
        every = self._every_row(rows, start, n_rows) if n_components > 1 else None
        if every is None:
            return super().refine(rows, start, n_components, kept, seed)
        plan = plan_of_many(every.table.size, n_components)
        starts, _ = self._starts(every, start, n_components, plan, seed)
        emission: Any = self.emission  # of mixed columns
        em = LevelEM.of(every, emission, start)

        def run_em(here: MixedParameters, most: int) -> EMResult[MixedParameters]:
            return em.run_em(here, min(most, self.max_iter), CLOSER * self.tol)

        found = halved(starts, run_em, n_rows, plan.rounds)
        moved = self._moved_on(every, found[0], run_em, n_rows)
        best = max([found[0], *moved], key=lambda one: one.height)
        how = Convergence(
            log_likelihood=None,
            n_iterations=best.passes,
            converged=False,
            start=found[0].name,
            n_starts=len(starts),
            n_agreeing=len(agreed(found)),
            work=float(sum(one.passes for one in [*found, *moved])),
        )
        reached = self.run_em(rows, best.parameters, self.max_iter)
        return self._result(rows, reached, start, n_rows, how)

    @staticmethod
    def _every_row(rows: Rows, start: MixedParameters, n_rows: float) -> MemoryRows | None:
        if n_rows > MANY_ROWS or start.informative or not start.of_levels.all():
            return None
        every = sample_shuffled(rows, MANY_ROWS + 1)
        return every if len(every.table) <= MANY_ROWS else None

    def _moved_on(
        self,
        every: MemoryRows,
        best: Start,
        run_em: Callable[[MixedParameters, int], EMResult[MixedParameters]],
        n_rows: float,
    ) -> list[Start]:
        """Where successive moves lead, as long as each is higher than the one before."""
        values, found = Seeding.of(*self.emission.as_numbers(every.table)).values, []
        for _ in range(MOST_MOVES):
            begun = self._moves(every, best.parameters, values)
            there = halved([EMStart("moved", one) for one in begun], run_em, n_rows, MOVES_OF_MANY)
            found.append(there[0])
            if not there[0].height > best.height + TIED:
                break
            best = there[0]
        return found

    def _moves(
        self, every: MemoryRows, here: MixedParameters, values: Array
    ) -> Iterator[MixedParameters]:
        """Split-merge moves, and blends that bring back values a component never has."""
        steps = self.structure.steps(self.emission)
        shares = gathered(every, partial(self.expected_latent, parameters=here))
        for one in moves(shares, values):
            yield steps.from_responsibilities(every, one, here)
        pooled = np.einsum("k,lkd->ld", here.weights, here.level_shares)[:, None]
        for part in BLENDS:
            yield replace(here, level_shares=(1 - part) * here.level_shares + part * pooled)


# EM of tables whose columns all have a few values, compiled as a whole.
#
# A pass over few rows then takes microseconds, so that many starts can go far. The steps are those
# of :class:`~halfseen.distributions.mixed.Mixed`, and the leaps those of
# :func:`halfseen.inference.em.run_em`, from roots of probabilities.


@dataclass(frozen=True, eq=False)
class LevelEM:
    """Compiled EM of rows whose columns all have a few values."""

    levels: Levels
    places: Places  # (m, n)
    times: Array  # (n,)  how often each row counts
    prior: Array  # (size,)  rows of each component that hold each value, before any are seen

    @classmethod
    def of(cls, rows: MemoryRows, emission: Mixed, like: MixedParameters) -> Self:
        levels, blocks = emission.levels(like), list(rows.blocks())
        places = np.concatenate([levels.places(block) for block in blocks], axis=1)
        times = np.concatenate([block.row_weights() for block in blocks])
        return cls(levels, places, times, emission.prior_rows * emission.looked_through.pooled)

    def run_em(
        self, start: MixedParameters, passes: int, tolerance: float
    ) -> EMResult[MixedParameters]:
        """Where EM leads in so many passes, or until a step gains less than the tolerance a row."""
        own = self.levels.place, slice(None), self.levels.column
        room = np.tile(np.vstack([start.level_shares[own], start.weights]), (4, 1, 1))
        n_rows = float(self.times.sum())
        given = self.places, self.times, self.levels.starts, self.prior
        end, height, n_passes = _climb(*given, room, passes, tolerance * n_rows)
        shares = start.level_shares.copy()
        shares[own] = end[:-1]
        found = replace(start, weights=end[-1].copy(), level_shares=shares)
        return EMResult(found, Convergence(height / n_rows, n_passes, False, n_rows=n_rows))


@njit(cache=True, nogil=True)
def _climb(
    places: Places,
    times: Array,
    starts: Any,
    prior: Array,
    room: Array,
    passes: int,
    tolerance: float,
) -> tuple[Array, float, int]:  # pragma: no cover - compiled
    """Run accelerated EM from the first of four arrays (size + 1, k); the last row is weights."""
    here, once, twice, after = room[0], room[1], room[2], room[3]
    height = _step(places, times, starts, prior, here, once)
    n_passes, longest = 1, np.inf
    while n_passes + 2 <= passes:
        higher = _step(places, times, starts, prior, once, twice)
        length = min(_step_length(here, once, twice), longest)
        _leap(starts, here, once, twice, length)
        leap_height = _step(places, times, starts, prior, here, after)
        n_passes += 2
        gain = higher - height
        if leap_height >= higher:
            longest = longest * FACTOR if length == longest else longest
            height = leap_height
            once, after = after, once
        else:
            longest = max(length / FACTOR, 1.0)
            height = higher
            here, once, twice = once, twice, here
        if gain < tolerance:
            break
    return here, height, n_passes


@njit(cache=True, nogil=True)
def _step(
    places: Places, times: Array, starts: Any, prior: Array, here: Array, there: Array
) -> float:  # pragma: no cover - compiled
    """One step of EM; the log-likelihood with the prior before it."""
    size, k = len(prior), here.shape[1]
    logs, joint, height = np.empty_like(here), np.empty(k), 0.0
    for c in range(k):
        for e in range(size):
            logs[e, c] = np.log(here[e, c])
            height += prior[e] * logs[e, c]
            there[e, c] = prior[e]
        logs[size, c] = np.log(here[size, c])
        there[size, c] = 0.0
    for row in range(len(times)):
        for c in range(k):
            joint[c] = logs[size, c]
        for m in range(len(places)):
            place = places[m, row]
            if place >= 0:
                for c in range(k):
                    joint[c] += logs[place, c]
        highest, total = joint[0], 0.0
        for c in range(k):
            highest = max(highest, joint[c])
        for c in range(k):
            joint[c] = np.exp(joint[c] - highest)
            total += joint[c]
        height += times[row] * (np.log(total) + highest)
        for c in range(k):
            joint[c] *= times[row] / total
            there[size, c] += joint[c]
        for m in range(len(places)):
            place = places[m, row]
            if place >= 0:
                for c in range(k):
                    there[place, c] += joint[c]
    _normalise(starts, there, here)
    return height


@njit(cache=True, nogil=True)
def _normalise(starts: Any, table: Array, otherwise: Array) -> None:  # pragma: no cover - compiled
    """Normalise each column's probabilities in each component, and the weights."""
    size, k = len(table) - 1, table.shape[1]
    for m in range(len(starts) - 1):
        for c in range(k):
            total = 0.0
            for e in range(starts[m], starts[m + 1]):
                total += table[e, c]
            for e in range(starts[m], starts[m + 1]):
                share = table[e, c] / total if total > 0 else otherwise[e, c]
                table[e, c] = max(share, LEAST_SHARE)
    n_rows = total = 0.0
    for c in range(k):
        n_rows += table[size, c]
    for c in range(k):
        table[size, c] = max(table[size, c] / n_rows, LEAST_WEIGHT)
        total += table[size, c]
    for c in range(k):
        table[size, c] /= total


@njit(cache=True, nogil=True)
def _step_length(here: Array, once: Array, twice: Array) -> float:  # pragma: no cover - compiled
    step = bend = 0.0
    for e in range(len(here)):
        for c in range(here.shape[1]):
            x, y, z = np.sqrt(here[e, c]), np.sqrt(once[e, c]), np.sqrt(twice[e, c])
            step += (y - x) ** 2
            bend += (z - 2 * y + x) ** 2
    return max(np.sqrt(step / bend), 1.0) if bend > 0 else 1.0


@njit(cache=True, nogil=True)
def _leap(
    starts: Any, here: Array, once: Array, twice: Array, length: float
) -> None:  # pragma: no cover - compiled
    for e in range(len(here)):
        for c in range(here.shape[1]):
            x, y, z = np.sqrt(here[e, c]), np.sqrt(once[e, c]), np.sqrt(twice[e, c])
            there = x + 2 * length * (y - x) + length**2 * (z - 2 * y + x)
            here[e, c] = max(there, 0.0) ** 2
    _normalise(starts, here, twice)
