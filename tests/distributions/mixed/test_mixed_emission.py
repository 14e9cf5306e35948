"""Columns of mixed kinds: every formula against a plain loop over cells."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import nbinom

from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Block
from halfseen.distributions import negative_binomial
from halfseen.distributions.emission import posterior
from halfseen.distributions.mixed import PRIOR_ROWS
from halfseen.inference.em import run_em
from halfseen.inference.model import Cells
from halfseen.inference.parameters import declared, reordered, select
from halfseen.latent.structure import ClassSteps, ClassSums
from tests.distributions.mixed.worlds import (
    NAMES,
    cell_density,
    emission_for,
    log_density,
    mixture,
    rows_of,
    table,
)

every_way = pytest.mark.parametrize(
    ("outliers", "informative"), [(True, False), (False, False), (True, True), (False, True)]
)


def loops(parameters, X):
    return np.array(
        [[log_density(parameters, k, row) for k in range(len(parameters.weights))] for row in X]
    )


@every_way
def test_densities_are_those_of_a_loop_over_cells(outliers, informative):
    X = table(60, wild=250.0 if outliers else 2.5)
    emission = emission_for(X, outliers=outliers, informative=informative)
    parameters = mixture(emission)
    found = emission.log_densities(Block.from_table(X), parameters)
    np.testing.assert_allclose(found, loops(parameters, X), rtol=1e-10, atol=1e-10)


@every_way
def test_the_e_step_sums_what_a_loop_sums(outliers, informative):
    X = table(80, wild=250.0 if outliers else 2.5)
    emission = emission_for(X, outliers=outliers, informative=informative)
    parameters, weights = mixture(emission), np.random.default_rng(0).uniform(0.5, 2, size=80)
    rows, _ = rows_of(X, weights)
    sums = rows.accumulate(ClassSums.under(emission, parameters))
    joint = loops(parameters, X) + np.log(parameters.weights)
    total = np.log(np.exp(joint).sum(axis=1))
    shares = np.exp(joint - total[:, None]) * weights[:, None]
    beside = emission.left_out(rows, parameters)
    assert sums.log_likelihood + beside == pytest.approx(float(weights @ total), abs=1e-9)
    np.testing.assert_allclose(sums.share, shares.sum(axis=0), rtol=1e-10)
    histograms = sums.statistics[-3] if informative else sums.statistics[-1]
    levels = emission.levels(parameters)
    columns, value = np.flatnonzero(levels.columns), levels.value()
    for place, (m, x) in enumerate(zip(levels.owner, value, strict=True)):
        expected = shares[X[:, columns[m]] == x].sum(axis=0)
        np.testing.assert_allclose(histograms[:, place], expected, rtol=1e-10, atol=1e-12)
    if informative:
        np.testing.assert_allclose(sums.statistics[-2], shares.T @ ~np.isnan(X), rtol=1e-10)


@every_way
def test_the_m_step_is_no_lower_than_anything_near_it(outliers, informative):
    """Given the shares, no small move of what was learned is likelier; the prior counts too."""
    X = table(120)
    emission = emission_for(X, outliers=outliers, informative=informative)
    before = mixture(emission)
    block = Block.from_table(X)
    shares = posterior(block, emission, before).responsibilities
    rows, _ = rows_of(X)
    after = ClassSteps(emission).from_responsibilities(rows, shares, before)

    def height(parameters):
        cells = emission.log_densities(block, parameters)
        return float((shares * cells).sum()) + emission.prior(parameters)

    top = height(after)
    rng = np.random.default_rng(0)
    for _ in range(20):
        noise = 1 + 0.01 * rng.normal(size=after.level_shares.shape)
        moved = replace(
            after,
            level_shares=after.level_shares * noise,
            rates=after.rates * (1 + 0.01 * rng.normal(size=after.rates.shape)),
            count_shapes=after.count_shapes * (1 + 0.01 * rng.normal(size=after.rates.shape)),
            presence=after.presence * (1 - 0.01 * rng.random(size=after.rates.shape)),
        )
        assert height(emission.within(moved)) <= top + 1e-9


@every_way
def test_climbing_never_falls(outliers, informative):
    X = table(200, seed=3)
    emission = emission_for(X, outliers=outliers, informative=informative)
    rows, _ = rows_of(X)
    heights = [
        run_em(rows, mixture(emission), ClassSteps(emission), tolerance=0.0, max_iterations=n)[1]
        for n in range(1, 15)
    ]
    assert np.diff([one.log_likelihood for one in heights]).min() > -1e-10


def test_any_split_of_the_rows_gives_the_same_sums():
    X = table(90)
    emission = emission_for(X, informative=True)
    parameters = mixture(emission)
    summarise = ClassSums.under(emission, parameters)
    whole = summarise(Block.from_table(X))
    parts = sum(
        (summarise(Block.from_table(part)) for part in (X[:1], X[1:40], X[40:])),
        start=summarise(Block.from_table(X[:0])),
    )
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    for one, other in zip(parts.statistics, whole.statistics, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_fewer_columns_and_other_orders_are_the_same_mixture():
    X = table(50)
    emission = emission_for(X)
    parameters = mixture(emission)
    features = np.array([True, False, True, True, False, True])
    hidden = Block.from_table(np.where(features, X, np.nan))
    np.testing.assert_allclose(
        emission.log_densities(Block.from_table(X[:, features]), select(parameters, features)),
        emission.log_densities(hidden, parameters),
        rtol=1e-10,
    )
    turned = emission.log_densities(Block.from_table(X), reordered(parameters, [2, 0, 1]))
    np.testing.assert_allclose(
        turned, emission.log_densities(Block.from_table(X), parameters)[:, [2, 0, 1]]
    )


def test_draws_have_the_means_and_variances_that_are_claimed():
    emission = emission_for(table(400), outliers=False)
    parameters = emission.shown(mixture(emission))
    rows = emission.draw(parameters, np.ones(40_000, dtype=int), np.random.RandomState(0))
    mean, variance = emission.means(parameters)[1], emission.variances(parameters)[1]
    np.testing.assert_allclose(rows.mean(axis=0), mean, atol=5 * np.sqrt(variance / 40_000).max())
    np.testing.assert_allclose(rows.var(axis=0), variance, rtol=0.1)


def test_slopes_and_bends_are_those_of_differences():
    """Of each row's log-density along every free number of a component."""
    X = table(30)
    emission = emission_for(X, informative=True)
    parameters = emission.shown(mixture(emission))
    free, block = emission.free(parameters), Block.from_table(X)
    where, slope, bend = free.row_scores(block, 1)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=30)

    def density(step):
        return emission.log_densities(block, emission.free(parameters).moved(step))[:, 1]

    eps = 1e-4
    for place, at in enumerate(where):
        e = eps * np.eye(free.size)[at]
        numerical = (density(e) - density(-e)) / (2 * eps)
        np.testing.assert_allclose(slope[:, place], numerical, rtol=1e-5, atol=1e-6)
        second = (density(e) - 2 * density(0 * e) + density(-e)) / eps**2
        assert bend(weight)[place, place] == pytest.approx(
            -float(weight @ second), rel=1e-3, abs=1e-3
        )


