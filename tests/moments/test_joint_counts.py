"""Joint counts of rows with weights: a row of weight 2 is there twice."""

import numpy as np
import pytest

from halfseen.data.rows import Block
from halfseen.moments.joint_counts import pair_counts, triple_counts

SORTED_TRIPLES = [(i, j, k) for j in range(4) for i in range(j + 1) for k in range(j, 4)]


def table_with_gaps(seed: int, n_rows: int, d: int = 4) -> np.ndarray:
    generator = np.random.default_rng(seed)
    table = generator.normal(size=(n_rows, d))
    table[generator.random(table.shape) < 0.4] = np.nan
    return table


@pytest.mark.parametrize("counts", [pair_counts, triple_counts])
@pytest.mark.parametrize("n_rows", [0, 1, 64, 65, 200])
def test_weighted_counts_are_counts_of_repeated_rows(counts, n_rows):
    table = table_with_gaps(n_rows, n_rows)
    times = np.random.default_rng(1).integers(0, 4, n_rows)
    weighted = counts(Block.from_table(table, times.astype(float)))
    repeated = counts(Block.from_table(np.repeat(table, times, axis=0)))
    np.testing.assert_array_equal(weighted, repeated)


@pytest.mark.parametrize("counts", [pair_counts, triple_counts])
def test_weights_of_one_change_nothing(counts):
    table = table_with_gaps(0, 100)
    weighted = counts(Block.from_table(table, np.ones(100)))
    np.testing.assert_array_equal(weighted, counts(Block.from_table(table)))


def test_fractional_weights_add_up():
    block = Block.from_table(table_with_gaps(3, 40), np.random.default_rng(2).random(40) + 0.1)
    pairs, triples = np.zeros((4, 4)), []
    for i, j in np.ndindex(4, 4):
        rows = block.observed[:, i] & block.observed[:, j]
        pairs[i, j] = sum(w for w, row in zip(block.weights, rows, strict=True) if row)
    for i, j, k in SORTED_TRIPLES:
        rows = block.observed[:, i] & block.observed[:, j] & block.observed[:, k]
        triples.append(sum(w for w, row in zip(block.weights, rows, strict=True) if row))
    np.testing.assert_allclose(pair_counts(block), pairs, rtol=1e-12)
    np.testing.assert_allclose(triple_counts(block), triples, rtol=1e-12)
