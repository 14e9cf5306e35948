"""Names and cells that a spreadsheet would run are made harmless for those who ask."""

import csv

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen.cli.app import app
from tests.cli.options import DIAG

BAD = "=cmd|' /C calc'!A0"
TEXTS = [BAD, "+1+1", "-2+3", "@SUM(A1)", "plain", "-5", "+3.5", "", "\t=1"]


def run(*arguments):
    told = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert told.exit_code == 0, told.output


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)) + (np.arange(90) % 2 * 6)[:, None]
    frame = pd.DataFrame(np.where(rng.random(X.shape) < 0.02, np.nan, X), columns=[BAD, "b", "c"])
    frame.assign(note=[TEXTS[i % len(TEXTS)] for i in range(90)]).to_csv(
        tmp_path / "t.csv", index=False
    )
    run("fit", tmp_path / "t.csv", "-k", 2, *DIAG, "--out", tmp_path / "m.halfseen")
    return tmp_path


def _cells(path, delimiter=","):
    with path.open(newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize("command", ["predict", "impute"])
def test_no_name_and_no_text_begins_like_a_formula(command, ending, files):
    out = files / f"o.{ending}"
    given = (command, files / "m.halfseen", files / "t.csv", "--keep", "*", "--out", out)
    run(*given, "--for-spreadsheets")
    head, *rows = _cells(out, "," if ending == "csv" else "\t")
    assert "'" + BAD in head
    for cell in (*head, *(cell for row in rows for cell in row)):
        if cell[:1] in ("=", "+", "-", "@", "\t", "\r"):
            float(cell)  # a number is no formula
    notes = {row[head.index("note")] for row in rows}
    assert {"'" + BAD, "'-2+3", "'@SUM(A1)", "plain", "-5", "+3.5"} <= notes


def test_without_asking_everything_stands_as_in_the_file(files):
    out = files / "o.csv"
    run("impute", files / "m.halfseen", files / "t.csv", "--keep", "*", "--out", out)
    head, *rows = _cells(out)
    assert head[0] == BAD
    assert BAD in {row[head.index("note")] for row in rows}


def test_other_formats_run_nothing_and_stay_as_they_are(files):
    out = files / "o.parquet"
    given = ("impute", files / "m.halfseen", files / "t.csv", "--keep", "*", "--out", out)
    run(*given, "--for-spreadsheets")
    assert BAD in pd.read_parquet(out).columns
