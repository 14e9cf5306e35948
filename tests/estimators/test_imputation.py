"""Filled tables come back in their own container, with what was observed untouched."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from halfseen import GammaPoisson, GaussianMixture, load, simulate

NAMES = ["age", "pulse", "lactate", "crp"]


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    topics = [[0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.3, 0.5]]
    X, _ = simulate.gamma_poisson(400, topics, [1.0, 1.0], 0.05, rng)
    return simulate.independent_gaps(X, [1, 1, 1, 0.5], rng)


@pytest.fixture(scope="module", params=[GaussianMixture, GammaPoisson])
def model(request, counts):
    return request.param(2, random_state=0).fit(counts)


@pytest.fixture(scope="module")
def filled(model, counts):
    return model.impute(counts)


def test_pandas_keeps_index_columns_types_and_cells(model, counts, filled):
    frame = pd.DataFrame(counts, columns=NAMES, index=np.arange(400) * 3).astype(
        {"age": "int32", "pulse": "Int64", "lactate": "float32", "crp": "float32"}
    )
    with pytest.warns(UserWarning, match="feature names"):
        result = model.impute(frame)
    assert list(result.columns) == NAMES
    assert result.index.equals(frame.index)
    assert result.dtypes.equals(frame.dtypes)
    pd.testing.assert_frame_equal(result[NAMES[:3]], frame[NAMES[:3]])
    seen = frame["crp"].notna()
    pd.testing.assert_series_equal(result.loc[seen, "crp"], frame.loc[seen, "crp"])
    np.testing.assert_allclose(result["crp"], filled[:, 3], rtol=1e-6)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("Int64", "Float64"), ("Float64", "Float64"), ("int64[pyarrow]", "double[pyarrow]")],
)
@pytest.mark.filterwarnings("ignore:X has feature names")
def test_columns_of_integers_become_floats_of_their_family(model, counts, filled, dtype, expected):
    frame = pd.DataFrame(counts, columns=NAMES).astype("Int64").astype(dtype)
    result = model.impute(frame)
    assert str(result["crp"].dtype) == expected
    assert str(result["age"].dtype) == dtype
    np.testing.assert_allclose(result["crp"].to_numpy(float), filled[:, 3])


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_polars_keeps_columns_and_types(model, counts, filled):
    frame = pl.DataFrame(counts, schema=NAMES).fill_nan(None).cast({"age": pl.Int16})
    result = model.impute(frame)
    assert isinstance(result, pl.DataFrame)
    assert result.schema == frame.schema
    assert result["crp"].null_count() == 0
    np.testing.assert_allclose(result["crp"].to_numpy(), filled[:, 3])


def test_float32_arrays_stay_float32(model, counts, filled):
    result = model.impute(counts.astype(np.float32))
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, filled, rtol=1e-5)


def test_standard_deviations_are_zero_where_observed_and_right_elsewhere(model):
    complete, _ = model.sample(8_000)
    hidden = simulate.independent_gaps(complete, [1, 1, 0.5, 0.5], np.random.default_rng(1))
    filled, spread = model.impute(hidden, return_std=True)
    gaps = np.isnan(hidden)
    assert (spread[~gaps] == 0).all()
    standardised = (complete - filled)[gaps] / spread[gaps]
    assert np.mean(standardised**2) == pytest.approx(1.0, abs=0.08)


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_standard_deviations_of_a_frame_are_a_frame(model, counts):
    frame = pd.DataFrame(counts, columns=NAMES, index=np.arange(400) + 7)
    _, spread = model.impute(frame, return_std=True)
    assert spread.index.equals(frame.index)
    assert list(spread.columns) == NAMES
    _, spread = model.impute(pl.DataFrame(frame), return_std=True)
    assert spread.columns == NAMES


def test_draws_have_the_expected_means_and_spreads(model, counts):
    tables = model.impute(counts, draws=300)
    filled, spread = model.impute(counts, return_std=True)
    gaps = np.isnan(counts)
    stack = np.array(tables)
    assert (stack[:, ~gaps] == counts[~gaps]).all()
    error = (stack.mean(axis=0) - filled)[gaps] / spread[gaps]
    assert abs(error.mean()) < 0.1
    assert error.std() < 3 / np.sqrt(300)
    ratio = stack.std(axis=0)[gaps] / spread[gaps]
    assert np.median(ratio) == pytest.approx(1.0, abs=0.1)


def test_draws_are_reproducible_and_differ(model, counts):
    first, second = model.impute(counts, draws=2)
    again, _ = model.impute(counts, draws=2)
    np.testing.assert_array_equal(first, again)
    assert (first != second).any()


@pytest.mark.parametrize(
    "wrong",
    [
        {"draws": 0},
        {"draws": True},
        {"draws": 1.5},
        {"draws": "2"},
        {"draws": 2, "return_std": True},
    ],
)
def test_wrong_requests_are_refused(model, counts, wrong):
    with pytest.raises(ValueError, match="draws must be an int of at least 1, without return_std"):
        model.impute(counts, **wrong)


def test_a_mixture_is_handed_over_to_scikit_learn(counts):
    for kind in ("tied_spherical", "spherical", "tied_diag", "diag"):
        ours = GaussianMixture(2, covariance_type=kind, outliers=None).fit(counts)
        theirs = ours.to_sklearn()
        complete = ours.impute(counts)
        np.testing.assert_allclose(theirs.score_samples(complete), ours.score_samples(complete))
        np.testing.assert_array_equal(theirs.predict(complete), ours.predict(complete))
        np.testing.assert_array_equal(theirs.get_params()["means_init"], ours.means_)
        assert theirs.fit(complete).converged_


@pytest.mark.parametrize("scale", [None, "robust"])
def test_outliers_and_spikes_are_handed_over_as_means_and_variances(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4)) + 5 * rng.integers(2, size=(2000, 1))
    X[rng.random(2000) < 0.4, 1], X[:9, 2] = 0.0, 300.0
    ours = GaussianMixture(2, scale=scale, random_state=0).fit(X)
    assert ours.spike_values_[1] == 0.0
    theirs = ours.to_sklearn()
    np.testing.assert_array_equal(theirs.means_, ours.means_)
    drawn, labels = ours.sample(40_000)
    for component in range(2):
        spread = drawn[labels == component].var(axis=0)
        np.testing.assert_allclose(theirs.covariances_[component], spread, rtol=0.1)


def test_a_mixture_with_a_dropped_feature_cannot_be_handed_over(counts):
    table = np.column_stack([counts, np.ones(400)])
    with pytest.warns(UserWarning, match="is constant"):
        model = GaussianMixture(2).fit(table)
    with pytest.raises(ValueError, match="Feature '4' cannot be part of scikit-learn's mixture"):
        model.to_sklearn()


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_draws_of_counts_keep_columns_of_integers(counts):
    model = GammaPoisson(2, random_state=0).fit(counts)
    frame = pd.DataFrame(counts, columns=NAMES).astype("Int64")
    assert model.impute(frame, draws=1)[0].dtypes.equals(frame.dtypes)
    polars = pl.DataFrame(counts, schema=NAMES).fill_nan(None).cast(pl.Int32)
    assert model.impute(polars, draws=1)[0].schema == polars.schema


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32])
def test_a_table_without_gaps_comes_back_as_it_is(model, counts, dtype):
    table = np.nan_to_num(counts).astype(dtype)
    filled = model.impute(table)
    assert filled.dtype == dtype
    assert filled is not table
    np.testing.assert_array_equal(filled, table)


def test_a_constant_far_from_zero_has_no_spread(counts):
    table = np.column_stack([counts, np.full(400, 1e8 + 0.1)])
    table[:40, 4] = np.nan
    with pytest.warns(UserWarning, match="is constant"):
        model = GaussianMixture(3, covariance_type="diag").fit(table)
    _, spread = model.impute(table, return_std=True)
    np.testing.assert_allclose(spread[:, 4], 0.0, atol=1e-6)


def ward(rng, n=600):
    """Ages, a yes or no, doses of two sizes, children, and a pressure that is never negative."""
    group = rng.integers(2, size=n)
    table = np.column_stack(
        [
            rng.normal(40 + 30 * group, 5),
            rng.random(n) < 0.2 + 0.6 * group,
            np.where(rng.random(n) < 0.3 + 0.4 * group, 0.5, 0.0),
            rng.poisson(0.5 + 3 * group),
            rng.exponential(0.5 + 2.5 * group),
            rng.normal(20 + 10 * group, 3),
            rng.normal(10 - 5 * group, 2),
        ]
    ).astype(float)
    return simulate.independent_gaps(table, [1, 0.7, 0.7, 0.7, 0.7, 1, 1], rng)


def test_nothing_is_filled_in_that_is_impossible_and_the_sample_is_no_limit():
    X = ward(np.random.default_rng(0))
    model = GaussianMixture(2, covariance_type="diag", random_state=0).fit(X)
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    np.testing.assert_array_equal(model.value_ranges_, [low, high])
    np.testing.assert_array_equal(model.value_steps_, [0, 1, 0.5, 1, 0, 0, 0])
    floor, ceiling = model.value_limits_
    np.testing.assert_array_equal(floor[1:5], 0)  # yes or no, doses, children, a pressure
    np.testing.assert_array_equal(ceiling[1:3], [1, 0.5])
    far = X.copy()
    far[:, 0] *= 5  # rows unlike all that the model saw
    far[:, 5] = np.nan
    tables = [model.impute(far), *model.impute(far, draws=3)]
    for filled in tables:
        gaps = np.isnan(far)
        assert (np.where(gaps, filled, low) >= floor).all()
        assert (np.where(gaps, filled, high) <= ceiling).all()
        assert (filled[~gaps] == far[~gaps]).all()
    assert max(filled[:, 5].max() for filled in tables) > high[5]


def test_possible_values_are_whole_or_one_of_two():
    X = ward(np.random.default_rng(1))
    model = GaussianMixture(2, random_state=0).fit(X)
    expected, near = model.impute(X), model.impute(X, possible=True)
    for filled in (near, *model.impute(X, draws=3, possible=True)):
        assert set(filled[:, 1]) == {0, 1}
        assert set(filled[:, 2]) == {0, 0.5}
        assert (filled[:, 3] % 1 == 0).all()
    np.testing.assert_array_equal(near[:, [0, 4, 5]], expected[:, [0, 4, 5]])
    gaps = np.isnan(X[:, 1])
    np.testing.assert_array_equal(near[gaps, 1], expected[gaps, 1] > 0.5)
    np.testing.assert_array_equal(near[:, 3], np.round(expected[:, 3]))
    assert (expected[:, 3] % 1 != 0).any()


def test_possible_values_of_batches_and_of_a_loaded_model_are_the_same(tmp_path):
    X = ward(np.random.default_rng(2))
    model = GaussianMixture(2).fit(X)
    whole = model.impute(X, possible=True)
    parts = model.impute([X[:250], X[250:]], possible=True)
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    model.save(tmp_path / "ward.halfseen")
    again = load(tmp_path / "ward.halfseen")
    np.testing.assert_array_equal(again.impute(X, possible=True), whole)
    np.testing.assert_array_equal(again.value_steps_, model.value_steps_)


def test_models_of_older_files_have_no_limits():
    old = load(
        next((Path(__file__).parents[1] / "persistence" / "fixtures").glob("mixture-1.halfseen"))
    )
    assert (old.value_ranges_[0] == -np.inf).all()
    assert (old.value_ranges_[1] == np.inf).all()
    assert not old.value_steps_.any()
    assert np.isinf(old.value_limits_).all()
