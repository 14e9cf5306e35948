"""The mixture estimator against known truth and its own laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

from halfseen import GaussianMixture, recovery, simulate

WEIGHTS = np.array([0.5, 0.3, 0.2])
MEANS = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [6.0, 0.0, 3.0, -3.0, 4.0, 1.0],
        [0.0, 5.0, -3.0, 2.0, 2.0, -4.0],
    ]
)


ALTERNATIVES = [
    ("weighted", "regress"),
    ("weighted", "divide"),
    ("full", "regress"),
    ("full", "divide"),
    ("partial", "regress"),
]


def table(n=40_000, variances=1.0, observed=(1, 1, 1, 1, 0.5, 0.2), seed=0):
    rng = np.random.default_rng(seed)
    X, labels = simulate.gaussian_mixture(n, WEIGHTS, MEANS, variances, rng)
    return simulate.independent_gaps(X, observed, rng), labels


def ordered(model):
    return recovery.match(model.means_ + 10, MEANS + 10)


@pytest.mark.parametrize("form", ["centred", "raw"])
@pytest.mark.parametrize("decomposer", ["joint", "power", "jennrich"])
@pytest.mark.parametrize(("method", "incomplete"), ALTERNATIVES)
def test_moments_of_a_large_table_give_back_the_truth(form, decomposer, method, incomplete):
    shift = 5.0 if form == "raw" else 0.0  # raw moments cannot hold a component at zero
    X, _ = table(200_000)
    model = GaussianMixture(
        3,
        form=form,
        decomposer=decomposer,
        method=method,
        incomplete_features=incomplete,
        refine=None,
        random_state=0,
    ).fit(X + shift)
    order = recovery.match(model.means_, MEANS + shift)
    # Raw moments are noisier, and one contraction of them noisier still.
    near = 0.04 if form == "centred" else 0.12 if decomposer != "jennrich" else 0.25
    np.testing.assert_allclose(model.means_[order], MEANS + shift, atol=near)
    np.testing.assert_allclose(model.weights_[order], WEIGHTS, atol=near / 6)
    np.testing.assert_allclose(model.covariances_, 1.0, atol=0.02)


def test_each_component_can_have_its_own_variance():
    X, _ = table(200_000, variances=[0.5, 1.0, 2.0])
    for form in ("centred", "raw"):
        model = GaussianMixture(3, covariance_type="spherical", form=form, refine=None).fit(X + 5)
        order = recovery.match(model.means_, MEANS + 5)
        np.testing.assert_allclose(model.covariances_[order], [0.5, 1.0, 2.0], atol=0.15)


def test_weights_are_observed_fractions_by_default():
    X, _ = table(2000)
    model = GaussianMixture(3).fit(X)
    np.testing.assert_allclose(model.feature_weights_, (~np.isnan(X)).mean(axis=0))


@pytest.mark.parametrize(
    ("choice", "rule"),
    [("observed", lambda p: p), ("sqrt", np.sqrt), ("none", np.ones_like)],
)
def test_named_weights_follow_their_rule(choice, rule):
    X, _ = table(2000)
    model = GaussianMixture(3, feature_weights=choice).fit(X)
    np.testing.assert_allclose(model.feature_weights_, rule(model.observed_fraction_))


def test_full_is_weighting_with_ones_and_an_array_is_taken_as_it_is():
    X, _ = table(2000)
    full = GaussianMixture(3, method="full", refine=None).fit(X)
    ones = GaussianMixture(3, feature_weights=np.ones(6), refine=None).fit(X)
    np.testing.assert_array_equal(full.means_, ones.means_)


def test_partial_is_a_fit_of_the_complete_features_alone():
    X, _ = table(5000)
    partial = GaussianMixture(3, method="partial", refine=None).fit(X)
    alone = GaussianMixture(3, refine=None).fit(X[:, :4])
    np.testing.assert_allclose(partial.means_[:, :4], alone.means_, rtol=1e-10)
    np.testing.assert_allclose(partial.feature_weights_, [1, 1, 1, 1, 0, 0])
    assert partial.means_.shape == (3, 6)


def test_complete_above_says_which_features_are_complete():
    X, _ = table(2000, observed=(1, 1, 1, 0.97, 0.9, 0.5))
    assert GaussianMixture(3).fit(X).complete_features_.tolist() == [True] * 4 + [False] * 2
    loose = GaussianMixture(3, complete_above=0.8).fit(X)
    assert loose.complete_features_.tolist() == [True] * 5 + [False]


@pytest.mark.parametrize("refine", [None, "em"])
@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.permutations(range(6)), st.floats(-1e3, 1e3), st.floats(0.01, 100.0))
def test_permuted_shifted_and_scaled_tables_give_permuted_shifted_and_scaled_models(
    refine, order, shift, scale
):
    X, _ = table(3000)
    base = GaussianMixture(3, refine=refine).fit(X)
    moved = GaussianMixture(3, refine=refine).fit(scale * X[:, order] + shift)
    match = recovery.match(moved.means_ - shift, scale * base.means_[:, order])
    np.testing.assert_allclose(
        moved.means_[match], scale * base.means_[:, order] + shift, rtol=1e-6, atol=1e-6 * scale
    )
    np.testing.assert_allclose(moved.weights_[match], base.weights_, rtol=1e-6)
    np.testing.assert_allclose(moved.covariances_, scale**2 * base.covariances_, rtol=1e-7)


# Starts are tried on some of the rows: climbs that end where nothing is gained begin elsewhere.
TO_THE_END = {"tol": 1e-15, "random_state": 0}
EITHER = [({"refine": None}, 1e-9), (TO_THE_END, 1e-6)]
either = pytest.mark.parametrize(("settings", "rtol"), EITHER, ids=["moments", "em"])


@either
def test_the_order_of_rows_does_not_matter(settings, rtol):
    X, _ = table(3000)
    one = GaussianMixture(3, **settings).fit(X)
    for seed in range(3):
        shuffled = np.random.default_rng(seed).permutation(X)
        other = GaussianMixture(3, **settings).fit(shuffled)
        np.testing.assert_allclose(other.means_, one.means_, rtol=rtol)


@either
def test_row_weights_are_repeats(settings, rtol):
    X, _ = table(2000)
    repeats = np.random.default_rng(0).integers(0, 4, size=len(X))
    weighted = GaussianMixture(3, **settings).fit(X, sample_weight=repeats)
    repeated = GaussianMixture(3, **settings).fit(np.repeat(X, repeats, axis=0))
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=rtol)
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=rtol)
    np.testing.assert_allclose(weighted.covariances_, repeated.covariances_, rtol=rtol)


def test_components_come_in_the_order_of_the_moments_whatever_start_won():
    X, _ = table(600)
    moments = GaussianMixture(3, refine=None).fit(X)
    for seed in range(4):
        refined = GaussianMixture(3, random_state=seed).fit(X)
        order = recovery.match(refined.means_, moments.means_)
        np.testing.assert_array_equal(order, [0, 1, 2])


@pytest.fixture(scope="module", params=["tied_spherical", "spherical", "diag"])
def fitted(request):
    X, labels = table(3000)
    X[7] = np.nan
    return GaussianMixture(3, covariance_type=request.param, random_state=0).fit(X), X, labels


def all_variances(model):
    covariances = np.asarray(model.covariances_)
    shape = {0: (1, 1), 1: (3, 1), 2: (3, 6)}[covariances.ndim]
    return np.broadcast_to(covariances.reshape(shape), (3, 6))


def naive_log_joint(model, row):
    variances = all_variances(model)
    return np.array(
        [
            np.log(model.weights_[k])
            + sum(
                norm.logpdf(x, model.means_[k, d], np.sqrt(variances[k, d]))
                for d, x in enumerate(row)
                if not np.isnan(x)
            )
            for k in range(3)
        ]
    )


def test_likelihoods_and_probabilities_are_those_of_the_observed_entries(fitted):
    model, X, _ = fitted
    joint = np.array([naive_log_joint(model, row) for row in X[:50]])
    total = np.log(np.exp(joint).sum(axis=1))
    np.testing.assert_allclose(model.score_samples(X[:50]), total, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        model.predict_proba(X[:50]), np.exp(joint - total[:, None]), rtol=1e-8, atol=1e-12
    )


def test_a_row_with_nothing_observed_has_the_prior_and_certainty(fitted):
    model, X, _ = fitted
    np.testing.assert_allclose(model.predict_proba(X[[7]])[0], model.weights_)
    np.testing.assert_allclose(model.score_samples(X[[7]]), 0.0, atol=1e-12)
    np.testing.assert_allclose(model.impute(X[[7]])[0], model.weights_ @ model.means_)


def test_predictions_are_right_most_of_the_time(fitted):
    model, X, labels = fitted
    order = ordered(model)
    agreed = order[labels] == model.predict(X)
    assert agreed.mean() > 0.95


def test_imputing_fills_gaps_with_expectations_and_keeps_what_is_there(fitted):
    model, X, _ = fitted
    filled = model.impute(X)
    seen = ~np.isnan(X)
    np.testing.assert_array_equal(filled[seen], X[seen])
    expected = model.predict_proba(X) @ model.means_
    np.testing.assert_allclose(filled[~seen], expected[~seen])


def test_information_criteria_count_parameters(fitted):
    model, X, _ = fitted
    n_variances = np.size(model.covariances_)
    n_parameters = 3 * 6 + 2 + n_variances
    total = model.score_samples(X).sum()
    assert model.score(X) == pytest.approx(total / (~np.isnan(X)).any(axis=1).sum())
    assert model.aic(X) == pytest.approx(-2 * total + 2 * n_parameters)
    assert model.bic(X) == pytest.approx(-2 * total + n_parameters * np.log(len(X)))


def test_samples_follow_the_model(fitted):
    model, _, _ = fitted
    X, labels = model.sample(50_000)
    shares = np.bincount(labels) / len(labels)
    np.testing.assert_allclose(shares, model.weights_, atol=0.01)
    for k in range(3):
        np.testing.assert_allclose(X[labels == k].mean(axis=0), model.means_[k], atol=0.05)
        spread = X[labels == k].std(axis=0)
        expected = np.sqrt(all_variances(model)[k])
        np.testing.assert_allclose(spread, expected, rtol=0.05)


def test_samples_are_reproducible(fitted):
    model, _, _ = fitted
    np.testing.assert_array_equal(model.sample(5)[0], model.sample(5)[0])


def test_one_component_is_the_mean_and_the_mean_variance():
    X, _ = table(500, observed=[1] * 6)
    model = GaussianMixture(1).fit(X)
    np.testing.assert_allclose(model.means_[0], X.mean(axis=0))
    np.testing.assert_allclose(model.covariances_, X.var(axis=0).mean())  # the likeliest
    moments = GaussianMixture(1, refine=None).fit(X)
    np.testing.assert_allclose(moments.covariances_, X.var(axis=0, ddof=1).mean())  # unbiased


def test_diagnostics_tell_the_spectrum_the_route_and_the_time():
    X, _ = table(5000)
    diagnostics = GaussianMixture(3).fit(X).diagnostics_
    assert diagnostics.spectrum.shape == (6,)
    assert diagnostics.spectrum[1] > 10 * abs(diagnostics.spectrum[2])
    assert diagnostics.off_diagonal_fraction < 0.05
    assert diagnostics.third_moment == "explicit"
    assert diagnostics.gaps_independent
    assert diagnostics.incomplete_features == "regress"
    assert "triples of features" in diagnostics.seconds


def test_gaps_that_come_together_are_noticed():
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(5000, WEIGHTS, MEANS, 1.0, rng)
    X = simulate.block_gaps(X, [0, 0, 0, 0, 1, 1], [1.0, 0.3], rng)
    assert not GaussianMixture(3).fit(X).diagnostics_.gaps_independent


@pytest.mark.parametrize("method", ["weighted", "full", "partial"])
@pytest.mark.parametrize("form", ["centred", "raw"])
def test_every_start_is_refined_to_the_same_maximum(method, form):
    X, _ = table(20_000)
    best = GaussianMixture(3, tol=1e-9).fit(X + 5)
    other = GaussianMixture(3, tol=1e-9, method=method, form=form).fit(X + 5)
    assert other.lower_bound_ == pytest.approx(best.lower_bound_, abs=1e-6)
    assert best.lower_bound_ == pytest.approx(best.score(X + 5), rel=1e-10)


def test_refinement_is_closer_to_the_truth_than_moments_are():
    X, _ = table(5000)
    moments, refined = (GaussianMixture(3, refine=how).fit(X) for how in (None, "em"))
    assert refined.score(X) > moments.score(X)
    errors = [np.abs(model.means_[ordered(model)] - MEANS).mean() for model in (moments, refined)]
    assert errors[1] < errors[0]


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.lists(st.floats(1e-3, 1e3), min_size=6, max_size=6))
def test_free_variances_do_not_depend_on_the_units_of_features(units):
    X, _ = table(3000)
    base = GaussianMixture(3, covariance_type="diag", tol=1e-9).fit(X)
    scaled = GaussianMixture(3, covariance_type="diag", tol=1e-9).fit(X * units)
    match = recovery.match(scaled.means_ / units + 10, base.means_ + 10)
    np.testing.assert_allclose(scaled.means_[match] / units, base.means_, atol=1e-3)
    np.testing.assert_allclose(
        scaled.covariances_[match] / np.square(units), base.covariances_, rtol=1e-2
    )


def test_free_variances_are_found():
    rng = np.random.default_rng(0)
    labels = rng.choice(3, size=20_000, p=WEIGHTS)
    variances = rng.uniform(0.3, 3.0, (3, 6))
    X = MEANS[labels] + np.sqrt(variances[labels]) * rng.standard_normal((20_000, 6))
    X = simulate.independent_gaps(X, (1, 1, 1, 1, 0.5, 0.2), rng)
    model = GaussianMixture(3, covariance_type="diag").fit(X)
    order = ordered(model)
    np.testing.assert_allclose(model.means_[order], MEANS, atol=0.15)
    np.testing.assert_allclose(model.covariances_[order], variances, rtol=0.15)


def test_free_variances_need_the_likelihood():
    with pytest.raises(ValueError, match=r"covariance_type=.diag. is learned by likelihood\."):
        GaussianMixture(2, covariance_type="diag", refine=None).fit(np.eye(5))


def test_stopping_early_is_warned_of():
    X, _ = table(2000)
    with pytest.warns(ConvergenceWarning, match="still rising after max_iter=1 passes"):
        model = GaussianMixture(3, max_iter=1, tol=0.0).fit(X)
    assert not model.converged_
    assert model.n_iter_ >= 1  # passes of its start over all rows are counted too


def test_moments_alone_take_no_passes_of_em():
    X, _ = table(2000)
    model = GaussianMixture(3, refine=None).fit(X)
    assert (model.n_iter_, model.converged_, model.lower_bound_) == (0, True, None)


def test_gaps_that_come_together_are_noticed_by_every_method():
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(5000, WEIGHTS, MEANS, 1.0, rng)
    X = simulate.block_gaps(X, [0, 0, 0, 0, 1, 1], [1.0, 0.3], rng)
    assert not GaussianMixture(3, method="partial").fit(X).diagnostics_.gaps_independent


@pytest.mark.parametrize("third_moment", ["explicit", "implicit"])
def test_both_routes_to_the_third_moment_find_the_truth(third_moment):
    X, _ = table(100_000)
    model = GaussianMixture(3, third_moment=third_moment, refine=None).fit(X)
    np.testing.assert_allclose(model.means_[ordered(model)], MEANS, atol=0.1)
    assert model.diagnostics_.third_moment == third_moment


def test_the_chosen_route_is_told_with_its_reason():
    X, _ = table(2000)
    assert "triple products are few" in GaussianMixture(3).fit(X).diagnostics_.third_moment_reason


def test_many_null_directions_are_not_all_needed():
    rng = np.random.default_rng(0)
    means = np.zeros((2, 60))
    means[1, :30] = 2.0
    X, _ = simulate.gaussian_mixture(20_000, [0.5, 0.5], means, [0.5, 2.0], rng)
    model = GaussianMixture(2, covariance_type="spherical", refine=None).fit(X)
    np.testing.assert_allclose(np.sort(model.covariances_), [0.5, 2.0], atol=0.1)
