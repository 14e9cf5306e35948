"""A table's name is all that a command needs."""

import numpy as np
import pytest
from typer.testing import CliRunner

from halfseen.cli.app import app
from tests.cli.options import DIAG


@pytest.fixture
def table(tmp_path, monkeypatch):
    """In another folder than the one that one is in."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 3)) + 6 * rng.integers(2, size=(60, 1))
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "patients.csv"
    np.savetxt(path, values, delimiter=",", header="a,b,c", comments="")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_results_are_named_after_what_is_given_and_nothing_is_replaced(table, tmp_path):
    here = tmp_path / "here"
    fitted = run("fit", table, "-k", 2, *DIAG)
    assert fitted.exit_code == 0, fitted.output
    assert "Model: patients.halfseen" in fitted.stdout
    for options, name in (((), "patients.html"), (("--format", "md"), "patients.md")):
        told = run("report", "patients.halfseen", table, *options)
        assert told.exit_code == 0, told.output
        assert (here / name).exists()
    before = (here / "patients.halfseen").read_bytes()
    again = run("fit", table, "-k", 2, *DIAG)
    assert again.exit_code == 2
    assert "patients.halfseen is there already. Use --force" in again.stderr
    assert (here / "patients.halfseen").read_bytes() == before
    assert not list(table.parent.glob("*.halfseen"))


@pytest.mark.parametrize("given", ["-", "sqlite:///patients.db", "data/*.csv"])
def test_what_has_no_name_needs_one(given, table):
    result = run("fit", given)
    assert result.exit_code == 2
    assert (
        "There is no file to name the result after. Give --out, such as m.halfseen."
        in result.stderr
    )
