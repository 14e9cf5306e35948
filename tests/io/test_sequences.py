"""Tables whose rows follow each other, whatever holds them and in whatever order."""

import numpy as np
import pandas as pd
import pytest

from halfseen.data.errors import DataError
from halfseen.io.sequences import Keys, Sequenced
from halfseen.io.sequences import arrange as arranged
from halfseen.io.source import InSequences

LABEL = np.array(["b", "a", "b", "a", "b"])
ORDER = np.array([3.0, 1.0, 1.0, 2.0, 2.0])


def arrange(label=LABEL, order=ORDER, step=None, n=5):
    return arranged(Sequenced(None, step=step), Keys(label, order), n)


def test_rows_are_put_in_order_and_known_by_where_they_were():
    found = arrange()
    np.testing.assert_array_equal(found.lengths, [3, 2])  # as they first appear
    np.testing.assert_array_equal(found.place, [2, 3, 0, 4, 1])
    table = found.table(np.arange(5.0)[:, None])
    np.testing.assert_array_equal(table[:, 0], [2, 4, 0, 1, 3])
    np.testing.assert_array_equal(table[found.place, 0], np.arange(5))


def test_rows_that_are_in_order_stay_where_they_are():
    found = arrange(np.array(["x", "x", "y"]), np.array([1, 2, 1]), n=3)
    assert found.place is None
    np.testing.assert_array_equal(found.lengths, [2, 1])


def test_rows_between_are_missing_on_a_grid():
    found = arrange(np.array([1, 1, 2, 2]), np.array([0.0, 3.0, 10.0, 11.0]), step=1.0, n=4)
    np.testing.assert_array_equal(found.lengths, [4, 2])
    np.testing.assert_array_equal(found.place, [0, 3, 4, 5])
    assert np.isnan(found.table(np.ones((4, 2)))[1:3]).all()


def test_dates_are_counted_in_days():
    dates = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-04"]).to_numpy()
    found = arrange(np.zeros(3), dates, step=1, n=3)
    np.testing.assert_array_equal(found.place, [0, 1, 3])


def test_steps_that_are_not_alike_are_refused_with_the_remedy():
    with pytest.raises(DataError, match=r"not alike: mostly 1, but from 1 to 3. Give step=1"):
        arrange(np.zeros(4), np.array([0.0, 1.0, 2.0, 5.0]), n=4)


@pytest.mark.parametrize(
    ("label", "order", "step", "words"),
    [
        ([1, 1], [2.0, 2.0], None, "same order, such as row 0"),
        ([1, 1], [0.0, 0.4], 1.0, "same place.*smaller step"),
        ([1, 1], [0.0, 1e6], 1.0, "larger step"),
        ([1, 1], [0.0, np.nan], None, "1 rows do not say where in their sequence"),
        ([1, 1], ["one", "two"], None, "neither numbers nor dates"),
        (np.array(["a", None], dtype=object), [0.0, 1.0], None, "1 rows do not say which"),
    ],
)
def test_rows_that_do_not_say_where_they_belong_are_refused(label, order, step, words):
    with pytest.raises(DataError, match=words):
        arrange(np.asarray(label), np.asarray(order), step, 2)


@pytest.mark.parametrize(
    ("keys", "more", "words"),
    [
        (Keys(None, None), {"lengths": [3]}, r"sum to the 2 rows of X. Got 3"),
        (Keys(None, None), {"lengths": [2.0]}, "whole numbers above 0"),
        (Keys(np.zeros(2), None), {"lengths": [2]}, "not both"),
        (Keys(np.zeros(3), None), {}, "label for each of the 2 rows"),
        (Keys(None, np.zeros(3)), {}, "number for each of the 2 rows"),
        (Keys(np.zeros(2), None), {"step": 1.0}, "Give order= too"),
        (Keys(None, np.arange(2)), {"step": -1}, "step must be a number above 0"),
    ],
)
def test_what_is_said_of_rows_must_fit_them(keys, more, words):
    with pytest.raises(ValueError, match=words):
        arranged(Sequenced(None, **more), keys, 2)


def test_without_a_word_all_rows_are_one_sequence():
    np.testing.assert_array_equal(arrange(None, None).lengths, [5])


def test_rows_without_neighbours_come_last():
    found = arranged(Sequenced(None), Keys(LABEL, ORDER), 7, n_single=2)
    np.testing.assert_array_equal(found.lengths, [3, 2, 1, 1])
    np.testing.assert_array_equal(found.place[-2:], [5, 6])


def frame():
    return pd.DataFrame({"who": LABEL, "x": np.arange(5.0), "when": ORDER})


@pytest.mark.parametrize("kind", ["pandas", "arrow", "batches", "csv", "parquet", "dask"])
def test_keys_are_read_from_every_container_and_are_no_features(kind, tmp_path):
    import pyarrow as pa

    X = frame()
    if kind == "arrow":
        X = pa.Table.from_pandas(X)
    if kind == "batches":
        X = [frame()[:2], frame()[2:]]
    if kind in ("csv", "parquet"):
        path = tmp_path / f"table.{kind}"
        getattr(X, f"to_{kind}")(path, index=False)
        X = path
    if kind == "dask":
        import dask.dataframe

        X = dask.dataframe.from_pandas(X, npartitions=2)
    given = Sequenced(X, sequence="who", order="when")
    keys = InSequences(given).keys
    assert keys.label.tolist() == LABEL.tolist()
    assert keys.order.tolist() == ORDER.tolist()
    left = InSequences(given).bare()
    if kind == "pandas":
        assert list(left.columns) == ["x"]
    if kind == "csv":
        assert set(left.drop) == {"who", "when"}


def test_columns_that_are_not_there_are_named():
    with pytest.raises(DataError, match="no column 'patient'"):
        InSequences(Sequenced(frame(), sequence="patient")).bare()
    with pytest.raises(ValueError, match="cannot be a column of an array"):
        InSequences(Sequenced(np.zeros((2, 2)), sequence="patient")).bare()


def test_the_step_that_is_suggested_keeps_rows_apart():
    order = np.array([0.0, 100.0, 200.0, 300.0, 0.0, 40.0, 140.0])
    who = np.repeat(["a", "b"], [4, 3])
    given = Sequenced(np.zeros((7, 1)), sequence=who, order=order)
    with pytest.raises(
        DataError, match=r"mostly 100, but from 40 to 100. Give step=50, or another"
    ):
        arranged(given, InSequences(given).keys, 7)
    coarse = Sequenced(np.zeros((7, 1)), sequence=who, order=order, step=100)
    with pytest.raises(DataError, match=r"or use a smaller step, such as 50\."):
        arranged(coarse, InSequences(coarse).keys, 7)
    fine = Sequenced(np.zeros((7, 1)), sequence=who, order=order, step=50)
    np.testing.assert_array_equal(arranged(fine, InSequences(fine).keys, 7).lengths, [7, 4])
