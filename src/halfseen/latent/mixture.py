"""Mixtures: all that follows from one component a row."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from scipy.special import gammainc

from halfseen.data.arrays import Array, Labels
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.data.messages import parameter
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block, Rows, gathered
from halfseen.data.sampling import sample_shuffled
from halfseen.diagnostics.recovery import nearest
from halfseen.distributions.emission import Emission
from halfseen.inference.em import run_em
from halfseen.inference.model import Cells, Convergence, Each, EMResult, Model
from halfseen.inference.multi_start import (
    MANY_ROWS,
    MOVES,
    SAME,
    EMStart,
    StartPlan,
    advanced,
    agreed,
    finalists,
    one_maximum,
    screened,
)
from halfseen.inference.parameters import reordered
from halfseen.latent.initialisation import EVERY_WAY, FEW_WAYS, Seeding, moves
from halfseen.latent.mixture_concerns import outlying, overlap
from halfseen.latent.structure import ClassRegression, Independent, LatentStructure
from halfseen.moments.survey import Survey

P = TypeVar("P")
FEW_COMPONENTS = 3
"""So few are found by joining rows in a few ways."""
TIED = 0.01
"""Nats that are no reason to prefer another start to what the moments say."""
RARE_ROW = 1e-4
"""A row that one of so many of its component is as far out as is as likely unlike all of them."""
COMMON_ROW = 0.1
"""A row with as many wild cells as one of so many rows is as likely usual."""
ROUNDING = 1e-9
"""Of a row that is a component's own."""
MOST_FINAL_PASSES = 200
"""Passes until parameters are at rest: little beside the starts."""
ENOUGH, EARLY = 10, 5
"""Passes that show whether parameters that allow for more are worth it; before there are starts."""
WORTH = 5.0
"""Nats that it must bring for the rows that starts are tried on."""
MOST_MOVES, MOST_LAST, FEW_PASSES = 4, 2, 12
"""Moves one after the other; those of each that go on to all rows, and in how many passes."""
MANY_MOVED = 10_000
"""Rows that moves must hold on before they go on to more than twice as many."""
SCREENING_TOLERANCE, EARLY_TOLERANCE = 5.0, 100.0
"""Nats that a move may fall behind on the sample, or after a few passes, and still go on."""


class Search(NamedTuple):
    """What all stages of multi-start EM use."""

    rows: Rows
    n_rows: float  # by weight, as ``n_sample``
    sample: MemoryRows  # some of them, on which starts are tried
    n_sample: float
    kept: Survey
    plan: StartPlan


INDEPENDENT = Independent()


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassLikelihood(Model[P]):
    """What rows say of their components, and components of cells, whatever the columns are."""

    emission: Emission[P]
    structure: LatentStructure = INDEPENDENT

    def log_likelihood(self, block: Block, parameters: P) -> Array:
        return self.structure.posterior(block, self.emission, parameters).log_likelihood

    def expected_latent(self, block: Block, parameters: P) -> Array:
        return self.structure.posterior(block, self.emission, parameters).responsibilities

    def cells(self, block: Block, parameters: P) -> Cells:
        return self._given_other_rows(block, self.expected_latent(block, parameters), parameters)

    def _given_other_rows(self, block: Block, shares: Array, parameters: P) -> Cells:
        own = self._cells(shares, parameters)
        return self.structure.given_other_rows(block, self.emission, parameters, shares, own)

    def _cells(self, shares: Array, parameters: P) -> Cells:
        means, variances = self.emission.means(parameters), self.emission.variances(parameters)
        middle = means.mean(axis=0)
        centre = shares @ (means - middle)
        spread = shares @ (variances + (means - middle) ** 2) - centre**2
        return Cells(middle + centre, np.maximum(spread, 0.0))  # rounding can put it below

    def fills(self, block: Block, parameters: P) -> Cells:
        shares = self.expected_latent(block, parameters)
        return self.emission.fills(
            shares, parameters, self._given_other_rows(block, shares, parameters)
        )

    def unusual(self, block: Block, parameters: P) -> Array:
        """How outlying the worst cell of a row is, or the row as a whole; (n,).

        Where columns have long tails, a few cells far out are nothing unusual.
        """
        shares, wild = self.expected_latent(block, parameters), self.outlying(block, parameters)
        as_many = gammainc(
            wild.sum(axis=1) + 1e-9, self.emission.expected_outliers(block, parameters)
        )
        by_cell = wild.max(axis=1, initial=0.0) / (1 + (as_many / COMMON_ROW) ** 2)
        chance = np.sum(shares * self.emission.tail(block, parameters), axis=1)
        unusual: Array = np.maximum(by_cell, RARE_ROW / (RARE_ROW + chance))
        return np.minimum(unusual, 1.0)  # rounding can put a sum of shares above

    def outlying(self, block: Block, parameters: P) -> Array:
        """The probability that each cell is of no component; (n, d)."""
        shares = self.expected_latent(block, parameters)
        cells: Array = np.einsum("nk,knd->nd", shares, self.emission.outlying(block, parameters))
        return cells

    def limits(self, kept: Survey) -> Array:
        return self.emission.limits(kept)

    def fill(self, each: Each, parameters: P, number: int, random: Any) -> list[Array]:
        drawn = self.structure.drawn(each, self.emission, parameters, number, random)
        lean = self.structure.draws_given_other_rows(each, self.emission, parameters, random)
        return [lean(self.emission.draw(parameters, labels, random), labels) for labels in drawn]

    def draw(self, parameters: P, n_rows: int, random: Any) -> tuple[Array, Labels]:
        labels = self.structure.draw(parameters, n_rows, random)
        return self.emission.draw(parameters, labels, random), labels

    def places(self, parameters: P, home: P) -> Array:
        return self.emission.places(parameters, home)


