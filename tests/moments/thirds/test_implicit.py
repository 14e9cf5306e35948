"""The third moment that is never formed, against the same estimator formed entry by entry."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen import simulate
from halfseen.data.engines import memory
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.feature_sums import FeatureSums
from halfseen.inference.plan import CHEAP, automatic, choose
from halfseen.moments.second_moment import Moments, PairSums
from halfseen.moments.third_moment import Probe, explicit, implicit
from halfseen.moments.whitening import Whitening

D = 6
NAMES = tuple("abcdef")
BASIS = np.random.default_rng(9).standard_normal((D, 3))
NOTHING = np.empty((D, 0))
PROBE = Probe(Whitening(BASIS, BASIS, np.ones(D), np.ones(D)), NOTHING)
BLOCKS = np.array([0, 1, 1, 2, 2, 3])
OBSERVED = np.array([1.0, 0.5, 0.3, 0.8])


def skewed(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, size=(n, D))
    X[:, 3] += X[:, 0]
    X[:, 2] += 2 * X[:, 1]
    X[:, 4] += 2 * X[:, 3]
    return X, rng


def moments_of(X, centred=True, weights=None):
    rows = MemoryRows(X, NAMES, weights)
    features = rows.accumulate(FeatureSums.of)
    origin = features.mean if centred else np.zeros(D)
    pairs = rows.accumulate(PairSums.about(origin))
    return rows, Moments.of_pairs(features, features.mean, pairs, centred)


def naive(X, moments, blocks):
    """Every entry divided by the probability that its distinct blocks are all observed."""
    n = len(X)
    p = moments.gaps.own / n
    deviations = np.where(np.isnan(X), 0.0, X - moments.mean)
    tensor = np.empty((D, D, D))
    for i, j, k in itertools.product(range(D), repeat=3):
        by_block = {blocks[f]: p[f] for f in (i, j, k)}
        chance = np.prod(list(by_block.values()))
        tensor[i, j, k] = (deviations[:, i] * deviations[:, j] * deviations[:, k]).sum() / chance
    scaled = tensor * n / ((n - 1) * (n - 2))
    return np.einsum("ijk,ia,jb,kc->abc", scaled, BASIS, BASIS, BASIS)


def relative(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("observed", [[1] + [0.5] * 5, [1, 1, 0.9, 0.3, 0.1, 0.7]])
def test_features_missing_alone_give_the_tensor_formed_entry_by_entry(observed):
    X, rng = skewed(500)
    X = simulate.independent_gaps(X, observed, rng)
    rows, moments = moments_of(X)
    found = implicit(rows, moments, PROBE).tensor
    assert relative(found, naive(X, moments, np.arange(D))) < 1e-12


def test_features_missing_together_give_the_tensor_formed_entry_by_entry():
    X, rng = skewed(500)
    X = simulate.block_gaps(X, BLOCKS, OBSERVED, rng)
    rows, moments = moments_of(X)
    assert relative(implicit(rows, moments, PROBE).tensor, naive(X, moments, BLOCKS)) < 1e-12


@pytest.mark.parametrize("centred", [True, False])
def test_without_gaps_both_routes_give_the_same(centred):
    X, _ = skewed(300)
    rows, moments = moments_of(X + 3, centred)
    expected = explicit(rows, moments, PROBE).tensor
    assert relative(implicit(rows, moments, PROBE).tensor, expected) < 1e-11


def test_it_comes_to_the_truth_and_the_naive_product_does_not():
    X, rng = skewed(400_000)
    _, complete = moments_of(X)
    truth = explicit(MemoryRows(X, NAMES), complete, PROBE).tensor
    X = simulate.block_gaps(X, BLOCKS, OBSERVED, rng)
    rows, moments = moments_of(X)
    product = naive(X, moments, np.arange(D))
    assert relative(implicit(rows, moments, PROBE).tensor, truth) < 0.05
    assert relative(product, truth) > 0.3


@pytest.mark.parametrize("blocks", [np.arange(D), BLOCKS])
@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 100))
def test_blocks_of_rows_their_order_and_threads_do_not_matter(blocks, size, threads, seed):
    X, rng = skewed(200)
    X = simulate.block_gaps(X, blocks, [0.6] * (blocks.max() + 1), rng)
    rows, moments = moments_of(X)
    expected = implicit(rows, moments, PROBE).tensor
    shuffled = np.random.default_rng(seed).permutation(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "BLOCK_ENTRIES", 1)
        patch.setattr(memory, "FEWEST_ROWS", size)
        found = implicit(MemoryRows(shuffled, NAMES, None, threads), moments, PROBE).tensor
    assert relative(found, expected) < 1e-10


def test_row_weights_are_repeats():
    X, rng = skewed(300)
    X = simulate.block_gaps(X, BLOCKS, OBSERVED, rng)
    repeats = rng.integers(0, 4, 300)
    weighted, moments = moments_of(X, weights=repeats.astype(float))
    repeated, same = moments_of(np.repeat(X, repeats, axis=0))
    expected = implicit(repeated, same, PROBE).tensor
    assert relative(implicit(weighted, moments, PROBE).tensor, expected) < 1e-10


def test_groups_are_the_features_with_equal_masks():
    X, rng = skewed(300)
    X = simulate.block_gaps(X, BLOCKS, OBSERVED, rng)
    _, moments = moments_of(X)
    groups = moments.gaps.groups
    assert np.flatnonzero(groups.alone).tolist() == [5]
    assert [np.flatnonzero(members).tolist() for members in groups.together] == [[1, 2], [3, 4]]


def test_small_tables_and_tables_without_gaps_choose_what_is_exact():
    X, rng = skewed(300)
    _, complete = moments_of(X)
    assert choose(complete, PROBE)[0] is implicit
    _, gappy = moments_of(simulate.independent_gaps(X, [0.5] * D, rng))
    route, reason = choose(gappy, PROBE)
    assert route is explicit
    assert "triple products are few" in reason


@pytest.mark.parametrize(
    ("blocks", "expected", "why"),
    [
        (np.arange(D), implicit, "gaps look independent"),
        (BLOCKS, implicit, "gaps look independent"),
    ],
)
def test_large_tables_with_independent_gaps_never_form_it(blocks, expected, why, monkeypatch):
    monkeypatch.setattr("halfseen.inference.plan.CHEAP", 10.0)
    X, rng = skewed(2000)
    X = simulate.block_gaps(X, blocks, [0.6] * (blocks.max() + 1), rng)
    rows, moments = moments_of(X)
    route, reason = choose(moments, PROBE)
    assert route is expected
    assert why in reason
    assert automatic(rows, moments, PROBE).reason == reason


def test_entangled_gaps_are_left_to_the_explicit_route(monkeypatch):
    monkeypatch.setattr("halfseen.inference.plan.CHEAP", 10.0)
    X, rng = skewed(2000)
    X = simulate.value_gaps(X, [1, 2, 3], 0.5, rng, driver=0, strength=3.0)
    route, reason = choose(moments_of(X)[1], PROBE)
    assert route is explicit
    assert "gaps depend on each other" in reason
    assert CHEAP > 1e6


def test_rows_that_gaps_left_empty_are_counted():
    X, rng = skewed(200_000)
    _, complete = moments_of(X)
    truth = explicit(MemoryRows(X, NAMES), complete, PROBE).tensor
    X = simulate.independent_gaps(X, [0.4] * D, rng)
    rows, moments = moments_of(X)
    assert moments.gaps.n_rows < 0.96 * len(X)
    assert moments.gaps.rows_behind == pytest.approx(len(X), rel=5e-3)
    assert relative(implicit(rows, moments, PROBE).tensor, truth) < 0.1
    blank = np.vstack([X, np.full((10_000, D), np.nan)])
    same = implicit(MemoryRows(blank, NAMES), moments_of(blank)[1], PROBE).tensor
    np.testing.assert_allclose(same, implicit(rows, moments, PROBE).tensor, rtol=1e-10)
