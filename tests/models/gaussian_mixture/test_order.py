"""The order of rows and columns is immaterial, and a row that counts twice is there twice."""

import numpy as np
import pytest

from halfseen import GaussianMixture

KINDS = ["tied_spherical", "spherical", "tied_diag", "diag"]


def table(seed):
    """Rows that overlap: there likelihood is flat, and where a climb ends is a matter of chance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 4)) + 2 * rng.integers(3, size=(80, 1))
    if seed % 2:
        X[rng.random(X.shape) < 0.1] = np.nan
    if seed % 3 == 1:
        X[:, 0] = X[:, 0] > 2
    return np.round(X, 1)


def learned(X, kind, outliers, **options):
    model = GaussianMixture(2, covariance_type=kind, outliers=outliers, random_state=0)
    return model.fit(X, **options)


def assert_same(ours, theirs, columns):
    order = np.argsort(ours.means_[:, 0]), np.argsort(theirs.means_[:, columns[0]])
    back = theirs.means_[order[1]][:, columns]
    np.testing.assert_allclose(back, ours.means_[order[0]], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(theirs.weights_[order[1]], ours.weights_[order[0]], rtol=1e-6)
    np.testing.assert_allclose(
        np.sort(np.ravel(theirs.covariances_)), np.sort(np.ravel(ours.covariances_)), rtol=2e-6
    )


@pytest.mark.parametrize("outliers", ["auto", None])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_columns_does_not_matter(seed, kind, outliers):
    X = table(seed)
    order = np.random.default_rng(1).permutation(4)
    ours, theirs = (learned(one, kind, outliers) for one in (X, X[:, order]))
    assert_same(ours, theirs, np.argsort(order))


@pytest.mark.parametrize("outliers", ["auto", None])
@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_does_not_matter_to_the_last_bit(kind, outliers):
    X = table(1)
    ours, theirs = (learned(one, kind, outliers) for one in (X, X[::-1]))
    np.testing.assert_array_equal(ours.means_, theirs.means_)
    np.testing.assert_array_equal(ours.covariances_, theirs.covariances_)


@pytest.mark.parametrize("outliers", ["auto", None])
@pytest.mark.parametrize("kind", KINDS)
def test_a_row_that_counts_twice_is_there_twice_to_the_last_bit(kind, outliers):
    X, times = table(2), np.random.default_rng(3).integers(1, 4, 80)
    ours = learned(X, kind, outliers, sample_weight=times)
    theirs = learned(np.repeat(X, times, axis=0), kind, outliers)
    np.testing.assert_array_equal(ours.means_, theirs.means_)
    np.testing.assert_array_equal(ours.weights_, theirs.weights_)


@pytest.mark.filterwarnings("ignore:Feature '4' is constant", "ignore:Only 0 features")
@pytest.mark.parametrize("refine", ["em", None])
def test_nor_where_rows_have_nothing_but_columns_that_are_left_out(refine):
    X = table(3)
    X = np.column_stack([X, np.ones(80)])
    X[::5, :4] = np.nan
    ours, theirs = (
        GaussianMixture(3, refine=refine, random_state=0).fit(one) for one in (X, X[::-1])
    )
    np.testing.assert_array_equal(ours.means_, theirs.means_)
    np.testing.assert_array_equal(ours.observed_fraction_, theirs.observed_fraction_)


def test_nor_where_rows_come_again_with_other_weights():
    X, rng = np.repeat(table(2)[:20], 4, axis=0), np.random.default_rng(0)
    weights, order = rng.random(80), rng.permutation(80)
    ours = learned(X, "diag", None, sample_weight=weights)
    theirs = learned(X[order], "diag", None, sample_weight=weights[order])
    np.testing.assert_array_equal(ours.means_, theirs.means_)
