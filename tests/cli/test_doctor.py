"""What is installed is told, and so is how to get what is not."""

import json
import tomllib
from importlib.metadata import version
from pathlib import Path

from typer.testing import CliRunner

from halfseen.cli import doctor
from halfseen.cli.app import app


def run(*arguments):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_version_is_that_of_the_package():
    assert run("--version") == f"halfseen {version('halfseen')}\n"


def test_every_extra_that_is_told_of_installs_its_library():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    for one in doctor.EXTRAS:
        assert any(need.startswith(one.library) for need in extras[one.extra]), one


def test_what_is_missing_is_told_with_how_to_get_it(monkeypatch):
    real = doctor.find_spec
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "dask" else real(name))
    assert "pip install 'halfseen[dask]'" in " ".join(run("doctor").split())
    found = json.loads(run("doctor", "--json"))
    assert found["missing"]["dask"] == "dask"
    assert found["libraries"]["numpy"] == version("numpy")
    assert found["extras"]["pyarrow"] == version("pyarrow")
