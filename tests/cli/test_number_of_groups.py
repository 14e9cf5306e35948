"""``halfseen fit -k auto``: the number, the reason, and the choice for machines."""

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import load, simulate
from halfseen.cli.app import app


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("numbers"), np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(1200, [0.5, 0.3, 0.2], 5 * np.eye(5)[:3], 1.0, rng)
    X = simulate.independent_gaps(X, [1.0, 1.0, 1.0, 1.0, 0.5], rng).round(4)
    pd.DataFrame(X, columns=list("abcde")).to_csv(folder / "rows.csv", index=False)
    return folder, X


@pytest.mark.parametrize("asked", [("-k", "auto"), ()])
def test_auto_prints_the_number_and_the_reason_and_may_be_left_out(files, tmp_path, asked):
    folder, _ = files
    out = tmp_path / "model.halfseen"
    result = run("fit", folder / "rows.csv", *asked, "--out", out)
    assert result.exit_code == 0, result.output
    reason = load(out).diagnostics_.choice.reason
    assert f"3 groups were chosen. {reason}" in " ".join(result.output.split())
    assert "Group 3" in result.output
    model = load(out)
    assert (model.n_components, model.n_components_) == ("auto", 3)
    assert reason.startswith("3 groups: halves of the rows, fitted apart, find the same ones")


def test_json_holds_the_choice(files, tmp_path):
    folder, _ = files
    out = tmp_path / "model.halfseen"
    result = run("fit", folder / "rows.csv", "-k", "auto", "--out", out, "--json")
    choice = json.loads(result.stdout)["choice"]
    expected = load(out).diagnostics_.choice
    assert choice["n_components"] == 3
    assert choice["reason"] == expected.reason
    assert [one["n_components"] for one in choice["held_out"]] == [1, 2, 3, 4, 5, 6]
    assert choice["held_out"][2] == asdict(expected.held_out[2])
    assert choice["held_out"][2]["agreement"] == pytest.approx(1.0, abs=0.01)
    assert choice["held_out"][2]["accepted"] is True


def test_json_holds_the_tests_of_the_second_moments(files, tmp_path):
    folder, _ = files
    out = tmp_path / "model.halfseen"
    even = ("--covariance", "tied_spherical", "--scale", "none")
    result = run("fit", folder / "rows.csv", *even, "--out", out, "--json")
    choice, expected = json.loads(result.stdout)["choice"], load(out).diagnostics_.choice
    assert choice["tests"] == [asdict(test) for test in expected.tests]
    assert [test["n_components"] for test in choice["tests"]] == [1, 2, 3]


def test_a_number_that_was_given_is_no_choice(files, tmp_path):
    folder, _ = files
    result = run("fit", folder / "rows.csv", "-k", 2, "--out", tmp_path / "m.halfseen", "--json")
    assert json.loads(result.stdout)["choice"] is None
    told = run("fit", folder / "rows.csv", "-k", 2, "--out", tmp_path / "n.halfseen")
    assert "chosen" not in told.output


@pytest.mark.parametrize("k", ["0", "-1", "many", "2.5", "²", "Auto", ""])
def test_anything_else_is_refused_before_the_table_is_read(files, tmp_path, k):
    folder, _ = files
    out = tmp_path / "model.halfseen"
    result = run("fit", folder / "rows.csv", f"--k={k}", "--out", out)
    assert result.exit_code == 2
    said = " ".join(result.output.split())
    assert f"-k must be a whole number of at least 1, or auto. Got '{k}' instead." in said
    assert not out.exists()
