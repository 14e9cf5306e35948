"""Mixtures with correlated columns.

They are found from mixtures of independent columns, which have the moments, and for which many
starts are cheap.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.engines.memory import MemoryRows, PreparedRows
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block, Rows, with_gaps
from halfseen.data.sampling import sample_binned, sample_shuffled
from halfseen.distributions.correlated_normal import CorrelatedNormal
from halfseen.distributions.covariances import sphered
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.distributions.outlier_limits import inside, share_beyond
from halfseen.inference.em import Coordinates
from halfseen.inference.model import Cells, Each, EMResult
from halfseen.inference.multi_start import (
    EVERY,
    MANY_ROWS,
    EMStart,
    Rounds,
    StartPlan,
    advanced,
    k_means,
    plan_for,
    screened,
)
from halfseen.inference.parameters import (
    declared,
    reordered,
)
from halfseen.latent.mixture import OneClass, Search, total_weight
from halfseen.latent.structure import ClassRegression, ClassSteps
from halfseen.moments.survey import Survey, survey

P = TypeVar("P")
FEW_PASSES = 25
"""In which a single component is known well enough to begin with."""
MOST_TURNED = 4
"""Mixtures of independent columns that go on: the best of them need not lead to the best."""
MOST_OF_MANY = 2
"""The same where there are more rows than starts are tried on."""
ROUNDS: Rounds = ((EVERY, 12), (14, 20), (6, 40))
ROUNDS_WITHOUT_PRIOR: Rounds = ((EVERY, 12), (24, 20), (10, 40))
LAST: Rounds = ((6, 20),)
"""On some of the rows and on all of them."""
LARGE_ROUNDS: Rounds = ((EVERY, 6), (4, 8), (2, 10))
LARGE_LAST: Rounds = ((2, 12),)
"""The same where all rows are many: every pass costs more than with independent columns."""
N_CLUSTERED, N_DRAWN = 10, 8
"""Starts by k-means of sphered rows, and by responsibilities drawn at random."""
N_CLUSTERED_WITHOUT_PRIOR, N_DRAWN_WITHOUT_PRIOR = 30, 20
"""The same without a prior on covariances, where the likelihood has more maxima: with 10 and 8 four
of 56 fits ended over 2 nats below scikit-learn's best of ten (``benchmarks.covariances em``)."""
FEW_CLUSTERED, FEW_DRAWN = 3, 1
"""The same where all rows are many."""
MOST_CELLS = 20_000_000
"""Of tables that are held in memory with their rows sorted by gaps."""
PART, MANY_TIMES = 5_000, 8
"""Rows on which starts go to their end before all rows are gone over, if these are so many."""
LARGE_BLOCKS = 16_384
"""Rows of blocks that are kept sorted by gaps: small ones would have each pattern many times."""


