"""``halfseen bench``, as a user sees it."""

import pytest
from typer.testing import CliRunner

from halfseen.cli import bench
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


def test_without_a_checkout_it_says_where_cases_are(monkeypatch, tmp_path):
    monkeypatch.setattr(bench, "CASES", tmp_path / "nowhere")
    told = run("mixtures")
    assert told.exit_code == 2
    assert "not part of what pip installs. Get the sources of halfseen" in told.stderr
