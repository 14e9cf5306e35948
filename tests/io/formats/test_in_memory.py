"""Files of spreadsheets, statistics programs, R, JSON and databases give the table they hold."""

import json
import sqlite3
import sys

import numpy as np
import pandas as pd
import pytest

from halfseen import Files, GaussianMixture
from halfseen.data.errors import DataError
from halfseen.io.formats import WHOLE
from halfseen.io.open_source import open_source, rows_of

NAMES = ("age", "pulse", "sex", "stage")
STAGES = {1: "low", 2: "middle", 3: "high"}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": [*rng.normal(60, 9, 29).round(2), np.nan],
            "pulse": rng.integers(50, 120, 30).astype(float),
            "sex": ["m", "f", "f"] * 10,
            "stage": [1.0, 2.0, 3.0] * 10,
        }
    )


def excel(table, path):
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(path) as book:
        table.to_excel(book, sheet_name="Ward 3", index=False, startrow=2)
        book.sheets["Ward 3"]["A1"] = "Patients of ward 3"
        table[:3].to_excel(book, sheet_name="Notes")


def spss(table, path):
    pyreadstat = pytest.importorskip("pyreadstat")
    pyreadstat.write_sav(
        table,
        path,
        variable_value_labels={"stage": STAGES},
        variable_measure={"stage": "ordinal"},
    )


def stata(table, path):
    pyreadstat = pytest.importorskip("pyreadstat")
    pyreadstat.write_dta(table, path, variable_value_labels={"stage": STAGES})


def sas(table, path):
    pytest.importorskip("pyreadstat").write_xport(table, path)


def r_frame(table, path):
    pytest.importorskip("pyreadr").write_rds(path, table)


def r_objects(table, path):
    pytest.importorskip("pyreadr").write_rdata(path, table, df_name="patients")


def json_lines(table, path):
    table.to_json(path, orient="records", lines=True, double_precision=15)


def json_list(table, path):
    table.to_json(path, orient="records", double_precision=15)


def sqlite(table, path):
    connection = sqlite3.connect(path)
    table.to_sql("patients", connection, index=False)
    connection.close()


def duck(table, path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.register("frame", table)
        connection.execute("create table patients as select * from frame")


WRITERS = {
    ".xlsx": excel,
    ".sav": spss,
    ".dta": stata,
    ".xpt": sas,
    ".rds": r_frame,
    ".rda": r_objects,
    ".jsonl": json_lines,
    ".json": json_list,
    ".sqlite": sqlite,
    ".duckdb": duck,
}
every_format = pytest.mark.parametrize("ending", WRITERS)


def test_every_reader_has_a_writer_here():
    assert {WHOLE[ending] for ending in WRITERS} == set(WHOLE.values())


def read(path, **options):
    files = Files(path, **options)
    rows = rows_of(files, open_source(files))
    parts = rows.accumulate(lambda block: [np.where(block.observed, block.values, np.nan)])
    return rows.names, np.concatenate(parts)


@every_format
def test_numbers_are_those_of_the_table(ending, table, tmp_path):
    WRITERS[ending](table, tmp_path / f"t{ending}")
    for options in ({}, {"memory": 0.001}):
        names, values = read(tmp_path / f"t{ending}", **options)
        expected = table[list(names)].to_numpy()
        assert set(names) >= {"age", "pulse"}
        np.testing.assert_allclose(values, expected, rtol=1e-12)


@every_format
def test_words_are_categories_and_labels_of_codes_keep_their_order(ending, table, tmp_path):
    WRITERS[ending](table, tmp_path / f"t{ending}")
    coding = open_source(Files(tmp_path / f"t{ending}"), lambda names: {}).coding
    kinds = dict(zip(coding.names, zip(coding.kinds, coding.labels, strict=True), strict=True))
    assert tuple(kinds) == NAMES
    assert kinds["sex"] == ("binary", ("f", "m"))
    if ending == ".sav":
        assert kinds["stage"] == ("ordinal", tuple(STAGES.values()))
    if ending == ".dta":
        assert kinds["stage"] == ("categorical", ("high", "low", "middle"))


def test_of_several_sheets_the_first_is_read_and_the_others_are_told_of(table, tmp_path):
    excel(table, tmp_path / "t.xlsx")
    notes = open_source(Files(tmp_path / "t.xlsx")).notes
    assert notes == [
        "t.xlsx has 2 sheets, of which 'Ward 3' was read; use table='Notes' for another ('Notes').",
        "t.xlsx begins with 2 lines before its table, which were left out.",
    ]


def test_of_several_tables_one_must_be_named(table, tmp_path):
    sqlite(table, tmp_path / "t.db")
    connection = sqlite3.connect(tmp_path / "t.db")
    table.to_sql("visits", connection, index=False)
    connection.close()
    with pytest.raises(
        DataError, match=r"several tables: 'patients' and 'visits'. Say which one with table="
    ):
        open_source(Files(tmp_path / "t.db"))


def test_json_that_is_no_table_is_refused(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps([1, 2, 3]))
    with pytest.raises(DataError, match=r"holds JSON that is no table\. Write a list of objects"):
        open_source(Files(tmp_path / "t.json"))


@pytest.mark.parametrize("ending", [".xlsx", ".sav", ".rds", ".duckdb"])
def test_a_library_that_is_missing_is_named_with_its_extra(ending, tmp_path, monkeypatch):
    reader = WHOLE[ending]
    monkeypatch.setitem(sys.modules, reader.needs.replace("-", "_"), None)
    (tmp_path / f"t{ending}").write_bytes(b"anything")
    told = rf"needs {reader.needs}\. Install it with: pip install 'halfseen\[{reader.extra}\]'"
    with pytest.raises(ModuleNotFoundError, match=told):
        GaussianMixture(2).fit(tmp_path / f"t{ending}")


@pytest.mark.parametrize("ending", WRITERS)
def test_damaged_files_are_refused_in_a_sentence(ending, tmp_path, table):
    WRITERS[ending](table, tmp_path / f"t{ending}")
    (tmp_path / f"t{ending}").write_bytes(b"no such thing\n{[")
    with pytest.raises(DataError, match=rf"t\{ending} cannot be read at its table"):
        open_source(Files(tmp_path / f"t{ending}"))
