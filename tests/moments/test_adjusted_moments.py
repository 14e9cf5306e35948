"""Adjusted moments, against their formulas in plain loops and against the truth."""

from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from halfseen import DataError, GammaPoisson, GaussianMixture, simulate
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.rows import Block
from halfseen.moments import symmetric_tensors
from halfseen.moments.adjusted_moments import (
    AdjustedSecond,
    AdjustedSums,
    AdjustedThird,
    Prediction,
)
from halfseen.moments.survey import survey
from halfseen.moments.third_moment import Probe
from halfseen.moments.whitening import Whitening

D, N_COMPLETE = 5, 3
COMPLETE = np.arange(D) < N_COMPLETE
NAMES = tuple("abcde")
law = settings(max_examples=25, deadline=None, derandomize=True)
EVERY = {"whole": [1, 1, 1, 0.6, 0.4], "nearly": [0.96, 1, 0.93, 0.6, 0.4]}
every_pattern = pytest.mark.parametrize("observed", EVERY.values(), ids=EVERY)


def values(n, rng):
    """Skewed, related features."""
    mix = np.array([[1, 0.5, 0, 0.6, -0.4], [0, 1, 0.3, -0.5, 0.2], [0, 0, 1, 0.3, 0.8]])
    return rng.gamma(1.0, 1.0, (n, 3)) @ mix + 0.5 * rng.gamma(1.0, 1.0, (n, D)) + np.arange(D)


def table(observed, n=120, seed=0):
    rng = np.random.default_rng(seed)
    return simulate.independent_gaps(values(n, rng), observed, rng)


def learned(rows):
    return Prediction.learn(rows, survey(rows, 0.9).sums, COMPLETE)


def moments_of(rows):
    """Mean (d,), second (d, d) and third moment, packed."""
    prediction = learned(rows)
    pairs = rows.accumulate(AdjustedSums.pairs(prediction))
    triples = rows.accumulate(AdjustedSums.triples(prediction))
    return prediction.mean, pairs.estimate, triples.estimate


class Naive:
    """The formulas, row by row."""

    def __init__(self, X, weights=None):
        self.X = X
        self.weights = np.ones(len(X)) if weights is None else weights
        self.seen = ~np.isnan(X)
        weighed = self.seen * self.weights[:, None]
        self.mean = np.nansum(X * self.weights[:, None], axis=0) / weighed.sum(axis=0)
        known = np.where(self.seen, X - self.mean, 0.0)[:, COMPLETE]
        design = np.column_stack([np.ones(len(X)), known])
        self.predicted = np.zeros(X.shape)
        self.predicted[:, COMPLETE] = known
        for d in np.flatnonzero(~COMPLETE):
            rows = self.seen[:, d]
            root = np.sqrt(self.weights[rows])
            slopes = np.linalg.lstsq(root[:, None] * design[rows], root * X[rows, d], rcond=None)[0]
            fitted = design @ slopes
            left = np.average(X[rows, d] - fitted[rows], weights=self.weights[rows])
            self.mean[d] = np.average(fitted, weights=self.weights) + left
            self.predicted[:, d] = fitted - self.mean[d]

    def product(self, *features):
        """``mean of ŷ_i ŷ_j ..  +  available mean of (z_i z_j .. - ŷ_i ŷ_j ..)``."""
        predicted = [0.0, 0.0]
        beyond = [0.0, 0.0]
        for n, weight in enumerate(self.weights):
            guess = np.prod([self.predicted[n, i] for i in features])
            if all(self.seen[n, i] for i in features if COMPLETE[i]):
                predicted[0] += weight * guess
                predicted[1] += weight
            if all(self.seen[n, i] for i in features):
                here = np.prod([self.X[n, i] - self.mean[i] for i in features])
                beyond[0] += weight * (here - guess)
                beyond[1] += weight
        more = beyond[0] / beyond[1] if beyond[1] else 0.0
        return predicted[0] / predicted[1] + more


def unpacked(entries, d=D):
    cube = np.empty((d, d, d))
    for j, place in symmetric_tensors.slabs(d):
        slab = entries[place].reshape(j + 1, d - j)
        for i in range(j + 1):
            for k in range(j, d):
                for order in permutations((i, j, k)):
                    cube[order] = slab[i, k - j]
    return cube


@every_pattern
@pytest.mark.parametrize("weighted", [False, True])
def test_mean_and_moments_are_those_of_the_formulas(observed, weighted):
    X = table(observed)
    weights = np.random.default_rng(1).random(len(X)) + 0.5 if weighted else None
    mean, second, third = moments_of(MemoryRows(X, NAMES, weights))
    naive, third = Naive(X, weights), unpacked(third)
    np.testing.assert_allclose(mean, naive.mean, rtol=1e-10)
    for i, j in combinations_with_replacement(range(D), 2):
        expected = naive.product(i, j)
        assert (second[i, j], second[j, i]) == pytest.approx((expected, expected), rel=1e-9)
    for i, j, k in combinations_with_replacement(range(D), 3):
        expected = naive.product(i, j, k)
        assert third[i, j, k] == pytest.approx(expected, rel=1e-9, abs=1e-10)


