"""Second moments known by their products, against the same estimates formed pair by pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import diags_array

from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.moments import second_moment_operator
from halfseen.moments.second_moment import AllPairs
from halfseen.moments.second_moment_operator import MOST_ALONE, MaskKeys, ThinProducts
from halfseen.moments.whitening import Signal

N, D = 400, 12
BLOCKS = np.array([0, 1, 1, 0, 2, 2, 2, 3, 3, 1, 4, 0])  # 10 is alone


def skewed(n=N, d=D, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, size=(n, d)) + 3 * rng.gamma(1.0, size=(n, 1)) * np.linspace(0, 1, d)
    return X, rng


def entangled(n=N):
    """Blocks whose gaps depend on each other as much as they like; block 0 is complete."""
    X, rng = skewed(n)
    first = rng.random(n) < 0.6
    seen = np.column_stack(
        [
            np.ones(n, bool),
            first,
            first ^ (rng.random(n) < 0.2),
            ~first | (rng.random(n) < 0.3),
            rng.random(n) < 0.5,
        ]
    )
    return np.where(seen[:, BLOCKS], X, np.nan)


def crowded(n=N, n_complete=3, n_alone=MOST_ALONE + 4):
    """Some complete features, a group, and more with gaps of their own than have parts."""
    d = n_complete + 3 + n_alone
    X, rng = skewed(n, d, seed=1)
    seen = rng.random((n, d)) < np.linspace(0.9, 0.3, d)
    seen[:, :n_complete] = True
    seen[:, n_complete : n_complete + 3] = rng.random((n, 1)) < 0.5
    order = rng.permutation(d)
    return np.where(seen, X, np.nan)[:, order]


def rows_of(X, weights=None, **more):
    return MemoryRows(X, tuple(f"f{i}" for i in range(X.shape[1])), weights, **more)


def thin(X, weights=None):
    rows = rows_of(X, weights)
    return ThinProducts().moments(rows, rows.accumulate(FeatureSums.of), centred=True)


def dense(X, weights=None):
    rows = rows_of(X, weights)
    return AllPairs().moments(rows, rows.accumulate(FeatureSums.of), centred=True)


def formed(second):
    return second @ np.eye(len(second.mean))


def relative(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


def row_weights(kind, n=N):
    rng = np.random.default_rng(7)
    return {"none": None, "whole": rng.integers(0, 4, n) + 0.0, "any": rng.uniform(0, 2, n)}[kind]


all_weights = pytest.mark.parametrize("kind", ["none", "whole", "any"])


@all_weights
def test_parts_of_equal_masks_give_the_available_case_moment_however_gaps_depend(kind):
    X, weights = entangled(), row_weights(kind)
    found, expected = thin(X, weights), dense(X, weights)
    assert expected.gaps.dependence > 10
    assert relative(formed(found.second), expected.second) < 1e-11
    assert relative(found.second.diagonal(), expected.second.diagonal()) < 1e-12
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-14)
    assert found.second.shape == (D, D)
    assert found.centred
    assert found.gaps.n_rows == pytest.approx(expected.gaps.n_rows, rel=1e-14)
    np.testing.assert_allclose(found.observed_fraction, expected.observed_fraction, rtol=1e-13)


@all_weights
@pytest.mark.parametrize("n_alone", [1, MOST_ALONE])
def test_a_few_features_with_gaps_of_their_own_have_joint_counts_too(n_alone, kind):
    X, weights = crowded(n_alone=n_alone), row_weights(kind)
    found, expected = thin(X, weights), dense(X, weights)
    assert relative(formed(found.second), expected.second) < 1e-11
    assert relative(found.second.diagonal(), expected.second.diagonal()) < 1e-12


def test_without_gaps_it_is_the_textbook_covariance():
    X, _ = skewed()
    found = thin(X)
    assert relative(formed(found.second), np.cov(X.T)) < 1e-12
    assert found.gaps.parts.n == 1


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_any_masks_of_few_features_give_the_available_case_moment(data):
    seen = data.draw(arrays(bool, (9, 5), elements=st.sampled_from([True, True, False])))
    seen[:3] = True  # every pair in three rows
    X = np.where(seen, skewed(9, 5)[0], np.nan)
    found, expected = thin(X), dense(X)
    assert relative(formed(found.second), expected.second) < 1e-11
    assert relative(found.second.diagonal(), expected.second.diagonal()) < 1e-11


def horvitz_thompson(X, weights=None):
    """Pair by pair: joint counts within groups, chances of being observed for all others."""
    w = np.ones(len(X)) if weights is None else weights
    seen = ~np.isnan(X)
    n, own = w.sum(), w @ seen
    mean = w @ np.nan_to_num(X) / own
    alike = (seen[:, :, None] == seen[:, None, :]).all(axis=0)
    alone = (alike.sum(axis=0) == 1) & ~seen.all(axis=0)
    second = np.empty((X.shape[1], X.shape[1]))
    for i, j in np.ndindex(second.shape):
        both = seen[:, i] & seen[:, j]
        total = (w[both] * (X[both, i] - mean[i]) * (X[both, j] - mean[j])).sum()
        joint = w[both].sum()
        if i == j:
            divisor = own[i] - 1
        elif not (alone[i] or alone[j]):
            divisor = joint - joint / own[i] - joint / own[j] + joint**2 / (own[i] * own[j])
        else:  # 1 - 1/N_i - 1/N_j + 1/N, nearly
            expected = own[i] * own[j] / n
            divisor = expected * (1 - 1 / own[i]) * (1 - 1 / own[j]) / (1 - 1 / n)
        second[i, j] = total / divisor
    return second


@all_weights
def test_a_crowd_is_divided_by_chances_and_its_diagonal_put_right(kind):
    X, weights = crowded(), row_weights(kind)
    if weights is not None:
        X, weights = X[weights > 0], weights[weights > 0]
    found, expected = thin(X, weights), horvitz_thompson(X, weights)
    assert np.count_nonzero(found.gaps.groups.alone) == MOST_ALONE + 4
    assert relative(formed(found.second), expected) < 1e-11
    assert relative(found.second.diagonal(), expected.diagonal()) < 1e-12


def test_a_crowd_of_rows_that_may_be_empty_counts_the_rows_behind():
    X, rng = skewed(60, MOST_ALONE + 4)
    X = np.where(rng.random(X.shape) < 0.1, X, np.nan)
    X[0] = np.nan
    gaps = thin(X).gaps
    n_rows = (~np.isnan(X)).any(axis=1).sum()
    own = (~np.isnan(X)).sum(axis=0)
    assert gaps.n_rows == n_rows
    assert gaps.rows_behind > n_rows
    some = 1 - np.prod(1 - own / gaps.rows_behind)  # the chance of a row that is not empty
    assert gaps.rows_behind * some == pytest.approx(n_rows, rel=1e-9)


def test_a_crowd_comes_to_the_truth():
    X, rng = skewed(40_000, MOST_ALONE + 2)
    gappy = np.where(rng.random(X.shape) < np.linspace(0.4, 0.9, X.shape[1]), X, np.nan)
    found = thin(gappy)
    assert len(found.gaps.count) == 0
    truth = np.cov(X.T)
    standard_error = np.sqrt(1 / (40_000 * 0.4 * 0.4))
    assert relative(formed(found.second), truth) < 5 * standard_error


@pytest.mark.parametrize("make", [entangled, crowded])
@all_weights
def test_the_product_is_symmetric_linear_and_says_the_same_to_few_vectors_as_to_many(make, kind):
    found = thin(make(), row_weights(kind)).second
    matrix = formed(found)
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-11, atol=1e-12)
    vectors = np.random.default_rng(3).standard_normal((len(matrix), 2))
    np.testing.assert_allclose(found @ vectors, matrix @ vectors, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("make", [entangled, crowded])
def test_taking_a_diagonal_off_changes_the_diagonal_only_and_may_be_done_twice(make):
    found = thin(make()).second
    d = found.shape[0]
    one, two = np.linspace(0, 1, d), np.linspace(5, 6, d)
    less = found - diags_array(one) - diags_array(two)
    np.testing.assert_allclose(formed(less), formed(found) - np.diag(one + two), atol=1e-12)
    np.testing.assert_allclose(less.diagonal(), found.diagonal() - one - two, rtol=1e-13)
    np.testing.assert_allclose(formed(less).diagonal(), less.diagonal(), rtol=1e-10, atol=1e-11)
    np.testing.assert_array_equal(found.less, 0.0)  # as it was


@pytest.mark.parametrize("make", [entangled, crowded])
@pytest.mark.parametrize(("size", "threads"), [(1, 1), (7, 1), (64, 2), (1000, 3)])
def test_blocks_of_rows_and_threads_do_not_matter(make, size, threads, monkeypatch):
    X = make(120)
    expected = thin(X)
    monkeypatch.setattr("halfseen.data.engines.memory.BLOCK_ENTRIES", 1)
    monkeypatch.setattr("halfseen.data.engines.memory.FEWEST_ROWS", size)
    rows = rows_of(X, n_threads=threads)
    found = ThinProducts().moments(rows, rows.accumulate(FeatureSums.of), centred=True)
    np.testing.assert_array_equal(found.gaps.parts.labels, expected.gaps.parts.labels)
    assert relative(formed(found.second), formed(expected.second)) < 1e-12


def fingerprints(seen):
    rows = rows_of(np.where(seen, 1.0, np.nan))
    return rows.accumulate(MaskKeys.about(np.zeros(seen.shape[1]))).keys


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(1, 6), st.integers(0, 30), st.data())
def test_fingerprints_are_equal_exactly_if_masks_are(d, n, data):
    seen = data.draw(arrays(bool, (n, d)))
    keys = fingerprints(seen)
    for i, j in np.ndindex(d, d):
        assert (keys[i] == keys[j]).all() == (seen[:, i] == seen[:, j]).all()


def test_fingerprints_are_whole_numbers_and_rows_far_apart_have_their_own(monkeypatch):
    monkeypatch.setattr("halfseen.data.engines.memory.BLOCK_ENTRIES", 1)
    monkeypatch.setattr("halfseen.data.engines.memory.FEWEST_ROWS", 16)
    keys = fingerprints(np.eye(64, dtype=bool))
    np.testing.assert_array_equal(keys, np.floor(keys))
    assert len(np.unique(keys[:, 0])) > 60
    assert (keys >= 1).all()
    assert (keys < 2**20).all()


@all_weights
def test_squares_beside_the_fingerprints_are_about_the_mean_by_weight(kind):
    X, weights = entangled(), row_weights(kind)
    mean = np.linspace(0, 2, D)
    found = rows_of(X, weights).accumulate(MaskKeys.about(mean)).squares
    each = np.ones(N) if weights is None else weights
    np.testing.assert_allclose(found, np.nansum(each[:, None] * (X - mean) ** 2, axis=0))


def named_groups(groups):
    return (
        np.flatnonzero(groups.alone).tolist(),
        sorted(np.flatnonzero(members).tolist() for members in groups.together),
    )


def both_gaps(X, weights=None):
    rows = rows_of(X, weights)
    features = rows.accumulate(FeatureSums.of)
    return ThinProducts().gaps(rows, features), AllPairs().gaps(rows, features)


def check_gaps(found, expected):
    assert found.n_rows == pytest.approx(expected.n_rows, rel=1e-14)
    np.testing.assert_allclose(found.own, expected.own, rtol=1e-13)
    assert named_groups(found.groups) == named_groups(expected.groups)
    assert found.rows_behind == pytest.approx(expected.rows_behind, rel=1e-11)


@all_weights
@pytest.mark.parametrize("make", [entangled, lambda: crowded(n_alone=MOST_ALONE)])
def test_gaps_of_parts_are_those_of_all_pairs(make, kind):
    found, expected = both_gaps(make(), row_weights(kind))
    check_gaps(found, expected)
    assert found.dependence == pytest.approx(expected.dependence, rel=1e-9)
    i, j, together = found.rarest()
    assert (i, j) == expected.rarest()[:2]
    assert together == pytest.approx(expected.rarest()[2], rel=1e-12)
    low, high = found.dependence, expected.dependence_of_features
    assert low <= found.dependence_of_features
    assert found.dependence_of_features == pytest.approx(high, rel=1e-9)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_gaps_of_any_masks_of_few_features_are_those_of_all_pairs(data):
    seen = data.draw(arrays(bool, (12, 5), elements=st.sampled_from([True, True, False])))
    seen[:2] = True
    found, expected = both_gaps(np.where(seen, 1.0, np.nan))
    check_gaps(found, expected)
    assert found.dependence == pytest.approx(expected.dependence, rel=1e-9)
    assert found.rarest() == expected.rarest()


@all_weights
def test_gaps_of_a_crowd_have_the_same_groups_and_counts(kind):
    found, expected = both_gaps(crowded(), row_weights(kind))
    check_gaps(found, expected)
    assert found.dependence <= expected.dependence * (1 + 1e-9)


def test_a_crowd_is_tested_for_independence():
    X, rng = skewed(2000, MOST_ALONE + 6)
    seen = rng.random(X.shape) < 0.6
    independent = both_gaps(np.where(seen, X, np.nan))
    assert independent[0].dependence == pytest.approx(independent[1].dependence, rel=1e-9)
    seen[:, 4] = seen[:, 9] ^ (rng.random(2000) < 0.1)
    found, expected = both_gaps(np.where(seen, X, np.nan))
    assert found.dependence == pytest.approx(expected.dependence, rel=1e-9)
    assert found.dependence > 20 > independent[0].dependence


def test_so_many_of_a_crowd_are_tested(monkeypatch):
    monkeypatch.setattr(second_moment_operator, "TESTED", 5)
    found, _ = both_gaps(crowded())
    assert len(found.joint) == len(found.count) + 5


def test_a_crowd_is_unbiased_even_in_few_rows():
    rng = np.random.default_rng(0)
    d, n, p = MOST_ALONE + 2, 60, 0.3
    total = np.zeros((d, d))
    for _ in range(300):
        X = rng.standard_normal((n, 1)) + np.zeros((n, d))  # every covariance is one
        seen = rng.random((n, d)) < p
        total += formed(thin(np.where(seen, X, np.nan)).second) / 300
    off = total[np.triu_indices(d, 1)]
    assert off.mean() == pytest.approx(1.0, abs=0.03)


def test_dependence_between_a_part_and_one_of_the_crowd_is_seen():
    X = crowded(2000)
    labels = thin(X).gaps.parts.labels
    group = thin(X).gaps.groups.together[0].argmax()
    lonely = np.flatnonzero(labels == labels.max())[0]
    flip = np.random.default_rng(0).random(len(X)) < 0.05
    values = np.where(np.isnan(X[:, lonely]), 1.0, X[:, lonely])
    X[:, lonely] = np.where(np.isnan(X[:, group]) ^ flip, np.nan, values)
    found, expected = both_gaps(X)
    assert found.dependence == pytest.approx(expected.dependence, rel=1e-9)
    assert found.dependence > 20


def test_the_rarest_of_a_crowd_is_named():
    X = crowded()
    X[7:, 4] = np.nan
    X[:7, 4] = 1.0
    found, _ = both_gaps(X)
    assert found.rarest() == (4, 4, 7.0)


def test_parts_never_observed_together_are_refused_by_name():
    X, _ = skewed()
    X[:200, [2, 5]] = np.nan
    X[200:, [3, 8]] = np.nan
    with pytest.raises(
        DataError,
        match=r"Features 'f2' and 'f3' are never observed in the same row, so their covariance "
        r"cannot be estimated\. Drop one of them and those observed with it, add rows that hold "
        r"both, or use method='partial', which uses the complete features only\.",
    ):
        thin(X)


def test_moments_about_zero_are_not_had_this_way():
    rows = rows_of(skewed()[0])
    with pytest.raises(NotImplementedError, match="are taken about the mean"):
        ThinProducts().moments(rows, rows.accumulate(FeatureSums.of), centred=False)


def test_nothing_is_refused_for_its_rank():
    rows = rows_of(skewed()[0])
    ThinProducts().check(thin(skewed()[0]), rows, 5, 5)


def signal_of(second, diagonal):
    matrix = second - diags_array(diagonal)
    d = len(diagonal)
    return Signal(matrix, noise=diagonal, null=np.empty((d, 0)), unit=np.ones(d))


def low_rank_table(n=6000, d=60, rank=3):
    """A few strong directions and gaps of whole blocks."""
    rng = np.random.default_rng(5)
    X = rng.gamma(1.0, size=(n, rank)) @ rng.uniform(0, 1, (rank, d)) * [[4.0]]
    X += 0.3 * rng.standard_normal((n, d))
    seen = rng.random((n, 4)) < [1.0, 0.5, 0.7, 0.9]
    return np.where(seen[:, np.arange(d) % 4], X, np.nan)


def test_whitening_from_products_is_the_dense_one():
    X, rank = low_rank_table(), 3
    noise, weights = np.full(60, 0.09), np.random.default_rng(2).uniform(0.2, 1, 60)
    found = ThinProducts().whiten(signal_of(thin(X).second, noise), weights, rank)
    expected = AllPairs().whiten(signal_of(dense(X).second, noise), weights, rank)
    assert found.rank == expected.rank == found.n_supported == rank
    np.testing.assert_allclose(found.spectrum[:rank], expected.spectrum[:rank], rtol=1e-9)
    np.testing.assert_allclose(found.forward, expected.forward, rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.back, expected.back, rtol=0, atol=1e-5)
    white = found.forward.T @ (signal_of(dense(X).second, noise).matrix @ found.forward)
    np.testing.assert_allclose(white, np.eye(rank), atol=1e-8)
