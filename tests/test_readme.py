"""Everything in the README runs as written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = re.findall(r"^\$ (.*)$", README, re.MULTILINE)
EXPERIMENTS = re.findall(r"`python -m (halfseen[\w.]*)`", README)


def test_the_readme_has_snippets_and_both_commands():
    assert len(SNIPPETS) >= 3
    assert COMMANDS == ["make demo", "make test"]


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_every_snippet_runs(snippet):
    exec(compile(snippet, "README.md", "exec"), {})


def test_make_demo_prints_the_model_and_where_the_report_is():
    result = subprocess.run(
        ["make", "demo"], cwd=ROOT, capture_output=True, text=True, check=True, env=os.environ
    )
    assert "Group 1" in result.stdout
    assert "Report: " in result.stdout
    assert (ROOT / "demo-report.html").exists()


@pytest.mark.parametrize("module", EXPERIMENTS)
def test_every_experiment_is_a_command(module):
    result = subprocess.run(
        [sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=True
    )
    assert "--keep" in result.stdout
