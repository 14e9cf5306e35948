"""Start of hidden Markov models from moments of consecutive rows.

Rows 1, 2 and 3 of a window are independent given the state of the middle one. States need not be as
common at one place as at another, so each place is centred at its own mean. With ζ_k the place of
state k, of mean zero and covariance one over middle rows,

    C12 = B1 B2',  C13 = B1 B3',  C23 = B2 B3',  hence  B2 B2' = C21 C31⁻¹ C32,

and B1, B3 have the columns' space of B2: B1 = B2 T12, B3 = B2 T23'.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import Sums
from halfseen.moments.product_mixture.encoding import Encoding, Ints, Item
from halfseen.moments.product_mixture.item_moments import Completion, MeetingSums, Statistics
from halfseen.moments.product_mixture.lagged_moments import (
    LaggedSums,
    Neighbour,
    Windows,
    WindowSums,
    between,
    neighbour_equations,
)
from halfseen.moments.product_mixture.mixture_start import (
    MOST_COMPONENTS,
    Decompose,
    Equations,
    ItemStart,
    Second,
    System,
    Weighting,
    identifiable_rank,
    means_of,
    of_rows,
    other_column_equations,
    read_off,
    second_of,
    supported,
)


class Places(NamedTuple):
    """Centred encodings of the rows before, in the middle and after."""

    before: Encoding
    middle: Encoding
    after: Encoding

    @classmethod
    def of(cls, rows: Rows, encoding: Encoding) -> Self:
        """The encodings of the windows in ``rows``."""
        return cls(*(encoding.less(mean) for mean in rows.accumulate(PlaceSums.of(encoding)).means))


@dataclass(frozen=True, eq=False)
class PlaceSums(Sums):
    """Sums of features by the position in the window."""

    total: Array  # (3, q)
    count: Array  # (3, q)

    @classmethod
    def of(cls, encoding: Encoding) -> Callable[[Block], "PlaceSums"]:
        """The function that sums a block."""

        def summarise(block: Block) -> PlaceSums:
            z, m = encoding.features(block), block.observed.astype(float)
            middle = Windows.of(block).middle
            weight = block.row_weights()[middle]
            at = (middle - 1, middle, middle + 1)
            total = np.array([weight @ z[rows] for rows in at])
            return cls(total, np.array([weight @ m[rows] for rows in at])[:, encoding.item])

        return summarise

    @property
    def means(self) -> Array:
        """Mean features by position, zero without observations; (3, q)."""
        return self.total / np.where(self.count > 0, self.count, 1.0)


@dataclass(frozen=True, eq=False)
class TimeSums(Sums):
    """Weighted sums of products between the rows of windows."""

    z12: Array  # (q, q)  Σ z1 z2'
    z13: Array
    z23: Array
    m12: Array  # (j, j)  Σ m1 m2'
    m13: Array
    m23: Array
    f21: Array  # (s, q)  Σ f2 z1'
    f23: Array
    h21: Array  # (j, q)  Σ m2 z1'
    h23: Array
    middle: MeetingSums

    @classmethod
    def of(cls, places: Places, statistics: Statistics) -> Callable[[Block], "TimeSums"]:
        """The function that sums a block."""
        of_middle = MeetingSums.of(places.middle, statistics)

        def summarise(block: Block) -> TimeSums:
            middle = Windows.of(block).middle
            rows = [block.rows(at) for at in (middle - 1, middle, middle + 1)]
            z1, z2, z3 = (e.features(row) for e, row in zip(places, rows, strict=True))
            m1, m2, m3 = (row.observed.astype(float) for row in rows)
            weight = rows[1].weighed(np.ones(len(middle)))[:, None]
            f2 = statistics(rows[1]) * weight
            w1, w2, held = z1 * weight, z2 * weight, m2 * weight
            return cls(
                z12=w1.T @ z2,
                z13=w1.T @ z3,
                z23=w2.T @ z3,
                m12=m1.T @ held,
                m13=(m1 * weight).T @ m3,
                m23=held.T @ m3,
                f21=f2.T @ z1,
                f23=f2.T @ z3,
                h21=held.T @ z1,
                h23=held.T @ z3,
                middle=of_middle(rows[1]),
            )

        return summarise

    def completion(self, second: Second, rank: int) -> Completion:
        """The completed product ``B2 B2'`` and its factor."""
        item, weights = second.encoding.item, second.weights
        scale = weights[item]
        pairs = ((self.z12, self.m12), (self.z13, self.m13), (self.z23, self.m23))
        all_pairs = [
            total / np.maximum(count, 1.0)[np.ix_(item, item)] * np.outer(scale, scale)
            for total, count in pairs
        ]
        sides = np.hstack([side for pair in all_pairs for side in (pair, pair.T)])
        common = np.linalg.svd(sides, full_matrices=False)[0][:, :rank]
        c12, c13, c23 = (common.T @ pair @ common for pair in all_pairs)
        same = c12.T @ np.linalg.pinv(c13.T, rcond=1e-3) @ c23.T
        values, vectors = np.linalg.eigh((same + same.T) / 2)
        values, vectors = values[::-1], vectors[:, ::-1]
        kept = values > 0
        factor = common @ (vectors[:, kept] * np.sqrt(np.minimum(values[kept], float(len(scale)))))
        unscaled = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        return Completion(unscaled[:, None] * factor, values, int(np.count_nonzero(kept)), 1)

    def backs(self, item: Ints, emphasis: Array, back: Array) -> tuple[Array, Array, Array]:
        """The factors B1, B2 and B3, given B2."""
        before = back @ between(self.z12, self.m12, item, emphasis, back)
        return before, back, back @ between(self.z23, self.m23, item, emphasis, back).T

    def equations(
        self,
        mean: Array,
        owner: Ints,
        item: Ints,
        emphasis: Array,
        backs: tuple[Array, Array, Array],
    ) -> Equations:
        """What the rows before and after tell of statistics with these means of middle rows."""
        after = Neighbour(self.f23, self.h23, self.m23, backs[2])
        before = Neighbour(self.f21, self.h21, self.m12.T, backs[0])
        return neighbour_equations((after, before), mean, owner, item, emphasis)


