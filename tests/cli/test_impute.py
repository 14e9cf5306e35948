"""Gaps filled by what columns can hold, by lot, and with how sure that is."""

import json
import time

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, lil_array, save_npz
from typer.testing import CliRunner

from halfseen import Files, load
from halfseen.cli import new_table
from halfseen.cli.app import app
from halfseen.cli.console import Console
from halfseen.cli.filling import FilledTable, ModelFiller

N_ROWS = 900
COLUMNS = ["age", "weight", "children", "smoker", "dose", "lactate", "cost"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def succeed(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def people(seed=0):
    """Whole numbers, yes or no, doses of two sizes, a long tail, and gaps in most of them."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=N_ROWS)
    frame = pd.DataFrame(
        {
            "age": rng.normal(35 + 30 * group, 6).round(2),
            "weight": rng.normal(60 + 25 * group, 6).round(1),
            "children": rng.poisson(0.6 + 3 * group),
            "smoker": (rng.random(N_ROWS) < 0.2 + 0.6 * group) * 1,
            "dose": np.where(rng.random(N_ROWS) < 0.3 + 0.4 * group, 0.5, 0.1),
            "lactate": np.exp(rng.normal(0.5 + group, 0.4)).round(2),
            "cost": np.exp(rng.normal(6 + group, 0.8)).round(),
        }
    )
    gaps = rng.random(frame.shape) < np.array([0, 0, 0.3, 0.3, 0.3, 0.3, 0.3])
    return frame.mask(gaps)


@pytest.fixture(scope="module", params=[(), ("--standardise", "--log", "lactate,cost")])
def files(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    people().to_csv(folder / "people.csv", index=False)
    model = folder / "people.halfseen"
    scales = request.param
    succeed("fit", folder / "people.csv", "-k", 2, "--seed", 0, *scales, "--out", model)
    return folder / "people.csv", model


def filled_by(files, out, *options):
    data, model = files
    return succeed("impute", model, data, "--out", out, *options)


def check_possible(filled, frame):
    assert not filled.isna().any(axis=None)
    known = frame.notna().to_numpy()
    np.testing.assert_array_equal(filled.to_numpy()[known], frame.to_numpy()[known])
    assert (filled.min() >= 0).all()  # as no value is below
    assert set(filled["smoker"]) == {0, 1}
    assert set(filled["dose"]) == {0.1, 0.5}
    assert (filled[["children", "cost"]] % 1 == 0).all(axis=None)


def test_filled_values_are_possible_in_the_units_of_the_file(files, tmp_path):
    filled_by(files, tmp_path / "filled.csv")
    check_possible(pd.read_csv(tmp_path / "filled.csv"), people())


def test_expectations_are_written_if_asked_for(files, tmp_path):
    filled_by(files, tmp_path / "filled.csv", "--expected")
    filled, frame = pd.read_csv(tmp_path / "filled.csv"), people()
    gaps = frame["children"].isna()
    assert (filled["children"][gaps] % 1 != 0).mean() > 0.9
    assert (filled.max() <= frame.max()).all()
    assert (filled.min() >= frame.min()).all()


def test_draws_are_tables_with_numbers_in_their_names_and_repeatable(files, tmp_path):
    said = filled_by(files, tmp_path / "filled.csv", "--draws", 3, "--seed", 7).stdout
    names = [tmp_path / f"filled.{number}.csv" for number in (1, 2, 3)]
    assert f"Tables: {names[0]} to {names[2]}" in said
    assert not (tmp_path / "filled.csv").exists()
    tables = [pd.read_csv(name) for name in names]
    for table in tables:
        check_possible(table, people())
    assert not tables[0].equals(tables[1])
    told = filled_by(files, tmp_path / "again.csv", "--draws", 3, "--seed", 7, "--json").stdout
    assert json.loads(told)["tables"] == [str(tmp_path / f"again.{n}.csv") for n in (1, 2, 3)]
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "again.2.csv"), tables[1])


def test_draws_spread_as_the_standard_deviations_say(files, tmp_path):
    filled_by(files, tmp_path / "f.parquet", "--draws", 200, "--seed", 1, "--expected")
    drawn = [pd.read_parquet(tmp_path / f"f.{n + 1}.parquet")["lactate"] for n in range(200)]
    said = filled_by(files, tmp_path / "f.parquet", "--std", "--expected").stdout
    assert f"Standard deviations: {tmp_path / 'f.std.parquet'}" in said
    spread = pd.read_parquet(tmp_path / "f.std.parquet")
    assert list(spread) == COLUMNS
    gaps = people().isna()
    assert (spread.to_numpy()[~gaps.to_numpy()] == 0).all()
    assert (spread.to_numpy()[gaps.to_numpy()] > 0).all()
    ratio = np.std(drawn, axis=0) / spread["lactate"]
    # A mixture of two log-normal groups is not quite one, and draws are cut at the range.
    assert ratio[gaps["lactate"]].median() == pytest.approx(1.0, abs=0.25)


def test_filled_values_do_not_depend_on_how_rows_are_cut(files, tmp_path, monkeypatch):
    filled_by(files, tmp_path / "whole.parquet", "--std")
    monkeypatch.setattr(new_table, "CHUNK_ROWS", 128)
    filled_by(files, tmp_path / "parts.parquet", "--std")
    for name in ("whole.parquet", "whole.std.parquet"):
        ours = pd.read_parquet(tmp_path / name.replace("whole", "parts"))
        pd.testing.assert_frame_equal(ours, pd.read_parquet(tmp_path / name), rtol=1e-9)


def test_chunks_do_not_have_the_same_draws(files, tmp_path, monkeypatch):
    monkeypatch.setattr(new_table, "CHUNK_ROWS", 300)
    data, model = files
    row = pd.read_csv(data).iloc[[0] * 900].assign(lactate=np.nan)
    row.to_csv(tmp_path / "same.csv", index=False)
    table = new_table.open_new_table(load(model), Files(tmp_path / "same.csv"))
    filled = FilledTable(ModelFiller(load(model)), table, 1)
    chunks = table.chunks(Console(), "Filling gaps")
    parts = [np.asarray(filled.fill(chunk)[0]["lactate"]) for chunk in chunks]
    first, second, third = parts
    assert (first != second).any()
    assert (second != third).any()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--draws", 0), "--draws must be a whole number of at least 1. Got 0 instead."),
        (("--draws", 2, "--std"), "Leave out --std or --draws."),
    ],
)
def test_what_does_not_go_together_is_refused(files, tmp_path, options, sentence):
    data, model = files
    result = run("impute", model, data, "--out", tmp_path / "f.csv", *options)
    assert result.exit_code == 2
    assert sentence in result.output


def test_no_table_is_replaced_without_force(files, tmp_path):
    data, model = files
    (tmp_path / "f.2.csv").write_text("mine")
    result = run("impute", model, data, "--out", tmp_path / "f.csv", "--draws", 2)
    assert result.exit_code == 2
    assert "f.2.csv is there already. Use --force" in result.output
    assert not (tmp_path / "f.1.csv").exists()


def test_a_table_of_many_columns_is_filled_in_a_time_that_grows_with_them(tmp_path):
    wide = lil_array((4, 20_000))
    wide[:, :3] = [[4.0, 4, 0], [0, 4, 4], [4, 0, 0], [2, 0, 1]]
    save_npz(tmp_path / "t.npz", csr_array(wide))
    words = ["fit", tmp_path / "t.npz", "--model", "gamma-poisson", "-k", 1]
    succeed(*words, "--out", tmp_path / "m.halfseen")
    start = time.process_time()
    succeed("impute", tmp_path / "m.halfseen", tmp_path / "t.npz", "--out", tmp_path / "f.csv")
    assert time.process_time() - start < 5.0
