"""States of rows that follow each other, from moments: where the likelihood of a chain is begun."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from halfseen.moments.items.completion import Completion
from halfseen.moments.items.features import Ints, Item
from halfseen.moments.items.lagged import LaggedSums, WindowSums
from halfseen.moments.items.reading import means_of, of_other_columns
from halfseen.moments.items.start import (
    MOST_COMPONENTS,
    Decompose,
    ItemStart,
    Second,
    System,
    Weighting,
    of_rows,
    rank_told,
    read_off,
    second_of,
    supported,
)
from halfseen.moments.items.sums import Statistics
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Rows

FEWEST_WINDOWS = 0.5
"""Of the rows, that have two neighbours: otherwise sequences are short, and rows tell more."""
FARTHEST = 0.15
"""In standard deviations of states: how far rows with neighbours may be from all rows on average.

Further out, states are not as common among the ones as among the others.
"""
LEAST = 1e-3


@dataclass(frozen=True, eq=False)
class SequenceStart:
    """States, how sequences begin, how states follow each other, and by which route."""

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
    """States of ``rows`` whose columns are ``items``, independent of each other given the state.

    Distinct columns of a row meet, and so do rows that follow each other.
    """
    second = second_of(rows, items, statistics, owner, weighting)
    lagged = rows.accumulate(LaggedSums.of(second.encoding, statistics))
    wanted = min(n_components, MOST_COMPONENTS) - 1
    by_rows = rank_told(second, n_components)
    for rank in range(wanted, -1, -1):
        in_time = rank > by_rows
        completion = _in_time(lagged, second, rank) if in_time else supported(second, rank)
        found = _read(rows, second, lagged, completion, in_time, decompose)
        if found.states.finite:
            break
    return found


def _read(
    rows: Rows,
    second: Second,
    lagged: LaggedSums,
    completion: Completion,
    in_time: bool,
    decompose: Decompose,
) -> SequenceStart:
    item, emphasis, back = second.encoding.item, second.emphasis, completion.back
    between = lagged.between(item, emphasis, back)
    route, reason = _route(second, lagged, completion, in_time)
    system = of_rows(rows, second, completion)
    mean = means_of(second.sums, second.owner)
    told = of_other_columns(second.sums, second.owner, back, item, emphasis)
    if route != "rows" and completion.rank:
        windows = _windows(rows, second, back, between)
        # If rows tell too few dimensions, what they say of these is no use.
        system = windows if in_time else System(system.cube, system.left, system.n_unseen) + windows
        told = told + lagged.told(mean, second.owner, item, emphasis, back, between)
    states = read_off(second, completion, system, told.read(mean, second.owner), decompose)
    pairs = lagged.pair_places(item, emphasis, back)
    first = lagged.first_place(item, emphasis, back)
    start, transition = _chain(states, between, pairs, first, lagged.n_first)
    return SequenceStart(states, start, transition, route, reason)


def _windows(rows: Rows, second: Second, back: Array, between: Array) -> System:
    backs = (back @ between, back, back @ between.T)
    return rows.accumulate(WindowSums.along(second.encoding, second.emphasis, backs)).system


def _route(
    second: Second, lagged: LaggedSums, completion: Completion, in_time: bool
) -> tuple[str, str]:
    """Whether windows of three rows are added to rows, and why."""
    if in_time:
        return "time", "there are too few columns for those of one row to tell states apart"
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


def _in_time(lagged: LaggedSums, second: Second, rank: int) -> Completion:
    """``B B' = C23 C13⁻¹ C12``, from rows that follow each other alone."""
    item = second.encoding.item
    scale = second.weights[item]
    one, two = (
        total / np.maximum(count, 1.0)[np.ix_(item, item)] * np.outer(scale, scale)
        for total, count in ((lagged.one, lagged.count_one), (lagged.two, lagged.count_two))
    )
    sides = np.linalg.svd(np.hstack([one, one.T, two, two.T]), full_matrices=False)[0]
    rank = min(rank, sides.shape[1])
    sides = sides[:, :rank]
    small_one, small_two = sides.T @ one @ sides, sides.T @ two @ sides
    same = small_one @ np.linalg.pinv(small_two, rcond=1e-3) @ small_one
    values, vectors = np.linalg.eigh((same + same.T) / 2)
    order = np.argsort(-values)
    values, vectors = values[order], vectors[:, order]
    n_supported = int(np.count_nonzero(values > 0))
    kept = values > 0
    factor = sides @ (vectors[:, kept] * np.sqrt(np.minimum(values[kept], float(len(scale)))))
    unscaled = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    return Completion(unscaled[:, None] * factor, values, n_supported, 1)


def _chain(
    states: ItemStart, between: Array, pairs: tuple[Array, Array], first: Array, n_first: float
) -> tuple[Array, Array]:
    """How sequences begin, and ``J = V⁻¹ M V⁻ᵀ`` row by row, V's columns being (1, ζ_k).

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
