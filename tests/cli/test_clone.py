"""``halfseen bench`` and the way to commands of a clone, as a user sees them."""

import pytest
from typer.testing import CliRunner

import halfseen
from halfseen.cli.app import app


def run(*arguments):
    return CliRunner().invoke(app, ["bench", *arguments])


def test_the_cases_are_told():
    told = run("--list")
    assert told.exit_code == 0
    assert "mixtures" in told.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["guesses"], "No case is called guesses. Use mixtures, "),
        (["mixtures", "--peers", "nobody"], "No peer is called nobody. Use halfseen, "),
        (["mixtures", "--clock", "sun"], "No clock is called sun. Use wall or processor."),
    ],
)
def test_what_there_is_not_is_a_wrong_call(arguments, sentence, tmp_path):
    told = run(*arguments, "--out", str(tmp_path / "it.html"))
    assert (told.exit_code, sentence in told.stderr) == (2, True)


@pytest.mark.parametrize("command", ["bench", "reproduce"])
def test_without_a_clone_it_says_where_to_get_one(command, monkeypatch, tmp_path):
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").write_text("raise SystemExit('somebody else')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(halfseen, "__file__", str(tmp_path / "a" / "b" / "c.py"))
    told = CliRunner().invoke(app, [command])
    assert told.exit_code == 2
    assert "not part of what pip installs. Get the sources of halfseen" in told.stderr
