"""The same file gives the same columns, numbers and sentences, whichever way it is read."""

import json
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import DroppedFeatureWarning, Files, GaussianMixture, load
from halfseen.cli.app import app
from halfseen.cli.model_input import in_memory
from halfseen.io.coding import declared_kinds, takes_kinds
from halfseen.io.open_source import open_source, rows_of
from halfseen.io.source import open_table
from halfseen.io.table import Reading

N = 400
RNG = np.random.default_rng(0)
GROUP = RNG.integers(2, size=N)
X = (RNG.normal(size=(N, 3)) + 6 * GROUP[:, None]).round(3)
HEAD = ["x", "y", "z"]


def lines(*columns, head, delimiter=","):
    rows = zip(*columns, strict=True)
    return (
        "\n".join([delimiter.join(head), *(delimiter.join(map(str, row)) for row in rows)]) + "\n"
    )


def plain(delimiter=",", extra=None, name="odd"):
    columns, head = list(X.T), list(HEAD)
    if extra is not None:
        columns, head = [*columns, extra], [*head, name]
    return lines(*columns, head=head, delimiter=delimiter)


def with_commas(values, form):
    return [f'"{form(value)}"' for value in values]


def gaps(word):
    return [word if i % 5 == 0 else f"{value:.2f}" for i, value in enumerate(2 * X[:, 0])]


