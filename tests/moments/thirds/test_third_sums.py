"""Sums over the rows that hold three features."""

import tracemalloc

import numpy as np
import pytest

from halfseen.data.engines import memory
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Block
from halfseen.moments.third_moment import ThirdSums


@pytest.mark.parametrize("weighted", [False, True])
def test_each_triple_is_summed_over_the_rows_that_hold_all_three(weighted):
    generator = np.random.default_rng(0)
    table, origin = generator.normal(size=(70, 4)), generator.normal(size=4)
    table[generator.random(table.shape) < 0.4] = np.nan
    weights = generator.random(70) + 0.1 if weighted else None
    sums = ThirdSums.about(origin)(Block.from_table(table, weights))
    z, w = table - origin, np.ones(70) if weights is None else weights
    triples = [(i, j, k) for j in range(4) for i in range(j + 1) for k in range(j, 4)]
    for position, (i, j, k) in enumerate(triples):
        products = z[:, i] * z[:, j] * z[:, k]
        held = ~np.isnan(products)
        np.testing.assert_allclose(sums.count[position], w[held].sum(), rtol=1e-12)
        np.testing.assert_allclose(sums.total[position], (w * products)[held].sum(), rtol=1e-10)


def test_a_triple_that_no_row_holds_sums_to_zero():
    table = np.array([[2.0, 3.0, np.nan], [2.0, np.nan, 3.0], [np.nan, 2.0, 3.0]])
    sums = ThirdSums.about(np.ones(3))(Block.from_table(table))
    # Packed by middle index: (0,0,0) (0,0,1) (0,0,2), (0,1,1) (0,1,2) (1,1,1) (1,1,2), ...
    assert sums.count[4] == sums.total[4] == 0
    assert np.delete(sums.count, 4).all()


def test_all_that_is_held_is_less_than_one_full_array():
    d = 100
    X = np.random.default_rng(0).standard_normal((20_000, d))
    rows = MemoryRows(X, tuple(map(str, range(d))))
    rows.accumulate(ThirdSums.about(np.zeros(d)))  # compiles
    tracemalloc.start()
    rows.accumulate(ThirdSums.about(np.zeros(d)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * d**3 + 4 * 8 * memory.BLOCK_ENTRIES


def test_adding_in_place_is_adding():
    X = np.random.default_rng(0).standard_normal((30, 4))
    add = ThirdSums.about(np.zeros(4))
    expected = add(Block.from_table(X[:20])) + add(Block.from_table(X[20:]))
    found = add(Block.from_table(X[:20]))
    found += add(Block.from_table(X[20:]))
    np.testing.assert_array_equal(found.total, expected.total)
    np.testing.assert_array_equal(found.count, expected.count)
