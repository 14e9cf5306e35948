"""What moments cannot tell is found: pairs that never meet, more components than columns."""

import numpy as np
import pytest

from halfseen import DataError, GaussianMixture, recovery, simulate
from halfseen.inference.method_of_moments import check_finite_moments
from halfseen.moments.whitening import Signal

MEANS = np.array([[0.0, 0, 0, 0, 0, 0], [5, 5, -5, 0, 5, -5], [-5, 5, 0, 5, 0, 5]])
SHARES = [0.4, 0.3, 0.3]


@pytest.fixture(scope="module")
def apart():
    """Features 4 and 5 are never in one row, the first of them less often seen."""
    rng = np.random.default_rng(0)
    X, labels = simulate.gaussian_mixture(4000, SHARES, MEANS, 1.0, rng)
    panel = rng.random(4000)
    X[panel > 0.3, 4] = X[panel < 0.4, 5] = np.nan
    return X, labels


@pytest.mark.parametrize("kind", ["tied_spherical", "spherical", "tied_diag", "diag"])
def test_features_that_never_meet_are_learned_all_the_same(apart, kind):
    X, labels = apart
    model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    order = recovery.match(model.means_, MEANS)
    np.testing.assert_allclose(model.means_[order], MEANS, atol=0.15)
    np.testing.assert_allclose(model.weights_[order], SHARES, atol=0.03)
    assert np.mean(order[labels] == model.predict(X)) > 0.99


def test_it_is_told_which_features_moments_were_taken_without(apart):
    model = GaussianMixture(3, random_state=0).fit(apart[0])
    assert model.diagnostics_.never_together == {"4": "never observed together with '5'"}
    assert model.feature_weights_[4] == 0
    assert (np.delete(model.feature_weights_, 4) > 0).all()
    whole = GaussianMixture(3, random_state=0).fit(apart[0][:, :4])
    assert whole.diagnostics_.never_together == {}


def test_moments_alone_bring_back_what_they_were_taken_without(apart):
    model = GaussianMixture(3, refine=None).fit(apart[0])
    assert list(model.diagnostics_.never_together) == ["4"]
    np.testing.assert_allclose(model.means_[recovery.match(model.means_, MEANS)], MEANS, atol=0.4)


def test_a_model_of_features_that_never_meet_has_intervals(apart):
    X, _ = apart
    model = GaussianMixture(3, random_state=0).fit(X)
    low, high, *_ = model.intervals(X)["means_"]
    assert ((low < model.means_) & (model.means_ < high)).all()
    assert ((high - low)[:, 4] < 0.6).all()


def grid(n=3000):
    """Nine groups in two columns."""
    rng = np.random.default_rng(1)
    places = np.array([[8.0 * i, 8.0 * j] for i in range(3) for j in range(3)])
    labels = rng.integers(9, size=n)
    return places[labels] + rng.normal(size=(n, 2)), places


@pytest.mark.parametrize("outliers", ["auto", None])
def test_there_may_be_more_components_than_columns(outliers):
    X, places = grid()
    model = GaussianMixture(9, outliers=outliers, random_state=0).fit(X)
    assert model.means_.shape == (9, 2)
    nearest = np.linalg.norm(model.means_[:, None] - places, axis=2).argmin(axis=0)
    assert sorted(nearest) == list(range(9))
    np.testing.assert_allclose(model.means_[nearest], places, atol=0.25)
    assert model.covariances_ == pytest.approx(1.0, rel=0.03)  # however far apart components are


def test_moments_alone_refuse_more_components_than_columns():
    with pytest.raises(DataError, match="n_components=9 needs features that span"):
        GaussianMixture(9, refine=None).fit(grid()[0])


def test_a_fit_repeats_for_a_random_state():
    X, _ = grid(800)
    one, other = (GaussianMixture(5, random_state=3).fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.means_, other.means_)
    assert one.diagnostics_.start == other.diagnostics_.start
    assert one.diagnostics_.n_starts == other.diagnostics_.n_starts > 10
    assert 1 <= one.diagnostics_.n_agreeing <= one.diagnostics_.n_starts


def test_a_feature_whose_variance_is_no_number_is_named():
    signal = Signal(np.diag([1.0, np.inf, 1.0]), np.zeros(3), np.empty((3, 0)), np.ones(3))
    with pytest.raises(DataError, match=r"How 'b' and 'c' vary cannot be computed.*Leave them out"):
        check_finite_moments(("a", "b", "c"), signal, np.array([1.0, 1.0, np.nan]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("refine", ["em", None])
def test_where_all_complete_features_are_left_out_the_others_are_regressed_on_what_is_left(refine):
    """The only complete one meets no other, and those meet each other."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)) + 4 * rng.integers(2, size=(200, 1))
    X[:80, 0] = X[80:, 1:] = np.nan
    model = GaussianMixture(1, refine=refine, complete_above=0.5, random_state=0).fit(X)
    assert np.isfinite(model.means_).all()
    assert np.isfinite(model.intervals(X, n_replicates=50)["means_"].low).all()
