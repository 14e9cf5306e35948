"""The compiled EM of columns of a few values, against the steps that every mixture has."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.distributions.mixed import PRIOR_ROWS
from halfseen.latent.mixed_classes import LevelEM
from halfseen.latent.structure import ClassSteps
from tests.distributions.mixed.worlds import emission_for, mixture, rows_of

SEED = st.integers(0, 2**16)
PRIORS = st.sampled_from([0.0, PRIOR_ROWS, 0.5])
SIZES = (2, 3, 4)


def world(seed, prior_rows=PRIOR_ROWS):
    """Rows of categories with gaps and weights, the emission, and a mixture anywhere."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(size, size=80) for size in SIZES]).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:4] = np.arange(4)[:, None] % SIZES  # every value is there
    rows, _ = rows_of(X, rng.uniform(0.5, 3.0, size=80))
    emission = emission_for(X, declared=dict.fromkeys(rows.names, "categorical"))
    emission = replace(emission, prior_rows=prior_rows)
    return rows, emission, mixture(emission, seed=seed)


def plain(rows, emission, parameters, n_steps):
    """Heights, with the prior, and parameters after so many steps of EM."""
    steps, heights = ClassSteps(emission), []
    for _ in range(n_steps):
        sums = rows.accumulate(steps.expect(parameters))
        heights.append((sums.log_likelihood + steps.prior(parameters)) / sums.n_rows)
        parameters = steps.maximise(sums, parameters)
    return heights, parameters


def climbed(rows, emission, start, passes, tolerance=0.0):
    return LevelEM.of(rows, emission, start).run_em(start, passes, tolerance)


@given(seed=SEED, prior=PRIORS)
@settings(max_examples=15, deadline=None, derandomize=True)
def test_a_pass_sees_the_height_that_every_mixture_has(seed, prior):
    rows, emission, start = world(seed, prior)
    found = climbed(rows, emission, start, 1)
    assert found.convergence.log_likelihood == pytest.approx(plain(rows, emission, start, 1)[0][0])
    np.testing.assert_array_equal(found.parameters.weights, start.weights)
    np.testing.assert_array_equal(found.parameters.level_shares, start.level_shares)


@given(seed=SEED, prior=PRIORS)
@settings(max_examples=15, deadline=None, derandomize=True)
def test_the_height_never_falls_and_is_that_of_the_parameters(seed, prior):
    rows, emission, start = world(seed, prior)
    before = -np.inf
    for passes in range(1, 20):
        found = climbed(rows, emission, start, passes)
        assert found.convergence.n_iterations <= passes
        assert found.convergence.log_likelihood >= before - 1e-12
        before = found.convergence.log_likelihood
        height = plain(rows, emission, found.parameters, 1)[0][0]
        assert before == pytest.approx(height, abs=1e-12)


@given(seed=SEED)
@settings(max_examples=5, deadline=None, derandomize=True)
def test_the_end_is_no_lower_than_that_of_as_many_plain_steps_and_a_fixed_point(seed):
    rows, emission, start = world(seed)
    found = climbed(rows, emission, start, 4000)
    again = plain(rows, emission, found.parameters, 2)
    assert again[0][1] - again[0][0] < 1e-9
    for name in ("weights", "level_shares"):
        one, other = getattr(found.parameters, name), getattr(again[1], name)
        np.testing.assert_allclose(one, other, atol=1e-3)


def test_a_climb_stops_when_a_step_gains_too_little():
    rows, emission, start = world(0)
    assert climbed(rows, emission, start, 1000, np.inf).convergence.n_iterations == 3


def test_the_start_stays_as_it_was():
    rows, emission, start = world(0)
    before = start.level_shares.copy(), start.weights.copy()
    climbed(rows, emission, start, 50)
    np.testing.assert_array_equal(start.level_shares, before[0])
    np.testing.assert_array_equal(start.weights, before[1])
