"""The third moment by least squares, against a plain solver with every triple written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen import GaussianMixture, simulate
from halfseen.data.engines import memory
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.feature_sums import FeatureSums
from halfseen.inference.plan import asked_implicit, choose
from halfseen.moments.second_moment import Moments, PairSums
from halfseen.moments.third_moment import Probe, explicit, least_squares
from halfseen.moments.whitening import whiten

D, R = 6, 2
NAMES = tuple("abcdef")


def skewed(n, seed=0):
    rng = np.random.default_rng(seed)
    factors = rng.gamma(1.0, 1.0, size=(n, R))
    return factors @ rng.gamma(1.0, 1.0, (R, D)) + rng.gamma(1.0, 0.3, (n, D)), rng


def entangled(X, rng):
    """Each row has one of a few masks, and some single gaps beside: nothing is independent."""
    masks = np.array([list(mask) for mask in ("111111", "110010", "101101", "111000")]) == "1"
    seen = masks[rng.choice(4, size=len(X), p=[0.4, 0.2, 0.3, 0.1])]
    seen[:, 1] &= (rng.random(len(X)) < 0.8) | ~seen[:, 5]
    return np.where(seen, X, np.nan)


PATTERNS = {
    "entangled": entangled,
    "independent": lambda X, rng: simulate.independent_gaps(X, [1, 0.9, 0.5, 0.3, 0.7, 0.6], rng),
    "blocks": lambda X, rng: simulate.block_gaps(X, [0, 1, 1, 2, 2, 3], [1, 0.5, 0.3, 0.6], rng),
    "none complete": lambda X, rng: simulate.independent_gaps(X, [0.8] * D, rng),
    "no gaps": lambda X, rng: X,
}


def moments_of(X, centred=True, weights=None):
    rows = MemoryRows(X, NAMES, weights)
    features = rows.accumulate(FeatureSums.of)
    origin = features.mean if centred else np.zeros(D)
    pairs = rows.accumulate(PairSums.about(origin))
    return rows, Moments.of_pairs(features, features.mean, pairs, centred)


def probe_of(moments, seed=3):
    weights = np.random.default_rng(seed).uniform(0.3, 1.0, D)
    whitening = whiten(moments.second - 0.1 * np.eye(D), weights, R)
    return Probe(whitening, np.empty((D, 0)))


def emphasis(moments, probe):
    return probe.whitening.weights**2 / (moments.gaps.own / moments.gaps.n_rows)


def written_out(tensor, count, omega, back):
    """Least squares over all d³ triples: what the normal equations are the solution of."""
    root = np.sqrt(count * omega[:, None, None] * omega[:, None] * omega).ravel()
    design = np.einsum("ia,jb,kc->ijkabc", back, back, back).reshape(D**3, R**3)
    solution, *_ = np.linalg.lstsq(design * root[:, None], tensor.ravel() * root, rcond=None)
    return solution.reshape(R, R, R)


def triples(X, moments):
    """Joint counts, and means of products over the rows that hold all three, unbiased."""
    seen = ~np.isnan(X)
    away = np.where(seen, X - moments.origin, 0.0) / (1 - moments.centred / moments.gaps.own)
    count = np.einsum("ni,nj,nk->ijk", *[seen.astype(float)] * 3, optimize=True)
    total = np.einsum("ni,nj,nk->ijk", away, away, away, optimize=True)
    return count, np.divide(total, count, out=np.zeros_like(total), where=count > 0)


def relative(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("centred", [True, False])
def test_it_is_the_weighted_least_squares_solution(pattern, centred):
    X, rng = skewed(400)
    X = PATTERNS[pattern](X, rng)
    rows, moments = moments_of(X, centred)
    probe = probe_of(moments)
    count, mean = triples(X, moments)
    expected = written_out(mean, count, emphasis(moments, probe), probe.whitening.back)
    assert relative(least_squares(rows, moments, probe).tensor, expected) < 1e-8


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_is_known_beforehand_is_projected_in_the_same_way(pattern):
    X, rng = skewed(300)
    X = PATTERNS[pattern](X, rng)
    rows, moments = moments_of(X)
    probe = probe_of(moments)
    count, _ = triples(X, moments)
    pairs, singles = rng.standard_normal((D, D)), rng.standard_normal(D)
    known = np.zeros((D, D, D))
    for i in range(D):
        for k in range(D):
            known[i, i, k] += pairs[i, k]
            known[i, k, i] += pairs[i, k]
            known[k, i, i] += pairs[i, k]
        known[i, i, i] += singles[i]
    expected = written_out(known, count, emphasis(moments, probe), probe.whitening.back)
    assert relative(least_squares(rows, moments, probe).alike(pairs, singles), expected) < 1e-8


def test_without_gaps_it_is_the_plain_projection():
    X, _ = skewed(500)
    rows, moments = moments_of(X)
    probe = probe_of(moments)
    found, plain = least_squares(rows, moments, probe), explicit(rows, moments, probe)
    assert relative(found.tensor, plain.tensor) < 1e-4  # (1 - 1/N)³ for (1 - 1/N)(1 - 2/N)
    pairs = moments.second
    singles = np.arange(D)
    assert relative(found.alike(pairs, singles), plain.alike(pairs, singles)) < 1e-9


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), size=st.integers(1, 200), threads=st.integers(1, 3))
def test_blocks_and_their_order_do_not_matter(seed, size, threads):
    X, rng = skewed(150, seed)
    X = entangled(X, rng)
    rows, moments = moments_of(X)
    probe = probe_of(moments)
    expected = least_squares(rows, moments, probe).tensor
    shuffled = MemoryRows(X[rng.permutation(len(X))], NAMES, None, threads)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "BLOCK_ENTRIES", 1)
        patch.setattr(memory, "FEWEST_ROWS", size)
        found = least_squares(shuffled, moments, probe).tensor
    assert relative(found, expected) < 1e-9


def test_weights_count_rows():
    X, rng = skewed(200)
    X = entangled(X, rng)
    times = rng.integers(0, 4, len(X))
    weighted, moments = moments_of(X, weights=times.astype(float))
    repeated, same = moments_of(np.repeat(X, times, axis=0))
    expected = least_squares(repeated, same, probe_of(same)).tensor
    assert relative(least_squares(weighted, moments, probe_of(moments)).tensor, expected) < 1e-9


def test_it_is_right_where_the_product_of_chances_is_not():
    X, rng = skewed(200_000)
    _, complete = moments_of(X)
    probe = probe_of(complete)
    truth = explicit(MemoryRows(X, NAMES), complete, probe).tensor
    rows, moments = moments_of(entangled(X, rng))
    found = least_squares(rows, moments, probe)
    # What is not in the space of the signal is fitted differently: compare what the model needs.
    assert relative(found.tensor, truth) < 0.1


def test_entangled_gaps_are_solved_where_that_is_cheaper(monkeypatch):
    monkeypatch.setattr("halfseen.inference.plan.CHEAP", 10.0)
    X, rng = skewed(2000)
    rows, moments = moments_of(entangled(X, rng))
    probe = probe_of(moments)
    monkeypatch.setattr("halfseen.inference.plan.ITERATIONS", 1)
    route, reason = choose(moments, probe)
    assert route is least_squares
    assert "gaps depend on each other" in reason
    monkeypatch.setattr("halfseen.inference.plan.ITERATIONS", 30)
    assert choose(moments, probe)[0] is explicit
    third = asked_implicit(rows, moments, probe)
    assert third.route == "least squares"
    assert "gaps depend on each other" in third.reason


def test_one_component_has_nothing_to_solve_for():
    X = entangled(*skewed(200))
    model = GaussianMixture(1, third_moment="implicit").fit(X)
    np.testing.assert_allclose(model.weights_, [1.0])
