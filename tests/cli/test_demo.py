"""The demonstration, and the command as it is installed."""

import subprocess
import sys

from typer.testing import CliRunner

from halfseen.cli.app import app


def test_the_demo_says_what_was_learned_and_writes_the_page(tmp_path):
    out = tmp_path / "report.html"
    result = CliRunner().invoke(app, ["demo", "--out", str(out)])
    assert result.exit_code == 0
    assert "Group 1: 51% of patients" in result.stdout
    assert "lactate (mmol/L) much higher than average: 2.97 (average 1.58)" in result.stdout
    assert "lactate (mmol/L): weight 0.21, being known for 21% of rows." in result.stdout
    assert f"Report: {out}" in result.stdout
    page = out.read_text(encoding="utf-8")
    assert "<h1>4 groups among 2,000 simulated patients</h1>" in page


def test_a_file_that_is_there_is_not_replaced_unless_asked(tmp_path):
    out = tmp_path / "report.html"
    out.write_text("mine")
    refused = CliRunner().invoke(app, ["demo", "--out", str(out)])
    assert refused.exit_code == 2
    assert "is there already. Use --force to replace it, or another name" in refused.stderr
    assert out.read_text() == "mine"
    assert CliRunner().invoke(app, ["demo", "--out", str(out), "--force"]).exit_code == 0
    assert out.read_text(encoding="utf-8") != "mine"


def test_the_command_is_installed():
    result = subprocess.run(
        [sys.executable, "-m", "halfseen", "--help"], capture_output=True, text=True, check=True
    )
    assert "demo" in result.stdout
