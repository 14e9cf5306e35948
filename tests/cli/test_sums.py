"""``halfseen sums``, and ``halfseen fit`` of what it wrote."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import GaussianMixture, load, simulate
from halfseen.cli.app import app

COLUMNS = ["pulse", "pressure", "sodium", "lactate"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def succeed(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    means = np.array([[80.0, 120, 140, 2], [110, 90, 135, 6]])
    X, _ = simulate.gaussian_mixture(900, [0.6, 0.4], means, 4.0, rng)
    X = simulate.independent_gaps(X, [1, 1, 1, 0.6], rng)
    table = pd.DataFrame(X, columns=COLUMNS)
    table[:400].assign(note="x").to_csv(tmp_path / "north.csv", index=False)
    table[400:][COLUMNS[::-1]].to_csv(tmp_path / "south.csv", index=False)
    table.to_csv(tmp_path / "all.csv", index=False)
    return tmp_path


def summed(folder, *more):
    for place in ("north", "south"):
        told = succeed(
            *("sums", folder / f"{place}.csv", "--plan", folder / "plan.json", "--force"),
            *("--out", folder / f"{place}.sums", *more),
        )
    return told


def fitted(folder, out="model.halfseen"):
    sums = [folder / f"{place}.sums" for place in ("north", "south")]
    return succeed("fit", *sums, "--out", folder / out, "--force")


def test_two_places_are_one_table(folder):
    draft = ("--draft", folder / "plan.json", "-k", 2, "--columns", ",".join(COLUMNS))
    assert "of 4 columns. Read it before it is sent" in succeed(
        "sums", folder / "north.csv", *draft
    )
    told = summed(folder)
    assert "over 500 rows, of 4 columns and 10 pairs of them, and 20 triples. They hold no" in told
    fitted(folder)
    for number in range(1, 7):
        summed(folder, "--at", folder / "model.halfseen")
        assert f"this was round {number} at a model" in fitted(folder)
    table = pd.read_csv(folder / "all.csv")
    wanted = GaussianMixture(2, covariance_type="diag", outliers=None).fit(table)
    assert load(folder / "model.halfseen").score(table) == pytest.approx(
        wanted.score(table), abs=1e-6
    )


def test_classes_are_told_that_more_is_asked(folder):
    draft = ("--draft", folder / "plan.json", "-k", 2, "--model", "classes", "--drop", "note")
    succeed("sums", folder / "north.csv", *draft)
    summed(folder)
    assert "No model yet: it begins by more sums than the 1 round so far." in fitted(folder)
    for _ in range(3):
        summed(folder, "--at", folder / "model.halfseen")
        told = fitted(folder)
    assert "Class 1:" in told
    assert load(folder / "model.halfseen").n_components_ == 2


def test_machines_are_told_the_same(folder):
    succeed("sums", folder / "north.csv", "--draft", folder / "plan.json", "-k", 2, "--noise", 1)
    told = succeed(
        *("sums", folder / "north.csv", "--plan", folder / "plan.json", "--json"),
        *("--out", folder / "a.sums", "--noise", 0.5),
    )
    found = json.loads(told)
    assert found["columns"] == COLUMNS
    assert (found["round"], found["least_rows"], found["private"]) == (1, 10, True)
    assert found["bytes"] == (folder / "a.sums").stat().st_size


WRONG = {
    "no plan": (["--out", "a.sums"], 2, "Sums need --plan, what all places agreed on, and --out"),
    "no k": (["--draft", "p.json"], 2, "A plan says how many groups there are: give -k"),
    "both": (["--draft", "p.json", "-k", "2", "--out", "a"], 2, "--out does not go with --draft."),
    "said": (
        ["--plan", "plan.json", "--out", "a.sums", "-k", "2"],
        2,
        "The plan says that already",
    ),
    "table": (["--plan", "north.csv", "--out", "a.sums"], 1, "is not a plan that halfseen can"),
    "over": (["--plan", "plan.json", "--out", "plan.json"], 2, "would be written over"),
    "few": (["--plan", "plan.json", "--out", "a.sums"], 1, "Leave such rows out with --leave-out"),
}


@pytest.mark.parametrize(("words", "code", "message"), WRONG.values(), ids=WRONG)
def test_wrong_calls_are_told_what_to_do(words, code, message, folder, monkeypatch):
    monkeypatch.chdir(folder)
    succeed("sums", "north.csv", "--draft", "plan.json", "-k", 2, "--drop", "note")
    table = pd.read_csv("north.csv")
    table.loc[3, "sodium"] = None
    table.to_csv("north.csv", index=False)
    told = run("sums", "north.csv", *words)
    assert told.exit_code == code
    assert message in " ".join(told.output.split())


def test_damaged_sums_are_refused_before_anything_is_written(folder):
    (folder / "north.sums").write_bytes(b"nothing of the kind")
    told = run("fit", folder / "north.sums", "--out", folder / "m.halfseen")
    assert told.exit_code == 1
    assert "is not a file of sums written by halfseen" in told.output
    assert not (folder / "m.halfseen").exists()


def test_what_the_plan_said_is_not_said_again(folder):
    (folder / "north.sums").write_bytes(b"whatever")
    told = run("fit", folder / "north.sums", "-k", 3, "--out", folder / "m.halfseen")
    assert told.exit_code == 2
    assert "-k does not go with sums: their plan says it. Leave it out." in told.output
