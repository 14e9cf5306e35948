"""Files of several kinds, through pipes and from databases, on the command line."""

import io
import json
import sqlite3
import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import Files
from halfseen.cli.app import app
from halfseen.cli.input_files import as_arguments
from halfseen.data.errors import DataError
from halfseen.io import files
from halfseen.io.open_source import open_source

FRAME = pd.DataFrame({"age": [61.5, 40, 39, 52] * 10, "pulse": [80.0, 72, 71, 90, 60] * 8})


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path):
    FRAME[:25].to_csv(tmp_path / "a-1.csv", index=False)
    FRAME[25:].to_csv(tmp_path / "a-2.csv", index=False)
    connection = sqlite3.connect(tmp_path / "clinic.db")
    FRAME.to_sql("visits", connection, index=False)
    FRAME[:9].to_sql("patients", connection, index=False)
    connection.close()
    return tmp_path


WAYS = {
    "several files": lambda folder: (folder / "a-1.csv", folder / "a-2.csv"),
    "a pattern": lambda folder: (folder / "a-*.csv",),
    "a table of a database": lambda folder: (folder / "clinic.db", "--table", "visits"),
    "a query": lambda folder: (folder / "clinic.db", "--table", "select pulse, age from visits"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_table_may_be_in_several_files_or_in_a_database(way, folder):
    result = run("describe", *WAYS[way](folder), "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["n_rows"] == len(FRAME)
    assert set(found["kinds"]) == {"age", "pulse"}


def test_a_connection_string_names_a_database(folder):
    pytest.importorskip("sqlalchemy")
    address = f"sqlite:///{folder / 'clinic.db'}"
    files = Files(address, table="visits")
    assert open_source(files).n_rows == len(FRAME)
    assert open_source(Files(address, table="select age from patients")).names == ("age",)
    with pytest.raises(DataError, match="several tables: 'patients' and 'visits'"):
        open_source(Files(address))
    with pytest.raises(DataError, match=r"cannot be read \(OperationalError\). Check the conn"):
        open_source(Files(f"sqlite:///{folder / 'no' / 'clinic.db'}", table="visits"))


def test_a_table_may_come_through_a_pipe(folder, monkeypatch):
    files._from_pipe.cache_clear()
    text = (folder / "a-1.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert open_source(Files("-")).n_rows == 25
    files._from_pipe.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(DataError, match=r"Nothing came through standard input\. Pipe a table"):
        open_source(Files("-"))


REFUSED = {
    "no such file": (("no.csv",), 2, "no.csv does not exist. Check its name and folder."),
    "no such pattern": (("b-*.csv",), 1, "Check it, or name the files."),
    "no such table": (("clinic.db", "--table", "x"), 1, "has no table 'x'. It has 'patients' and"),
    "several tables": (("clinic.db",), 1, "Say which one with --table patients."),
    "an option of others": (("a-1.csv", "--table", "x"), 2, "--table x says nothing of a-1.csv"),
    "no such encoding": (("a-1.csv", "--encoding", "foo"), 2, "--encoding foo is not known. Use"),
    "files of several kinds": (("*",), 1, "holds files of several kinds"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_in_a_sentence(case, folder, monkeypatch):
    monkeypatch.chdir(folder)
    arguments, code, sentence = REFUSED[case]
    result = run("describe", *arguments)
    assert result.exit_code == code
    assert sentence in result.stderr


def test_what_is_said_of_files_is_said_again_in_what_follows(folder):
    told = run("describe", folder / "clinic.db", "--table", "visits").stdout
    files = as_arguments(Files(folder / "clinic.db", table="visits"))
    assert f"Next:  halfseen fit {files} " in told


def test_names_lines_and_encodings_can_be_given(folder):
    path = folder / "it.csv"
    path.write_bytes("note,\n3,4\n1,2\n5,ü\n".encode("cp1250"))
    source = open_source(Files(path, skip=1, header=True, encoding="cp1250"))
    assert source.all_names == ("3", "4")
    assert open_source(Files(path, skip=1, header=False)).all_names == ("column 1", "column 2")
