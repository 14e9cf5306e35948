"""The README is short and true; what it shows in snippets is run by ``test_pages.py``."""

import os
import re
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = re.findall(r"^\$ (.*)$", README, re.MULTILINE)
BENCHMARKS = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
EXPERIMENTS = re.findall(r"`python -m (benchmarks[\w.]*)`", BENCHMARKS)


def test_the_readme_is_short_and_has_a_snippet_and_both_commands():
    assert len(README.splitlines()) <= 80
    assert len(SNIPPETS) == 1
    assert [command for command in COMMANDS if not command.startswith("halfseen ")] == [
        "pip install halfseen",
        "make demo",
        "make test",
    ]


def test_every_picture_is_there():
    pictures = re.findall(r'<img src="([^"]+)"', README)
    assert pictures
    assert all((ROOT / picture).stat().st_size < 150_000 for picture in pictures)


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