def test_with_no_gaps_they_are_the_plain_moments():
    X = table(np.ones(D))
    mean, second, third = moments_of(MemoryRows(X, NAMES))
    z = X - X.mean(axis=0)
    np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(second, np.cov(X.T, bias=True), rtol=1e-10, atol=1e-12)
    expected = np.einsum("ni,nj,nk->ijk", z, z, z) / len(X)
    np.testing.assert_allclose(unpacked(third), expected, rtol=1e-9, atol=1e-10)


def test_complete_features_have_their_available_case_moments():
    X = table(EVERY["nearly"])
    mean, second, _ = moments_of(MemoryRows(X, NAMES))
    z = X - np.nanmean(X, axis=0)
    np.testing.assert_allclose(mean[COMPLETE], np.nanmean(X, axis=0)[COMPLETE], rtol=1e-12)
    for i, j in combinations_with_replacement(range(N_COMPLETE), 2):
        assert second[i, j] == pytest.approx(np.nanmean(z[:, i] * z[:, j]), rel=1e-10)


@every_pattern
def test_moments_are_unbiased_if_gaps_are_completely_at_random(observed):
    rng = np.random.default_rng(0)
    truth = values(1_000_000, rng)
    z = truth - truth.mean(axis=0)
    pairs = list(combinations_with_replacement(range(D), 2))
    triples = [(0, 0, 0), (0, 1, 2), (0, 2, 3), (0, 3, 4), (3, 3, 4), (0, 0, 2), (4, 4, 4)]
    expected = [np.mean(z[:, i] * z[:, j]) for i, j in pairs]
    expected += [np.mean(z[:, i] * z[:, j] * z[:, k]) for i, j, k in triples]
    found = []
    for seed in range(150):
        X = table(observed, 2000, seed + 1)
        _, second, third = moments_of(MemoryRows(X, NAMES))
        cube = unpacked(third)
        found.append([*(second[pair] for pair in pairs), *(cube[triple] for triple in triples)])
    error = np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
    assert np.abs((np.mean(found, axis=0) - expected) / error).max() < 4
    relative = np.mean(found, axis=0) / expected - 1
    assert np.abs(relative[: len(pairs)][np.abs(expected[: len(pairs)]) > 0.5]).max() < 0.02


def test_moments_of_rare_features_are_more_certain_than_available_ones():
    adjusted, available = [], []
    for seed in range(60):
        X = table([1, 1, 1, 0.1, 0.1], 1000, seed)
        adjusted.append(moments_of(MemoryRows(X, NAMES))[1][0, 3])
        z = X - np.nanmean(X, axis=0)
        available.append(np.nanmean(z[:, 0] * z[:, 3]))
    assert np.std(adjusted) < 0.8 * np.std(available)


@every_pattern
@law
@given(cuts=st.lists(st.integers(0, 120), max_size=4))
def test_any_split_gives_the_same(observed, cuts):
    X = table(observed)
    prediction = learned(MemoryRows(X, NAMES))
    for summarise in (AdjustedSums.pairs(prediction), AdjustedSums.triples(prediction)):
        parts = [summarise(Block.from_table(part)) for part in np.split(X, sorted(cuts))]
        ours, whole = sum(parts[1:], start=parts[0]), summarise(Block.from_table(X))
        for mine, theirs in zip(vars(ours).values(), vars(whole).values(), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-9)


@every_pattern
def test_weights_are_repetitions(observed):
    X = table(observed)
    times = np.random.default_rng(1).integers(4, size=len(X))
    ours = moments_of(MemoryRows(X, NAMES, times.astype(float)))
    repeated = moments_of(MemoryRows(np.repeat(X, times, axis=0), NAMES))
    for mine, theirs in zip(ours, repeated, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-10)


def test_sparse_rows_give_the_same():
    rng = np.random.default_rng(0)
    X = simulate.independent_gaps(rng.poisson(2.0, (200, D)).astype(float), EVERY["nearly"], rng)
    ours = moments_of(SparseRows.of(csr_array(X), NAMES))
    for mine, theirs in zip(ours, moments_of(MemoryRows(X, NAMES)), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-10)


def apart(n=120):
    """The two incomplete features are in one row, but never with the last complete one."""
    X = table(EVERY["whole"], n)
    X[0, 3:] = 5.0
    X[1:, 3] = np.where(np.arange(1, n) % 2, X[1:, 3], np.nan)
    X[1:, 4] = np.where(np.arange(1, n) % 2, np.nan, X[1:, 4])
    X[0, 2] = np.nan
    return X


