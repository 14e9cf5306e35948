"""Moments of rows that follow each other, against sums over all that can happen."""

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest

from halfseen.data.engines.memory import MemoryRows
from halfseen.data.sequences import Sequences
from halfseen.inference.tensor_decomposition import joint
from halfseen.moments.product_mixture import item_moments as completion
from halfseen.moments.product_mixture import markov_start as sequence_start_module
from halfseen.moments.product_mixture.encoding import Item
from halfseen.moments.product_mixture.markov_start import sequence_start

N_ROWS = 3


def stationary(transition):
    values, vectors = np.linalg.eig(transition.T)
    law = np.real(vectors[:, np.argmax(np.real(values))])
    return law / law.sum()


def every_sequence(start, transition, chances, gaps=()):
    """All sequences of three rows of levels, each weighted by its probability.

    ``chances`` (l, k, d); items in ``gaps`` are missing half of the time.
    """
    n_levels, k, d = chances.shape
    cells = list(product([*range(n_levels)], repeat=d))
    rows = np.array([*cells], dtype=float)
    density = np.array([[np.prod(chances[list(c), h, range(d)]) for h in range(k)] for c in cells])
    masks = np.array(list(product([0, 1], repeat=len(gaps))), dtype=bool)
    seen, laws = [], []
    for mask in masks:
        part = rows.copy()
        part[:, [g for g, m in zip(gaps, mask, strict=True) if m]] = np.nan
        seen.append(part)
        laws.append(density / len(masks))
    seen, laws = np.vstack(seen), np.vstack(laws)
    table, weights = [], []
    for one, two, three in product(range(len(seen)), repeat=N_ROWS):
        ahead = (start * laws[one]) @ transition * laws[two]
        weight = ((ahead @ transition) * laws[three]).sum()
        table += [seen[one], seen[two], seen[three]]
        weights += [weight] * N_ROWS
    table, weights = np.array(table), np.array(weights)
    return MemoryRows(
        table,
        tuple(map(str, range(d))),
        weights * len(table),
        sequences=Sequences.of_lengths(np.full(len(table) // N_ROWS, N_ROWS)),
    )


def found(rows, n_levels, k, kind="levels"):
    d = len(rows.names)
    levels = tuple(range(n_levels)) if kind == "levels" else ()
    items = [Item(kind, middle=n_levels / 2, spread=1.0, levels=levels)] * d
    owner = np.repeat(np.arange(d), n_levels)

    def statistics(block):
        at = block.values[:, :, None] == np.arange(n_levels)
        return (at & block.observed[:, :, None]).reshape(len(block), d * n_levels).astype(float)

    decompose = partial(joint, generator=np.random.default_rng(0))
    return sequence_start(rows, items, statistics, owner, k, np.sqrt, decompose)


def matched(start, weights):
    return np.argmin(np.abs(start.states.weights[:, None] - weights), axis=0)


@pytest.fixture
def converged(monkeypatch):
    """Completion goes on until rounding stops it."""
    monkeypatch.setattr(completion, "TOLERANCE", 1e-16)
    monkeypatch.setattr(completion, "MOST_ITERATIONS", 2000)
    monkeypatch.setattr(sequence_start_module, "FEWEST_WINDOWS", 0.1)


@pytest.mark.parametrize("kind", ["levels", "number", "count"])
@pytest.mark.parametrize("gaps", [(), (1,)])
@pytest.mark.parametrize(("first", "route"), [(None, "joint"), ([0.1, 0.9], "rows")])
@pytest.mark.usefixtures("converged")
def test_columns_of_a_row_and_rows_that_follow_give_the_chain_back(gaps, first, route, kind):
    """Stationary or not: then rows alone tell the states, and pairs of rows what follows."""
    rng = np.random.default_rng(0)
    transition = np.array([[0.8, 0.2], [0.3, 0.7]])
    start = stationary(transition) if first is None else np.array(first)
    weights = np.mean([start @ np.linalg.matrix_power(transition, t) for t in range(3)], axis=0)
    chances = rng.dirichlet(np.ones(2), size=(2, 3)).transpose(2, 0, 1)
    rows = every_sequence(start, transition, chances, gaps)
    result = found(replace(rows, weights=rows.weights * 1e12), 2, 2, kind)
    assert result.route == route
    order = matched(result, weights)
    np.testing.assert_allclose(result.states.weights[order], weights, atol=1e-10)
    np.testing.assert_allclose(result.start[order], start, atol=1e-10)
    np.testing.assert_allclose(result.transition[np.ix_(order, order)], transition, atol=1e-10)
    own = result.states.statistics[order].reshape(2, 3, 2)
    np.testing.assert_allclose(own, chances.transpose(1, 2, 0), atol=1e-10)


@pytest.mark.parametrize("gaps", [(), (0,)])
@pytest.mark.parametrize("first", [None, [0.1, 0.3, 0.6]])
@pytest.mark.parametrize(("kind", "n_levels", "k"), [("levels", 5, 3), ("number", 4, 3)])
def test_one_column_is_told_by_time_alone(first, gaps, kind, n_levels, k):
    """Stationary or not; then states are as common as they are among rows with two neighbours."""
    rng = np.random.default_rng(1)
    transition = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]])
    start = stationary(transition) if first is None else np.array(first)
    weights = start @ transition
    chances = rng.dirichlet(np.ones(n_levels) / 2, size=(k, 1)).transpose(2, 0, 1)
    rows = every_sequence(start, transition, chances, gaps)
    result = found(replace(rows, weights=rows.weights * 1e12), n_levels, k, kind)
    assert result.route == "time"
    order = matched(result, weights)
    np.testing.assert_allclose(result.states.weights[order], weights, atol=1e-10)
    np.testing.assert_allclose(result.start[order], start, atol=1e-10)
    np.testing.assert_allclose(result.transition[np.ix_(order, order)], transition, atol=1e-10)
    np.testing.assert_allclose(result.states.statistics[order], chances[:, :, 0].T, atol=1e-10)


def test_short_sequences_are_told_by_rows_and_say_so():
    rng = np.random.default_rng(2)
    X = rng.integers(2, size=(600, 4)).astype(float)
    rows = MemoryRows(X, tuple("abcd"), sequences=Sequences.of_lengths([2] * 300))
    result = found(rows, 2, 2)
    assert result.route == "rows"
    assert result.reason == "only 0% of the rows have a row before and after them"


def test_one_state_has_nothing_to_tell():
    X = np.random.default_rng(3).integers(2, size=(60, 3)).astype(float)
    rows = MemoryRows(X, tuple("abc"), sequences=Sequences.of_lengths([60]))
    result = found(rows, 2, 1)
    np.testing.assert_allclose(result.transition, [[1.0]])
    np.testing.assert_allclose(result.start, [1.0])


def test_one_column_without_windows_tells_one_state():
    X = np.random.default_rng(4).integers(3, size=(40, 1)).astype(float)
    rows = MemoryRows(X, ("a",), sequences=Sequences.of_lengths([2] * 20))
    result = found(rows, 3, 2)
    np.testing.assert_allclose(result.states.weights, [1.0])
    np.testing.assert_allclose(result.transition, [[1.0]])
