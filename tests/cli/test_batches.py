"""Commands go over a file a batch at a time, and give what they give of the table in memory."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import load, simulate
from halfseen.cli import model_input, new_table
from halfseen.cli.app import app
from tests.cli.options import DIAG

NAMES = ["age", "pulse", "lactate", "crp"]


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(params=[".csv", ".parquet"])
def data(request, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(900, [0.6, 0.4], [[2] * 4, [7] * 4], 1.0, rng)
    X = simulate.independent_gaps(X, [1, 1, 0.8, 0.5], rng).round(3)
    frame = pd.DataFrame(X, columns=NAMES)
    frame.insert(2, "ward", [f"ward {i % 7}" for i in range(900)])
    frame.insert(0, "number", rng.permutation(900))
    path = tmp_path / f"it{request.param}"
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)
    monkeypatch.setattr("halfseen.io.formats.delimited.MIN_BLOCK_BYTES", 4000)
    return path


@pytest.fixture
def no_memory(monkeypatch):
    """Refuse to have a whole table in memory; and give models a few rows at a time."""

    def refuse(*_):
        raise AssertionError("the whole table was read into memory")

    def turn_on():
        monkeypatch.setattr(model_input, "in_memory", refuse)
        monkeypatch.setattr(model_input, "all_rows", refuse)
        monkeypatch.setattr(model_input, "IN_MEMORY", 0)
        monkeypatch.setattr(new_table, "CHUNK_ROWS", 70)

    return turn_on


COLUMNS = ("--columns", ",".join(NAMES))


def results(data, folder):
    """What all commands give."""
    folder.mkdir()
    model, rows, filled = folder / "m.halfseen", folder / "data.csv", folder / "filled.parquet"
    described = json.loads(run("describe", data, "--json").stdout)
    told = json.loads(
        run("fit", data, "-k", 2, *DIAG, "--standardise", *COLUMNS, "--out", model, "--json").stdout
    )
    weighed = json.loads(run("weigh", data, "-k", 2, *COLUMNS, "--json").stdout)
    run("predict", model, data, "--out", rows, "--keep", "ward,number")
    run("impute", model, data, "--out", filled, "--keep", "*")
    return described, told, weighed, pd.read_csv(rows), pd.read_parquet(filled), load(model)


def test_commands_read_a_batch_at_a_time(data, no_memory, tmp_path):
    described, told, weighed, rows, filled, model = results(data, tmp_path / "whole")
    no_memory()
    again = results(data, tmp_path / "batches")
    assert again[0] == described
    assert again[1]["notes"] == told["notes"]
    assert again[1]["concerns"] == told["concerns"]
    np.testing.assert_allclose(again[5].means_, model.means_, rtol=1e-9, atol=1e-9)
    assert again[2]["best"] == weighed["best"]
    for ours, theirs in zip(again[2]["ways"], weighed["ways"], strict=True):
        assert ours["log_likelihood"] == pytest.approx(theirs["log_likelihood"])
    pd.testing.assert_frame_equal(again[3], rows)
    pd.testing.assert_frame_equal(again[4], filled)
    assert list(filled) == ["number", "age", "pulse", "ward", "lactate", "crp"]
    assert filled["number"].dtype == np.int64
    assert not filled.isna().any(axis=None)


def test_a_kept_column_may_change_its_type_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr("halfseen.io.formats.delimited.MIN_BLOCK_BYTES", 1000)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 3)).round(3) * [1, 2, 3], columns=list("abc"))
    frame["late word"] = [*range(590), *["x"] * 10]
    frame["late fraction"] = [*range(599), 0.5]
    frame.to_csv(tmp_path / "it.csv", index=False)
    model = tmp_path / "it.halfseen"
    run("fit", tmp_path / "it.csv", "-k", 1, "--columns", "a,b,c", "--out", model)
    out = tmp_path / "out.parquet"
    run("predict", model, tmp_path / "it.csv", "--out", out, "--keep", "late word,late fraction")
    found = pd.read_parquet(out)
    assert found["late word"].tolist() == frame["late word"].astype(str).tolist()
    np.testing.assert_array_equal(found["late fraction"], frame["late fraction"])


def test_a_result_that_cannot_be_finished_is_not_there(data, tmp_path, monkeypatch):
    model = tmp_path / "it.halfseen"
    run("fit", data, "-k", 2, *DIAG, *COLUMNS, "--out", model)
    before = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr(new_table, "CHUNK_ROWS", 70)
    calls = []

    def fails(self, rows):
        calls.append(rows)
        if len(calls) > 2:
            raise ValueError("no more")
        return np.ones((len(rows), 2)) / 2

    monkeypatch.setattr("halfseen.GaussianMixture.hidden", fails)
    out = tmp_path / "out.csv"
    result = CliRunner().invoke(app, ["predict", str(model), str(data), "--out", str(out)])
    assert result.exit_code == 2
    assert len(calls) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == before
