"""``halfseen reproduce``, as a user sees it."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from benchmarks.reproduce import store
from benchmarks.reproduce.figures import FIGURES
from halfseen.cli.app import app

ARGUMENTS = ["gaussian", "--quick", "--runs", "2"]
COMMAND = [sys.executable, "-m", "halfseen", "reproduce", *ARGUMENTS]


def run(*arguments):
    return CliRunner().invoke(app, ["reproduce", *arguments])


def results_in(folder):
    return store.path_of("gaussian", folder)


def test_killed_half_way_and_started_again_it_ends_with_the_same_results(tmp_path):
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    assert run(*ARGUMENTS, "--out", str(whole), "--jobs", "1").exit_code == 0
    killed = subprocess.Popen(
        [*COMMAND, "--out", halves, "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not results_in(halves).exists() or number_of_runs(halves) < 12:
        assert killed.poll() is None, "it was done before it could be killed"
        time.sleep(0.002)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    done = number_of_runs(halves)
    assert done < number_of_runs(whole)
    again = run(*ARGUMENTS, "--out", str(halves), "--jobs", "1")
    assert again.exit_code == 0
    assert "Page: " in again.stdout
    assert results_in(halves).read_bytes() == results_in(whole).read_bytes()
    assert (halves / "reproduction.md").read_bytes() == (whole / "reproduction.md").read_bytes()
    assert sorted(os.listdir(halves)) == sorted(os.listdir(whole))


def number_of_runs(folder):
    """How many numbers are there; the file is whole whenever it is looked at."""
    rows = json.loads(results_in(folder).read_text(encoding="utf-8"))["results"]
    return sum(value is not None for row in rows for value in row["values"])


@pytest.fixture
def tiny(monkeypatch):
    """One point of one figure, measured in no time."""
    figure = FIGURES["gaussian"]
    point = replace(figure.quick.points[0], methods=("full", "partial", "weighted"))
    plan = replace(figure.quick, points=(point,), runs=3)
    monkeypatch.setitem(FIGURES, "gaussian", replace(figure, quick=plan))


def test_it_tells_the_verdicts_and_where_the_page_is(tiny, tmp_path):
    result = run("gaussian", "--quick", "--jobs", "1", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert "verdict" in result.stdout
    assert str(tmp_path / "reproduction.md") in result.stdout.replace("\n", "")
    assert (tmp_path / "reproduction" / "gaussian.png").exists()


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_results_that_are_there_are_not_measured_again(tiny, tmp_path, force):
    here = ("gaussian", "--quick", "--jobs", "1", "--out", str(tmp_path))
    assert run(*here).exit_code == 0
    path = results_in(tmp_path)
    content = json.loads(path.read_text())
    content["results"][0]["values"][0] = 7.0
    path.write_text(json.dumps(content))
    assert run(*here, *force).exit_code == 0
    assert json.loads(path.read_text())["results"][0]["values"][0] == 7.0


def test_results_of_other_versions_are_added_to_only_by_starting_again(tiny, tmp_path):
    here = ("gaussian", "--quick", "--jobs", "1", "--out", str(tmp_path))
    assert run(*here).exit_code == 0
    path = results_in(tmp_path)
    whole = path.read_bytes()
    content = json.loads(whole)
    content["versions"]["numpy"] = "1.0"
    content["results"][0]["values"][0] = None
    path.write_text(json.dumps(content))
    refused = run(*here)
    assert refused.exit_code == 2
    assert "is not finished and was made with numpy 1.0 (now" in refused.output
    assert run(*here, "--force").exit_code == 0
    assert path.read_bytes() == whole


def test_results_of_the_other_plan_are_refused(tiny, tmp_path):
    assert run("gaussian", "--quick", "--jobs", "1", "--out", str(tmp_path)).exit_code == 0
    refused = run("gaussian", "--out", str(tmp_path))
    assert refused.exit_code == 2
    assert "holds results of the quick plan, not of the full one." in refused.output
    assert json.loads(results_in(tmp_path).read_text())["plan"] == "quick"


def test_results_of_the_other_plan_are_replaced_if_forced(tiny, tmp_path):
    full = replace(FIGURES["gaussian"].quick, runs=1)
    store.Results.none_yet(replace(FIGURES["gaussian"], full=full), False).write(tmp_path)
    assert (
        run("gaussian", "--quick", "--jobs", "1", "--out", str(tmp_path), "--force").exit_code == 0
    )
    assert json.loads(results_in(tmp_path).read_text())["plan"] == "quick"


def test_a_figure_that_is_not_there_is_told_with_those_that_are(tmp_path):
    refused = run("figure-9", "--out", str(tmp_path))
    assert refused.exit_code == 2
    assert "No figure is called figure-9. Use dimensionality, partial-samples," in refused.output
    assert not list(tmp_path.iterdir())


def test_a_page_of_somebody_else_stops_it_before_anything_is_measured(tmp_path):
    (tmp_path / "reproduction.md").write_text("mine")
    refused = run("topics", "--out", str(tmp_path))
    assert refused.exit_code == 2
    assert "was not written by this command." in refused.output
    assert [file.name for file in tmp_path.iterdir()] == ["reproduction.md"]


def test_what_the_page_cannot_be_written_from_stops_it_before_anything_is_measured(tmp_path):
    stale = store.path_of("weights", tmp_path)
    stale.parent.mkdir()
    stale.write_text("{}")
    refused = run("gaussian", "--quick", "--out", str(tmp_path), "--force")
    assert refused.exit_code == 2
    assert "weights.json is not a file of results." in refused.output.replace("\n", "")
    assert [file.name for file in stale.parent.iterdir()] == ["weights.json"]


def test_a_figure_without_its_data_is_left_out_with_where_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setenv("HALFSEEN_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    result = run("icu", "topics", "--quick")
    assert result.exit_code == 0
    assert "Left out what needs it: sepsis_icu.parquet is not at hand. Get trai" in result.output
    assert sorted(file.name for file in (tmp_path / "reproduction").iterdir()) == [
        "topics.json",
        "topics.png",
    ]


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "benchmarks.reproduce.pictures", raising=False)
    refused = run("topics", "--out", str(tmp_path))
    assert refused.exit_code == 2
    assert "Install it with: pip install 'halfseen[plots]'" in refused.output
