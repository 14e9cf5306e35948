"""What is particular to a format."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse

from halfseen.data.engines.batched import all_columns
from halfseen.data.errors import DataError
from halfseen.io.files import Files
from halfseen.io.open_files import open_files


def table_of(path, **options):
    """All rows as one array, gaps as NaN; lists add by concatenation."""
    rows = all_columns(open_files(Files(path, **options)))
    return np.concatenate(
        rows.accumulate(lambda block: [np.where(block.observed, block.values, np.nan)])
    )


@pytest.mark.parametrize("size", [1, 7, 100, 1000])
@pytest.mark.parametrize("memory", [0.001, 0.02, 256])
def test_parquet_row_groups_and_batches_need_not_match(frame, size, memory, tmp_path):
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=size)
    np.testing.assert_array_equal(table_of(tmp_path, memory=memory), frame)


def test_a_row_group_is_never_in_memory_as_a_whole(tmp_path):
    X = np.random.default_rng(0).standard_normal((1_000_000, 5))
    pa.parquet.write_table(
        pa.table(dict(zip("abcde", X.T, strict=True))),
        tmp_path / "t.parquet",
        row_group_size=len(X),
        use_dictionary=False,
        data_page_size=1 << 16,
    )
    rows = all_columns(open_files(Files(tmp_path)), memory=4)
    before, allocated = pa.total_allocated_bytes(), []

    def watch(block):
        allocated.append(pa.total_allocated_bytes() - before)
        return len(block.values)

    assert rows.accumulate(watch) == len(X)
    assert max(allocated) < X.nbytes / 5


def test_columns_of_lists_are_refused_and_may_be_left_out(tmp_path):
    table = pa.table({"a": [1.0, 2.0], "b": [[1.0], [2.0, 3.0]]})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(DataError, match="it holds values of type list<element: double>"):
        open_files(Files(tmp_path, columns=["a", "b"]))
    np.testing.assert_array_equal(table_of(tmp_path), [[1], [2]])
    np.testing.assert_array_equal(table_of(tmp_path, columns=["a"]), [[1], [2]])


def test_columns_with_dots_in_their_names_are_not_mixed_up(tmp_path):
    table = pa.table({"a.b": [1.0, 2.0], "a": [3.0, 4.0], "a.b.c": [5.0, 6.0]})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    np.testing.assert_array_equal(table_of(tmp_path, columns=["a", "a.b"]), [[3, 1], [4, 2]])


@pytest.mark.parametrize("kind", [pa.float16(), pa.decimal128(8, 2), pa.uint64(), pa.int8()])
def test_every_arrow_type_of_numbers_is_read(kind, tmp_path):
    column = pa.array([1, None, 3]).cast(pa.float64()).cast(kind)
    pa.parquet.write_table(pa.table({"a": column}), tmp_path / "t.parquet")
    np.testing.assert_array_equal(table_of(tmp_path), [[1], [np.nan], [3]])


def test_float32_is_read_to_the_digit(tmp_path):
    X = np.random.default_rng(0).standard_normal((50, 2)).astype(np.float32)
    pd.DataFrame(X, columns=["a", "b"]).to_parquet(tmp_path / "t.parquet")
    np.testing.assert_array_equal(table_of(tmp_path), X)


def test_a_column_of_text_may_begin_with_whole_numbers_and_gaps(tmp_path, monkeypatch):
    monkeypatch.setattr("halfseen.io.formats.delimited.MIN_BLOCK_BYTES", 100)
    lines = ["a,b,c", *["1,,true"] * 200, *["2.5,7,"] * 200, *["NA,nan,false"] * 3]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    expected = [[1, np.nan, 1]] * 200 + [[2.5, 7, np.nan]] * 200 + [[np.nan, np.nan, 0]] * 3
    np.testing.assert_array_equal(table_of(tmp_path, memory=0.01), expected)


def test_a_stray_word_is_shown_with_its_row(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n,NA\n3,late\n4,5\n")
    message = (
        r"'b' of t\.csv cannot be read as numbers: 2 of its 3 values are numbers, but it holds "
        r"'late' too, first in row 3; if that stands for a gap, use missing_values=\['late'\]"
    )
    with pytest.raises(DataError, match=message):
        open_files(Files(tmp_path, columns=["a", "b"], show_text=True))
    np.testing.assert_array_equal(table_of(tmp_path), [[1], [np.nan], [3], [4]])
    known = table_of(tmp_path, missing_values=["late"])
    np.testing.assert_array_equal(known[:, 1], [2, np.nan, np.nan, 5])


def test_dates_in_text_are_not_numbers(tmp_path):
    (tmp_path / "t.tsv").write_text("a\tb\n1\t2024-01-01\n2\t2024-01-02\n")
    with pytest.raises(DataError, match=r"'b' of t\.tsv .*: it holds dates or times"):
        open_files(Files(tmp_path, columns=["b"]))


def test_names_of_columns_may_hold_other_letters_and_commas(tmp_path):
    frame = pd.DataFrame({"größe, cm": [1.0, 2.0], "体重": [3.0, 4.0]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert open_files(Files(tmp_path)).names == ("größe, cm", "体重")


SAVED = {
    "npy": lambda path, X: np.save(path.with_suffix(".npy"), X),
    "npz": lambda path, X: np.savez(path.with_suffix(".npz"), X),
    "npz, compressed": lambda path, X: np.savez_compressed(path.with_suffix(".npz"), any_name=X),
}


@pytest.mark.parametrize("save", SAVED.values(), ids=SAVED)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8", "f2", "i4", "u1", "?"])
@pytest.mark.parametrize("columns", [None, [0, 1, 2], [3], [2, 0]])
@pytest.mark.parametrize("memory", [0.005, 256])
def test_arrays_of_every_type_and_order(save, order, dtype, columns, memory, tmp_path):
    X = np.random.default_rng(0).integers(0, 2, (90, 4)).astype(dtype, order=order)
    save(tmp_path / "t", X)
    expected = X if columns is None else X[:, columns]
    np.testing.assert_array_equal(table_of(tmp_path, columns=columns, memory=memory), expected)


def test_a_compressed_array_is_never_in_memory_as_a_whole(tmp_path):
    import tracemalloc

    X = np.zeros((200_000, 20))
    for order in ("C", "F"):
        np.savez_compressed(tmp_path / "t.npz", np.asarray(X, order=order))
        rows = all_columns(open_files(Files(tmp_path)), memory=4)
        tracemalloc.start()
        assert rows.accumulate(lambda block: len(block.values)) == len(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < X.nbytes / 4


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dia"])
def test_a_sparse_matrix_is_told_apart(format, tmp_path):
    matrix = scipy.sparse.random(20, 5, 0.3, format=format)
    scipy.sparse.save_npz(tmp_path / "t.npz", matrix)
    with pytest.raises(DataError, match=r"t\.npz holds a sparse matrix, which is for counts"):
        open_files(Files(tmp_path))


@pytest.mark.parametrize(
    ("arrays", "found"),
    [
        ({"X": np.ones((3, 2)), "Y": np.ones((3, 2))}, r"holds 2 \('X\.npy' and 'Y\.npy'\)"),
        ({"x": np.ones(3)}, r"holds 0 \('x\.npy'\)"),
        ({}, r"holds 0 \(no arrays\)"),
    ],
)
def test_an_archive_holds_one_table(arrays, found, tmp_path):
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(DataError, match=rf"t\.npz should hold one table, .*{found}\. Save the"):
        open_files(Files(tmp_path))


@pytest.mark.parametrize("shape", [(), (3,), (3, 2, 2)])
def test_an_array_that_is_no_table_is_refused(shape, tmp_path):
    np.save(tmp_path / "t.npy", np.ones(shape))
    with pytest.raises(DataError, match=r"t\.npy holds an array of shape \(.*\)\. Save a table"):
        open_files(Files(tmp_path))


def test_objects_are_refused_and_never_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("a pickle was loaded",)

    content = io.BytesIO()
    np.save(content, np.array([[Trap()]], dtype=object), allow_pickle=True)
    (tmp_path / "t.npy").write_bytes(content.getvalue())
    with pytest.raises(DataError, match=r"t\.npy holds an array of object, which cannot"):
        open_files(Files(tmp_path))
