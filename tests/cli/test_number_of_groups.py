"""``halfseen fit -k auto``: the number, the reason, and the choice for machines."""

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import load, simulate
from halfseen.cli.app import app
from tests.cli.options import DIAG


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("numbers"), np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(500, [0.5, 0.3, 0.2], 5 * np.eye(5)[:3], 1.0, rng)
    X = simulate.independent_gaps(X, [1.0, 1.0, 1.0, 1.0, 0.5], rng).round(4)
    pd.DataFrame(X, columns=list("abcde")).to_csv(folder / "data.csv", index=False)
    return folder, X


@pytest.mark.parametrize("asked", [("-k", "auto"), ()])
def test_auto_prints_the_number_and_the_reason_and_may_be_left_out(files, tmp_path, asked):
    folder, _ = files
    out = tmp_path / "model.halfseen"
    result = run("fit", folder / "data.csv", *asked, *DIAG, "--out", out)
    assert result.exit_code == 0, result.output
    reason = load(out).diagnostics_.choice.reason
    assert reason in " ".join(result.output.split())
    assert "* chosen, (*) runner-up; each number by its best mixture." in result.output
    assert "Group 3" in result.output
    model = load(out)
    assert (model.n_components, model.n_components_) == ("auto", 3)
    assert reason.startswith("3 clear groups: held-out rows are more likely under them than ")


def test_json_holds_the_choice(files, tmp_path):
    folder, _ = files
    out = tmp_path / "model.halfseen"
    result = run("fit", folder / "data.csv", "-k", "auto", *DIAG, "--out", out, "--json")
    choice = json.loads(result.stdout)["choice"]
    expected = load(out).diagnostics_.choice
    assert choice["n_components"] == 3
    assert choice["reason"] == expected.reason
    assert (choice["case"], choice["runner_up"]) == (expected.case, expected.runner_up)
    assert choice["tried"] == [asdict(one) for one in expected.tried]


def test_one_cloud_is_told_by_its_main_line_and_the_command_for_groups(tmp_path):
    rng = np.random.default_rng(1)
    cloud = rng.normal(size=(400, 1)) * [1, -1, 1, 1] + 0.6 * rng.normal(size=(400, 4))
    pd.DataFrame(cloud, columns=list("abcd")).to_csv(tmp_path / "data.csv", index=False)
    result = run("fit", tmp_path / "data.csv", "--out", tmp_path / "m.halfseen")
    said = " ".join(result.output.split())
    assert "One cloud, no groups: " in said
    assert "Rows differ most along one line: from " in said
    k = load(tmp_path / "m.halfseen").diagnostics_.choice.runner_up
    assert f"For {k} groups anyway use -k {k}." in said
    assert "Group 1" not in said


def test_what_is_undecided_is_shown_as_groups_with_that_said_first(tmp_path):
    """Five yes/no items of two classes that overlap, in so few rows that a trait is as good."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        chance = np.where(rng.integers(2, size=(150, 1)), 0.8, 0.2)
        items = (rng.random((150, 5)) < chance).astype(int)
        pd.DataFrame(items, columns=list("abcde")).to_csv(tmp_path / "items.csv", index=False)
        out = tmp_path / f"{seed}.halfseen"
        result = run("fit", tmp_path / "items.csv", "--model", "classes", "--out", out)
        choice = load(out).diagnostics_.choice
        if choice.case == "undecided":
            break
    said = " ".join(result.output.split())
    assert load(out).n_components_ == choice.n_components == 2
    assert "Undecided: 150 rows cannot tell 2 classes from a single cloud" in said
    assert said.index("Undecided") < said.index("Class 1")
    assert "Shown are 2 classes; for one class use -k 1." in said


def test_a_number_that_was_given_is_no_choice(files, tmp_path):
    folder, _ = files
    result = run(
        "fit", folder / "data.csv", "-k", 2, *DIAG, "--out", tmp_path / "m.halfseen", "--json"
    )
    assert json.loads(result.stdout)["choice"] is None
    told = run("fit", folder / "data.csv", "-k", 2, *DIAG, "--out", tmp_path / "n.halfseen")
    assert "chosen" not in told.output


@pytest.mark.parametrize("k", ["0", "-1", "many", "2.5", "²", "Auto", ""])
def test_anything_else_is_refused_before_the_table_is_read(files, tmp_path, k):
    folder, _ = files
    out = tmp_path / "model.halfseen"
    result = run("fit", folder / "data.csv", f"--k={k}", "--out", out)
    assert result.exit_code == 2
    said = " ".join(result.output.split())
    assert f"-k must be a whole number of at least 1, or auto. Got '{k}' instead." in said
    assert not out.exists()
