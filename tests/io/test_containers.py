"""Tables come back in the container they came in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from halfseen import GaussianMixture, LatentClass
from halfseen.data.errors import DataError
from halfseen.io.containers import as_float_columns, fill_like, table_like
from halfseen.io.files import Files
from halfseen.io.validation import column_names, reorder_like

TABLE = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, np.nan]])
VALUES = np.array([[9.0, 4.5], [9.0, 9.0], [9.0, 6.5]])
FILLED = np.array([[1.0, 4.5], [2.0, 5.0], [3.0, 6.5]])
FRAMES = {
    "pandas": pd.DataFrame(TABLE, columns=["a", "b"], index=[7, 3, 5]),
    "pandas, numbers for names": pd.DataFrame(TABLE),
    "pandas Int64": pd.DataFrame(TABLE, columns=["a", "b"]).astype("Int64"),
    "pandas objects": pd.DataFrame({"a": [1, 2, 3], "b": [None, 5, None]}, dtype=object),
    "polars": pl.DataFrame(TABLE, schema=["a", "b"]).fill_nan(None),
    "polars NaN": pl.DataFrame(TABLE, schema=["a", "b"]),
    "polars Int8": pl.DataFrame(TABLE, schema=["a", "b"]).fill_nan(None).cast(pl.Int8),
    "Arrow": pa.table({"a": [1, 2, 3], "b": [None, 5, None]}),
}
every_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


def numbers(frame):
    return np.column_stack([np.asarray(frame[name], float) for name in column_names(frame)])


@every_frame
def test_gaps_are_filled_and_the_container_stays(frame):
    filled = fill_like(frame, TABLE, VALUES)
    assert type(filled) is type(frame)
    assert column_names(filled) == column_names(frame)
    np.testing.assert_array_equal(numbers(filled), FILLED)


@every_frame
def test_whole_numbers_keep_columns_of_integers(frame):
    whole = fill_like(frame, TABLE, np.round(VALUES))
    for name in column_names(frame):
        before, after = frame[name], whole[name]
        kind = "type" if isinstance(before, pa.ChunkedArray) else "dtype"
        if str(getattr(before, kind)) != "object":
            assert getattr(after, kind) == getattr(before, kind)


@every_frame
def test_other_values_get_the_names_and_the_rows_of_the_frame(frame):
    like = table_like(frame, VALUES)
    assert type(like) is type(frame)
    np.testing.assert_array_equal(numbers(like), VALUES)
    if isinstance(frame, pd.DataFrame):
        assert like.index.equals(frame.index)


def test_integers_too_large_for_floats_stay_to_the_digit():
    large = 2**62 + 1
    frame = pd.DataFrame({"a": pd.array([large, None], dtype="Int64")})
    filled = fill_like(frame, np.array([[float(large)], [np.nan]]), np.array([[0.0], [4.0]]))
    assert filled["a"].tolist() == [large, 4]


def test_arrays_are_taken_as_they_are():
    np.testing.assert_array_equal(fill_like(TABLE, TABLE, VALUES), FILLED)
    np.testing.assert_array_equal(table_like(TABLE, VALUES), VALUES)


def test_columns_that_can_have_gaps_may_hold_fractions():
    frame = pd.DataFrame({"a": pd.array([1], "Int64"), "b": [1], "c": pd.array([1.0], "Float32")})
    types = as_float_columns(frame).dtypes
    assert list(map(str, types)) == ["Float64", "int64", "Float32"]


def test_what_is_no_frame_has_no_names_of_columns():
    for other in (TABLE, [[1.0]], Files("it.csv", columns=["a"]), None):
        assert column_names(other) == []


@every_frame
def test_columns_are_put_in_the_order_of_another_frame(frame):
    names = column_names(frame)
    turned = reorder_like(in_order_of_names(frame, names[::-1]), frame)
    assert column_names(turned) == names[::-1]


def in_order_of_names(frame, names):
    return frame.select(names) if not isinstance(frame, pd.DataFrame) else frame[names]


def test_columns_of_one_name_are_refused():
    twice = pd.DataFrame(TABLE, columns=["a", "a"])
    assert column_names(twice) == ["a", "a"]
    with pytest.raises(DataError, match="several columns of the same name"):
        fill_like(twice, TABLE, VALUES)


def test_truths_among_numbers_are_numbers_in_every_container():
    cells = [[False, True], [-3.9, None], [-5.8, False], [True, True], [2.0, False], [3.5, True]]
    listed = GaussianMixture(1, outliers=None).fit([row[:1] for row in cells])
    as_cells = LatentClass(1, outliers=None, random_state=0).fit(np.array(cells, dtype=object))
    assert as_cells.coding_.kinds == ("number", "binary")  # truths alone stay what they are
    assert as_cells.means_[0, 0] == pytest.approx(listed.means_[0, 0], rel=1e-12)
