"""Densities of single cells, and how unlikely each is given its row, against plain loops."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import nbinom

from halfseen.data.rows import Block
from halfseen.distributions.cell_densities import cell_log_densities, surprisal
from tests.distributions.mixed.worlds import cell_density, emission_for, log_density, mixture, table

every_way = pytest.mark.parametrize(
    ("outliers", "informative"), [(True, False), (False, False), (True, True), (False, True)]
)


def world(outliers, informative, n=60):
    X = table(n, wild=250.0 if outliers else 2.5)
    emission = emission_for(X, outliers=outliers, informative=informative)
    return X, emission, mixture(emission)


def log_likelihood(parameters, row):
    k = range(len(parameters.weights))
    return logsumexp([math.log(parameters.weights[c]) + log_density(parameters, c, row) for c in k])


@every_way
def test_each_cell_has_the_density_of_a_loop_over_cells(outliers, informative):
    X, _, parameters = world(outliers, informative)
    found = cell_log_densities(Block.from_table(X), parameters)
    for (k, n, d), density in np.ndenumerate(found):
        x = X[n, d]
        expected = 0.0 if np.isnan(x) else math.log(cell_density(parameters, k, d, x))
        assert density == pytest.approx(expected, abs=1e-10)


@every_way
def test_cells_sum_to_the_density_of_their_row(outliers, informative):
    X, emission, parameters = world(outliers, informative)
    block = Block.from_table(X)
    without = replace(parameters, presence=np.full_like(parameters.presence, np.nan))
    found = cell_log_densities(block, parameters).sum(axis=2).T
    np.testing.assert_allclose(found, emission.log_densities(block, without), atol=1e-9)


def test_columns_of_two_values_and_rows_out_of_sight_sum_up_too():
    X = table(200, wild=250.0)
    emission = emission_for(X, declared=dict.fromkeys(("number", "spiked", "pair"), "continuous"))
    parameters = mixture(emission)
    assert np.isfinite(parameters.other).any()
    X[5, 5], X[6, 0] = 3.0, 1e90
    for outlier_share in (parameters.outlier_share, 0.0):
        here = replace(parameters, outlier_share=outlier_share)
        if not outlier_share:
            nothing = np.full(len(here.kinds), np.nan)
            here = replace(here, spike=nothing, other=nothing)
        block = Block.from_table(X)
        found = cell_log_densities(block, here).sum(axis=2).T
        np.testing.assert_allclose(found, emission.log_densities(block, here), rtol=1e-9)


@every_way
def test_surprisal_is_of_the_cell_given_the_others(outliers, informative):
    X, emission, parameters = world(outliers, informative)
    found = surprisal(Block.from_table(X), emission, parameters)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(X))
    shares = parameters.weights
    for n, d in np.argwhere(~np.isnan(X)):
        own = [cell_density(parameters, k, d, X[n, d]) for k in range(len(shares))]
        whole = [log_density(parameters, k, X[n]) for k in range(len(shares))]
        rest = shares * np.exp(np.array(whole) - np.log(own))
        expected = -math.log(rest @ own / rest.sum())
        assert found[n, d] == pytest.approx(expected, abs=1e-8)


def test_surprisals_of_a_row_in_turn_are_its_likelihood():
    X, emission, parameters = world(True, False)
    for row in X[1:20]:
        seen, total = np.full(len(row), np.nan), 0.0
        for d in np.flatnonzero(~np.isnan(row)):
            seen[d] = row[d]
            total -= surprisal(Block.from_table(seen[None]), emission, parameters)[0, d]
        assert total == pytest.approx(log_likelihood(parameters, row), abs=1e-9)


def test_values_that_are_in_no_table_are_unlikely_and_tell_nothing():
    X, emission, parameters = world(True, False)
    row = X[3:4].copy()
    row[0] = [3.0, 0.0, parameters.most_counts[2] + 40, 0.0, 0.77, 1.0]
    found = surprisal(Block.from_table(row), emission, parameters)[0]
    rate, shape = parameters.rates[:, 2], parameters.count_shapes[:, 2]
    chance = parameters.weights @ nbinom.pmf(row[0, 2], shape, shape / (shape + rate))
    assert found[2] == pytest.approx(-math.log(chance))
    assert found[4] == pytest.approx(-math.log(1e-12))
    row[0, [2, 4]] = np.nan
    without = surprisal(Block.from_table(row), emission, parameters)[0]
    np.testing.assert_allclose(found[[0, 1, 3, 5]], without[[0, 1, 3, 5]])


def test_a_row_of_gaps_has_no_surprisal_and_no_rows_have_none():
    _, emission, parameters = world(True, False)
    nothing = surprisal(Block.from_table(np.full((2, 6), np.nan)), emission, parameters)
    assert np.isnan(nothing).all()
    assert surprisal(Block.from_table(np.empty((0, 6))), emission, parameters).shape == (0, 6)