def test_a_triple_that_no_row_holds_is_as_predicted():
    X = apart()
    rows = MemoryRows(X, NAMES)
    naive, third = Naive(X), unpacked(moments_of(rows)[2])
    seen = ~np.isnan(X)
    assert not (seen[:, 2] & seen[:, 3] & seen[:, 4]).any()
    held = seen[:, 2]
    predicted = naive.predicted[held]
    assert third[2, 3, 4] == pytest.approx(np.mean(predicted[:, [2, 3, 4]].prod(axis=1)))
    basis = np.random.default_rng(0).normal(size=(D, 2))
    probe = Probe(Whitening(basis, basis, np.ones(D), np.ones(2)), np.empty((D, 0)))
    prediction = learned(rows)
    second = AdjustedSecond(prediction).moments(rows, survey(rows, 0.9).sums, True)
    found = AdjustedThird(prediction)(rows, second, probe)
    assert (found.route, found.n_unseen) == ("explicit, adjusted", 1)
    expected = np.einsum("ijk,ia,jb,kc->abc", third, basis, basis, basis)
    np.testing.assert_allclose(found.tensor, expected, rtol=1e-9)


def test_moments_are_taken_without_one_of_two_features_that_are_never_together():
    X = table(EVERY["whole"])
    X[::2, 3] = X[1::2, 4] = np.nan
    model = GaussianMixture(2, moments="adjusted", random_state=0).fit(X)
    assert model.diagnostics_.never_together == {"4": "never observed together with '3'"}
    assert np.isfinite(model.means_).all()


@pytest.mark.parametrize("observed", [np.ones(6), [1, 1, 1, 1, 0.5, 0.3]])
def test_models_of_adjusted_moments_are_close_to_those_of_available_ones(observed):
    rng = np.random.default_rng(0)
    means = rng.normal(0, 3, (2, 6))
    X, _ = simulate.gaussian_mixture(4000, [0.4, 0.6], means, 1.0, rng)
    X = simulate.independent_gaps(X, observed, rng)
    adjusted = GaussianMixture(2, moments="adjusted", refine=None).fit(X)
    available = GaussianMixture(2, refine=None).fit(X)
    assert adjusted.diagnostics_.third_moment == "explicit, adjusted"
    atol = 0.01 if np.all(observed == np.ones(6)) else 0.3
    np.testing.assert_allclose(adjusted.means_, available.means_, atol=atol)


def test_nearly_complete_features_do_not_shrink_topics():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.ones(6), 2)
    X, _ = simulate.gamma_poisson(20_000, topics, [1.0, 1.5], 0.02, rng)
    X = simulate.independent_gaps(X, [0.95, 0.96, 0.95, 0.96, 0.95, 0.5], rng)
    model = GammaPoisson(2, moments="adjusted", complete_above=0.9).fit(X)
    np.testing.assert_allclose(model.shapes_.sum(), 2.5, rtol=0.05)


REFUSED = {
    "raw form": (
        {"form": "raw"},
        (np.ones(D), D),
        ValueError,
        r"^moments='adjusted' are about the mean\. Use form='centred'\.$",
    ),
    "no complete feature": (
        {"incomplete_features": "divide"},
        (np.full(D, 0.8), D),
        DataError,
        r"^moments='adjusted' predicts incomplete features from complete ones, but none is "
        r"complete\. Lower complete_above, or use moments='available'\.$",
    ),
    "too many features": (
        {},
        (np.ones(1501), 1501),
        DataError,
        r"^moments='adjusted' holds all triples of features, and 1501 are too many \(at most "
        r"1500\)\. Use moments='available'\.$",
    ),
    "another word": (
        {"moments": "both"},
        (np.ones(D), D),
        ValueError,
        r"The 'moments' parameter of GaussianMixture must be 'adjusted' or 'available'",
    ),
}


@pytest.mark.parametrize(("changed", "shape", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_adjusted_is_refused(changed, shape, error, text):
    observed, d = shape
    rng = np.random.default_rng(0)
    X = simulate.independent_gaps(rng.normal(size=(60, d)), observed, rng)
    with pytest.raises(error, match=text):
        GaussianMixture(1, **{"moments": "adjusted", **changed}).fit(X)


@pytest.mark.parametrize("kind", [GaussianMixture, GammaPoisson])
def test_streams_cannot_be_adjusted(kind):
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as refused:
        kind(2, moments="adjusted").partial_fit(np.ones((5, 3)))
    assert str(refused.value.__cause__) == (
        "moments='adjusted' goes over rows again, and those of a stream are gone. Use "
        "moments='available'."
    )
