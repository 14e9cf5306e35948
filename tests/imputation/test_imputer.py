"""What the imputer promises of the tables that it fills."""

import pickle

import numpy as np
import pandas as pd
import pytest

from halfseen import DataError, DroppedFeatureWarning, Imputer, UnseenCategoryWarning
from halfseen.imputation import fitting
from tests.imputation.conftest import complete, with_gaps


@pytest.fixture(scope="module")
def imputer(gappy):
    return Imputer().fit(gappy)


def test_every_gap_is_filled_and_what_was_observed_is_not_touched(imputer, gappy):
    filled = imputer.transform(gappy)
    assert not filled.isna().any().any()
    known = gappy.notna()
    assert filled.where(known).equals(gappy.where(known))
    assert list(filled.index) == list(gappy.index)


def test_fills_are_values_that_columns_can_have(imputer, gappy):
    filled = imputer.transform(gappy)
    for name in ("heat", "pulse", "visits"):
        assert filled[name].between(gappy[name].min(), gappy[name].max()).all()
    for name in ("pulse", "visits"):
        assert (filled[name] % 1 == 0).all()
    assert set(filled["colour"]) == {"red", "pale", "rosy"}


def test_fills_are_nearer_than_means_and_modes(imputer, gappy, whole):
    filled, gaps = imputer.transform(gappy), gappy.isna()
    for name in ("heat", "pulse"):
        own = gaps[name]
        error = ((filled[name] - whole[name])[own] ** 2).mean()
        assert error < 0.5 * whole[name].var()
    own = gaps["cough"]
    assert (filled["cough"] == whole["cough"])[own].mean() > 0.7


def test_expectations_need_not_be_possible(gappy):
    filled = Imputer(possible=False).fit_transform(gappy)
    assert (filled["visits"] % 1 != 0).any()


def test_new_rows_are_filled_one_at_a_time_as_together(imputer):
    new = with_gaps(complete(30, 5), 0.3, 6)
    together = imputer.transform(new)
    for row in range(0, 30, 7):
        alone = imputer.transform(new.iloc[[row]])
        pd.testing.assert_frame_equal(alone, together.iloc[[row]])


def test_rows_in_another_order_are_filled_alike(imputer, gappy):
    order = np.random.default_rng(0).permutation(len(gappy))
    expected = imputer.transform(gappy).iloc[order]
    pd.testing.assert_frame_equal(imputer.transform(gappy.iloc[order]), expected)


def test_the_same_table_gives_the_same_fills(imputer, gappy):
    again = Imputer().fit(gappy)
    pd.testing.assert_frame_equal(again.transform(gappy), imputer.transform(gappy))


def test_a_pickled_imputer_fills_alike(imputer, gappy):
    again = pickle.loads(pickle.dumps(imputer))
    pd.testing.assert_frame_equal(again.transform(gappy), imputer.transform(gappy))


def test_a_table_without_gaps_comes_back_as_it_is(whole):
    pd.testing.assert_frame_equal(Imputer().fit_transform(whole), whole)


def test_a_category_that_the_fit_did_not_see_stays(imputer, gappy):
    new = gappy.head(3).copy()
    new.loc[new.index[0], "colour"] = "blue"
    with pytest.warns(UnseenCategoryWarning, match="colour"):
        filled = imputer.transform(new)
    assert filled["colour"].iloc[0] == "blue"
    assert not filled.isna().any().any()


def test_a_column_that_is_never_observed_is_named_and_keeps_its_gaps(gappy):
    table = gappy.assign(empty=np.nan)
    with pytest.warns(DroppedFeatureWarning, match="'empty' is never observed, so that gaps there"):
        filled = Imputer().fit_transform(table)
    assert filled["empty"].isna().all()
    assert not filled.drop(columns="empty").isna().any().any()


def test_a_constant_column_is_filled_with_its_value(gappy):
    table = gappy.assign(constant=np.where(np.arange(len(gappy)) % 3 == 0, np.nan, 7.0))
    assert (Imputer().fit_transform(table)["constant"] == 7).all()


def test_one_row_is_filled_as_far_as_it_tells():
    with pytest.warns(DroppedFeatureWarning, match="never observed"):
        filled = Imputer().fit_transform(np.array([[1.0, np.nan]]))
    assert filled[0, 0] == 1
    assert np.isnan(filled[0, 1])


