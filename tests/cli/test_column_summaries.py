"""What was done to each column is one table, of a file and as its model keeps it."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import GaussianMixture, load
from halfseen.cli.app import app


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("each")
    share = rng.uniform(1, 9, 60)
    frame = pd.DataFrame(
        {
            "share": [f"{value:.2f}%" for value in share],
            "crp": [f"{np.exp(value):.2f}" if i % 4 else "-" for i, value in enumerate(share)],
            "one": 1,
            "patient_id": rng.permutation(10**6)[:60],
        }
    )
    frame.to_csv(folder / "t.csv", index=False)
    out = ("-k", 1, "--log", "crp", "--model", "gaussian", "--out", folder / "m.halfseen")
    assert run("fit", folder / "t.csv", *out).exit_code == 0
    return folder


DONE = {
    "share": (True, "percent signs were left out, so that 12% is 12"),
    "crp": (True, "'-' was read as a gap, in 15 cells"),
    "one": (False, "it is 1 wherever it is known"),
    "patient_id": (
        False,
        "it has the name of an identifier, and nearly all of its values are different",
    ),
}


def test_a_table_says_what_was_done_to_each_column(folder):
    found = json.loads(run("describe", folder / "t.csv", "--all-columns", "--json").stdout)
    told = {one["column"]: (one["used"], one["what"]) for one in found["columns"]}
    assert told == DONE
    shown = " ".join(run("describe", folder / "t.csv", "--all-columns").stdout.split())
    assert "crp continuous 75% '-' was read as a gap, in 15 cells" in shown


def test_a_model_keeps_what_was_done_to_each_column(folder):
    found = json.loads(run("describe", folder / "m.halfseen", "--json").stdout)
    told = {one["column"]: (one["used"], one["what"]) for one in found["columns"]}
    crp = (True, "'-' was read as a gap, in 15 cells; learned as log(crp)")
    assert told == DONE | {"crp": crp}
    assert load(folder / "m.halfseen").diagnostics_.columns.names == tuple(DONE)


def test_a_model_that_was_learned_elsewhere_does_not_say(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 2))
    GaussianMixture(1).fit(X).save(tmp_path / "m.halfseen")
    result = run("describe", tmp_path / "m.halfseen", "--all-columns")
    assert result.exit_code == 2
    assert "does not say what was done to columns" in result.stderr
