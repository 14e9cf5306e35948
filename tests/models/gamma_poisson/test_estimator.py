"""The topic estimator against known truth and its own laws."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from halfseen import GammaPoisson, recovery, simulate
from halfseen.data.errors import WeakMomentsWarning

TOPICS = np.array(
    [
        [0.40, 0.30, 0.10, 0.00, 0.05, 0.05, 0.05, 0.05],
        [0.05, 0.05, 0.40, 0.30, 0.00, 0.00, 0.10, 0.10],
        [0.05, 0.00, 0.00, 0.10, 0.30, 0.25, 0.10, 0.20],
    ]
)
SHAPES, RATE = np.array([0.6, 1.0, 1.4]), 0.03


def table(n=100_000, observed=(1, 1, 1, 1, 1, 1, 0.5, 0.2), seed=0):
    rng = np.random.default_rng(seed)
    counts, _ = simulate.gamma_poisson(n, TOPICS, SHAPES, RATE, rng)
    return simulate.independent_gaps(counts, observed, rng)


@pytest.mark.parametrize("decomposer", ["joint", "power", "jennrich"])
@pytest.mark.parametrize(
    ("method", "incomplete"),
    [
        ("weighted", "regress"),
        ("weighted", "divide"),
        ("full", "regress"),
        ("full", "divide"),
        ("partial", "regress"),
    ],
)
def test_a_large_table_gives_back_the_truth(decomposer, method, incomplete):
    model = GammaPoisson(
        3, decomposer=decomposer, method=method, incomplete_features=incomplete, random_state=0
    ).fit(table())
    order = recovery.match(model.components_, TOPICS)
    np.testing.assert_allclose(model.components_[order], TOPICS, atol=0.02)
    np.testing.assert_allclose(model.shapes_[order], SHAPES, rtol=0.1)
    np.testing.assert_allclose(model.rate_, RATE, rtol=0.1)


def test_components_are_shares_and_the_mean_length_is_right():
    X = table(5000, observed=[1] * 8)
    model = GammaPoisson(3).fit(X)
    assert (model.components_ >= 0).all()
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.shapes_.sum() / model.rate_, X.sum(axis=1).mean(), rtol=0.02)


def test_weights_know_of_the_signal_by_default():
    X = table(20_000)
    model = GammaPoisson(3).fit(X)
    mean = np.nanmean(X, axis=0)
    signal = (TOPICS.T**2) @ (SHAPES / RATE**2)
    p = model.observed_fraction_
    rule = np.sqrt(p / (mean + (1 - p) * signal))
    np.testing.assert_allclose(model.feature_weights_, rule / rule.max(), rtol=0.1)
    assert model.feature_weights_.max() == 1.0


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.permutations(range(8)), st.integers(0, 100))
def test_permuted_features_and_rows_give_permuted_topics(order, seed):
    X = table(3000)
    base = GammaPoisson(3).fit(X)
    moved = GammaPoisson(3).fit(np.random.default_rng(seed).permutation(X)[:, order])
    match = recovery.match(moved.components_, base.components_[:, order])
    np.testing.assert_allclose(moved.components_[match], base.components_[:, order], atol=1e-7)
    np.testing.assert_allclose(moved.shapes_[match], base.shapes_, rtol=1e-6)
    np.testing.assert_allclose(moved.rate_, base.rate_, rtol=1e-6)


def test_row_weights_are_repeats():
    X = table(2000)
    repeats = np.random.default_rng(0).integers(0, 4, size=len(X))
    weighted = GammaPoisson(3).fit(X, sample_weight=repeats)
    repeated = GammaPoisson(3).fit(np.repeat(X, repeats, axis=0))
    np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(weighted.shapes_, repeated.shapes_, rtol=1e-8)
    np.testing.assert_allclose(weighted.rate_, repeated.rate_, rtol=1e-8)


@pytest.fixture(scope="module")
def fitted():
    X = table(4000)
    X[7] = np.nan
    return GammaPoisson(3, random_state=0).fit(X), X


def test_loadings_predict_true_loadings(fitted):
    model, _ = fitted
    rng = np.random.default_rng(9)
    counts, loadings = simulate.gamma_poisson(2000, TOPICS, SHAPES, RATE, rng)
    order = recovery.match(model.components_, TOPICS)
    predicted = model.transform(counts)[:, order]
    for k in range(3):
        assert np.corrcoef(predicted[:, k], loadings[:, k])[0, 1] > 0.95


def test_a_row_with_nothing_observed_has_the_prior_mean(fitted):
    model, X = fitted
    np.testing.assert_allclose(model.transform(X[[7]])[0], model.shapes_ / model.rate_, rtol=1e-6)


def test_inverse_transform_is_the_expected_counts(fitted):
    model, X = fitted
    loadings = model.transform(X)
    np.testing.assert_allclose(model.inverse_transform(loadings), loadings @ model.components_)


def test_imputing_fills_gaps_with_expectations_and_keeps_what_is_there(fitted):
    model, X = fitted
    filled = model.impute(X)
    seen = ~np.isnan(X)
    np.testing.assert_array_equal(filled[seen], X[seen])
    expected = model.inverse_transform(model.transform(X))  # nearly the same expectations
    np.testing.assert_allclose(filled[~seen].mean(), expected[~seen].mean(), rtol=0.02)
    assert np.corrcoef(filled[~seen], expected[~seen])[0, 1] > 0.99


def test_samples_follow_the_model(fitted):
    model, _ = fitted
    counts, loadings = model.sample(100_000)
    np.testing.assert_allclose(loadings.mean(axis=0), model.shapes_ / model.rate_, rtol=0.02)
    np.testing.assert_allclose(
        counts.mean(axis=0), model.shapes_ / model.rate_ @ model.components_, rtol=0.03
    )
    np.testing.assert_array_equal(model.sample(3)[0], model.sample(3)[0])


def test_few_complete_features_leave_incomplete_ones_to_their_weights():
    X = table(20_000, observed=(1, 1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9))
    model = GammaPoisson(3).fit(X)
    assert model.diagnostics_.incomplete_features == "divide"
    order = recovery.match(model.components_, TOPICS)
    np.testing.assert_allclose(model.components_[order], TOPICS, atol=0.03)


def test_the_posterior_of_a_single_topic_is_the_gamma_it_is_in_closed_form():
    rng = np.random.default_rng(0)
    X, _ = simulate.gamma_poisson(400, [[0.4, 0.3, 0.2, 0.1]], [2.0], 0.1, rng)
    X = simulate.independent_gaps(X, [1, 1, 0.5, 0.5], rng)
    model = GammaPoisson(1).fit(X)
    shape = model.shapes_[0] + np.nansum(X, axis=1)
    rate = model.rate_ + ~np.isnan(X) @ model.components_[0]
    mean, std = model.posterior(X)
    error = 1 / np.sqrt(model.likelihood(X).effective_draws)  # of the mean, in posterior spreads
    exact = np.sqrt(shape) / rate
    assert (np.abs(mean[:, 0] - shape / rate) < 5 * error * exact).all()
    assert (np.abs(std[:, 0] / exact - 1) < 5 * error).all()
    np.testing.assert_allclose((std[:, 0] / exact).mean(), 1, rtol=0.02)


def test_the_posterior_of_a_row_with_nothing_observed_is_the_prior():
    rng = np.random.default_rng(0)
    X, _ = simulate.gamma_poisson(400, np.eye(2), [2.0, 1.0], 0.1, rng)
    model = GammaPoisson(2).fit(X)
    mean, std = model.posterior(np.full((1, 2), np.nan))
    np.testing.assert_allclose(mean[0], model.shapes_ / model.rate_, rtol=0.15)
    np.testing.assert_allclose(std[0], np.sqrt(model.shapes_) / model.rate_, rtol=0.3)


@pytest.mark.parametrize("refine", [None, "saem"])
@pytest.mark.parametrize(
    "X", [[[0.0], [1.0], [2.0]], [[0.0], [0.0], [0.0], [1.0]], [[0, 1], [0, 0], [0, 2], [1, 1]]]
)
def test_totals_that_vary_like_poisson_ones_give_finite_shapes(X, refine):
    """A variance of zero once gave an infinite shape, of which no draw was ever accepted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakMomentsWarning)
        model = GammaPoisson(1, refine=refine, n_sweeps=20, random_state=0).fit(X)
    assert np.isfinite(model.shapes_).all()
    assert np.isfinite(model.rate_)
    assert model.shapes_.max() <= 1e8
    assert np.isfinite(model.score_samples(X)).all()
    assert model.shapes_.sum() / model.rate_ == pytest.approx(np.sum(X) / len(X), rel=0.1)


@pytest.mark.parametrize("number", [2, 3])
def test_a_small_sparse_table_is_learned_as_if_it_were_filled_in_whatever_order_it_has(number):
    X = table(60, [1.0] * 8, seed=number)
    models = [
        GammaPoisson(number, decomposer="power", random_state=0).fit(one)
        for one in (X, X[::-1], csr_array(X), csr_array(X[::-1]))
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.components_, models[0].components_)
        np.testing.assert_array_equal(model.shapes_, models[0].shapes_)


@pytest.mark.filterwarnings("ignore")
def test_a_topic_of_more_than_can_be_counted_is_drawn_from_and_kept(tmp_path):
    """Few rows, which hold much: what regression makes of them is far beyond."""
    X = np.array([[0.0, 1.08e14], [0, 1.01e14], [0, np.nan], [4e12, np.nan], [9e12, np.nan]])
    model = GammaPoisson(method="partial", outliers=None, random_state=0).fit(X)
    assert model.shapes_.sum() / model.rate_ > 1e20
    assert np.isfinite(model.sample(50)[0]).all()
    assert np.isfinite(model.impute(X, draws=2)).all()
    model.save(tmp_path / "it.halfseen")
