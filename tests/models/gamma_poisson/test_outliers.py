"""Topics where a count is mistyped or rows are sums of many: as if those were not there."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from benchmarks.reproduce import paper
from halfseen import GammaPoisson, recovery, simulate

D, K, N = 10, 3, 3000
rng = np.random.default_rng(7)
TOPICS = rng.dirichlet(np.full(D, 0.4), K)
COUNTS = simulate.gamma_poisson(N, TOPICS, np.ones(K), 0.03, rng)[0]
CLEAN = simulate.independent_gaps(COUNTS, np.r_[np.ones(6), np.full(4, 0.5)], rng)
WAYS = pytest.mark.parametrize(
    "way", [{}, {"refine": "saem", "n_sweeps": 60, "random_state": 0}], ids=["moments", "saem"]
)


def wild():
    X = CLEAN.copy()
    X[17, 2] = 5000.0
    return X


def as_a_gap():
    X = CLEAN.copy()
    X[17, 2] = np.nan
    return X


def long_rows():
    X = CLEAN.copy()
    X[:5] = 60 * (X[:5] + 1)
    return X


def fitted(X, **way):
    return GammaPoisson(K, **way).fit(X)


@WAYS
def test_a_wild_count_counts_as_a_gap(way):
    ours, theirs = fitted(wild(), **way), fitted(as_a_gap(), outliers=None, **way)
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.shapes_, theirs.shapes_, rtol=1e-9)


def test_long_rows_count_as_rows_that_are_not_there():
    ours, theirs = fitted(long_rows()), fitted(CLEAN[5:], outliers=None)
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.rate_, theirs.rate_, rtol=1e-8)


@WAYS
def test_nothing_changes_where_nothing_is_odd(way):
    ours, theirs = fitted(CLEAN, **way), fitted(CLEAN, outliers=None, **way)
    np.testing.assert_array_equal(ours.components_, theirs.components_)


def test_taken_at_its_word_one_count_decides():
    off = recovery.total_angle(fitted(wild(), outliers=None).components_, TOPICS)
    assert off > 5 * recovery.total_angle(fitted(wild()).components_, TOPICS)


def test_sparse_and_dense_tables_give_the_same_topics():
    X = wild()
    dense, sparse = fitted(X), fitted(csr_array(X))
    np.testing.assert_allclose(dense.components_, sparse.components_, rtol=1e-7, atol=1e-9)


def test_gaps_are_not_filled_by_what_must_be_an_error():
    X, model = wild(), fitted(wild())
    X[17, [0, 8]] = np.nan
    filled = model.impute(X)
    without = as_a_gap()
    without[17, [0, 8]] = np.nan
    np.testing.assert_allclose(filled[17, [0, 8]], model.impute(without)[17, [0, 8]])
    drawn = np.array([table[17, [0, 8]] for table in model.impute(X, draws=5)])
    assert drawn.max() < 500


def test_rows_with_a_wild_count_and_long_rows_are_unusual():
    model = fitted(CLEAN)
    assert model.unusual(CLEAN).mean() < 0.02
    assert model.unusual(wild())[17] > 0.999
    assert model.unusual(long_rows())[:5].min() > 0.99


def test_another_word_is_refused():
    message = "The 'outliers' parameter of GammaPoisson must be 'auto' or None. Got 'yes' instead."
    with pytest.raises(ValueError, match=message):
        fitted(CLEAN, outliers="yes")


def test_the_papers_settings_take_every_count_at_its_word():
    assert paper.gamma_poisson(K).outliers is None
    assert paper.gaussian_mixture(K).outliers is None


@pytest.mark.parametrize("table", [CLEAN, wild(), long_rows()], ids=["clean", "wild", "long"])
def test_the_number_of_topics_is_chosen_without_them(table):
    assert GammaPoisson("auto", random_state=0).fit(table).n_components_ == K
