"""Rows that depend on each other: what --groups names is no feature, and halves keep it whole."""

import json

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from halfseen import choose_components, load
from halfseen.cli.app import app
from tests.cli.options import DIAG


def test_groups_are_left_out_of_the_columns_and_choose_how_many(tmp_path):
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(100), 3)
    X = (rng.normal(size=(300, 3)) + 6 * (patient % 2)[:, None]).round(3)
    pd.DataFrame(X, columns=list("abc")).assign(ward=patient).to_csv(tmp_path / "t.csv")
    out = tmp_path / "m.halfseen"
    arguments = ["fit", tmp_path / "t.csv", "--groups", "ward", "--out", out, "--seed", 0, "--json"]
    result = CliRunner().invoke(app, [*map(str, arguments), "--covariance", "tied_diag"])
    assert result.exit_code == 0, result.output
    found, model = json.loads(result.stdout), load(out)
    assert found["columns"] == ["a", "b", "c"]
    like = type(model)(**model.get_params())
    expected = choose_components(pd.DataFrame(X, columns=list("abc")), like, groups=patient)
    assert found["choice"]["reason"] == expected.reason
    assert model.n_components == expected.n_components == 2


def test_groups_are_not_for_tables_that_workers_read(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    arguments = ["fit", tmp_path / "t.csv", "--groups", "a", "--workers", "1"]
    result = CliRunner().invoke(app, [*map(str, arguments), "--out", str(tmp_path / "m.halfseen")])
    assert result.exit_code == 2
    assert "--groups goes with tables that are read here. Leave out --workers." in result.stderr


def test_rows_that_share_an_identifier_are_a_concern_until_that_is_said(tmp_path):
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(100), 3)
    X = (rng.normal(size=(300, 3)) + 6 * (patient % 2)[:, None]).round(3)
    frame = pd.DataFrame(X, columns=list("abc")).assign(patient_id=patient)
    frame.to_csv(tmp_path / "t.csv", index=False)
    told = "Rows that share 'patient_id' depend on each other, as a rule, and were taken to be"
    fit = ["fit", str(tmp_path / "t.csv"), "-k", "2", *DIAG, "--out", str(tmp_path / "m.halfseen")]
    alone = CliRunner().invoke(app, fit)
    assert told in " ".join(alone.output.split())
    said = CliRunner().invoke(app, [*fit, "--groups", "patient_id", "--force"])
    assert "Rows that share" not in said.output
