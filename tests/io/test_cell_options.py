"""What people say of cells: dates that are days, gaps that are zeros, commas before decimals."""

from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from scipy.io import mmwrite
from scipy.sparse import csr_array

from halfseen import Files, LatentClass, together
from halfseen.data.errors import DataError
from halfseen.io.open_source import open_source, rows_of

GAP = np.nan
SINCE = {"dates": "2024-01-30"}


def read(files):
    source = open_source(files)
    parts = rows_of(files, source).accumulate(
        lambda block: [np.where(block.observed, block.values, np.nan)]
    )
    table = np.concatenate(parts)
    told = {one.name: one.sentence for one in source.columns if one.sentence}
    return dict(zip(source.names, table.T, strict=True)), told


def csv(tmp_path, cells, name="x", other="pulse"):
    lines = [f"{cell};{70 + 37 * i % 11}" for i, cell in enumerate(cells)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join([f"{name};{other}", *lines, ""]))
    return path


WRITINGS = {
    "year first": ["2024-01-31", "2024/2/1", "", "2024-12-31"],
    "day first": ["31/01/2024", "1/2/2024", "-", "31.12.2024"],
    "month first": ["1/31/2024", "2/1/2024", "unknown", "12-31-2024"],
    "a month in letters": ["31 Jan 2024", "01-Feb-2024", "?", "December 31, 2024"],
}


@pytest.mark.parametrize("writing", WRITINGS)
def test_dates_are_days_since_an_origin_however_they_are_written(writing, tmp_path):
    found, told = read(Files(csv(tmp_path, WRITINGS[writing]), **SINCE))
    np.testing.assert_array_equal(found["x"], [1, 2, GAP, 336])
    assert told["x"].startswith("'x': its dates were read as days since 2024-01-30")


def test_times_of_day_are_parts_of_days_by_the_clock_of_greenwich(tmp_path):
    cells = ["2024-01-30 06:00", "2024-01-30T18:00:00Z", "2024-01-31T02:00+02:00"]
    found, _ = read(Files(csv(tmp_path, cells), **SINCE))
    np.testing.assert_allclose(found["x"], [0.25, 0.75, 1.0], rtol=1e-12)
    cells = ["1/30/2024 12:30 AM", "1/30/2024 12:30 PM", "1/30/2024 6:00 PM"]
    found, _ = read(Files(csv(tmp_path, cells), **SINCE))
    np.testing.assert_allclose(found["x"] * 48, [1, 25, 36], rtol=1e-9)


def test_days_agree_with_those_of_another_calendar(tmp_path):
    days = pd.date_range("1890-03-01", "2110-03-01", freq="997D")
    found, _ = read(Files(csv(tmp_path, days.strftime("%d.%m.%Y")), dates="1950-06-15"))
    np.testing.assert_array_equal(found["x"], (days - datetime(1950, 6, 15)).days)


@pytest.mark.parametrize("kind", ["parquet", "feather", "xlsx"])
def test_dates_that_a_file_knows_to_be_dates_are_days_too(kind, tmp_path):
    frame = pd.DataFrame(
        {"x": pd.to_datetime(["2024-01-31 00:00", None, "2024-02-01 12:00"]), "y": 1.5}
    )
    path = tmp_path / f"t.{kind}"
    write = {"parquet": frame.to_parquet, "feather": frame.to_feather, "xlsx": frame.to_excel}
    write[kind](path, **({"index": False} if kind == "xlsx" else {}))
    found, told = read(Files(path, **SINCE))
    np.testing.assert_array_equal(found["x"], [1, GAP, 2.5])
    assert told["x"] == "'x': its dates were read as days since 2024-01-30."
    found, told = read(Files(path))
    assert told["x"] == "Column 'x' was ignored: it holds dates or times."


NOT_DAYS = {
    "either order": (["03/04/2024", "05/06/2024"], "may begin with the day or with the month"),
    "no order": (["2024-01-31", "31/01/2024"], "it holds dates or times"),
    "years of two digits": (["31.01.24", "01.02.24"], "it holds dates or times"),
    "times alone": (["10:30", "11:45"], "it holds dates or times"),
    "a day that there is not": (["2024-02-30", "2024-01-31"], "it holds dates or times"),
}


