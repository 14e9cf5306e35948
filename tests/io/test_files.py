"""Tables in files give the sums of the same tables in memory, whatever their format."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from halfseen.data.engines.batched import all_columns
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.io.columns import unused_messages
from halfseen.io.files import Files
from halfseen.io.formats import FORMATS
from halfseen.io.open_files import open_files
from halfseen.moments.second_moment import PairSums
from halfseen.moments.third_moment import ThirdSums

NAMES = ("age", "pulse", "lactate")
every_format = pytest.mark.parametrize("ending", FORMATS)


def rows_of(path, **options):
    return all_columns(open_files(Files(path, **options)))


def table_of(rows):
    """All rows as one array, gaps as NaN; lists add by concatenation."""
    parts = rows.accumulate(lambda block: [np.where(block.observed, block.values, np.nan)])
    return np.concatenate(parts)


@every_format
@pytest.mark.parametrize("n_files", [1, 3])
@pytest.mark.parametrize("memory", [0.0001, 0.05, 256])
@pytest.mark.parametrize("threads", [1, 2])
def test_sums_are_those_of_the_table_in_memory(
    frame, write, ending, n_files, memory, threads, tmp_path
):
    for part, rows in enumerate(np.array_split(np.arange(500), n_files)):
        write(frame.iloc[rows], tmp_path / f"part-{part}{ending}")
    told = []
    on_disk = all_columns(open_files(Files(tmp_path)), threads, told.append, memory)
    in_memory = MemoryRows(frame.to_numpy(), NAMES)
    for summarise in (FeatureSums.of, PairSums.about(np.ones(3)), ThirdSums.about(np.ones(3))):
        expected = in_memory.accumulate(summarise)
        found = on_disk.accumulate(summarise)
        for name in ("count", "total"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9)
    assert sum(told) == 3 * 500
    assert max(told) <= max(memory * 1e6 / 48 / 3 / (threads + 2), 1)


@every_format
def test_rows_come_in_order_with_the_names_of_columns(frame, write, ending, tmp_path):
    for part, rows in enumerate(np.array_split(np.arange(500), 3)):
        write(frame.iloc[rows], tmp_path / f"part-{part}{ending}")
    rows = rows_of(tmp_path, memory=0.01)
    assert rows.names == (("0", "1", "2") if ending in (".npy", ".npz") else NAMES)
    np.testing.assert_array_equal(table_of(rows), frame)
    starts = rows.accumulate(lambda block: [(block.start, len(block.values))])
    assert [start for start, _ in starts] == list(np.cumsum([0, *(n for _, n in starts)])[:-1])


@every_format
def test_columns_are_chosen_in_the_order_asked_for(frame, write, ending, tmp_path):
    path = tmp_path / f"t{ending}"
    write(frame, path)
    numbered = ending in (".npy", ".npz")
    rows = rows_of(path, columns=[2, 0] if numbered else ["lactate", "age"], memory=0.01)
    assert rows.names == (("2", "0") if numbered else ("lactate", "age"))
    np.testing.assert_array_equal(table_of(rows), frame[["lactate", "age"]])


@every_format
def test_columns_are_selected_and_measured_from_an_origin(frame, write, ending, tmp_path):
    write(frame, tmp_path / f"t{ending}")
    rows = rows_of(tmp_path)
    one = rows.recentred(np.array([1.0, 2.0, 3.0])).select(np.array([False, True, True]))
    assert one.names == rows.names[1:]
    sums = one.recentred(np.array([0.5, 0.5])).accumulate(FeatureSums.of)
    expected = frame[["pulse", "lactate"]].mean().to_numpy() - [2.5, 3.5]
    np.testing.assert_allclose(sums.mean, expected)


@pytest.mark.parametrize("ending", [e for e in FORMATS if not e.startswith(".np")])
def test_columns_of_a_folder_are_matched_by_name(frame, write, ending, tmp_path):
    write(frame, tmp_path / f"a{ending}")
    write(frame[["lactate", "age", "pulse"]], tmp_path / f"b{ending}")
    rows = rows_of(tmp_path)
    assert rows.names == NAMES
    np.testing.assert_array_equal(table_of(rows), pd.concat([frame, frame]))


@every_format
def test_a_table_of_no_rows_is_neutral(frame, write, ending, tmp_path):
    write(frame[:0], tmp_path / f"t{ending}")
    sums = rows_of(tmp_path).accumulate(FeatureSums.of)
    assert sums.n_rows == 0
    assert sums.count.shape == (3,)


@every_format
def test_integers_are_numbers_of_any_size(ending, write, tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 2**62], "b": [0, -1, 5]})
    write(frame, tmp_path / f"t{ending}")
    np.testing.assert_array_equal(table_of(rows_of(tmp_path)), frame.astype(float))


@every_format
def test_booleans_are_numbers(ending, write, tmp_path):
    frame = pd.DataFrame({"a": [True, False, True], "b": [False, False, True]})
    write(frame, tmp_path / f"t{ending}")
    np.testing.assert_array_equal(table_of(rows_of(tmp_path)), frame.astype(float))


@pytest.mark.parametrize("ending", [e for e in FORMATS if not e.startswith(".np")])
def test_nulls_of_any_type_are_gaps(ending, write, tmp_path):
    frame = pd.DataFrame({"a": [1, None, 3], "b": [True, None, False], "c": [None] * 3})
    frame = frame.astype({"a": "Int64", "b": "boolean", "c": "Float64"})
    write(frame, tmp_path / f"t{ending}")
    expected = [[1, 1, np.nan], [np.nan, np.nan, np.nan], [3, 0, np.nan]]
    np.testing.assert_array_equal(table_of(rows_of(tmp_path)), expected)


def test_a_whole_folder_is_read_but_for_hidden_files_and_other_endings(frame, write, tmp_path):
    write(frame, tmp_path / "b.PARQUET")
    write(frame[:10], tmp_path / "a.parquet")
    (tmp_path / "_SUCCESS.parquet").write_text("")
    (tmp_path / ".part.parquet").write_text("")
    (tmp_path / "README.txt").write_text("about")
    source = open_files(Files(tmp_path))
    assert [file.path.name for file in source.files] == ["a.parquet", "b.PARQUET"]


def test_a_file_may_have_a_name_that_would_be_hidden_in_a_folder(frame, write, tmp_path):
    write(frame, tmp_path / "_t.csv")
    assert len(table_of(rows_of(tmp_path / "_t.csv"))) == 500


def test_files_that_are_not_there_are_named(tmp_path):
    with pytest.raises(DataError, match="nothing does not exist"):
        open_files(Files(tmp_path / "nothing"))
    with pytest.raises(DataError, match=r"holds no file that ends in \.parquet, \.arrow"):
        open_files(Files(tmp_path))


def test_a_folder_of_several_kinds_of_files_is_refused(frame, write, tmp_path):
    write(frame, tmp_path / "t.parquet")
    write(frame, tmp_path / "t.csv")
    with pytest.raises(DataError, match=r"files of several kinds \(\.csv, \.parquet\)\. Keep"):
        open_files(Files(tmp_path))


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_columns_of_text_and_dates_are_left_aside_unless_asked_for(frame, write, ending, tmp_path):
    dated = frame.assign(sex="f", day=pd.Timestamp("2024-01-01"))
    write(dated, tmp_path / f"a{ending}")
    np.testing.assert_array_equal(table_of(rows_of(tmp_path)), frame)
    assert unused_messages(open_files(Files(tmp_path)).columns) == [
        "Column 'sex' was ignored: it holds text.",
        "Column 'day' was ignored: it holds dates or times.",
    ]
    message = (
        r"Columns 'sex' and 'day' of a\.\w+ cannot be read as numbers: of 'sex', it holds text"
    )
    with pytest.raises(DataError, match=message):
        open_files(Files(tmp_path, columns=["sex", "age", "day"]))
    np.testing.assert_array_equal(table_of(rows_of(tmp_path, columns=NAMES)), frame)


def test_files_of_a_folder_need_the_same_columns(frame, write, tmp_path):
    write(frame, tmp_path / "a.parquet")
    write(frame[["age", "pulse"]], tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet has no column 'lactate'\. It has 'age' and"):
        open_files(Files(tmp_path))
    write(frame.assign(crp=1.0), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet has other columns than a\.parquet: 'crp'\."):
        open_files(Files(tmp_path))
    assert len(table_of(rows_of(tmp_path, columns=["age"]))) == 1000


@every_format
def test_unknown_columns_are_named(frame, write, ending, tmp_path):
    write(frame, tmp_path / f"t{ending}")
    with pytest.raises(DataError, match=r"has no column 'bmi' and 'crp'\. It has '(age|0)', "):
        open_files(Files(tmp_path, columns=["bmi", "crp"]))


def test_a_choice_of_columns_is_checked(frame, write, tmp_path):
    write(frame, tmp_path / "t.csv")
    with pytest.raises(ValueError, match=r"list of names\. Got 'age' instead: write \['age'\]"):
        open_files(Files(tmp_path, columns="age"))
    with pytest.raises(ValueError, match=r"The 'columns' of Files name 'age' twice"):
        open_files(Files(tmp_path, columns=["age", "pulse", "age"]))
    with pytest.raises(DataError, match=r"t\.csv has no columns to learn from"):
        open_files(Files(tmp_path, columns=[]))


@pytest.mark.parametrize("memory", [0, -1, float("nan")])
def test_memory_is_above_zero(frame, write, memory, tmp_path):
    write(frame, tmp_path / "t.csv")
    with pytest.raises(ValueError, match="The 'memory' of Files must be a number of MB above zero"):
        open_files(Files(tmp_path, memory=memory))


def test_columns_of_the_same_name_are_refused_unless_left_out(tmp_path):
    columns = [pa.array([1.0]), pa.array([2.0]), pa.array([3.0])]
    pa.parquet.write_table(pa.Table.from_arrays(columns, ["a", "b", "b"]), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"t\.parquet has several columns named 'b'"):
        open_files(Files(tmp_path))
    np.testing.assert_array_equal(table_of(rows_of(tmp_path, columns=["a"])), [[1.0]])


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_an_index_that_pandas_stored_is_no_feature_unless_asked_for(frame, write, ending, tmp_path):
    patients = np.arange(500) ** 2
    write(frame.set_index(pd.Index(patients, name="patient")), tmp_path / f"t{ending}")
    assert rows_of(tmp_path).names == NAMES
    chosen = rows_of(tmp_path, columns=["patient", "age"])
    np.testing.assert_array_equal(table_of(chosen)[:, 0], patients)


# What goes wrong after the files were opened.


@every_format
def test_a_file_that_changed_between_passes_is_noticed(frame, write, ending, tmp_path):
    for name in "ab":
        write(frame, tmp_path / f"{name}{ending}")
    rows = rows_of(tmp_path)
    rows.accumulate(FeatureSums.of)
    write(frame[:100], tmp_path / f"b{ending}")
    with pytest.raises(DataError, match=rf"b{ending} changed while it was being read\. Fit again"):
        rows.accumulate(FeatureSums.of)


@every_format
@pytest.mark.parametrize("n_bytes", [0, 700], ids=["emptied", "cut short"])
def test_a_file_that_changes_during_a_pass_is_noticed(frame, write, ending, n_bytes, tmp_path):
    path = tmp_path / f"t{ending}"
    write(frame, path)
    rows = rows_of(path, memory=0.01)

    def cut(block):
        os.truncate(path, n_bytes)
        return FeatureSums.of(block)

    with pytest.raises(DataError, match=rf"t{ending} changed while it was being read"):
        rows.accumulate(cut)


@every_format
def test_a_file_that_is_touched_during_a_pass_is_noticed(frame, write, ending, tmp_path):
    path = tmp_path / f"t{ending}"
    write(frame, path)

    def touched(block):
        os.utime(path, ns=(0, 0))
        return FeatureSums.of(block)

    with pytest.raises(DataError, match=rf"t{ending} changed while it was being read"):
        rows_of(path).accumulate(touched)


def test_a_file_that_is_gone_is_named(frame, write, tmp_path):
    write(frame, tmp_path / "t.csv")
    rows = rows_of(tmp_path)
    (tmp_path / "t.csv").unlink()
    with pytest.raises(DataError, match=r"t\.csv is no longer there"):
        rows.accumulate(FeatureSums.of)


def test_files_that_are_added_during_a_fit_are_not_part_of_it(frame, write, tmp_path):
    write(frame, tmp_path / "a.csv")
    rows = rows_of(tmp_path)
    write(frame, tmp_path / "b.csv")
    assert len(table_of(rows)) == 500