def test_few_rows_are_filled_with_what_they_have():
    X = np.array([[1.0, 2.0], [3.0, np.nan], [np.nan, 6.0], [4.0, 5.0]])
    filled = Imputer().fit_transform(X)
    assert np.isfinite(filled).all()
    assert filled.min() >= 1
    assert filled.max() <= 6


def test_a_row_of_gaps_alone_gets_the_middle_of_the_table(imputer, gappy):
    nothing = gappy.head(1).map(lambda cell: None).astype(gappy.dtypes)
    filled = imputer.transform(nothing)
    assert abs(filled["heat"].iloc[0] - gappy["heat"].mean()) < 0.3


def test_spreads_are_zero_where_cells_are_known_and_as_wide_as_errors_elsewhere(gappy, whole):
    imputer = Imputer(possible=False).fit(gappy)
    filled, spread = imputer.transform(gappy, return_std=True)
    gaps = gappy.isna()
    assert (spread.where(~gaps).fillna(0) == 0).all().all()
    for name in ("heat", "pulse"):
        own = gaps[name]
        ratio = (filled[name] - whole[name])[own].std() / np.sqrt((spread[name][own] ** 2).mean())
        assert 0.7 < ratio < 1.4
    assert spread["cough"].between(0, 0.5).all()


def test_probabilities_sum_to_one_and_are_certain_where_cells_are_known(imputer, gappy):
    chances, categories = imputer.probabilities(gappy), imputer.categories_
    assert categories["cough"] == ["no", "yes"]
    assert set(chances) >= {"cough", "colour"}
    filled = imputer.transform(gappy)
    for name in ("cough", "colour"):
        np.testing.assert_allclose(chances[name].sum(axis=1), 1)
        known = gappy[name].notna()
        assert (chances[name][known].max(axis=1) == 1).all()
        likeliest = np.array(categories[name])[chances[name].argmax(axis=1)]
        assert (likeliest == filled[name]).all()


def test_polars_and_arrow_come_back_as_such(gappy):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    expected = Imputer().fit_transform(gappy)
    of_polars = Imputer().fit_transform(pl.from_pandas(gappy))
    assert isinstance(of_polars, pl.DataFrame)
    assert of_polars["colour"].to_list() == expected["colour"].to_list()
    of_arrow = Imputer().fit_transform(pa.Table.from_pandas(gappy, preserve_index=False))
    assert isinstance(of_arrow, pa.Table)
    np.testing.assert_allclose(of_arrow["heat"].to_numpy(), expected["heat"])