CASES = {
    "plain": plain(),
    "semicolons": plain(";"),
    "tabs in a .csv": plain("\t"),
    "bars": plain("|"),
    "decimal commas": plain(";").replace(".", ","),
    "thousands": plain(extra=with_commas(1000 * X[:, 0] ** 2, "{:,.0f}".format)),
    "mixed writings": plain(extra=["1.5", '"1,5"', '"1,500.25"', "2"] * (N // 4)),
    "words for gaps": plain(extra=gaps("na")),
    "None": plain(extra=gaps("None")),
    "<NA>": plain(extra=gaps("<NA>")),
    "gaps with spaces": plain(extra=gaps(" n/a ")),
    "text": plain(extra=["red", "blue"] * (N // 2)),
    "free text": plain(extra=[f"note {i}" for i in range(N)]),
    "quoted newlines": plain(extra=[f'"line one\nline {i}"' for i in range(N)]),
    "dates": plain(extra=["2024-01-31", "2024-02-01"] * (N // 2)),
    "times": plain(extra=["2024-01-31 10:30", "2024-02-01 11:00:05"] * (N // 2)),
    "truths": plain(extra=["true", "false", "", "true"] * (N // 4)),
    "row numbers": lines(range(N), *X.T, head=["", *HEAD]),
    "numbers that are not of rows": plain(extra=[0, 1, 2, 2, *range(4, N)[::2], *range(4, N)[::2]]),
    "whole, then fractions": plain(extra=[*range(7, 307), *(X[:100, 0])]),
    "numbers, then a word": plain(extra=[*X[:-1, 0], "oops"]),
    "numbers, then a code": plain(extra=[*X[:300, 0], *["-999"] * 50, *["-999.0"] * 50]),
    "gaps, then numbers": plain(extra=[*[""] * 300, *X[:100, 0]]),
    "gaps, then words": plain(extra=[*[""] * 300, *["late"] * 100]),
    "spaces in names": plain(extra=X[:, 0] ** 2, name=" odd "),
    "infinities that are gaps": plain(extra=[*X[:-1, 0], "inf"]),
    "a byte order mark": "\ufeff" + plain(),
    "plus signs": plain(extra=[f"+{abs(value)}" for value in X[:, 0]]),
    "an empty column": plain(extra=[""] * N),
    "a constant": plain(extra=[3] * N),
    "a title": "Ward 3\n\n" + plain(),
    "dressed": plain(extra=["12%", "7 %", "(3%)", "<1%", "-"] * (N // 5)),
    "answers": plain(extra=["Yes", "no", "", "no"] * (N // 4)),
}
every_case = pytest.mark.parametrize("case", CASES)
CODES = ("-999", "inf")


@pytest.fixture
def path(case, tmp_path, monkeypatch):
    # So that the file has many blocks, and columns change from one to another.
    monkeypatch.setattr("halfseen.io.formats.delimited.MIN_BLOCK_BYTES", 2000)
    path = tmp_path / "it.csv"
    path.write_text(CASES[case], encoding="utf-8")
    return path


def table_of(rows):
    parts = rows.accumulate(
        lambda block: [(block.start, np.where(block.observed, block.values, np.nan))]
    )
    return np.concatenate([values for _, values in sorted(parts, key=lambda part: part[0])])


WAYS = {
    "whole": {},
    "in batches": {"memory": 0.01},
    "by workers": {"dask": True},
    "by workers in batches": {"dask": True, "memory": 0.01},
}


@every_case
def test_every_way_gives_the_same_columns_and_numbers(path, case):
    expected = None
    for options in WAYS.values():
        files = Files(path, missing_values=CODES, **options)
        source = open_source(files)
        rows = rows_of(files, source)
        found = (rows.names, source.columns, table_of(rows))
        expected = expected or found
        assert found[:2] == expected[:2]
        np.testing.assert_array_equal(found[2], expected[2])
    np.testing.assert_array_equal(
        expected[2][:, -3:] if case == "row numbers" else expected[2][:, :3], X
    )


@every_case
def test_one_block_and_many_give_the_same_columns(path, case, tmp_path, monkeypatch):
    by_blocks = open_source(Files(path, missing_values=CODES))
    monkeypatch.setattr("halfseen.io.formats.delimited.MIN_BLOCK_BYTES", 1 << 20)
    again = tmp_path / "again.csv"
    again.write_bytes(path.read_bytes())
    whole = open_source(Files(again, missing_values=CODES))
    assert whole.names == by_blocks.names
    assert [c.kind for c in whole.columns] == [c.kind for c in by_blocks.columns]
    rows = [rows_of(Files(path), source) for source in (whole, by_blocks)]
    np.testing.assert_array_equal(table_of(rows[0]), table_of(rows[1]))


@every_case
@pytest.mark.parametrize("name", ["gaussian", "classes"])
def test_the_command_line_fits_what_python_fits(path, case, name, tmp_path):
    out = tmp_path / "it.halfseen"
    arguments = ["fit", str(path), "-k", "2", "--out", str(out), "--json", "--seed", "0"]
    # A kind of covariance is not what is compared, and to choose one takes many fits.
    arguments += ["--model", name, *(["--covariance", "diag"] if name == "gaussian" else [])]
    result = CliRunner().invoke(app, [*arguments, "--missing-values", ",".join(CODES)])
    assert result.exit_code == 0, result.output
    files = Files(path, missing_values=CODES)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        theirs = load(out)
        model = type(theirs)(**theirs.get_params()).fit(files)
    kept = model.kept_features_  # what says nothing is dropped here, and left aside there
    assert list(theirs.feature_names_in_) == list(model.feature_names_in_[kept])
    np.testing.assert_allclose(theirs.means_, model.means_[:, kept], rtol=1e-9, atol=1e-9)
    notes = json.loads(result.stdout)["notes"]
    told = [str(one.message) for one in heard if one.category is DroppedFeatureWarning]
    kinds = partial(declared_kinds, theirs.kinds) if takes_kinds(theirs) else None
    aside = [str(c.sentence) for c in open_source(files, kinds).columns if not c.used]
    assert all(sentence.split("; if")[0] in " ".join(told) for sentence in aside)
    assert all(any(sentence.split("; if")[0] in note for note in notes) for sentence in aside)


@pytest.mark.parametrize("case", ["text", "numbers, then a word", "row numbers", "dates"])
def test_what_is_left_aside_is_said_in_one_warning(path, case):
    with pytest.warns(DroppedFeatureWarning, match=r"Column '.*' was ignored: ") as heard:
        open_table(str(path), Reading.of(GaussianMixture(2)))
    assert len(heard) == 1


SENTENCES = {
    "text": "Column 'odd' was ignored: it holds text.",
    "dates": "Column 'odd' was ignored: it holds dates or times.",
    "times": "Column 'odd' was ignored: it holds dates or times.",
    "row numbers": "Column 'column 1' was ignored: it numbers the rows.",
    "thousands": "'odd': commas in it were read as thousands separators.",
    "decimal commas": "'x': commas in it were read as decimal commas.",
    "numbers, then a word": "Column 'odd' was ignored: 399 of its 400 values are numbers, but it "
    "holds other cells too, first in row 400; if that stands for a gap, name it in "
    "missing_values (show_text=True shows it).",
    "gaps, then words": "Column 'odd' was ignored: it holds text.",
}
KINDS = {
    "text": "categorical",
    "free text": "ignored",
    "dates": "ignored",
    "truths": "categorical",
    "thousands": "continuous",
}


@pytest.mark.parametrize("case", SENTENCES)
def test_each_column_has_its_sentence(path, case):
    columns = open_source(Files(path)).columns
    assert SENTENCES[case] in [column.sentence for column in columns]


@pytest.mark.parametrize("case", KINDS)
def test_each_column_has_its_kind(path, case):
    columns = {column.name: column.kind for column in open_source(Files(path)).columns}
    assert columns["odd"] == KINDS[case]


@pytest.mark.parametrize("case", ["text", "dates", "numbers, then a word"])
def test_columns_that_are_asked_for_must_be_numbers(path, case):
    with pytest.raises(ValueError, match=r"Column 'odd' of it\.csv cannot be read as numbers: "):
        open_source(Files(path, columns=["x", "odd"]))


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
@pytest.mark.parametrize("case", ["thousands", "decimal commas", "text", "row numbers", "truths"])
def test_text_in_other_formats_is_read_as_in_csv(path, case, ending, write, tmp_path):
    delimiter = ";" if case == "decimal commas" else ","
    frame = pd.read_csv(path, sep=delimiter, dtype=str if case != "truths" else None)
    frame = frame.rename(columns={"Unnamed: 0": "column 1"})
    write(frame, tmp_path / f"it{ending}")
    ours, theirs = open_source(Files(tmp_path / f"it{ending}")), open_source(Files(path))
    assert ours.names == theirs.names
    assert [column.sentence for column in ours.columns] == [c.sentence for c in theirs.columns]
    both = [table_of(rows_of(Files(path), source)) for source in (ours, theirs)]
    np.testing.assert_array_equal(*both)


@pytest.mark.parametrize("case", ["plain"])
def test_a_folder_whose_files_each_number_their_rows_leaves_the_numbers_aside(tmp_path, path, case):
    (tmp_path / "parts").mkdir()
    for part, rows in enumerate(np.array_split(np.arange(N), 3)):
        pd.DataFrame(X[rows], columns=HEAD).to_csv(tmp_path / "parts" / f"{part}.csv")
    source = open_source(Files(tmp_path / "parts"))
    assert source.names == tuple(HEAD)
    np.testing.assert_array_equal(table_of(rows_of(Files(path), source)), X)


@pytest.mark.parametrize("case", ["plain"])
@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_preprocessed_rows_are_those_of_the_preprocessed_table(path, case, options):
    from halfseen.io.preprocessing import Preprocessing

    whole = np.abs(X) + 0.1
    pd.DataFrame(whole, columns=HEAD).to_csv(path, index=False)
    files = Files(path, **options)
    raw = rows_of(files, open_source(files))
    done = Preprocessing.learn_from(raw, log=["y"], standardise=True)
    expected = Preprocessing.learn(HEAD, whole, log=["y"], standardise=True)
    np.testing.assert_allclose(done.centre, expected.centre, rtol=1e-12)
    np.testing.assert_allclose(done.scale, expected.scale, rtol=1e-12)
    files = Files(path, preprocessing=done, **options)
    rows = rows_of(files, open_source(files))
    assert list(rows.names) == done.fitted_names
    np.testing.assert_allclose(table_of(rows), expected.apply(whole), rtol=1e-9, atol=1e-12)
    model = GaussianMixture(2).fit(files)
    there = GaussianMixture(2).fit(in_memory(files))
    np.testing.assert_allclose(model.means_, there.means_, rtol=1e-9, atol=1e-9)
