"""Sums over the rows that hold two features."""

import numpy as np
import pytest

from halfseen.data.rows import Block
from halfseen.moments.second_moment import PairSums


@pytest.mark.parametrize("weighted", [False, True])
def test_each_pair_is_summed_over_the_rows_that_hold_both(weighted):
    generator = np.random.default_rng(0)
    table, origin = generator.normal(size=(70, 4)), generator.normal(size=4)
    table[generator.random(table.shape) < 0.4] = np.nan
    weights = generator.random(70) + 0.1 if weighted else None
    sums = PairSums.about(origin)(Block.from_table(table, weights))
    for i, j in np.ndindex(4, 4):
        products = (table[:, i] - origin[i]) * (table[:, j] - origin[j])
        both, w = ~np.isnan(products), np.ones(70) if weights is None else weights
        np.testing.assert_allclose(sums.count[i, j], w[both].sum(), rtol=1e-12)
        np.testing.assert_allclose(sums.total[i, j], (w * products)[both].sum(), rtol=1e-11)


def test_a_pair_that_no_row_holds_sums_to_zero():
    sums = PairSums.about(np.array([5.0, 7.0]))(
        Block.from_table(np.array([[1.0, np.nan], [np.nan, 2.0]]))
    )
    np.testing.assert_array_equal(sums.count, [[1, 0], [0, 1]])
    np.testing.assert_array_equal(sums.total, [[16, 0], [0, 25]])
