"""States of rows that follow each other, from moments: where the likelihood of a chain is begun."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from halfseen.moments.items.by_time import Places, TimeSums
from halfseen.moments.items.completion import Completion
from halfseen.moments.items.features import Encoding, Ints, Item
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
    wanted = min(n_components, MOST_COMPONENTS) - 1
    by_rows = rank_told(second, n_components)
    for rank in range(wanted, -1, -1):
        read = _by_time if rank > by_rows else _by_rows
        found = read(rows, second, statistics, rank, decompose)
        if found.states.finite:
            break
    return found


def _by_rows(
    rows: Rows, second: Second, statistics: Statistics, rank: int, decompose: Decompose
) -> SequenceStart:
    """Columns of a row tell of states, and windows of three rows where they are of the same."""
    item, emphasis = second.encoding.item, second.emphasis
    lagged = rows.accumulate(LaggedSums.of(second.encoding, statistics))
    completion = supported(second, rank)
    back = completion.back
    route, reason = _route(second, lagged, completion)
    system = of_rows(rows, second, completion)
    mean = means_of(second.sums, second.owner)
    told = of_other_columns(second.sums, second.owner, back, item, emphasis)
    if route != "rows" and completion.rank:
        between = lagged.between(item, emphasis, back)
        backs = (back @ between, back, back @ between.T)
        system = system + _windows(rows, (second.encoding,) * 3, emphasis, backs)
        told = told + lagged.told(mean, second.owner, item, emphasis, back, between)
    states = read_off(second, completion, system, told.read(mean, second.owner), decompose)
    return _along(states, lagged, item, emphasis, back, route, reason)


def _by_time(
    rows: Rows, second: Second, statistics: Statistics, rank: int, decompose: Decompose
) -> SequenceStart:
    """Rows before and after tell of states; columns of one row are too few."""
    item, emphasis, owner = second.encoding.item, second.emphasis, second.owner
    places = Places.of(rows, second.encoding)
    sums = rows.accumulate(TimeSums.of(places, statistics))
    completion = sums.completion(second, rank)
    backs = sums.backs(item, emphasis, completion.back)
    mean = means_of(sums.middle, owner)
    told = of_other_columns(sums.middle, owner, completion.back, item, emphasis)
    told = told + sums.told(mean, owner, item, emphasis, backs)
    system = _windows(rows, places, emphasis, backs)
    states = read_off(second, completion, system, told.read(mean, owner), decompose)
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
    """Whether windows of three rows are added to rows, and why."""
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
    """How states follow each other, from features whose mean is that of the states."""
    between = lagged.between(item, emphasis, back)
    pairs = lagged.pair_places(item, emphasis, back)
    first = lagged.first_place(item, emphasis, back)
    start, transition = _chain(states, between, pairs, first, lagged.n_first)
    return SequenceStart(states, start, transition, route, reason)


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
