"""Words become codes: the same ones from every container, found without holding all rows."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from halfseen import DataError, DroppedFeatureWarning, Files, UnseenCategoryWarning
from halfseen.io.coding import Coding, decode
from halfseen.io.source import open_table
from halfseen.io.table import Reading
from tests.io.mixed_tables import (
    CONTAINERS,
    IN_FILES,
    IN_MEMORY,
    KINDS,
    LABELS,
    LEFT_OUT,
    TABLE,
    N,
    Reader,
    naive,
    read,
)

every_container = pytest.mark.parametrize("given", CONTAINERS.values(), ids=CONTAINERS)
SAID = (
    "Column 'note' was ignored: nearly all of its texts are different, as names and notes are. "
    "Column 'town' was ignored: it holds more than 100 different texts; to use up to 1,000 of "
    "them, declare it in kinds. "
    "Column 'patient_id' was ignored: it has the name of an identifier, and nearly all of its "
    "values are different. Column 'row' was ignored: it numbers the rows. "
    "Column 'day' was ignored: it holds dates or times."
)


def quietly(X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DroppedFeatureWarning)
        return read(X, **options)


@every_container
def test_the_same_table_gives_the_same_floats_and_the_same_coding(given, tmp_path):
    X = given(TABLE, tmp_path)
    with pytest.warns(DroppedFeatureWarning) as said:
        reader, table = read(X)
    assert [str(one.message) for one in said] == [SAID]
    aside = given in IN_FILES.values()  # files leave aside what frames keep as columns of gaps
    names = [name for name in TABLE if not (aside and name in LEFT_OUT)]
    assert reader.coding_.names == tuple(names) == tuple(reader.feature_names_in_)
    assert reader.n_features_in_ == len(names)
    assert reader.coding_.kinds == tuple(KINDS[name] for name in names)
    assert reader.coding_.labels == tuple(LABELS.get(name, ()) for name in names)
    wanted = naive()[:, [name in names for name in TABLE]]
    np.testing.assert_array_equal(table, wanted)


@every_container
def test_new_rows_are_coded_as_those_of_the_fit(given, tmp_path):
    coding = quietly(pd.DataFrame(TABLE))[0].coding_
    some = {name: cells[:40] for name, cells in TABLE.items()}  # whose labels are fewer
    some["colour"] = [None if cell == "red" else cell for cell in some["colour"]]
    reader, table = read(given(some, tmp_path), coding)
    np.testing.assert_array_equal(table, naive(some))
    assert reader.coding_ == coding


@every_container
def test_what_the_fit_did_not_see_is_a_gap_with_one_warning_that_quotes_no_cell(given, tmp_path):
    coding = quietly(pd.DataFrame(TABLE))[0].coding_
    new = {name: list(cells) for name, cells in TABLE.items()}
    new["colour"][3], new["colour"][200], new["sex"][200] = "Ada Lovelace", "grey", "unheard"
    with pytest.warns(UnseenCategoryWarning) as said:
        _, table = read(given(new, tmp_path), coding)
    assert [str(one.message) for one in said] == [
        "1 cell of 'sex' and 2 cells of 'colour' hold categories that the fit did not see, and "
        "count as gaps. Check the spelling, or fit again with rows that hold such categories."
    ]
    np.testing.assert_array_equal(table, naive(new))


def test_arrays_of_objects_are_coded_column_by_column(tmp_path):
    names = [name for name in TABLE if name not in LEFT_OUT]
    frame = pd.DataFrame(TABLE, dtype=object)[names]
    for X in (frame.to_numpy(), frame.to_numpy().tolist()):
        reader, table = read(X)
        np.testing.assert_array_equal(table, naive()[:, [n in names for n in TABLE]])
        assert reader.coding_.names == tuple(map(str, range(len(names))))
        assert reader.coding_.kinds == tuple(KINDS[name] for name in names)
        assert not hasattr(reader, "feature_names_in_")


def test_arrays_of_numbers_are_as_they_are():
    X = np.arange(12.0, dtype=np.float32).reshape(6, 2)
    reader, table = read(X, kinds={1: "count"})
    assert open_table(X, Reading.of(Reader())).rows.table.dtype == np.float32
    np.testing.assert_array_equal(table, X)
    assert reader.coding_ == Coding(("0", "1"), ("number", "count"), ((), ()), ("", ""))
    np.testing.assert_array_equal(
        read(X, kinds={0: "ignored"})[1], np.where([True, False], np.nan, X)
    )


def test_files_of_arrays_are_numbers(tmp_path):
    np.save(tmp_path / "it.npy", np.arange(12.0).reshape(6, 2))
    reader, _ = read(tmp_path / "it.npy", kinds={1: "ordinal"})
    assert reader.coding_.kinds == ("number", "ordinal")
    assert read(Files(tmp_path / "it.npy"), reader.coding_)[1].shape == (6, 2)


def test_ordered_categories_keep_their_order_and_those_without_rows_get_no_code(tmp_path):
    sizes, words = ["tiny", "small", "large", "huge"], ["small", "large", None, "tiny"] * 5
    frame = pd.DataFrame({"size": pd.Categorical(words, sizes, ordered=True)})
    order = pl.DataFrame({"size": pl.Series(words, dtype=pl.Enum(sizes))})
    pa.parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "it.parquet")
    order.write_parquet(tmp_path / "enum.parquet")
    many = [frame, order, pa.Table.from_pandas(frame), [frame[:3], frame[3:]]]
    files = [tmp_path / "it.parquet", tmp_path / "enum.parquet"]
    # Older versions of polars do not write that an Enum has an order.
    for X in (
        *many,
        *(path for path in files if pa.parquet.read_schema(path).field(0).type.ordered),
    ):
        reader, table = read(X)
        assert reader.coding_.kinds == ("ordinal",)
        assert reader.coding_.labels == (("tiny", "small", "large"),)
        np.testing.assert_array_equal(table[:4, 0], [1, 2, np.nan, 0])


def test_categories_that_are_numbers_are_words():
    frame = pd.DataFrame({"floor": pd.Categorical([10, 2, None, 1] * 5)})
    reader, table = read(frame)
    assert reader.coding_.labels == (("1", "2", "10"),)
    np.testing.assert_array_equal(table[:4, 0], [2, 1, np.nan, 0])
    again = pd.DataFrame({"floor": [10.0, 2.0, np.nan, 1.0]})
    np.testing.assert_array_equal(read(again, reader.coding_)[1], table[:4])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_numbers_written_as_text_are_numbers_and_words_for_gaps_are_gaps(library):
    columns = {"cost": ["1,200.50", "NA", "7", ""], "word": ["a", "?", " b ", "NA"]}
    reader, table = read(library(columns))
    assert reader.coding_.kinds == ("number", "binary")
    assert reader.coding_.labels == ((), ("a", "b"))
    assert reader.coding_.sentences == (
        "'cost': commas in it were read as thousands separators.",
        "'word': '?' was read as a gap, in 1 cell.",
    )
    nan = np.nan
    np.testing.assert_array_equal(table, [[1200.5, 0], [nan, nan], [7, 1], [nan, nan]])


def test_objects_of_several_types_are_numbers_if_all_are():
    frame = pd.DataFrame(
        {"x": [1, 2.5, "3", None], "y": [True, None, False, np.True_]}, dtype=object
    )
    reader, table = read(frame)
    assert reader.coding_.kinds == ("number", "binary")
    np.testing.assert_array_equal(table, [[1, 1], [2.5, np.nan], [3, 0], [np.nan, 1]])


def test_a_column_of_numbers_with_another_word_is_not_used_and_says_what_to_do():
    cells = [*map(str, range(60, 100)), *["late"] * 12]
    frame = pd.DataFrame({"pulse": cells, "x": np.linspace(0, 1, 52)})
    said = (
        r"Column 'pulse' was ignored: 40 of its 52 values are numbers, but it holds 'late' too, "
        r"first in row 41; if that stands for a gap, use missing_values=\['late'\], and if it "
        r"is one of several categories, declare the column in kinds\."
    )
    with pytest.warns(DroppedFeatureWarning, match=said):
        reader, _ = read(frame)
    assert reader.coding_.kinds == ("ignored", "number")
    declared, table = read(frame, kinds={"pulse": "categorical"})
    assert declared.coding_.labels[0][-1] == "late"
    assert table[-1, 0] == 40


def test_numbers_in_some_batches_and_text_in_others_are_not_used():
    first, second = pd.DataFrame({"x": [1, 2] * 5}), pd.DataFrame({"x": ["a", "b"] * 5})
    said = "Column 'x' was ignored: it holds numbers in some of the files or batches, and text in"
    with pytest.warns(DroppedFeatureWarning, match=said):
        assert read([first, second])[0].coding_.kinds == ("ignored",)
    with pytest.raises(DataError, match="'x' is declared 'ordinal', but it holds numbers in some"):
        read([first, second], kinds={"x": "ordinal"})


def test_other_types_are_not_used():
    X = pl.DataFrame({"x": [1.0, 2.0], "many": [[1], [2]], "when": [None, None]})
    with pytest.warns(DroppedFeatureWarning, match="'many' was ignored: it holds values of type"):
        assert read(X)[0].coding_.kinds == ("number", "ignored", "number")
    days = pd.DataFrame({"x": [1.0, 2.0], "day": pd.to_datetime(["2024-01-01", "2024-01-03"])})
    with pytest.warns(DroppedFeatureWarning, match="'day' was ignored: it holds dates or times."):
        read(days)
    with pytest.warns(DroppedFeatureWarning, match="'day' was ignored: it holds dates or times."):
        read(days.astype(object))


declared_containers = pytest.mark.parametrize(
    "given", [CONTAINERS[name] for name in ("pandas", "polars", "batches", "Dask", "CSV")]
)


@declared_containers
def test_declared_kinds_are_kept(given, tmp_path):
    kinds = {"age": "continuous", "visits": "ordinal", "sex": "categorical", "answer": "ordinal"}
    kinds |= {"town": "categorical", "patient_id": "count", "colour": "ignored", "note": "ignored"}
    kinds |= {"row": "identifier", "day": "ignored"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nobody is told what they declared
        reader, _ = read(given(TABLE, tmp_path), kinds=kinds)
    coding = reader.coding_
    wanted = {**KINDS, **kinds}
    if given is CONTAINERS["CSV"]:
        wanted = {n: k for n, k in wanted.items() if k not in ("ignored", "identifier")}
    assert dict(zip(coding.names, coding.kinds, strict=True)) == wanted
    labels = dict(zip(coding.names, coding.labels, strict=True))
    assert labels["answer"] == LABELS["answer"]
    assert len(labels["town"]) == 110


@declared_containers
@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ({"colour": "count"}, "'colour' is declared 'count', but it holds text. Declare it 'cat"),
        ({"smokes": "continuous"}, "'smokes' is declared 'continuous', but it holds truths."),
        ({"colour": "binary"}, "'colour' is declared 'binary', but it holds 3 different texts."),
        (
            {"color": "binary"},
            "kinds names 'color', which the table does not have. It has 'age', 'visits', 'sex'",
        ),
        (
            {"sex": "nominal"},
            "kinds says that 'sex' is 'nominal'. A column is one of 'continuous', 'count', "
            "'categorical', 'ordinal', 'binary', 'identifier', 'ignored'.",
        ),
        ("sex", "The 'kinds' parameter must be 'auto' or a dict from columns to kinds. Got 'sex'"),
    ],
)
def test_what_cannot_be_declared_is_refused(given, kinds, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        quietly(given(TABLE, tmp_path), kinds=kinds)


def test_more_than_a_thousand_words_cannot_be_declared_categories(tmp_path):
    frame = pd.DataFrame({"word": [f"w{i}" for i in range(1001)] * 2, "x": np.arange(2002.0) / 7})
    frame.to_csv(tmp_path / "it.csv", index=False)
    for X in (frame, tmp_path / "it.csv"):
        with pytest.warns(DroppedFeatureWarning, match="it holds more than 1,000 different texts."):
            read(X)
        with pytest.raises(DataError, match=r"but it holds more than 1,000 different texts\. Decl"):
            read(X, kinds={"word": "categorical"})


def test_a_date_cannot_be_declared_a_category():
    days = pd.DataFrame({"x": [1.0, 2.0], "day": pd.to_datetime(["2024-01-01", "2024-01-03"])})
    with pytest.raises(DataError, match="'day' is declared 'ordinal', but it holds dates or times"):
        read(days, kinds={"day": "ordinal"})


def test_numbers_of_the_fit_must_be_numbers_in_new_rows(tmp_path):
    coding = read(pd.DataFrame({"x": [1.0, 2.5, 3.0], "w": ["a", "b", "a"]}))[0].coding_
    new = pd.DataFrame({"x": ["low", "high", "low"], "w": ["a", "b", "a"]})
    new.to_csv(tmp_path / "it.csv", index=False)
    said = "'x' cannot be read as numbers, which the fit found there. Write numbers, or fit again."
    with pytest.raises(DataError, match=said):
        read(new, coding)
    with pytest.raises(
        DataError, match=r"'x' of it\.csv cannot be read as numbers or categories: it"
    ):
        read(tmp_path / "it.csv", coding)


def test_new_tables_with_other_columns_are_refused(tmp_path):
    coding = read(pd.DataFrame({"x": [1.0, 2.5, 3.0], "w": ["a", "b", "a"]}))[0].coding_
    with pytest.raises(
        DataError, match=r"The table has 1 columns, and the model was fitted to 2\."
    ):
        read(pd.DataFrame({"x": [1.0]}), coding)
    pd.DataFrame({"x": [1.0, 2.0], "w": ["a", "b"]}).to_csv(tmp_path / "it.csv", index=False)
    with pytest.raises(
        ValueError, match=r"X has other columns than the model was learned from \(1,"
    ):
        read(Files(tmp_path / "it.csv", columns=["x"]), coding)


def test_columns_that_a_fit_left_out_are_not_even_read_in_new_files(tmp_path):
    coding = quietly(pd.DataFrame(TABLE))[0].coding_
    path = CONTAINERS["CSV"]({**TABLE, "more": [1] * N}, tmp_path)
    np.testing.assert_array_equal(read(path, coding)[1], naive())


def test_chosen_columns_of_files_must_be_usable(tmp_path):
    path = CONTAINERS["CSV"](TABLE, tmp_path)
    reader, _ = read(Files(path, columns=["sex", "row"]))
    assert reader.coding_.kinds == ("binary", "number")  # asked for, and so used
    with pytest.raises(
        DataError, match=r"'note' of 0\.csv cannot be read as numbers or categories: n"
    ):
        read(Files(path, columns=["sex", "note"]))


def test_gaps_of_files_are_gaps_in_columns_of_words(tmp_path):
    pd.DataFrame({"w": ["a", "unknown", "b", "c"] * 5}).to_csv(tmp_path / "it.csv", index=False)
    reader, table = read(Files(tmp_path / "it.csv", missing_values=["unknown"]))
    assert reader.coding_.labels == (("a", "b", "c"),)
    np.testing.assert_array_equal(table[:4, 0], [0, np.nan, 1, 2])


def test_any_split_of_a_column_that_is_partly_numbers_gives_the_same_words(tmp_path):
    cells = ["1", "2"] * 10 + ["A", "B"] * 12
    frame = pd.DataFrame({"code": cells})
    whole = read(frame)[0].coding_
    assert whole.labels == (("1", "2", "A", "B"),)
    assert read([frame[:20], frame[20:]])[0].coding_ == whole
    pa.parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "it.parquet", 10)
    assert read(tmp_path / "it.parquet")[0].coding_ == whole


def test_batches_with_other_columns_are_refused_by_number():
    frame = pd.DataFrame({"x": [1.0], "w": ["a"]})
    with pytest.raises(DataError, match=r"Batch 1 has 1 columns, but batch 0 has 2\."):
        read([frame, frame[["x"]]])
    with pytest.raises(DataError, match="Batch 1 has 'w' as column 0, but batch 0 has 'x' as"):
        read([frame, frame[["w", "x"]]])
    with pytest.raises(DataError, match="holds no batches"):
        open_table(NoBatches(), Reading.of(Reader()))


class NoBatches:
    def __iter__(self):
        return iter(())


def test_rows_with_weight_zero_are_left_out_after_coding():
    frame = pd.DataFrame({"w": ["b", "a", "c"]})
    rows = open_table(frame, Reading.of(Reader()), [1.0, 0.0, 1.0]).rows
    np.testing.assert_array_equal(rows.table[:, 0], [1, 2])


@pytest.mark.parametrize("given", IN_MEMORY.values(), ids=IN_MEMORY)
def test_tables_without_rows_are_refused(given, tmp_path):
    nothing = {name: [] for name in TABLE}
    with pytest.raises(ValueError, match="0 sample"):
        read(given(nothing, tmp_path))


def test_codes_are_decoded_to_the_nearest_label():
    coding = Coding(("x", "w"), ("number", "ordinal"), ((), ("low", "mid", "high")), ("", ""))
    table = decode(coding, np.array([[1.5, 1.6], [np.nan, -0.2], [0.0, np.nan], [2.0, 7.0]]))
    assert table[:, 1].tolist() == ["high", "low", None, "high"]
    assert table[0, 0] == 1.5


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"names": ("x",)}, "does not say the same of as many columns as it names"),
        ({"kinds": None}, "lacks what it says of each column"),
        ({"kinds": ("number", "nominal")}, "says that 'w' is of a kind that there is not"),
        ({"names": ("x", 3)}, "has names or sentences that are no text"),
        ({"sentences": ("", None)}, "has names or sentences that are no text"),
        ({"labels": ((), ("a", 1))}, "has labels of 'w' that are no text"),
        ({"labels": ((), None)}, "has labels of 'w' that are no text"),
        ({"labels": ((), ("a", "a"))}, "has a label of 'w' twice"),
        ({"labels": (("a",), ("a", "b"))}, "has labels of 'x', which holds no words"),
    ],
)
def test_a_coding_that_no_fit_finds_is_refused(wrong, said):
    right = {
        "names": ("x", "w"),
        "kinds": ("number", "binary"),
        "labels": ((), ("a", "b")),
        "sentences": ("", ""),
    }
    Coding(**right)
    with pytest.raises(ValueError, match=said):
        Coding(**{**right, **wrong})