def test_files_and_batches_are_filled_as_tables_in_memory(gappy, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "table.csv"
    gappy.to_csv(path, index=False)
    expected = Imputer().fit_transform(gappy)
    of_file = Imputer().fit(path).transform(path).to_pandas()
    assert of_file["colour"].tolist() == expected["colour"].tolist()
    np.testing.assert_allclose(of_file["heat"], expected["heat"], rtol=1e-6)
    batches = [gappy.iloc[:150], gappy.iloc[150:]]
    of_batches = pd.concat(Imputer().fit(batches).transform(batches))
    assert of_batches["colour"].tolist() == expected["colour"].tolist()


def test_dask_learns_and_fills_what_memory_does(gappy):
    dask = pytest.importorskip("dask.dataframe")
    expected, collection = Imputer().fit(gappy), dask.from_pandas(gappy, npartitions=3)
    imputer = Imputer().fit(collection)
    found = imputer.transform(collection).compute()
    pd.testing.assert_frame_equal(
        found, expected.transform(gappy), check_dtype=False, rtol=1e-9, atol=1e-9
    )


def test_only_some_rows_of_a_long_table_are_learned_from(gappy, monkeypatch):
    monkeypatch.setattr(fitting, "MOST_CELLS", 0)
    monkeypatch.setattr(fitting, "FEWEST_MOST", 100)
    imputer = Imputer().fit(gappy)
    assert imputer.learned_.imputation.normals.held_out.shape[1] == 100
    assert imputer.transform(gappy).notna().all(axis=None)


def test_fills_have_no_more_decimals_than_a_column_has(gappy):
    rounded = gappy.round({"heat": 1})
    filled = Imputer().fit_transform(rounded)["heat"]
    assert (filled.round(1) == filled).all()
    raw = Imputer(possible=False).fit_transform(rounded)["heat"][gappy["heat"].isna()]
    assert (raw.round(1) != raw).all()


def test_ratings_get_a_median_or_a_mean_and_their_standard_deviation():
    rng = np.random.default_rng(0)
    mood = rng.integers(1, 6, size=600)
    table = np.column_stack([mood, np.clip(mood + rng.integers(-1, 2, size=600), 1, 5)]) * 1.0
    table[::5, 0] = np.nan
    kinds = {0: "ordinal", 1: "ordinal"}
    filled, spread = Imputer(kinds).fit(table).transform(table, return_std=True)
    mean = Imputer(kinds, possible=False).fit_transform(table)
    chances = Imputer(kinds).fit(table).probabilities(table)["0"][::5]
    levels = np.arange(1.0, 6)
    np.testing.assert_allclose(mean[::5, 0], chances @ levels, rtol=1e-5)
    np.testing.assert_allclose(
        spread[::5, 0] ** 2, chances @ levels**2 - (chances @ levels) ** 2, rtol=1e-4
    )
    for row, level in zip(chances, filled[::5, 0], strict=True):
        assert row[levels < level].sum() < 0.5 <= row[levels <= level].sum() + 1e-6


def test_what_the_others_tell_of_a_column_is_from_nothing_to_all():
    rng = np.random.default_rng(0)
    x, noise, error = rng.normal(size=(3, 500))
    word = np.where(x > 0, "high", "low")
    table = pd.DataFrame({"x": x, "twice": 2 * x + 1e-3 * error, "noise": noise, "word": word})
    told = dict(zip(table, Imputer().fit(table).learned_.explained, strict=True))
    assert told["twice"] > 0.99
    assert told["word"] > 0.5
    assert told["noise"] < 0.05


def test_arrays_of_objects_and_of_single_precision_keep_their_types(gappy):
    filled = Imputer().fit_transform(gappy.to_numpy(dtype=object))
    assert filled.dtype == object
    assert not pd.isna(filled).any()
    numbers = gappy[["heat", "pulse"]].to_numpy(dtype=np.float32)
    assert Imputer().fit_transform(numbers).dtype == np.float32


def test_kinds_can_be_declared(gappy):
    imputer = Imputer({"visits": "categorical", "heat": "ignored"}).fit(gappy)
    assert "visits" in imputer.categories_
    assert imputer.transform(gappy)["heat"].isna().sum() == gappy["heat"].isna().sum()


def test_a_fit_without_time_is_of_one_class_and_fills_still():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)) @ rng.normal(size=(5, 5))
    X[rng.random(X.shape) < 0.1] = np.nan
    imputer = Imputer(max_seconds=1e-9).fit(X)
    assert np.isfinite(imputer.transform(X)).all()
    imputation = imputer.learned_.imputation
    assert len(imputation.ensemble.mixtures) == 1
    assert imputation.regressions == imputation.normals.normals == ()


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"max_seconds": 0}, "'max_seconds' parameter of Imputer must be a number above 0, or"),
        ({"add_indicator": 1}, "'add_indicator' parameter of Imputer must be True or False. Got 1"),
        ({"draws": 0}, "'draws' parameter of Imputer must be an int of at least 1, or None. Got 0"),
        ({"random_state": -1}, "'random_state' parameter of Imputer must be an int from 0"),
        ({"n_jobs": 0}, "'n_jobs' parameter of Imputer must be an int other than 0"),
        ({"kinds": "all"}, "'kinds' parameter must be 'auto' or a dict"),
    ],
)
def test_parameters_that_cannot_be_right_are_refused(gappy, parameters, text):
    with pytest.raises(ValueError, match=text):
        Imputer(**parameters).fit(gappy)


def test_rows_without_gaps_come_back_with_columns_that_are_not_used():
    X = [[4.0, 7.0, 1.0], [1.0, 8.0, 0.0], [3.0, 9.0, 1.0]]
    filled = Imputer(kinds={1: "identifier"}).fit(X).transform(X)
    np.testing.assert_array_equal(filled, X)


def test_a_table_without_columns_is_refused():
    with pytest.raises(DataError, match="The table has no columns, so there is nothing to fill"):
        Imputer().fit([np.empty((2, 0)), np.empty((3, 0))])