FEWEST_WINDOWS = 0.5
"""Of the rows, that have two neighbours: otherwise sequences are short, and rows tell more."""
FARTHEST = 0.15
"""In standard deviations of states: how far rows with neighbours may be from all rows on average.

Further out, states are not as common among the ones as among the others.
"""
LEAST = 1e-3


@dataclass(frozen=True, eq=False)
class SequenceStart:
    """Start values of states, first-state and transition probabilities, and their route."""

    states: ItemStart
    start: Array  # (k,)
    transition: Array  # (k, k)
    route: str
    reason: str


def sequence_start(
    rows: Rows,
    items: Sequence[Item],
    statistics: Statistics,
    owner: Ints,
    n_components: int,
    weighting: Weighting,
    decompose: Decompose,
) -> SequenceStart:
    """Start values of states for ``rows`` with columns ``items``.

    Distinct columns of a row meet, and so do rows that follow each other.
    """
    second = second_of(rows, items, statistics, owner, weighting)
    wanted = min(n_components, MOST_COMPONENTS) - 1
    by_rows = identifiable_rank(second, n_components)
    for rank in range(wanted, -1, -1):
        read = _by_time if rank > by_rows else _by_rows
        found = read(rows, second, statistics, rank, decompose)
        if found.states.finite:
            break
    return found


def _by_rows(
    rows: Rows, second: Second, statistics: Statistics, rank: int, decompose: Decompose
) -> SequenceStart:
    """Start from columns of a row, and from windows of three rows."""
    item, emphasis = second.encoding.item, second.emphasis
    lagged = rows.accumulate(LaggedSums.of(second.encoding, statistics))
    completion = supported(second, rank)
    back = completion.back
    route, reason = _route(second, lagged, completion)
    system = of_rows(rows, second, completion)
    mean = means_of(second.sums, second.owner)
    equations = other_column_equations(second.sums, second.owner, back, item, emphasis)
    if route != "rows" and completion.rank:
        between = lagged.between(item, emphasis, back)
        backs = (back @ between, back, back @ between.T)
        system = system + _windows(rows, (second.encoding,) * 3, emphasis, backs)
        equations = equations + lagged.equations(mean, second.owner, item, emphasis, back, between)
    states = read_off(second, completion, system, equations.read(mean, second.owner), decompose)
    return _along(states, lagged, item, emphasis, back, route, reason)