@dataclass(frozen=True, eq=False)
class Correlated(OneClass[P]):
    """A mixture of correlated columns, begun as one of independent ones."""

    undecided: ClassVar[float] = 50.0  # passes that gain little for long may yet lead far
    emission: CorrelatedNormal[P]
    first: OneClass[MixtureParameters] = field(kw_only=True)  # the same with independent columns

    def adapted_to(self, rows: Rows, kept: Survey) -> Self:
        emission: Any = self.emission.for_table(rows, kept)
        return replace(self, emission=emission, first=self.first.adapted_to(rows, kept))

    def winsorised(self, rows: Rows, kept: Survey) -> Rows:
        return self.first.winsorised(rows, kept)

    def regression(self, kept: Survey) -> ClassRegression[Any]:
        return self.first.regression(kept)

    def from_moments(self, read: Any) -> P:
        return self.emission.independent(read.weights, read.means, read.variances)

    def refine(
        self, rows: Rows, start: P, n_components: int, kept: Survey, seed: Callable[[], int]
    ) -> EMResult[P]:
        """Run EM on values within the outlier limits."""
        outlier_limits = self.emission.outlier_limits
        begun: Any = self.emission.em_start(start)
        wild = outlier_limits is not None and not outlier_limits.quiet(kept)
        share = share_beyond(rows, begun) if wild else 0.0
        usual = rows.map(lambda block: inside(block, begun)[0]) if wild else rows
        ready = sorted_by_gaps(usual, kept) if self.emission.by_gaps else usual
        found, convergence = super().refine(ready, start, n_components, kept, seed)
        # Where a component has no cells of a column its mean may leave what is usual there.
        within: Any = self.emission.within(found)
        usual_found = replace(within, outlier_share=share)
        if wild or _differ(within, found):
            height, n_rows = self._mean_score(rows, usual_found)
            convergence = convergence._replace(log_likelihood=height, n_rows=n_rows)
        return EMResult(usual_found, convergence)

    def without_prior(self, rows: Rows, kept: Survey, parameters: P) -> P:
        usual = rows.map(lambda block: inside(block, parameters)[0])  # type: ignore[arg-type]
        ready = sorted_by_gaps(usual, kept) if self.emission.by_gaps else usual
        return super().without_prior(ready, kept, parameters)

    def _mean_score(self, rows: Rows, parameters: P) -> tuple[float, float]:
        """The mean log-likelihood of rows that hold anything, and how many do, by one pass."""

        def summarise(block: Block) -> Array:
            something = block.observed.any(axis=1).astype(float)
            each = np.column_stack([self.log_likelihood(block, parameters), something])
            sums: Array = block.weighed(each).sum(axis=0)
            return sums

        total, n_rows = rows.accumulate(summarise)
        return float(total / n_rows), float(n_rows)

    def _plan(self, n_rows: float) -> StartPlan:
        """Few rows have many maxima, and passes over them are cheap."""
        plan = plan_for(n_rows)
        if n_rows > MANY_ROWS:
            return plan._replace(rounds=LARGE_ROUNDS, last=LARGE_LAST)
        rounds = ROUNDS if self.emission.regularised else ROUNDS_WITHOUT_PRIOR
        return plan._replace(rounds=rounds, last=LAST, n_ends=6)

    def _starts(
        self, some: MemoryRows, start: P, k: int, plan: StartPlan, seed: Callable[[], int]
    ) -> tuple[list[EMStart[P]], Iterator[EMStart[P]]]:
        """The best mixtures of independent columns, clusters of sphered rows, and random ones."""
        emission, steps = self.emission, ClassSteps(self.emission)
        weights, means, variances = emission.plain(start)
        middle = weights @ means
        spread = weights @ (variances + (means - middle) ** 2)
        single = emission.single(some, middle, spread)
        if k == 1:
            return [EMStart("moments", single)], iter(())
        alone = self.run_em(some, single, FEW_PASSES).parameters
        n_some = total_weight(some)
        starts, _ = self.first._starts(
            some, MixtureParameters(*emission.plain(start)), k, plan, seed
        )
        found = screened(starts, partial(self.first.run_em, some), n_some, plan_for(n_some).rounds)
        turned = []
        for one in found[: MOST_TURNED if n_some < plan.most_rows else MOST_OF_MANY]:
            here = emission.apart(alone, one.parameters.weights, one.parameters.centres)
            shares = np.vstack(
                [self.first.expected_latent(block, one.parameters) for block in some.blocks()]
            )
            turned.append(EMStart(one.name, here))
            turned.append(EMStart(one.name, steps.from_responsibilities(some, shares, here)))
        few = plan.rounds is LARGE_ROUNDS
        if few:
            n_clustered, n_drawn = FEW_CLUSTERED, FEW_DRAWN
        elif self.emission.regularised:
            n_clustered, n_drawn = N_CLUSTERED, N_DRAWN
        else:
            n_clustered, n_drawn = N_CLUSTERED_WITHOUT_PRIOR, N_DRAWN_WITHOUT_PRIOR
        begun = self._invariant_starts(some, alone, k, np.random.default_rng(seed()))
        first = [*begun("clusters", range(n_clustered)), *begun("random", range(n_drawn))]

        def further() -> Iterator[EMStart[P]]:
            if not few:
                yield from begun("clusters", range(n_clustered, 2 * n_clustered))
                yield from begun("random", range(n_drawn, 3 * n_drawn))

        return [*turned, *first], further()

    def _invariant_starts(
        self, some: MemoryRows, alone: P, k: int, random: np.random.Generator
    ) -> Callable[[str, range], Iterator[EMStart[P]]]:
        """Starts that do not depend on how columns are turned, by their name and numbers."""
        one = np.ones((len(some.table), 1))
        filled = self.emission.expected(Block.from_table(some.table), one, alone).mean
        values = sphered(filled, *self.emission.normal_of(alone))
        weights = np.ones(len(filled)) if some.weights is None else some.weights
        like, steps = reordered(alone, np.zeros(k, dtype=int)), ClassSteps(self.emission)
        like = replace(like, weights=np.full(k, 1 / k))  # type: ignore[type-var]

        def begun(name: str, numbers: range) -> Iterator[EMStart[P]]:
            for i in numbers:
                if name == "clusters":
                    shares = k_means(values, weights, k, random)
                else:
                    shares = random.dirichlet(np.ones(k), len(values))
                yield EMStart(f"{name} {i + 1}", steps.from_responsibilities(some, shares, like))

        return begun

    def _compared(self, search: Search, last: list[EMStart[P]]) -> list[EMStart[P]]:
        """Of many rows, where the best start ends on some: nearly where it does on all."""
        if search.n_rows < MANY_TIMES * PART:
            return super()._compared(search, last)
        some = sample_shuffled(search.rows, PART)
        part = large_blocks(some, search.rows) if self.emission.by_gaps else some
        n_part = total_weight(part)
        best = super()._compared(search._replace(rows=part, n_rows=n_part), last)[0]
        return [advanced(best, partial(self.run_em, part), self.max_iter, n_part)]

    def _split_and_merged(self, search: Search, reached: EMResult[P]) -> tuple[EMResult[P], float]:
        """Where moves lead, if that is cheap to see: few rows have many maxima."""
        return (
            (reached, 0.0)
            if search.n_rows > MANY_ROWS
            else super()._split_and_merged(search, reached)
        )

    def cells(self, block: Block, parameters: P) -> Cells:
        return self.emission.expected(block, self.expected_latent(block, parameters), parameters)

    def fills(self, block: Block, parameters: P) -> Cells:
        return self.cells(block, parameters)

    def replicated(self, rows: Rows, parameters: P, bins: Bins, weights: Array) -> list[P]:
        return refitted(self, rows, parameters, bins, weights)

    def fill(self, each: Each, parameters: P, number: int, random: Any) -> list[Array]:
        """Draw the component of each row, and then its cells given the observed ones."""
        fresh = random.randint(2**31)

        def drawn(block: Block) -> Array:
            own = np.random.default_rng([fresh, block.start])
            shares = self.expected_latent(block, parameters)
            below, total = np.cumsum(shares, axis=1), shares.sum(axis=1, keepdims=True)

            def draw() -> Array:
                labels = (below < own.random((len(shares), 1)) * total).sum(axis=1)
                return self.emission.draw_given(block, labels, parameters, own)

            return np.stack([draw() for _ in range(number)], axis=1)

        tables = each(drawn)
        return [tables[:, i] for i in range(number)]


