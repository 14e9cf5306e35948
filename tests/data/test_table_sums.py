"""Tables are compared as NumPy and SciPy compare them, a column at a time."""

import numpy as np
import pytest
from scipy import stats

from halfseen.data.column_moments import TableSums
from halfseen.data.engines.memory import MemoryRows

STARTS = np.array([0, 400, 900])


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(5, [1, 2, 3], size=(2000, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:400, 2] = np.nan
    return X


def sums_of(X):
    rows = MemoryRows(X, ("a", "b", "c"))
    return rows.accumulate(TableSums.about(np.nanmean(X, axis=0), STARTS))


def test_means_and_spreads_are_those_of_each_table(table):
    sums = sums_of(table)
    for number, part in enumerate(np.split(table, STARTS[1:])):
        known = ~np.isnan(part).all(axis=0)
        np.testing.assert_allclose(sums.count[number], (~np.isnan(part)).sum(axis=0))
        means, spreads = np.nanmean(part[:, known], axis=0), np.nanstd(part[:, known], axis=0)
        np.testing.assert_allclose(sums.mean[number, known], means)
        np.testing.assert_allclose(sums.spread[number, known], spreads)
    np.testing.assert_array_equal(sums.enough.sum(axis=0), [3, 3, 2])


def test_two_tables_are_compared_as_by_a_z_test(table):
    found = sums_of(table).of_means
    second, third = (part[~np.isnan(part)] for part in (table[400:900, 2], table[900:, 2]))
    error = np.sqrt(second.var() / len(second) + third.var() / len(third))
    z = (second.mean() - third.mean()) / error
    assert found.chance[2] == pytest.approx(2 * stats.norm.sf(abs(z)))
    assert {found.lowest[2], found.highest[2]} == {1, 2}


@pytest.mark.parametrize("what", ["of_means", "of_spreads"])
def test_chances_are_even_if_tables_are_alike(what):
    rng = np.random.default_rng(1)
    chances = [getattr(sums_of(rng.exponential(size=(2000, 3))), what).chance for _ in range(150)]
    assert stats.kstest(np.ravel(chances), "uniform").pvalue > 0.001


def test_a_shift_and_a_stretch_are_found_with_their_sizes(table):
    table[900:, 0] += 0.5
    table[:400, 1] = 5 + 1.5 * (table[:400, 1] - 5)
    sums = sums_of(table)
    means, spreads = sums.of_means, sums.of_spreads
    assert means.chance[0] < 1e-6
    parts = [part[:, 0][~np.isnan(part[:, 0])] for part in np.split(table, STARTS[1:])]
    within = np.sqrt(sum(len(p) * p.var() for p in parts) / sum(map(len, parts)))
    by_hand = np.ptp([part.mean() for part in parts]) / within
    assert means.size[0] == pytest.approx(by_hand)
    assert means.highest[0] == 2
    assert spreads.chance[1] < 1e-6
    assert spreads.size[1] == pytest.approx(np.log(1.5), abs=0.1)
    assert spreads.highest[1] == 0
    assert means.chance[1] > 1e-4


def test_few_values_are_not_compared(table):
    table[:400, 0] = np.nan
    table[:29, 0] = 1e3 * np.arange(29)
    sums = sums_of(table)
    assert not sums.enough[0, 0]
    assert {sums.of_means.lowest[0], sums.of_means.highest[0]} == {1, 2}
    assert sums.of_spreads.size[0] < 1