@pytest.mark.parametrize("case", NOT_DAYS)
def test_dates_that_could_be_others_are_left_aside(case, tmp_path):
    cells, reason = NOT_DAYS[case]
    found, told = read(Files(csv(tmp_path, cells), **SINCE))
    assert list(found) == ["pulse"]
    assert reason in told["x"]


def test_gaps_do_not_make_dates_categories(tmp_path):
    days = [f"{day:02d}/01/2024" if day % 3 else "-" for day in range(1, 29)]
    source = open_source(Files(csv(tmp_path, days)), kinds=lambda names: {})
    assert next(one.sentence for one in source.columns) == (
        "Column 'x' was ignored: it holds dates or times."
    )


def test_models_of_mixed_columns_take_days(tmp_path):
    days = [f"{1 + i % 28:02d}/0{1 + i % 9}/2024" for i in range(80)]
    files = Files(csv(tmp_path, days), dates="2024-01-01")
    model = LatentClass(2, random_state=0).fit(files)
    assert list(model.feature_names_in_) == ["x", "pulse"]
    some = Files(csv(tmp_path, days[:30]), dates="2024-01-01")
    assert model.predict(some).shape == (30,)


def test_a_gap_may_mean_nought_in_some_columns_or_in_all(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("aspirin,statin,sex\n1,NA,f\n,2,m\n-,4,\n3,,f\n")
    found, told = read(Files(path, absent_as_zero=["aspirin"]))
    np.testing.assert_array_equal(found["aspirin"], [1, 0, 0, 3])
    np.testing.assert_array_equal(found["statin"], [GAP, 2, 4, GAP])
    assert (
        told["aspirin"] == "'aspirin': '-' was read as a gap, in 1 cell; its gaps were read as 0."
    )
    found, told = read(Files(path, absent_as_zero=True))
    np.testing.assert_array_equal(found["statin"], [0, 2, 4, 0])
    coded = open_source(Files(path, absent_as_zero=True), kinds=lambda names: {})
    written = coded.files[0].written
    assert [one.absent_as_zero for one in written.values()] == [True, True, False]


def test_gaps_of_arrays_may_mean_nought_too(tmp_path):
    np.save(tmp_path / "t.npy", np.array([[1, GAP], [GAP, 2]], dtype=np.float32))
    found, _ = read(Files(tmp_path / "t.npy", absent_as_zero=["0"]))
    np.testing.assert_array_equal([*found.values()], [[1, 0], [GAP, 2]])


COMMAS = {
    "thousands": (["1.234", "2.345"], [1234, 2345], "dots as thousands separators"),
    "three decimals": (["1,234", "2,345"], [1.234, 2.345], "commas in it were read as decimal"),
    "both": (["1.234,5", "2"], [1234.5, 2], "dots as thousands separators"),
    "neither": (["12", "7"], [12, 7], None),
    "a dot that can only be a point": (["1.5", "2.75"], [1.5, 2.75], None),
}


@pytest.mark.parametrize("case", COMMAS)
def test_commas_before_decimals_may_be_said(case, tmp_path):
    cells, values, note = COMMAS[case]
    found, told = read(Files(csv(tmp_path, cells), decimal=","))
    np.testing.assert_allclose(found["x"], values)
    assert ("x" not in told) if note is None else (note in told["x"])


def test_points_before_decimals_may_be_said(tmp_path):
    path = csv(tmp_path, ["1,234", "2,345"], other="rate")
    path.write_text(path.read_text().replace(";7", ";7,5"))
    assert read(Files(path))[0]["x"][0] == 1.234
    found, _ = read(Files(path, decimal=".", columns=["x"]))
    np.testing.assert_array_equal(found["x"], [1234, 2345])
    assert list(read(Files(path, decimal="."))[0]) == ["x"]


REFUSED = {
    "no day": ({"dates": "soon"}, "dates='soon' is no day to count from"),
    "no sign": ({"decimal": "x"}, "decimal='x' is neither ',' nor '.'"),
    "no list": ({"absent_as_zero": "x"}, "must be a list of names, or True for all columns"),
    "no column": ({"absent_as_zero": ["y"]}, "absent_as_zero names 'y', which t.csv does not have"),
    "words": ({"absent_as_zero": ["x"]}, "'x' of t.csv, which holds words: a gap among them"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused(case, tmp_path):
    given, sentence = REFUSED[case]
    path = csv(tmp_path, ["red", "blue"] * 9)
    with pytest.raises((ValueError, DataError), match=sentence):
        open_source(Files(path, **given), kinds=lambda names: {})


def test_counts_have_no_such_cells(tmp_path):
    mmwrite(tmp_path / "t.mtx", csr_array([[1, 0], [2, 3]]))
    with pytest.raises(ValueError, match=r"dates='2024-01-01' says nothing of t\.mtx, of"):
        open_source(Files(tmp_path / "t.mtx", dates="2024-01-01"))


NONES = ["None"] * 30 + ["brick"] * 20 + ["stone"] * 9
EMPTY = ["", "", "NA"]


def kinds_of_none(tmp_path, cells, missing=()):
    """The labels of a column, in a file and in memory, and what is told of it."""
    numbers = [str(70 + 37 * i % 11) for i in range(len(cells))]
    lines = [f"{word};{number}" for word, number in zip(cells, numbers, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["veneer;pulse", *lines, ""]))
    source = open_source(Files(tmp_path / "t.csv", missing_values=missing), lambda names: {})
    assert source.coding is not None
    frame = pd.DataFrame({"veneer": [word or None for word in cells], "pulse": map(float, numbers)})
    model = LatentClass(1).fit(frame)
    if not missing:
        assert model.coding_.labels == source.coding.labels
    gaps = [np.isnan(piece.table()[:, 0]).sum() for piece in source.pieces((0, 1), 1000)]
    return source.coding.labels[0], sum(gaps), source.coding.sentences[0], model


def test_none_is_a_category_where_gaps_are_written_otherwise(tmp_path):
    labels, gaps, told, model = kinds_of_none(tmp_path, NONES + EMPTY)
    assert (labels, gaps) == (("None", "brick", "stone"), 3)
    assert "None was taken for a category, as gaps are empty cells; else use missing" in told
    new = pd.DataFrame({"veneer": ["None", None], "pulse": [71.0, 71.0]})
    likely = model.score_samples(new)
    assert likely[0] < likely[1] - 0.5  # it tells something
    new.to_csv(tmp_path / "new.csv", index=False)
    np.testing.assert_allclose(model.score_samples(tmp_path / "new.csv"), likely)
    filled = model.impute(tmp_path / "new.csv")
    assert filled.column("veneer").to_pylist() == ["None", "None"]


WHERE_IT_IS_A_GAP = {
    "the only word for one": (NONES, (), 30),
    "rare": (["None"] * 9 + NONES[30:] + EMPTY, (), 12),
    "beside more that are empty": (NONES + [""] * 31, (), 61),
    "said to be one": (NONES + EMPTY, ("None",), 33),
}


@pytest.mark.parametrize("case", WHERE_IT_IS_A_GAP)
def test_none_is_a_gap_otherwise(case, tmp_path):
    cells, missing, n_gaps = WHERE_IT_IS_A_GAP[case]
    labels, gaps, told, _ = kinds_of_none(tmp_path, cells, missing)
    assert (labels, gaps, told) == (("brick", "stone"), n_gaps, "")


def test_none_among_numbers_is_a_gap(tmp_path):
    found, told = read(Files(csv(tmp_path, ["None"] * 12 + ["", "1.5", "2"])))
    assert np.isnan(found["x"]).sum() == 13
    assert told == {}


def test_what_is_said_of_a_table_is_said_of_those_beside_it(tmp_path):
    (tmp_path / "a.csv").write_text("day;dose\n31/01/2024;\n01/02/2024;2\n")
    (tmp_path / "b.csv").write_text("day;pulse\n25/02/2024;80\n-;71\n")
    both = together(Files(tmp_path / "a.csv", absent_as_zero=["dose"], **SINCE), tmp_path / "b.csv")
    found, _ = read(both)
    np.testing.assert_array_equal(found["day"], [1, 2, 26, GAP])
    np.testing.assert_array_equal(found["dose"], [0, 2, GAP, GAP])  # which b does not have
    with pytest.raises(ValueError, match=r"dates is '2024-01-30' in one table and '2000-01-01'"):
        together(*(Files(tmp_path / "a.csv", dates=day) for day in ("2024-01-30", "2000-01-01")))