def sorted_by_gaps(rows: Rows, kept: Survey) -> Rows:
    """Rows in memory in large blocks, those with the same gaps together, if they fit."""
    n_rows = kept.sums.n_rows
    if n_rows * len(kept.names) > MOST_CELLS or rows.sparse:
        return rows
    return large_blocks(sample_shuffled(rows, int(MOST_CELLS)), rows)


def large_blocks(every: MemoryRows, like: Rows) -> PreparedRows:
    """Large blocks of rows, sorted by the pattern of their gaps."""
    order = np.lexsort(np.packbits(np.isnan(every.table), axis=1).T)
    table = every.table[order]
    weights = None if every.weights is None else every.weights[order]
    whole = MemoryRows(table, every.names, weights)
    parts = [slice(i, i + LARGE_BLOCKS) for i in range(0, max(len(table), 1), LARGE_BLOCKS)]
    blocks = map(whole._block, parts)
    threads, told = getattr(like, "n_threads", 1), getattr(like, "advance", None)
    return PreparedRows(tuple(blocks), every.names, threads, told)


def _differ(one: Any, other: Any) -> bool:
    names = [this.field for this in declared(one)]
    return any(not np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


# What mixtures would have been with other rows: a few passes from where all rows led.
#
# Where columns go along with each other there are too many numbers for one step of Newton's, and a
# pass is cheap beside that. If there are many rows some of them are gone over, and what is learned
# moves less in proportion.

MAX_REPLICATE_ROWS = 2000
PASSES = 15
"""From where all rows led: replicates are near."""


def refitted(model: Any, rows: Rows, home: P, bins: Bins, weights: Array) -> list[P]:
    """Parameters of each replicate, in which bin g counts ``weights[b, g]`` times."""
    adapted = model.adapted_to(rows, survey(rows, 1.0))
    n_rows, few = rows.accumulate(len), sample_binned(rows, bins, MAX_REPLICATE_ROWS)
    every = Block.from_table(few.rows.table, few.rows.weights)  # type: ignore[attr-defined]
    usual = inside(every, home)[0]  # type: ignore[arg-type]
    table, label = with_gaps(usual), few.bins.of(every)
    order = np.lexsort(np.packbits(np.isnan(table), axis=1).T)
    table, label, own = table[order], label[order], every.weighed(np.ones(len(table)))[order]

    def refit(weight: Array, start: P, passes: int) -> P:
        part = PreparedRows((Block.from_table(table, weight),), rows.names)
        found: P = adapted.run_em(part, start, passes).parameters
        return found

    begun = adapted.emission.em_start(home)
    base = refit(own, begun, 2 * PASSES) if len(table) < n_rows else begun
    shrink = math.sqrt(len(table) / n_rows)
    found = (refit(own * one[label], base, PASSES) for one in weights)
    return [_moved(home, base, adapted.emission.alike(one, base), shrink) for one in found]


def _moved(home: P, start: P, end: P, share: float) -> P:
    """The parameters that far from home as a ``share`` of the way from start to end."""
    units = {one.field: np.ones(1) for one in declared(home)}
    space = Coordinates(home, units, farthest=np.inf)
    way = space.vector(end) - space.vector(start)
    return space.at(space.vector(home) + share * way, home)