def test_what_is_likeliest_is_filled_in_where_values_are_few():
    X = table(50)
    emission = emission_for(X)
    parameters = emission.shown(mixture(emission))
    shares = np.array([[0.2, 0.5, 0.3]])
    expected = Cells(np.full((1, 6), 9.5), np.full((1, 6), 2.0))
    (filled,), (variance,) = emission.fills(shares, parameters, expected)
    for d in (3, 4, 5):
        values = parameters.level_values[:, d]
        chance = [
            sum(s * cell_density(parameters, k, d, x) for k, s in enumerate(shares[0]))
            for x in values[np.isfinite(values)]
        ]
        assert filled[d] == values[int(np.argmax(chance))]
        assert np.sqrt(variance[d]) == pytest.approx(1 - max(chance))
    assert (filled[:3] == 9.5).all()
    assert (variance[:3] == 2.0).all()


def test_a_wild_count_and_an_unknown_value_say_nothing():
    X = table(200)
    emission = emission_for(X)
    parameters = mixture(emission)
    row = np.full((3, 6), np.nan)
    row[0, 2], row[1, 3], row[2, 2] = 1e6, 77.0, 2.5
    found = emission.log_densities(Block.from_table(row), parameters)
    np.testing.assert_array_equal(found, 0.0)
    assert emission.outlying(Block.from_table(row), parameters)[:, 0, 2].min() == 1.0


@pytest.mark.parametrize("shape", [0.5, 3.0, 50.0])
def test_counts_have_the_probabilities_of_the_negative_binomial(shape):
    found = negative_binomial.log_density(
        np.arange(40.0)[:, None], np.array([2.5]), np.array([shape])
    )[:, 0]
    expected = nbinom.logpmf(np.arange(40), shape, shape / (shape + 2.5))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("shape", [0.5, 3.0, 1e9])
def test_rates_and_shapes_of_many_counts_are_found(shape):
    rng = np.random.default_rng(0)
    x = rng.poisson(rng.gamma(shape, 4.0 / shape, size=200_000))
    rate, found = negative_binomial.fitted(np.bincount(x)[None].astype(float), np.ones(1))
    assert rate[0] == pytest.approx(x.mean())
    if shape > 1e3:
        assert found[0] > 200
    else:
        assert found[0] == pytest.approx(shape, rel=0.03)


def test_a_little_of_the_table_was_seen_before():
    """A component without rows has the table's own shares."""
    X = table(300, gaps=0.0)
    emission = emission_for(X)
    before = mixture(emission, k=2)
    rows, _ = rows_of(X)
    after = ClassSteps(emission).from_responsibilities(rows, np.tile([1.0, 0.0], (300, 1)), before)
    values = after.level_values[:, 3]
    shares = [np.mean(X[:, 3] == v) for v in values[np.isfinite(values)]]
    np.testing.assert_allclose(after.level_shares[: len(shares), 1, 3], shares, rtol=1e-9)
    assert PRIOR_ROWS > 0


def test_every_parameter_is_declared_once():
    names = [one.name for one in declared(mixture(emission_for(table(50))))]
    assert len(set(names)) == len(names)
    assert MemoryRows(table(5), NAMES).names == NAMES
