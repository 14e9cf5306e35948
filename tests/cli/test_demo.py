"""The demonstration, as a user sees it."""

import builtins
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from halfseen.cli.app import app
from halfseen.cli.words import Column, describe_groups, describe_weights

COLUMNS = [Column("pulse", "/min", 70, 10, 0), Column("lactate", "mmol/L", 1.0, 0.5, 1)]


def test_the_demo_says_what_was_learned_and_writes_it_down(tmp_path):
    out = tmp_path / "report.md"
    result = CliRunner().invoke(app, ["demo", "--out", str(out)])
    assert result.exit_code == 0
    assert "of patients" in result.stdout
    assert "lactate" in result.stdout
    assert out.read_text(encoding="utf-8").startswith("# 4 groups among 2,000 patients")
    assert str(out) in result.stdout.replace("\n", "")


def test_a_file_that_is_there_is_not_replaced_unless_asked(tmp_path):
    out = tmp_path / "report.md"
    out.write_text("mine")
    refused = CliRunner().invoke(app, ["demo", "--out", str(out)])
    assert refused.exit_code == 2
    assert "is there already. Use --force to replace it, or --out." in refused.output
    assert out.read_text() == "mine"
    assert CliRunner().invoke(app, ["demo", "--out", str(out), "--force"]).exit_code == 0
    assert out.read_text(encoding="utf-8") != "mine"


def test_groups_are_told_most_common_first_with_what_stands_out():
    lines = list(
        describe_groups(
            np.array([0.3, 0.7]), np.array([[3.5, -1.2], [0.0, 0.2]]), COLUMNS, "people"
        )
    )
    assert lines[0] == "## Group 1: 70% of people"
    assert "Nothing stands out" in lines[2]
    assert lines[4] == "## Group 2: 30% of people"
    assert lines[6] == "- pulse much higher than typical: 105 /min (typical 70)"
    assert lines[7] == "- lactate somewhat lower than typical: 0.4 mmol/L (typical 1.0)"


def test_down_weighted_features_are_named_with_the_reason():
    full, less = describe_weights(np.array([1.0, 0.2]), np.array([1.0, 0.2]), COLUMNS)
    assert "pulse" in full
    assert less.startswith("- lactate: weight 0.20, because it is known for only 20% of rows")


def test_without_the_extra_the_command_says_what_to_install(monkeypatch, capsys):
    real = builtins.__import__

    def without_typer(name, *args, **kwargs):
        if name == "typer":
            raise ModuleNotFoundError("No module named 'typer'", name="typer")
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "halfseen.cli.app", raising=False)
    monkeypatch.setattr(builtins, "__import__", without_typer)
    from halfseen.cli import main

    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert "pip install 'halfseen[cli]'" in capsys.readouterr().err


def test_the_command_is_installed():
    result = subprocess.run(
        [sys.executable, "-m", "halfseen", "--help"], capture_output=True, text=True, check=True
    )
    assert "demo" in result.stdout
