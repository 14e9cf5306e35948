"""Every bad input gets its sentence: what is wrong, with names, and what to do."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from halfseen import (
    DataError,
    DroppedFeatureWarning,
    GammaPoisson,
    GaussianMixture,
    WeakMomentsWarning,
    simulate,
)

NAMES = ["age", "pulse", "lactate", "crp"]


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(300, [0.5, 0.5], [[0] * 4, [6] * 4], 1.0, rng)
    return pd.DataFrame(X, columns=NAMES)


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    X, _ = simulate.gamma_poisson(300, np.eye(2, 4) + 0.2, [1.0, 1.0], 0.1, rng)
    return pd.DataFrame(X, columns=NAMES)


def test_rows_with_nothing_observed_are_ignored_and_counted(frame):
    expected = GaussianMixture(2).fit(frame)
    frame.loc[len(frame)] = np.nan
    frame.loc[len(frame)] = np.nan
    model = GaussianMixture(2).fit(frame)
    np.testing.assert_allclose(model.means_, expected.means_, rtol=1e-12)
    np.testing.assert_allclose(model.observed_fraction_, 1.0)
    assert model.diagnostics_.n_empty_rows == 2


def test_a_feature_never_observed_is_dropped_named_and_warned_of(frame):
    expected = GaussianMixture(2).fit(frame)
    frame["empty"] = np.nan
    with pytest.warns(DroppedFeatureWarning, match="Feature 'empty' is never observed and left ou"):
        model = GaussianMixture(2).fit(frame)
    assert model.diagnostics_.dropped_features == {"empty": "never observed"}
    np.testing.assert_allclose(model.means_[:, :4], expected.means_, rtol=1e-12)
    assert np.isnan(model.means_[:, 4]).all()
    np.testing.assert_allclose(model.score_samples(frame), expected.score_samples(frame[NAMES]))
    assert model.impute(frame)["empty"].isna().all()


def test_a_constant_feature_is_dropped_named_and_warned_of(frame):
    expected = GaussianMixture(2).fit(frame)
    frame["ward"] = 7.0
    frame.loc[3, "ward"] = np.nan
    with pytest.warns(DroppedFeatureWarning, match="Feature 'ward' is constant and left out of th"):
        model = GaussianMixture(2).fit(frame)
    assert model.diagnostics_.dropped_features == {"ward": "constant"}
    assert model.feature_weights_[4] == 0
    np.testing.assert_allclose(model.predict_proba(frame), expected.predict_proba(frame[NAMES]))
    assert model.impute(frame).loc[3, "ward"] == 7.0
    np.testing.assert_array_equal(model.sample(5)[0][:, 4], 7.0)


def test_dropped_count_features_have_no_share_and_are_imputed_if_they_can_be(counts):
    counts["always 3"] = 3.0
    counts["never"] = np.nan
    counts.loc[0, "always 3"] = np.nan
    with pytest.warns(DroppedFeatureWarning) as caught:
        model = GammaPoisson(2).fit(counts)
    assert len(caught) == 2
    np.testing.assert_array_equal(model.components_[:, 4:], 0.0)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    filled = model.impute(counts)
    assert filled.loc[0, "always 3"] == 3.0
    assert filled["never"].isna().all()


def test_a_table_in_which_nothing_varies_is_refused():
    with pytest.raises(DataError, match=r"No feature varies \(n_features=2; all are constant"):
        GaussianMixture().fit(np.ones((10, 2)))


@pytest.mark.parametrize("estimator", [GaussianMixture(2), GammaPoisson(2)])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinities_are_refused_by_column(estimator, value, counts):
    counts.loc[5, "crp"] = value
    with pytest.raises(DataError, match=r"Infinite values in 'crp'\. Replace them by numbers, or"):
        estimator.fit(counts)


def test_negative_counts_are_refused_by_column(counts):
    counts.loc[5, "pulse"] = -9
    with pytest.raises(DataError, match=r"Negative values in data: 'pulse' should hold counts\."):
        GammaPoisson(2).fit(counts)


def test_fractional_counts_are_refused_by_column(counts):
    counts[["age", "crp"]] += 0.5
    with pytest.raises(
        DataError, match="Features 'age' and 'crp' should hold counts, but some values are not who"
    ):
        GammaPoisson(2).fit(counts)


def test_fewer_rows_than_components_are_refused(frame):
    with pytest.raises(
        DataError, match=r"n_components=5 needs at least 5 rows .* there are 4 \(n_"
    ):
        GaussianMixture(5).fit(frame[:4])


@pytest.mark.parametrize("refine", ["em", None])
def test_features_never_observed_together_are_learned_and_told_by_name(frame, refine):
    frame.loc[:150, "lactate"] = np.nan
    frame.loc[151:, "crp"] = np.nan
    model = GaussianMixture(2, refine=refine).fit(frame)
    told = {"lactate": "never observed together with 'crp'"}
    assert model.diagnostics_.never_together == told
    np.testing.assert_allclose(np.sort(model.means_, axis=0), [[0] * 4, [6] * 4], atol=0.5)


def test_features_never_observed_together_do_no_harm_to_the_partial_method(frame):
    frame.loc[:150, "lactate"] = np.nan
    frame.loc[151:, "crp"] = np.nan
    model = GaussianMixture(2, method="partial").fit(frame)
    np.testing.assert_allclose(np.sort(model.means_, axis=0), [[0] * 4, [6] * 4], atol=0.5)


def test_too_few_features_for_the_noise_are_refused(frame):
    with pytest.raises(DataError, match="n_components=5 needs at least 5 features to tell compone"):
        GaussianMixture(5, refine=None).fit(frame)
    with pytest.raises(DataError, match="n_components=4 needs at least 5 features to tell compone"):
        GaussianMixture(4, noise_eigenvalues="D-K", refine=None).fit(frame)


def test_too_few_complete_features_for_the_noise_are_warned_of(frame):
    gappy = simulate.independent_gaps(frame.to_numpy(), [0.8] * 4, np.random.default_rng(0))
    with pytest.warns(WeakMomentsWarning, match="Only 0 features are complete, fewer than the 2 f"):
        model = GaussianMixture(2, refine=None).fit(gappy)
    np.testing.assert_allclose(np.sort(model.means_, axis=0), [[0] * 4, [6] * 4], atol=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianMixture(2).fit(gappy)  # for which the moments are one start of many


def test_more_components_than_the_features_span_are_refused(frame):
    for name in NAMES[1:]:
        frame[name] = frame["age"]
    with pytest.raises(
        DataError, match=r"n_components=3 needs features that span at least 2 dimensions.* span 1\."
    ):
        GaussianMixture(3, refine=None).fit(frame)


def test_more_components_than_the_moments_support_are_warned_of():
    rng = np.random.default_rng(0)
    X = rng.poisson(5.0, size=(400, 4)).astype(float)  # no topics at all
    with pytest.warns(WeakMomentsWarning) as caught:
        model = GammaPoisson(4).fit(X)
    messages = " ".join(str(warning.message) for warning in caught)
    assert "n_components=4 is more than the second moments support" in messages
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.shapes_).all()


def test_features_rarely_observed_together_are_warned_of_where_moments_are_the_result(frame):
    frame.loc[10:, "crp"] = np.nan
    with pytest.warns(
        WeakMomentsWarning, match="'crp' is observed in only 10 rows|are observed tog"
    ):
        GaussianMixture(2, refine=None).fit(frame)
    GaussianMixture(2).fit(frame)  # other starts make up for it: warnings are errors here


def test_the_partial_method_without_complete_features_is_refused(frame):
    gappy = simulate.independent_gaps(frame.to_numpy(), [0.8] * 4, np.random.default_rng(0))
    with pytest.raises(DataError, match=r"none is observed in at least 95% of the rows\."):
        GaussianMixture(2, method="partial").fit(gappy)


WEIGHTS = r"'sqrt', or 4 positive numbers, one a feature, from 1e-50 to 1e\+50"


@pytest.mark.parametrize(
    ("parameter", "value", "rule"),
    [
        ("n_components", 0, "an int of at least 1, or 'auto'"),
        ("n_components", 2.5, "an int of at least 1, or 'auto'"),
        ("n_components", True, "an int of at least 1, or 'auto'"),
        ("complete_above", 0.0, "a number above 0 and at most 1"),
        ("complete_above", "most", "a number above 0 and at most 1"),
        ("method", "best", "'full', 'partial' or 'weighted'"),
        ("decomposer", "svd", "'jennrich', 'joint' or 'power'"),
        ("third_moment", "none", "'auto', 'explicit' or 'implicit'"),
        ("incomplete_features", "drop", "'divide' or 'regress'"),
        ("form", "cooked", "'centred' or 'raw'"),
        ("covariance_type", "round", "'tied_diag' or 'tied_spherical'"),
        ("refine", "vb", "'em' or None"),
        ("tol", -1.0, "a number of at least 0"),
        ("max_iter", 0, "an int of at least 1"),
        ("noise_eigenvalues", "all", "'D-K' or 'D-K\\+1'"),
        ("feature_weights", "heavy", WEIGHTS),
        ("feature_weights", [1.0, 2.0], WEIGHTS),
        ("feature_weights", [1.0, 2.0, -1.0, 1.0], WEIGHTS),
        ("feature_weights", [1.0, 2.0, 1e-320, 1.0], WEIGHTS),
        ("feature_weights", [1e200, 2.0, 1.0, 1.0], WEIGHTS),
    ],
)
def test_a_wrong_parameter_is_named_with_what_it_must_be(parameter, value, rule, frame):
    mixture = GaussianMixture().set_params(**{parameter: value})
    with pytest.raises(
        ValueError, match=rf"The '{parameter}' parameter of GaussianMixture must be .*{rule}\. Got"
    ):
        mixture.fit(frame)


def test_the_partial_method_has_nothing_to_divide_by(frame):
    with pytest.raises(ValueError, match="method='partial' has no weights to divide by"):
        GaussianMixture(method="partial", incomplete_features="divide").fit(frame)


@pytest.mark.parametrize("estimator", [GaussianMixture(2), GammaPoisson(2)])
def test_row_weights_beyond_what_floats_hold_are_refused(estimator, counts):
    with pytest.raises(ValueError, match=r"sums to inf.*Divide the weights by their mean"):
        estimator.fit(counts, sample_weight=np.full(300, 1e308))
    alone = np.ones(300)
    alone[7] = 1e17
    with pytest.raises(ValueError, match=r"row 7 a weight of 1e\+17, beside which all others"):
        estimator.fit(counts, sample_weight=alone)


@pytest.mark.parametrize("estimator", [GaussianMixture(2), GammaPoisson(2)])
def test_wrong_row_weights_are_refused(estimator, counts):
    with pytest.raises(ValueError, match="must hold one number a row, 300 in all"):
        estimator.fit(counts, sample_weight=[1.0, 2.0])
    for bad in (np.full(300, -1.0), np.zeros(300), np.full(300, np.nan)):
        with pytest.raises(ValueError, match="finite numbers of at least zero, not all zero"):
            estimator.fit(counts, sample_weight=bad)


def test_an_unknown_fit_option_is_refused(counts):
    with pytest.raises(TypeError, match="unexpected argument 'weights'"):
        GammaPoisson(2).fit(counts, weights=np.ones(300))


METHODS = {
    GaussianMixture: ("predict", "predict_proba", "score_samples", "score", "impute", "aic", "bic"),
    GammaPoisson: ("transform", "score_samples", "score", "impute", "perplexity", "likelihood"),
}
CASES = [(kind, method) for kind, methods in METHODS.items() for method in methods]


@pytest.mark.parametrize(("kind", "method"), CASES)
def test_new_tables_are_checked_like_the_one_that_was_learned_from(kind, method, counts):
    model = kind(2).fit(counts)
    counts.loc[3, "crp"] = np.inf
    with pytest.raises(DataError, match=r"Infinite values in 'crp'\."):
        getattr(model, method)(counts)


@pytest.mark.parametrize("method", METHODS[GammaPoisson])
@pytest.mark.parametrize(
    ("value", "message"), [(-3, "Negative values in data"), (0.5, "not whole")]
)
def test_new_counts_are_checked_like_those_that_were_learned_from(method, value, message, counts):
    model = GammaPoisson(2).fit(counts)
    counts.loc[3, "crp"] = value
    with pytest.raises(DataError, match=message):
        getattr(model, method)(counts)


@pytest.mark.parametrize(("kind", "method"), CASES)
def test_what_needs_a_fit_says_so(kind, method, counts):
    with pytest.raises(NotFittedError):
        getattr(kind(2), method)(counts)


def test_columns_of_text_and_dates_are_named(frame):
    frame["sex"] = "male"
    frame["seen"] = pd.Timestamp("2026-01-01")
    with pytest.raises(DataError, match=r"'sex' and 'seen' cannot be read as numbers\. Leave out"):
        GaussianMixture(2).fit(frame)


def test_features_on_very_different_scales_are_warned_of(frame):
    frame["platelets"] = 50_000 * frame["crp"] + np.random.default_rng(0).normal(0, 5e4, 300)
    with pytest.warns(WeakMomentsWarning, match="'platelets' ranges over .*'tied_diag'"):
        GaussianMixture(2, complete_above=0.9).fit(frame)
    GaussianMixture(2, covariance_type="diag").fit(frame)


def test_a_component_that_no_row_belongs_to_is_warned_of():
    with pytest.warns(
        WeakMomentsWarning,
        match="1 of 3 components ended with less than one row's weight and were removed: .*most 2",
    ):
        GaussianMixture(3)._warn_of_empty(3, np.array([0.9, 0.1]), 1000)


def test_a_topic_that_no_row_holds_is_warned_of():
    with pytest.warns(WeakMomentsWarning, match="1 of 3 topics ended with less .*most 2 topics"):
        GammaPoisson(3)._warn_of_empty(3, np.array([0.9, 1e-9, 0.1]), 1000)


def test_warnings_point_at_the_call(frame):
    frame.loc[10:, "crp"] = np.nan
    with pytest.warns(WeakMomentsWarning) as caught:
        GaussianMixture(2, refine=None).fit(frame)
    assert {warning.filename for warning in caught} == {__file__}


def test_a_feature_observed_once_is_not_called_constant(frame):
    frame["rare"] = np.nan
    frame.loc[0, "rare"] = 5.0
    with pytest.warns(DroppedFeatureWarning, match="'rare' is observed in less than two rows"):
        GaussianMixture(2).fit(frame)


def test_weights_that_sum_to_one_are_told_what_they_mean(frame):
    with pytest.raises(DataError, match="scale weights to sum to the number of rows"):
        GaussianMixture(2).fit(frame, sample_weight=np.full(300, 1 / 300))


def test_advice_on_the_number_of_components_can_be_followed(frame):
    with pytest.raises(DataError, match="Use at most 4 components"):
        GaussianMixture(9, refine=None).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakMomentsWarning)  # two groups are there
        GaussianMixture(4, refine=None).fit(frame)


@pytest.mark.parametrize("estimator", [GaussianMixture(2), GammaPoisson(2)])
@pytest.mark.parametrize("n_samples", [0, 1.5, True])
def test_a_wrong_number_of_samples_is_refused(estimator, n_samples, counts):
    with pytest.raises(ValueError, match="n_samples must be an int of at least 1"):
        estimator.fit(counts).sample(n_samples)


def test_loadings_of_the_wrong_width_are_refused(counts):
    with pytest.raises(ValueError, match=r"Loadings need a column a topic, 2 in all\. Got 3"):
        GammaPoisson(2).fit(counts).inverse_transform(np.ones((5, 3)))


def test_an_implicit_third_moment_of_entangled_gaps_is_warned_of(frame):
    rng = np.random.default_rng(0)
    gappy = simulate.value_gaps(frame.to_numpy(), [2, 3], 0.5, rng, driver=0, strength=4.0)
    with pytest.warns(WeakMomentsWarning, match="third_moment='implicit' takes features to be mis"):
        GaussianMixture(2, third_moment="implicit", covariance_type="spherical").fit(gappy)
    solved = GaussianMixture(2, third_moment="implicit").fit(gappy).diagnostics_
    assert solved.third_moment == "least squares"
    assert "gaps depend on each other" in solved.third_moment_reason


def test_a_single_wild_value_does_not_blur_its_feature(frame):
    expected = GaussianMixture(2, covariance_type="diag").fit(frame)
    frame.loc[0, "age"] = 9999.0
    model = GaussianMixture(2, covariance_type="diag").fit(frame)
    np.testing.assert_allclose(model.covariances_, expected.covariances_, rtol=0.1)
    np.testing.assert_allclose(model.means_, expected.means_, atol=0.1)


@pytest.mark.parametrize("cells", [[pd.NA] * 6, ["1.5", pd.NA] * 3])
def test_texts_with_gaps_in_a_frame_are_refused_by_name(cells):
    frame = pd.DataFrame({"age": pd.Series(cells, dtype="string"), "pulse": np.arange(6.0)})
    with pytest.raises(ValueError, match="'age' cannot be read as numbers"):
        GaussianMixture(1).fit(frame)
