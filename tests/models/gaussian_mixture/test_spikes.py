"""Columns with a spike, and of two values: what is learned, filled in and drawn stays possible."""

import numpy as np
import pytest

from halfseen import GaussianMixture, load

SHARES = np.array([[0.2, 0.7], [0.6, 0.1]])  # of the spike, of ones; by component


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=6000)
    X = rng.normal(size=(6000, 4)) + 4 * labels[:, None]
    X[rng.random(6000) < SHARES[labels, 0], 2] = 0.0
    X[:, 3] = rng.random(6000) < SHARES[labels, 1]
    X[rng.random(X.shape) < [0.02, 0.02, 0.3, 0.3]] = np.nan
    return X, labels


@pytest.fixture(scope="module", params=["tied_diag", "diag"])
def model(request, world):
    model = GaussianMixture(2, covariance_type=request.param, random_state=0).fit(world[0])
    return model, np.argsort(model.means_[:, 0])


def test_spikes_and_two_values_are_found(model):
    np.testing.assert_array_equal(model[0].spike_values_, [np.nan, np.nan, 0.0, 1.0])
    np.testing.assert_array_equal(model[0].second_values_, [np.nan, np.nan, np.nan, 0.0])


def test_shares_and_means_are_those_of_the_truth(model):
    mixture, order = model
    np.testing.assert_allclose(mixture.spike_shares_[order][:, 2:], SHARES, atol=0.03)
    assert np.isnan(mixture.spike_shares_[:, :2]).all()
    np.testing.assert_allclose(mixture.centres_[order][:, 2], [0.0, 4.0], atol=0.15)
    # Means are of all values: ones and zeros, and the spike among the others.
    np.testing.assert_allclose(mixture.means_[order][:, 3], SHARES[:, 1], atol=0.03)
    np.testing.assert_allclose(mixture.means_[order][:, 2], [0.0, 0.4 * 4], atol=0.15)


def test_components_are_told_apart(model, world):
    mixture, order = model
    X, labels = world
    assert np.mean(order[labels] == mixture.predict(X)) > 0.99


def test_imputed_values_are_the_expectation_and_stay_within_what_is_possible(model, world):
    mixture, _ = model
    hidden = world[0].copy()
    hidden[:, 2:] = np.nan
    shares = mixture.predict_proba(hidden)
    filled = mixture.impute(hidden)
    np.testing.assert_allclose(filled[:, 2:], shares @ mixture.means_[:, 2:], atol=1e-9)
    assert ((filled[:, 3] >= 0) & (filled[:, 3] <= 1)).all()


def test_draws_hold_spikes_and_two_values_as_often_as_claimed(model, world):
    mixture, order = model
    drawn, labels = mixture.sample(20_000)
    assert set(np.unique(drawn[:, 3])) == {0.0, 1.0}
    for place, component in enumerate(order):
        mine = drawn[labels == component]
        assert np.mean(mine[:, 2] == 0) == pytest.approx(SHARES[place, 0], abs=0.04)
        assert np.mean(mine[:, 3]) == pytest.approx(SHARES[place, 1], abs=0.04)
        np.testing.assert_allclose(mine.mean(axis=0), mixture.means_[component], atol=0.12)
    hidden = np.full((500, 4), np.nan)
    hidden[:, 0] = world[0][:500, 0]
    (filled,) = mixture.impute(hidden[~np.isnan(hidden[:, 0])], draws=1)
    assert set(np.unique(filled[:, 3])) <= {0.0, 1.0}
    assert np.mean(filled[:, 2] == 0) == pytest.approx(SHARES[:, 0].mean(), abs=0.1)


def test_files_keep_spikes_and_outliers_to_the_last_bit(model, world, tmp_path):
    mixture, _ = model
    mixture.save(tmp_path / "m.halfseen")
    again = load(tmp_path / "m.halfseen")
    X = world[0][:300].copy()
    X[0, 0], X[1, 3] = 1e5, 0.5
    for name in ("spike_shares_", "spike_values_", "second_values_", "centres_", "typical_values_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(mixture, name))
    assert again.outlier_share_ == mixture.outlier_share_
    np.testing.assert_array_equal(again.score_samples(X), mixture.score_samples(X))
    np.testing.assert_array_equal(again.predict_proba(X), mixture.predict_proba(X))
    np.testing.assert_array_equal(again.impute(X), mixture.impute(X))