@dataclass(frozen=True, eq=False, kw_only=True)
class OneClass(ClassLikelihood[P]):
    """Models with one component a row, from an emission and its cumulants.

    A mixture if the components of rows are independent; a ``structure`` may say otherwise.
    """

    tol: float
    max_iter: int
    own_checks: tuple[Callable[[Any], Iterator[Any]], ...] = ()

    refinement_adds_components: ClassVar[bool] = True
    undecided: ClassVar[float] = 5.0
    """Nats between two EM runs after which it is not yet told which of them ends higher."""

    @property
    def checks(self) -> tuple[Callable[[Any], Iterator[Any]], ...]:
        return (outlying, overlap, *self.own_checks)

    def regression(self, kept: Survey) -> ClassRegression[P]:
        return ClassRegression(self.emission, kept.sums.mean)

    def adapted_to(self, rows: Rows, kept: Survey) -> Self:
        return replace(self, emission=self.emission.for_table(rows, kept))

    def winsorised(self, rows: Rows, kept: Survey) -> Rows:
        return self.emission.winsorised(rows, kept)

    def refine(
        self, rows: Rows, start: P, n_components: int, kept: Survey, seed: Callable[[], int]
    ) -> EMResult[P]:
        """Run EM from the best of several starts: one stage a line."""
        search = self._search(rows, kept)
        starts, further = self._simple_starts(search, start, n_components, seed)
        found = self._screened(search, starts, further)
        last = self._compared(search, self._finalists(search, found))
        best, reached, n_passes = self._best_end(search, last)
        moved, n_moving = reached, 0.0
        if n_components > 1 and not self._decided(search, found):
            moved, n_moving = self._split_and_merged(search, reached)
        on_sample = sum(one.passes for one in found) * search.n_sample / search.n_rows
        how = Convergence(
            log_likelihood=None,
            n_iterations=best.passes + n_passes[0],
            converged=False,
            start=best.name,
            n_starts=len(found),
            n_agreeing=len(agreed(found)),
            work=on_sample + sum(one.passes for one in last) + sum(n_passes) + n_moving,
        )
        return self._result(rows, moved, start, search.n_rows, how)

    def _search(self, rows: Rows, kept: Survey) -> Search:
        plan = self._plan(kept.sums.n_rows)
        sample = sample_shuffled(rows, plan.most_rows)
        return Search(rows, kept.sums.n_rows, sample, total_weight(sample), kept, plan)

    def _plan(self, n_rows: float) -> StartPlan:
        return self.structure.plan(n_rows)

    def _simple_starts(
        self, search: Search, start: P, k: int, seed: Callable[[], int]
    ) -> tuple[list[EMStart[P]], Iterable[EMStart[P]]]:
        """Starts, and further ones, that allow for no more than the table asks for."""
        starts, further = self._starts(search.sample, start, k, search.plan, seed)
        if not search.plan.simpler_first:
            return starts, further
        simpler = self._simpler(search, starts[0].parameters, EARLY)

        def simple(one: EMStart[P]) -> EMStart[P]:
            return one._replace(parameters=simpler(one.parameters))

        return [simple(one) for one in starts], map(simple, further)

    def _screened(
        self, search: Search, starts: list[EMStart[P]], further: Iterable[EMStart[P]]
    ) -> list[EMStart[P]]:
        """Where starts lead on the sample, best first; further ones if there are many maxima."""
        run_em, plan = partial(self.run_em, search.sample), search.plan
        found = screened(starts, run_em, search.n_sample, plan.rounds, plan.agreeing)
        if self._decided(search, found):
            return found
        more = screened(further, run_em, search.n_sample, plan.rounds)
        return sorted([*found, *more], key=lambda one: -one.height)

    @staticmethod
    def _decided(search: Search, found: list[EMStart[P]]) -> bool:
        """Whether enough starts led to one maximum."""
        return len(agreed(found)) >= search.plan.agreeing or one_maximum(found)

    def _finalists(self, search: Search, found: list[EMStart[P]]) -> list[EMStart[P]]:
        _check_is_number(found[0])
        simpler = self._simpler(search, found[0].parameters)
        chosen = finalists(found, search.n_rows, search.plan)
        return [EMStart(one.name, simpler(one.parameters)) for one in chosen]

    def _compared(self, search: Search, last: list[EMStart[P]]) -> list[EMStart[P]]:
        """Where the finalists lead in a few passes over all rows, best first."""
        run_em = partial(self.run_em, search.rows)
        return screened(last, run_em, search.n_rows, search.plan.last)

    def _best_end(
        self, search: Search, last: list[EMStart[P]]
    ) -> tuple[EMStart[P], EMResult[P], list[int]]:
        """The finalist that ends highest, where it ends, and the passes of all that went there."""
        _check_is_number(last[0])
        best = next(one for one in last if one.height >= last[0].height - TIED)
        reached = self.run_em(search.rows, best.parameters, self.max_iter)
        n_passes = [reached.convergence.n_iterations]
        for other in self._as_good(last, best)[: search.plan.n_ends - 1]:
            there = self.run_em(search.rows, other.parameters, self.max_iter)
            n_passes.append(there.convergence.n_iterations)
            if _total(there, search.n_rows) > _total(reached, search.n_rows) + TIED:
                best, reached = other, there
        if reached.convergence.log_likelihood == -math.inf:
            best, reached = self._not_collapsed(search.rows, last)
        return best, reached, n_passes

    def _as_good(self, last: list[EMStart[P]], best: EMStart[P]) -> list[EMStart[P]]:
        """Other starts that went as far and may yet end higher than the ``best``."""
        others = [one for one in last if one is not best and one.passes >= best.passes / 2]
        return [one for one in others if TIED < best.height - one.height < self.undecided]

    def _not_collapsed(self, rows: Rows, last: list[EMStart[P]]) -> tuple[EMStart[P], EMResult[P]]:
        """The best start that ends at a maximum of the likelihood, where the others have none."""
        for one in last:
            reached = self.run_em(rows, one.parameters, self.max_iter)
            if reached.convergence.log_likelihood != -math.inf:
                return one, reached
        raise DataError(
            f"With prior=None the likelihood of {len(self.shares(last[0].parameters))} components "
            "has no maximum: from every start one of them shrinks to a few equal rows. Use "
            "prior=1.0, fewer components, or a "
            + parameter("covariance_type")
            + " that components share."
        )

    def _split_and_merged(self, search: Search, reached: EMResult[P]) -> tuple[EMResult[P], float]:
        """Where split-merge moves lead, if higher; and how many passes that took.

        Moves are compared on the sample, from where EM of all rows ended.
        """
        sample, n_rows, n_sample = search.sample, search.n_rows, search.n_sample
        steps = self.structure.steps(self.emission)
        values = Seeding.of(*self.emission.as_numbers(sample.table)).values
        on_sample, on_all = partial(self.run_em, sample), partial(self.run_em, search.rows)
        work = 0.0
        for _ in range(MOST_MOVES):
            here = reached.parameters
            shares = gathered(sample, partial(self.expected_latent, parameters=here))
            starts = [
                EMStart("moved", steps.from_responsibilities(sample, one, here))
                for one in moves(shares, values)
            ]
            stay = advanced(EMStart("", here), on_sample, FEW_PASSES, n_sample)
            found = screened(starts, on_sample, n_sample, MOVES)
            work += sum(one.passes for one in [stay, *found]) * n_sample / n_rows
            close = stay.height - SCREENING_TOLERANCE
            last = [one for one in found[:MOST_LAST] if one.height > close]
            if n_rows > 2 * MANY_MOVED:
                last, passes = self._promising(search.rows, last, here)
                work += passes * MANY_MOVED / n_rows
            if n_sample < n_rows:
                last = [advanced(one, on_all, FEW_PASSES, n_rows) for one in last]
                work += FEW_PASSES * len(last)
            best = max(last, key=lambda one: one.height, default=None)
            if best is None or not best.height > _total(reached, n_rows) - EARLY_TOLERANCE:
                break
            other = self.run_em(search.rows, best.parameters, self.max_iter)
            work += other.convergence.n_iterations
            if not _total(other, n_rows) > _total(reached, n_rows) + SAME:
                break
            reached = other
        return reached, work

    def _promising(
        self, rows: Rows, last: list[EMStart[P]], here: P
    ) -> tuple[list[EMStart[P]], int]:
        """Those that may end higher, by more of the rows than they were found on; and passes.

        Most come back to where they were moved from.
        """
        run_em = partial(self.run_em, sample_shuffled(rows, MANY_MOVED))
        stay, *went = (
            advanced(one, run_em, FEW_PASSES, MANY_MOVED) for one in (EMStart("", here), *last)
        )
        ahead = ((one, one.height - stay.height) for one in went)
        left = [one for one, by in ahead if by > -EARLY_TOLERANCE and abs(by) > SAME]
        return left, FEW_PASSES * (1 + len(went))

    def _result(
        self, rows: Rows, reached: EMResult[P], start: P, n_rows: float, how: Convergence
    ) -> EMResult[P]:
        """Parameters at rest, without empty components, in order; ``how`` they were found."""
        if reached.convergence.converged and n_rows <= MANY_ROWS:
            final_passes = min(int(self.structure.final_passes / n_rows), MOST_FINAL_PASSES)
            if final_passes:
                reached = self.run_em(rows, reached.parameters, self.max_iter, final_passes)
        while (fewer := self._without_empty(reached.parameters, n_rows)) is not reached.parameters:
            reached = self.run_em(rows, fewer, self.max_iter)
        parameters, end = reached
        # The score has the prior, and lacks what E-steps leave out as no component changes it.
        beside = self.emission.left_out(rows, parameters)
        beside -= self.structure.steps(self.emission).prior(parameters)
        convergence = how._replace(
            log_likelihood=(end.log_likelihood or 0.0) + beside / end.n_rows,
            converged=end.converged,
            n_rows=end.n_rows,
        )
        shown = self.structure.finalised(rows, self.emission, parameters)
        return EMResult(self._in_order(shown, start), convergence)

    def run_em(
        self, rows: Rows, start: P, max_iterations: int, final_passes: int = 0
    ) -> EMResult[P]:
        """Maximise the likelihood, with the prior, from ``start``."""
        origin = self.emission.origin(start)
        found, convergence = run_em(
            rows.recentred(origin),
            self.emission.moved(start, -origin),
            self.structure.steps(self.emission),
            tolerance=self.tol,
            max_iterations=max_iterations,
            final_passes=final_passes,
        )
        return EMResult(self.emission.moved(found, origin), convergence)

    def without_prior(self, rows: Rows, kept: Survey, parameters: P) -> P:
        """The maximum of the likelihood that EM leads to from the maximum with a prior.

        Of a model without one; where it has no maximum, the parameters as they are.
        """
        found, convergence = self.adapted_to(rows, kept).run_em(rows, parameters, self.max_iter)
        return parameters if convergence.log_likelihood == -math.inf else found

    def step(self, rows: Rows, parameters: P) -> EMResult[P]:
        origin, steps = self.emission.origin(parameters), self.structure.steps(self.emission)
        here = self.emission.moved(parameters, -origin)
        sums = rows.recentred(origin).accumulate(steps.expect(here))
        found = self.emission.moved(steps.maximise(sums, here), origin)
        height = float(sums.log_likelihood / sums.n_rows)
        return EMResult(found, Convergence(height, 1, False, n_rows=float(sums.n_rows)))

    def _without_empty(self, found: P, n_rows: float) -> P:
        """The parameters without components that less than one row belongs to."""
        shares = self.shares(found)
        least = (1 - ROUNDING) * self.structure.least_rows / n_rows
        some = np.flatnonzero(shares >= min(least, shares.max()))
        if len(some) == len(shares):
            return found
        left = shares[some] / shares[some].sum()
        fewer = replace(reordered(found, some), weights=left)  # type: ignore[type-var]
        return self.structure.renormalised(fewer)  # type: ignore[no-any-return]

    def _in_order(self, found: P, start: P) -> P:
        """Components in the order of the moments, whichever start won; others by size."""
        known = nearest(self.places(start, found), self.places(found, found))
        others = np.setdiff1d(np.argsort(-self.shares(found)), known, assume_unique=True)
        return reordered(found, np.r_[known, others])

    def _starts(
        self, some: MemoryRows, start: P, k: int, plan: StartPlan, seed: Callable[[], int]
    ) -> tuple[list[EMStart[P]], Iterator[EMStart[P]]]:
        """Starts by moments, by clusters of rows and about rows drawn at random; further ones.

        And further ones of the last two kinds.
        """
        n_known, begun = len(self.shares(start)), self.emission.em_start(start)
        if k == 1:
            return [EMStart("moments", begun)], iter(())
        steps = self.structure.steps(self.emission)
        seeding = Seeding.of(*self.emission.as_numbers(some.table))
        random = np.random.default_rng(seed())
        like = self.structure.uninformed(
            self.emission.em_start(reordered(start, np.arange(k) % n_known))
        )
        if n_known < k:
            known = seeding.nearest(k, random, self.emission.centres_as_numbers(start))
            begun = steps.from_responsibilities(some, known, like)
        ways = EVERY_WAY if plan.thorough and k > FEW_COMPONENTS else FEW_WAYS
        joined = enumerate(seeding.joined(k, ways[: plan.n_joined]), start=1)

        def drawn(numbers: range) -> Iterator[EMStart[P]]:
            for i in numbers:
                near = seeding.nearest(k, random)
                yield EMStart(f"seeds {i}", steps.from_responsibilities(some, near, like))
            for i in numbers:
                yield EMStart(
                    f"any rows {i}", self.emission.about(seeding.any_rows(k, random), like)
                )

        first, last = plan.n_seeds + 1, plan.n_seeds + plan.n_further + 1
        return [
            EMStart("moments", begun),
            *(
                EMStart(f"joined rows {i}", steps.from_responsibilities(some, one, like))
                for i, one in joined
            ),
            *drawn(range(1, first)),
        ], drawn(range(first, last))

    def _simpler(self, search: Search, best: P, passes: int = ENOUGH) -> Callable[[P], P]:
        """The function that makes parameters no more than the table asks for."""
        emission = self.emission

        def height(parameters: P) -> float:
            there = self.run_em(search.sample, parameters, passes)
            beside = emission.left_out(search.sample, there.parameters)
            return _total(there, search.n_sample) + beside

        less = emission.simpler(best, search.kept)
        if less is None or height(best) > height(less) + WORTH:
            return lambda parameters: parameters
        return lambda parameters: emission.simpler(parameters, search.kept) or parameters

    def replicated(self, rows: Rows, parameters: P, bins: Bins, weights: Array) -> list[P]:
        return self.structure.replicated(rows, parameters, self.emission, bins, weights - 1)


def total_weight(rows: Rows) -> float:
    """How many rows there are, by weight."""
    total: float = rows.accumulate(lambda block: block.row_weights().sum())
    return total


def _total(result: EMResult[Any], n_rows: float) -> float:
    return (result.convergence.log_likelihood or 0.0) * n_rows


def _check_is_number(best: EMStart[Any]) -> None:
    if math.isnan(best.height):
        raise FloatingPointError("the likelihood is no number")