def _by_time(
    rows: Rows, second: Second, statistics: Statistics, rank: int, decompose: Decompose
) -> SequenceStart:
    """Start from consecutive rows, if rows have too few columns."""
    item, emphasis, owner = second.encoding.item, second.emphasis, second.owner
    places = Places.of(rows, second.encoding)
    sums = rows.accumulate(TimeSums.of(places, statistics))
    completion = sums.completion(second, rank)
    backs = sums.backs(item, emphasis, completion.back)
    mean = means_of(sums.middle, owner)
    equations = other_column_equations(sums.middle, owner, completion.back, item, emphasis)
    equations = equations + sums.equations(mean, owner, item, emphasis, backs)
    system = _windows(rows, places, emphasis, backs)
    states = read_off(second, completion, system, equations.read(mean, owner), decompose)
    lagged = rows.accumulate(LaggedSums.of(places.middle, statistics))
    reason = "there are too few columns for those of one row to tell states apart"
    return _along(states, lagged, item, emphasis, completion.back, "time", reason)


def _windows(
    rows: Rows,
    encodings: Sequence[Encoding],
    emphasis: Array,
    backs: tuple[Array, Array, Array],
) -> System:
    if backs[1].shape[1] == 0:
        return System(np.zeros((0, 0, 0)), np.zeros((0, 0)), 0)
    return rows.accumulate(WindowSums.along(encodings, emphasis, backs)).system


def _route(second: Second, lagged: LaggedSums, completion: Completion) -> tuple[str, str]:
    """Whether windows of three rows are used beside rows, and why."""
    share = lagged.n_middle / max(lagged.n_rows, 1e-300)
    if share < FEWEST_WINDOWS:
        return "rows", f"only {share:.0%} of the rows have a row before and after them"
    item, emphasis, back = second.encoding.item, second.emphasis, completion.back
    away = max(float(np.linalg.norm(p)) for p in lagged.pair_places(item, emphasis, back))
    if away > FARTHEST:
        return "rows", (
            f"rows with neighbours are {away:.2f} standard deviations of the states from all rows: "
            "the chain is not stationary"
        )
    return "joint", "columns of a row and rows that follow each other tell of the same states"


def _along(
    states: ItemStart,
    lagged: LaggedSums,
    item: Ints,
    emphasis: Array,
    back: Array,
    route: str,
    reason: str,
) -> SequenceStart:
    """Transition moments, from features whose means are those of the states."""
    between = lagged.between(item, emphasis, back)
    pairs = lagged.pair_places(item, emphasis, back)
    first = lagged.first_place(item, emphasis, back)
    start, transition = _chain(states, between, pairs, first, lagged.n_first)
    return SequenceStart(states, start, transition, route, reason)


def _chain(
    states: ItemStart, between: Array, pairs: tuple[Array, Array], first: Array, n_first: float
) -> tuple[Array, Array]:
    """First-state probabilities and ``J = V⁻¹ M V⁻ᵀ``, with columns (1, ζ_k) of V.

    ``M = E[(1, ζ(h_t)) (1, ζ(h_t+1))']``: of the ``pairs`` of rows neither need be on average where
    all rows are, so that chains which are not stationary are covered.
    """
    k = len(states.weights)
    places = np.vstack([np.ones(k), states.places.T])  # V
    moves = np.eye(k)
    moves[1:, 1:] = between
    moves[1:, 0], moves[0, 1:] = pairs
    back = np.linalg.pinv(places)
    joint = np.maximum(back @ moves @ back.T, LEAST * states.weights[:, None] * states.weights)
    transition = joint / joint.sum(axis=1, keepdims=True)
    start = np.maximum(back @ np.concatenate([[1.0], first]), LEAST)
    start = (n_first * start / start.sum() + states.weights * k) / (n_first + k)
    return start / start.sum(), transition
