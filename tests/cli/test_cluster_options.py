"""Fits on the command line that Dask's workers do."""

import json
import sys

import dask
import distributed
import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse
from typer.testing import CliRunner

from benchmarks.dying_workers import local_cluster
from halfseen import GaussianMixture, load, simulate
from halfseen.cli.app import app
from halfseen.cli.cluster import dask_client
from tests.cli.options import DIAG

NAMES = ["temperature", "pulse", "pressure", "lactate"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(3000, [0.6, 0.4], [[0] * 4, [4] * 4], 1.0, rng)
    X = simulate.independent_gaps(X, [1, 1, 1, 0.5], rng)
    frame = pd.DataFrame(X, columns=NAMES).assign(ward="a")
    (tmp_path / "table").mkdir()
    frame[:2000].to_parquet(tmp_path / "table" / "a.parquet", row_group_size=600)
    frame[2000:].to_parquet(tmp_path / "table" / "b.parquet", row_group_size=600)
    return tmp_path


def in_memory(folder, **settings):
    return GaussianMixture(**settings).fit(pd.read_parquet(folder / "table")[NAMES])


def test_workers_of_a_cluster_fit_a_folder(folder):
    out = folder / "model.halfseen"
    with local_cluster(1) as cluster:
        address = cluster.scheduler_address
        asked = "--cluster", address, "--out", out, "--json", "--seed", 0
        result = run("fit", folder / "table", "-k", 2, *DIAG, *asked)
    assert result.exit_code == 0, result.output
    model = load(out)
    expected = in_memory(folder, **model.get_params())
    np.testing.assert_allclose(model.means_, expected.means_, rtol=1e-9, atol=1e-9)
    told = json.loads(result.stdout)
    assert told["columns"] == NAMES
    assert told["n_rows"] == 3000
    assert told["notes"] == [
        "table: 3,000 rows, and 4 columns of numbers in which 13% of the cells are empty.",
        "Column 'ward' was ignored: it holds text.",
    ]


def test_workers_are_started_where_they_are_asked_for(folder):
    out = folder / "model.halfseen"
    arguments = ("--workers", 1, "--columns", "pulse,pressure,temperature", "--drop", "pressure")
    result = run("fit", folder / "table", "-k", 2, *arguments, "--no-refine", "--out", out)
    assert result.exit_code == 0, result.output
    assert list(load(out).feature_names_in_) == ["pulse", "temperature"]
    assert "Group 1: 6" in result.stdout


def test_scales_and_codes_for_gaps_are_those_of_a_fit_without_workers(folder):
    frame = pd.read_parquet(folder / "table")
    coded = frame.assign(
        pressure=np.exp(frame["pressure"] / 4), lactate=frame["lactate"].fillna(-999)
    )
    coded.to_csv(folder / "coded.csv", index=False)
    learned = []
    for workers in ((), ("--workers", 1)):
        out = folder / f"{len(workers)}.halfseen"
        options = ("--log", "pressure", "--standardise", "--missing-values", "-999")
        result = run(
            "fit", folder / "coded.csv", "-k", 2, *workers, *options, "--out", out, "--json"
        )
        assert result.exit_code == 0, result.output
        learned.append((load(out), json.loads(result.stdout)["notes"]))
    (here, notes), (there, notes_there) = learned
    assert notes == notes_there
    assert list(here.feature_names_in_) == list(there.feature_names_in_)
    assert here.feature_names_in_[2] == "standardised(log(pressure))"
    assert here.observed_fraction_[3] < 0.6
    np.testing.assert_allclose(there.means_, here.means_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(there.preprocessing_.scale, here.preprocessing_.scale, rtol=1e-12)
    assert there.preprocessing_.missing_values == ("-999",)


def test_the_dashboard_is_not_seen_from_other_machines(folder, monkeypatch):
    asked = {}

    class Watched(distributed.LocalCluster):
        def __init__(self, **options):
            asked.update(options)
            super().__init__(**options)

    monkeypatch.setattr(distributed, "LocalCluster", Watched)
    out = folder / "m.halfseen"
    result = run("fit", folder / "table", "-k", 2, "--workers", 1, "--no-refine", "--out", out)
    assert result.exit_code == 0, result.output
    assert asked["dashboard_address"] == "127.0.0.1:0"


REFUSED = {
    "both": (["--workers", 2, "--cluster", "x"], 2, "--workers starts new ones. Give one of them."),
    "none": (["--workers", 0], 2, "--workers must be a whole number of at least 1. Got 0 instead."),
    "silence": (
        ["--cluster", "tcp://127.0.0.1:9"],
        2,
        "No Dask scheduler answers at tcp://127.0.0.1:9. Start one with 'dask scheduler'",
    ),
    "no address": (["--cluster", "over there"], 2, "No Dask scheduler answers at over there."),
    "unknown": (["--workers", 1, "--columns", "puls"], 2, "Did you mean 'pulse'?"),
    "text": (["--workers", 1, "--columns", "ward"], 1, "No column of table varies"),
    "text as numbers": (
        ["--workers", 1, "--columns", "ward", "--model", "gaussian"],
        1,
        "Leave out columns of text and dates with",
    ),
    "nothing": (
        ["--workers", 1, "--drop", ",".join([*NAMES, "ward"])],
        1,
        "No column of numbers or categories is left in",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_said_before_anything_is_done(case, folder, monkeypatch):
    monkeypatch.setattr("halfseen.cli.cluster.TIMEOUT", "1s")
    arguments, code, sentence = REFUSED[case]
    if case.startswith("text"):  # which the files themselves say
        monkeypatch.setattr("halfseen.cli.fit.dask_client", lambda *_: local_cluster(1))
    result = run(
        "fit", folder / "table", "-k", 2, *DIAG, *arguments, "--out", folder / "m.halfseen"
    )
    assert result.exit_code == code
    assert sentence in result.stderr
    assert not (folder / "m.halfseen").exists()


@pytest.mark.parametrize("address", ["over there", "tcp://127.0.0.1:9"])
def test_a_scheduler_that_does_not_answer_is_not_kept_as_the_default(address, monkeypatch):
    monkeypatch.setattr("halfseen.cli.cluster.TIMEOUT", "1s")
    before = dask.config.get("scheduler", None)
    with pytest.raises(ConnectionError), dask_client(address, None):
        raise AssertionError("nobody is there")
    assert dask.config.get("scheduler", None) == before
    with pytest.raises(ValueError, match="No clients found"):
        distributed.default_client()


def test_a_sparse_matrix_is_told_to_be_fitted_here(folder):
    io.mmwrite(folder / "words.mtx", sparse.eye_array(5))
    out = folder / "m.halfseen"
    result = run("fit", folder / "words.mtx", "-k", 2, "--workers", 1, "--out", out)
    assert result.exit_code == 1
    assert "words.mtx holds a sparse matrix, which is read as a whole." in result.stderr


def test_without_dask_it_is_said_how_to_get_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    out = folder / "m.halfseen"
    result = run("fit", folder / "table", "-k", 2, *DIAG, "--workers", 1, "--out", out)
    assert result.exit_code == 2
    assert "need Dask. Install it with: pip install 'halfseen[dask]'" in result.stderr


def test_workers_started_here_are_reached_from_here_only():
    from psutil import Process

    from halfseen.cli.cluster import dask_client

    with dask_client(None, 1):
        family = [Process(), *Process().children(recursive=True)]
        listening = [c for one in family for c in one.net_connections() if c.status == "LISTEN"]
    assert listening
    assert {c.laddr.ip for c in listening} == {"127.0.0.1"}
