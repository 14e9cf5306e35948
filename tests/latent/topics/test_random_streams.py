"""Random numbers of rows have the laws that they are drawn from."""

import numpy as np
import pytest
from numba import njit
from scipy import stats

from halfseen.latent import random_streams


@njit
def binomials(number, count, chance):
    state = np.zeros(1, dtype=np.uint64)
    drawn = np.empty(number, dtype=np.int64)
    for i in range(number):
        drawn[i] = random_streams.binomial(count, chance, state)
    return drawn


@njit
def first_uniforms(seed, rows):
    state, drawn = np.zeros(1, dtype=np.uint64), np.empty(len(rows))
    for i, row in enumerate(rows):
        random_streams.start(state, np.uint64(seed), row)
        drawn[i] = random_streams.uniform(state)
    return drawn


@pytest.mark.parametrize("count", [0, 1, 24, 25, 1000, 1_000_000])
@pytest.mark.parametrize("chance", [0.0, 0.003, 0.4, 0.97, 1.0])
def test_binomials_have_their_law(count, chance):
    drawn = binomials(4000, count, chance)
    assert drawn.min() >= 0
    assert drawn.max() <= count
    law = stats.binom(count, chance)
    if law.var() == 0:
        assert (drawn == law.mean()).all()
        return
    # At the quantiles of the law, as many draws as there should be: within 4.5 deviations.
    for level in (0.05, 0.5, 0.95):
        at = law.ppf(level)
        expected = law.cdf(at)
        spread = np.sqrt(expected * (1 - expected) / len(drawn))
        assert abs((drawn <= at).mean() - expected) <= 4.5 * spread + 1e-12


def test_neighbouring_rows_and_seeds_have_unrelated_streams():
    rows = np.arange(20_000)
    one, other = first_uniforms(1, rows), first_uniforms(2, rows)
    for drawn in (one, other):
        assert stats.kstest(drawn, "uniform").pvalue > 1e-3
        assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 0.03
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.03
    assert len(np.unique(one)) == len(rows)


def test_a_row_has_the_same_stream_wherever_it_stands():
    np.testing.assert_array_equal(
        first_uniforms(5, np.array([7, 3, 10**12])),
        first_uniforms(5, np.array([10**12, 7, 3]))[[1, 2, 0]],
    )


@njit
def log_gammas(shapes):
    state, drawn = np.zeros(1, dtype=np.uint64), np.empty(len(shapes))
    for i in range(len(shapes)):
        drawn[i] = random_streams.log_gamma(shapes[i], state)
    return drawn


@pytest.mark.parametrize("shape", [0.02, 0.4, 1.0, 30.0, 1e8])
def test_gammas_have_their_law(shape):
    drawn = log_gammas(np.full(4000, shape))
    law = stats.gamma(shape)
    for level in (0.05, 0.5, 0.95):
        spread = np.sqrt(level * (1 - level) / len(drawn))
        assert abs((drawn <= np.log(law.ppf(level))).mean() - level) <= 4.5 * spread


def test_gammas_of_no_finite_shape_come_to_an_end():
    """A rejection that accepts nothing once hung, and did not hear Ctrl-C."""
    assert not np.isfinite(log_gammas(np.array([np.inf, np.nan, -np.inf, -1e300]))[:3]).any()
