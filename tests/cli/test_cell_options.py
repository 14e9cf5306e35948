"""What is said of cells on the command line is kept in the model, for new tables."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import load
from halfseen.cli.app import app
from tests.cli.options import DIAG

SAID = ("--dates", "2020-01-01", "--absent-as-zero", "dose", "--decimal", ",")


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("said")
    later = rng.integers(2, size=120)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(
        rng.integers(0, 200, 120) + 400 * later, unit="D"
    )
    dose = [f"1,{number}" if number % 3 else "" for number in rng.integers(100, 999, 120)]
    pulse = (60 + 20 * later + rng.normal(size=120)).round().astype(int)
    frame = pd.DataFrame({"visit": days.strftime("%d/%m/%Y"), "dose": dose, "pulse": pulse})
    frame.loc[::7, "visit"] = "-"
    frame.to_csv(folder / "t.csv", index=False, sep=";")
    model = ("-k", 2, *DIAG, "--model", "gaussian", "--out", folder / "m.halfseen")
    result = run("fit", folder / "t.csv", *SAID, *model)
    assert result.exit_code == 0, result.output
    assert f"halfseen report {folder / 'm.halfseen'} {folder / 't.csv'} --decimal , --out" in (
        result.stdout
    )
    return folder


DONE = {
    "visit": "its dates were read as days since 2020-01-01; '-' was read as a gap, in 18 cells",
    "dose": "commas in it were read as decimal commas; its gaps were read as 0",
    "pulse": "",
}


@pytest.mark.parametrize("what", ["m.halfseen", "t.csv"])
def test_tables_and_models_tell_what_was_done(what, folder):
    said = () if what == "m.halfseen" else SAID
    found = json.loads(run("describe", folder / what, "--all-columns", "--json", *said).stdout)
    assert {one["column"]: one["what"] for one in found["columns"]} == DONE
    assert all(one["used"] for one in found["columns"])


def test_new_tables_are_read_as_the_first_one_was(folder):
    model = load(folder / "m.halfseen")
    kept = model.preprocessing_
    assert (kept.dates, kept.absent_as_zero, kept.decimal) == ("2020-01-01", ("dose",), ",")
    (folder / "new.csv").write_text("visit;dose;pulse\n31/12/2019;;60\n;1,5;\n")
    out = folder / "filled.csv"
    result = run("impute", folder / "m.halfseen", folder / "new.csv", "--out", out, "--force")
    assert result.exit_code == 0, result.output
    filled = pd.read_csv(out)
    assert filled.loc[0].tolist() == ["2019-12-31", 0, 60]
    assert pd.Timestamp(filled.visit[1]) > pd.Timestamp("2020-01-01")
    assert filled.dose[1] == 1.5
    table = folder / "groups.csv"
    result = run("predict", folder / "m.halfseen", folder / "new.csv", "--out", table)
    assert result.exit_code == 0, result.output


def test_a_model_knows_its_dates_and_takes_no_others(folder):
    out = ("--out", folder / "no.csv")
    result = run("impute", folder / "m.halfseen", folder / "t.csv", "--dates", "1999-01-01", *out)
    assert result.exit_code == 2
    assert "--dates is for learning from the table itself, and a model is given" in result.stderr


def test_the_next_command_says_the_same_of_the_table(folder):
    said = run("describe", folder / "t.csv", *SAID).stdout
    assert (
        f"halfseen fit {folder / 't.csv'} --decimal , --dates 2020-01-01 --absent-as-zero dose"
        in (said)
    )


REFUSED = {
    "--dates soon is no day to count from": ("--dates", "soon"),
    "--decimal x is neither": ("--decimal", "x"),
    "--absent-as-zero names 'dos', which t.csv does not have": ("--absent-as-zero", "dos"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_meant_is_refused_in_words_of_the_command_line(sentence, folder):
    result = run("describe", folder / "t.csv", *REFUSED[sentence])
    assert result.exit_code in (1, 2)
    assert sentence in result.stderr
