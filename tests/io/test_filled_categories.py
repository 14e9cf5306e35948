"""Columns of words come back as words, in the type that they had."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from halfseen.io.coded_tables import encode_new_table
from halfseen.io.coding import Coding
from halfseen.io.containers import fill_like
from tests.io.mixed_tables import Reader

WORDS = ["red", None, "Ada", "blue"]  # the third is none that the fit saw
COLUMNS = {
    "pandas str": pd.Series(WORDS),
    "pandas object": pd.Series(WORDS, dtype=object),
    "pandas string": pd.Series(WORDS, dtype="string"),
    "pandas category": pd.Series(WORDS, dtype="category"),
    "pandas ordered": pd.Series(pd.Categorical(WORDS, ["red", "blue", "Ada"], ordered=True)),
    "pandas Arrow": pd.Series(WORDS, dtype=pd.ArrowDtype(pa.string())),
    "polars String": pl.Series(WORDS),
    "polars Categorical": pl.Series(WORDS, dtype=pl.Categorical),
    "polars Enum": pl.Series(WORDS, dtype=pl.Enum(["red", "blue", "Ada"])),
    "Arrow string": pa.chunked_array([WORDS[:2], WORDS[2:]]),
    "Arrow large string": pa.chunked_array([WORDS], pa.large_string()),
    "Arrow dictionary": pa.chunked_array([WORDS]).dictionary_encode(),
}
CODING = Coding(("w", "x"), ("categorical", "number"), (("blue", "green", "red"), ()), ("", ""))
VALUES = np.array([[0.0, 9.0], [1.2, 9.0], [2.0, 9.0], [2.0, 9.0]])


def frame_of(column, **more):
    if isinstance(column, pd.Series):
        return pd.DataFrame({"w": column, **more})
    if isinstance(column, pl.Series):
        return pl.DataFrame({"w": column, **more})
    return pa.table({"w": column, **more})


def filled(X, coding=CODING, values=VALUES):
    reader = Reader()
    reader.coding_, reader.n_features_in_ = coding, len(coding.names)
    if not isinstance(X, np.ndarray | list):
        reader.feature_names_in_ = np.array(coding.names, dtype=object)
    table, unseen = encode_new_table(reader, X)
    return fill_like(X, table, values, coding, unseen)


def cells(column):
    return column.to_pylist() if isinstance(column, pa.ChunkedArray) else list(column)


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_gaps_become_words_and_what_was_observed_stays(column):
    X = frame_of(column, x=[1.0, None, 3.0, 4.0])
    done = filled(X)
    assert type(done) is type(X)
    assert cells(done["w"]) == ["red", "green", "Ada", "blue"]
    assert cells(done["x"]) == [1.0, 9.0, 3.0, 4.0]
    before, after = X["w"], done["w"]
    if isinstance(before, pa.ChunkedArray):
        assert after.type == before.type
    elif "category" in str(before.dtype):
        assert list(after.dtype.categories) == [*before.dtype.categories, "green"]
        assert after.dtype.ordered == before.dtype.ordered
    elif isinstance(before.dtype, pl.Enum):
        assert after.dtype == pl.Enum(["red", "blue", "Ada", "green"])
    else:
        assert after.dtype == before.dtype


TRUTHS = [True, None, False, True]
TRUTH_COLUMNS = {
    "pandas object": pd.Series(TRUTHS, dtype=object),
    "pandas boolean": pd.Series(TRUTHS, dtype="boolean"),
    "polars": pl.Series(TRUTHS),
    "Arrow": pa.chunked_array([TRUTHS]),
    "only gaps": pl.Series([None, None, None, None], dtype=pl.Boolean),
}


@pytest.mark.parametrize("column", TRUTH_COLUMNS.values(), ids=TRUTH_COLUMNS)
def test_truths_are_filled_with_truths(column):
    coding = Coding(("w",), ("binary",), (("False", "True"),), ("",))
    done = filled(frame_of(column), coding, np.full((4, 1), 0.8))["w"]
    known = cells(column)
    assert cells(done) == [True if cell is None or cell is pd.NA else cell for cell in known]
    assert str(getattr(done, "dtype", None)) == str(getattr(column, "dtype", None))


@pytest.mark.parametrize(
    "words",
    [
        ["TRUE", None, "FALSE"],
        ["true", None, "false"],
        ["1", None, "false"],
        [1, None, 0],
        [1.0, None, False],
    ],
)
def test_truths_are_filled_as_the_column_writes_them(words):
    coding = Coding(("w",), ("binary",), (("False", "True"),), ("",))
    for X in (pd.DataFrame({"w": words}, dtype=object), np.array([words], dtype=object).T):
        done = np.asarray(filled(X, coding, np.ones((3, 1))))
        assert done[:, 0].tolist() == [words[0], words[0], words[2]]
        assert list(map(type, done[:, 0])) == [type(words[0]), type(words[0]), type(words[2])]


def test_words_are_filled_beside_numbers_that_the_fit_did_not_see():
    coding = Coding(("w",), ("binary",), (("no", "yes"),), ("",))
    done = filled(np.array([[5.0], [None]], dtype=object), coding, np.ones((2, 1)))
    assert done.tolist() == [[5.0], ["yes"]]
    truths = Coding(("w",), ("binary",), (("False", "True"),), ("",))
    done = filled(np.array([[5.0], [None]], dtype=object), truths, np.ones((2, 1)))
    assert done.tolist() == [[5.0], ["True"]]


def test_other_words_find_no_room_among_truths():
    coding = Coding(("w",), ("binary",), (("no", "yes"),), ("",))
    for X in (pl.DataFrame({"w": [True, None]}), pa.table({"w": [True, None]})):
        assert cells(filled(X, coding, np.ones((2, 1)))["w"]) == [True, None]


def test_categories_that_are_numbers_stay_numbers():
    coding = Coding(("w",), ("categorical",), (("1", "2", "10"),), ("",))
    floors = pd.DataFrame({"w": pd.Categorical([1, None, 10], [1, 2, 10])})
    done = filled(floors, coding, np.ones((3, 1)))
    assert list(done["w"]) == [1, 2, 10]
    assert done["w"].dtype == floors["w"].dtype
    numbers = filled(pd.DataFrame({"w": [1.0, np.nan, 10.0]}), coding, np.ones((3, 1)))
    assert list(numbers["w"]) == [1.0, 2.0, 10.0]


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"w": [np.nan, np.nan]}),
        pd.DataFrame({"w": [None, None]}),
        pl.DataFrame({"w": [None, None]}),
        pa.table({"w": pa.nulls(2)}),
        np.array([[None], [None]], dtype=object),
    ],
    ids=["pandas floats", "pandas objects", "polars", "Arrow", "array"],
)
def test_columns_of_gaps_only_are_filled_with_words(X):
    coding = Coding(("w",), ("binary",), (("no", "yes"),), ("",))
    done = filled(X, coding, np.array([[0.0], [1.0]]))
    column = done[:, 0] if isinstance(X, np.ndarray) else done["w"]
    assert cells(column) == ["no", "yes"]


def test_words_for_gaps_are_filled_and_numbers_in_text_become_numbers():
    frame = pd.DataFrame({"w": ["red", "NA", " ", "blue"], "x": ["1,200", "?", "3", "4"]})
    done = filled(frame)
    assert list(done["w"]) == ["red", "green", "red", "blue"]
    assert list(done["x"]) == [1200.0, 9.0, 3.0, 4.0]


def test_arrays_of_objects_stay_arrays_of_objects():
    X = np.array([["red", 1.0], [None, np.nan], ["Ada", 3], ["blue", 4]], dtype=object)
    done = filled(X)
    assert done.dtype == object
    assert done.tolist() == [["red", 1.0], ["green", 9.0], ["Ada", 3], ["blue", 4]]
    assert filled(X.tolist()).tolist() == done.tolist()
    assert X[1, 0] is None  # as it was


def test_columns_that_are_not_used_stay_as_they_are():
    coding = Coding(("w", "x"), ("ignored", "ignored"), ((), ()), ("", ""))
    frame = pd.DataFrame({"w": ["a", None], "x": [1.0, np.nan]})
    pd.testing.assert_frame_equal(filled(frame, coding, np.full((2, 2), np.nan)), frame)
    X = np.array([[1.0, 2.0], [np.nan, 3.0]])
    left = Coding(("0", "1"), ("ignored", "number"), ((), ()), ("", ""))
    np.testing.assert_array_equal(filled(X, left, np.full((2, 2), 7.0)), X)


def test_a_gap_that_nothing_is_known_of_stays_a_gap():
    frame = pd.DataFrame({"w": ["red", None], "x": [1.0, 2.0]})
    done = filled(frame, values=np.full((2, 2), np.nan))
    assert done["w"].isna().tolist() == [False, True]
