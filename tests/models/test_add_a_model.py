"""docs/add_a_model.md, executed: one file and one line make a model that keeps every law."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "halfseen"
REGISTRY = Path("models/__init__.py")


@pytest.fixture(scope="module")
def page():
    """The file and the line that the page gives."""
    text = (ROOT / "docs" / "add_a_model.md").read_text()
    code, line = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    return code, line


@pytest.fixture(scope="module")
def tree(page, tmp_path_factory):
    """The package with the model added: all but two files are those of the package itself."""
    code, line = page
    package = tmp_path_factory.mktemp("tree") / "halfseen"
    (package / "models").mkdir(parents=True)
    for part in [*SOURCE.iterdir(), *(SOURCE / "models").iterdir()]:
        place = package / part.relative_to(SOURCE)
        if part.name not in ("models", "__pycache__") and part != SOURCE / REGISTRY:
            place.symlink_to(part)
    before = (SOURCE / REGISTRY).read_text()
    assert before.count("HOMES = {\n") == 1
    (package / REGISTRY).write_text(before.replace("HOMES = {\n", "HOMES = {\n" + line))
    (package / "models" / "poisson_mixture.py").write_text(code)
    return package.parent


def run(tree, *command, **options):
    environment = os.environ | {"PYTHONPATH": f"{tree}:{ROOT}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


COMMANDS = """
import json, sys
from typer.testing import CliRunner
from halfseen.cli.app import app
told = [CliRunner().invoke(app, command) for command in json.loads(sys.argv[1])]
for one in told:
    assert one.exit_code == 0, one.output
print(json.dumps([one.output for one in told]))
"""


def run_commands(tree, *commands):
    """What commands say, one after the other, in one process of the tree."""
    return json.loads(run(tree, "-c", COMMANDS, json.dumps(commands, default=str)))


def test_the_model_is_one_short_file_and_one_line(page, tree):
    code, line = page
    assert len(code.splitlines()) <= 150
    assert len(line.strip().splitlines()) == 1
    written = [p for p in (tree / "halfseen").rglob("*.py") if not p.is_symlink()]
    assert sorted(p.relative_to(tree / "halfseen") for p in written) == [
        REGISTRY,
        Path("models/poisson_mixture.py"),
    ]


def test_the_linter_finds_nothing(tree):
    run(tree, "-m", "ruff", "check", "--config", ROOT / "pyproject.toml", tree / "halfseen/models")


def test_it_keeps_every_law_by_being_registered(tree):
    told = run(
        tree,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/models/test_laws_of_models.py",
        "-k",
        "poisson-mixture",
        cwd=ROOT,
    )
    assert int(re.search(r"(\d+) passed", told)[1]) > 20
    assert "skipped" not in told


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """Two groups of rows of counts, some of them not recorded."""
    rng = np.random.default_rng(0)
    rates = np.array([[2.0, 9, 4, 12, 3, 8], [10, 3, 9, 2, 8, 2]])[rng.integers(2, size=600)]
    X = np.where(rng.random((600, 6)) < [1, 1, 1, 1, 1, 0.4], rng.poisson(rates), np.nan)
    path = tmp_path_factory.mktemp("counts") / "visits.csv"
    pd.DataFrame(X, columns=[f"visits_{d}" for d in range(6)]).to_csv(path, index=False)
    return path


def test_the_command_line_offers_it_from_a_file_to_a_page(tree, counts):
    folder = counts.parent
    model = folder / "visits.halfseen"
    verbs = {"predict": "groups.csv", "impute": "filled.csv", "report": "page.html"}
    told = run_commands(
        tree,
        ["fit", "--help"],
        ["fit", counts, "--model", "poisson-mixture", "-k", "auto", "--out", model],
        *([verb, model, counts, "--out", folder / out] for verb, out in verbs.items()),
    )
    assert "poisson-mixture" in told[0]
    assert "2 clear groups" in told[1]
    assert set(pd.read_csv(folder / "groups.csv")["group"]) == {1, 2}
    assert not pd.read_csv(folder / "filled.csv").isna().any(axis=None)
    assert "every column counts at one rate" in (folder / "page.html").read_text()
