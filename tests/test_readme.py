"""Everything in the README runs as written."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen.cli.app import COMMANDS as CLI
from halfseen.cli.app import app
from halfseen.sample.clinic import PATH as SAMPLE

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = re.findall(r"^\$ (.*)$", README, re.MULTILINE)
EXPERIMENTS = re.findall(r"`python -m (benchmarks[\w.]*)`", README)


def test_the_readme_has_snippets_and_both_commands():
    assert len(SNIPPETS) >= 3
    assert [command for command in COMMANDS if not command.startswith("halfseen ")] == [
        "make demo",
        "make test",
    ]


def survey(path):
    """A table of mixed columns with gaps."""
    rng = np.random.default_rng(0)
    ill = rng.random(400) < 0.4
    frame = pd.DataFrame(
        {
            "age": rng.normal(np.where(ill, 70, 40), 8).round(1),
            "stage": np.where(ill, 3, 1) + rng.integers(2, size=400),
            "cough": np.where(rng.random(400) < np.where(ill, 0.9, 0.1), "yes", "no"),
        }
    )
    frame.mask(rng.random(frame.shape) < 0.2).to_csv(path, index=False)


def test_every_command_runs_in_the_order_of_the_page(tmp_path, monkeypatch):
    shutil.copy(SAMPLE, tmp_path / "patients.csv")
    survey(tmp_path / "survey.csv")
    monkeypatch.chdir(tmp_path)
    ours = [shlex.split(command) for command in COMMANDS if command.startswith("halfseen ")]
    assert {command for _, command, *_ in ours} == set(CLI) - {"demo", "reproduce"}
    for _, *arguments in ours:
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output


def test_every_picture_is_there():
    pictures = re.findall(r'<img src="([^"]+)"', README)
    assert pictures
    assert all((ROOT / picture).stat().st_size < 150_000 for picture in pictures)


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_every_snippet_runs(snippet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(snippet, "README.md", "exec"), {})


def test_make_demo_prints_the_model_and_where_the_report_is():
    result = subprocess.run(
        ["make", "demo"], cwd=ROOT, capture_output=True, text=True, check=True, env=os.environ
    )
    assert "Group 1" in result.stdout
    assert "Report: " in result.stdout
    assert (ROOT / "demo-report.html").exists()


@pytest.mark.parametrize("module", EXPERIMENTS)
def test_every_experiment_is_a_command(module, monkeypatch, capsys):
    """As ``python -m`` runs it, but in this process: loading everything again takes seconds."""
    package = import_module(module)
    name = f"{module}.__main__" if hasattr(package, "__path__") else module
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "argv", [module, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    assert ended.value.code in (None, 0)
    assert "--keep" in capsys.readouterr().out
