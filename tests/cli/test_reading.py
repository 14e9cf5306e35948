"""Files of other programs as tables of numbers."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather

from halfseen import DataError, Files
from halfseen.cli.messages import in_options
from halfseen.cli.model_input import all_rows
from halfseen.cli.training_table import open_table, survey
from halfseen.data.messages import message_of


class Table:
    """The numbers of a file, with what is told of its columns."""

    def __init__(self, path, missing=(), wanted=()):
        opened = open_table(Files(path, missing_values=missing), wanted)
        self.values = all_rows(opened.source, 256)
        self.names, self.named = opened.source.names, opened.source.named
        self.aside = tuple(column.name for column in opened.columns if not column.used)
        self.notes = opened.notes()


def read_table(path, missing=(), wanted=()):
    return Table(path, missing, wanted)


TABLE = np.array([[1.5, 2.0, np.nan], [2.5, np.nan, 7.0], [4.0, 6.0, 9.0]])
NAMES = ["a", "b", "c"]


def frame():
    return pd.DataFrame(TABLE, columns=NAMES)


WRITERS = {
    "it.csv": lambda path: frame().to_csv(path, index=False),
    "it.CSV": lambda path: frame().to_csv(path, index=False, na_rep="NA"),
    "it.tsv": lambda path: frame().to_csv(path, index=False, sep="\t"),
    "semicolons.csv": lambda path: frame().to_csv(path, index=False, sep=";", decimal=","),
    "bom.csv": lambda path: frame().to_csv(path, index=False, encoding="utf-8-sig"),
    "quoted.csv": lambda path: frame().to_csv(path, index=False, quoting=1, na_rep="NULL"),
    "it.csv.gz": lambda path: frame().to_csv(path, index=False, compression="gzip"),
    "it.tsv.gz": lambda path: path.write_bytes(
        gzip.compress(frame().to_csv(index=False, sep="\t", na_rep="<NA>").encode())
    ),
    "it.parquet": lambda path: frame().to_parquet(path),
    "it.feather": lambda path: feather.write_feather(pa.Table.from_pandas(frame()), path),
    "it.npy": lambda path: np.save(path, TABLE),
    "it.npz": lambda path: np.savez_compressed(path, TABLE),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_gives_the_same_numbers(tmp_path, name):
    WRITERS[name](tmp_path / name)
    table = read_table(tmp_path / name)
    np.testing.assert_array_equal(table.values, TABLE)
    assert table.names == (("0", "1", "2") if not table.named else tuple(NAMES))


def test_streams_of_arrow_are_read_too(tmp_path):
    content = pa.table(list(TABLE.T), names=NAMES)
    with pa.ipc.new_stream(tmp_path / "it.arrow", content.schema) as writer:
        writer.write_table(content)
    np.testing.assert_array_equal(read_table(tmp_path / "it.arrow").values, TABLE)


def written(tmp_path, text):
    (tmp_path / "it.csv").write_text(text)
    return tmp_path / "it.csv"


@pytest.mark.parametrize(
    ("cells", "missing", "expected"),
    [
        (["1", "NA", "3"], (), [1, np.nan, 3]),
        (["1", " n/a ", "3"], (), [1, np.nan, 3]),
        (['"1,234"', "5", "NA"], (), [1234, 5, np.nan]),
        (['"1,234,567.5"', "-2", ""], (), [1234567.5, -2, np.nan]),
        (["1", "-999", "-999.0"], ("-999",), [1, np.nan, np.nan]),
        (["1", "pending", "2e3"], ("pending",), [1, np.nan, 2000]),
        (["True", "False", ""], (), [1, 0, np.nan]),
    ],
)
def test_cells_are_read_as_people_write_numbers(tmp_path, cells, missing, expected):
    text = "\n".join(["x,y", *(f"{cell},1.5" for cell in cells)]) + "\n"
    table = read_table(written(tmp_path, text), missing)
    np.testing.assert_array_equal(table.values[:, 0], expected)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (["red", "blue", "red"], "it holds text"),
        (["2024-01-01", "2024-01-02", ""], "it holds dates or times"),
        (["1", "2", "late"], "2 of its 3 values are numbers, but it holds other cells too"),
        (["1", "2", "3"], "it numbers the rows"),
    ],
)
def test_columns_that_are_no_numbers_are_left_aside_with_the_reason(tmp_path, cells, reason):
    text = "\n".join(["x,y", *(f"{cell},{i}.5" for i, cell in enumerate(cells))]) + "\n"
    table = read_table(written(tmp_path, text))
    assert table.names == ("y",)
    assert table.aside == ("x",)
    assert f"Column 'x' was ignored: {reason}" in table.notes[0]


def test_a_column_that_numbers_rows_is_used_if_asked_for(tmp_path):
    path = written(tmp_path, "x,y\n1,4.5\n2,3.5\n3,9\n")
    assert read_table(path, wanted=["x", "y"]).names == ("x", "y")


def test_text_after_a_million_of_numbers_does_no_harm(tmp_path):
    cells = [f"{i}.5,{i % 7}" for i in range(300_000)]
    table = read_table(written(tmp_path, "x,y\n" + "\n".join(cells) + "\noops,3\n"))
    assert table.names == ("y",)
    assert "300,000 of its 300,001 values are numbers, but it holds other cells" in table.notes[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "it.csv is empty"),
        (
            "a,b\n1,2\n3\n",
            "it.csv cannot be read at .*Row #3: Expected 2.*as many cells as the first",
        ),
        ("a,a\n1,2\n3,5\n", "it.csv has several columns named 'a'. Give each its own name."),
    ],
)
def test_tables_that_cannot_be_read_are_refused_with_the_reason(tmp_path, text, sentence):
    with pytest.raises(DataError, match=sentence):
        read_table(written(tmp_path, text))


def test_infinite_values_are_refused_by_name(tmp_path):
    table = open_table(Files(written(tmp_path, "a,b\n1,2\ninf,5\n4,4\n")))
    with pytest.raises(DataError, match=r"Infinite values in 'a'\. ") as refused:
        survey(table)
    assert "--missing-values inf,-inf" in in_options(message_of(refused.value))


def test_arrays_that_are_no_tables_are_refused(tmp_path):
    np.savez(tmp_path / "two.npz", a=TABLE, b=TABLE)
    with pytest.raises(DataError, match=r"two\.npz should hold one table, .* but it holds 2"):
        read_table(tmp_path / "two.npz")
    np.save(tmp_path / "deep.npy", np.zeros((2, 2, 2)))
    with pytest.raises(DataError, match=r"an array of shape \(2, 2, 2\)"):
        read_table(tmp_path / "deep.npy")
    (tmp_path / "it.docx").write_bytes(b"")
    with pytest.raises(ValueError, match=r"it\.docx is of no kind that is known"):
        read_table(tmp_path / "it.docx")
    np.save(tmp_path / "objects.npy", np.array([[{}]]), allow_pickle=True)
    with pytest.raises(DataError, match=r"objects\.npy holds an array of object"):
        read_table(tmp_path / "objects.npy")
