"""Advice is printed where it is right, with options that can be copied as they stand."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from scipy.io import mmwrite
from scipy.sparse import csr_array
from typer.testing import CliRunner

from halfseen.cli.app import app
from tests.cli.options import DIAG

N = 400


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def frame(**columns):
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=N)
    base = {name: rng.normal(3 * group, 1).round(3) for name in ("a", "b", "c")}
    return pd.DataFrame(base | columns)


def advised(tmp_path, table, *options):
    table.to_csv(tmp_path / "it.csv", index=False)
    return json.loads(run("describe", tmp_path / "it.csv", "--json", *options))


RNG = np.random.default_rng(1)


def test_long_tails_are_named_in_full_with_an_option_that_runs(tmp_path):
    tails = {f"tail, {i}": np.exp(RNG.normal(0, 1, N)).round(4) for i in range(8)}
    found = advised(tmp_path, frame(**tails))
    (option,) = found["options"]
    said = "'tail, 0', 'tail, 1', 'tail, 2', 'tail, 3', 'tail, 4' and 3 more have a long tail, "
    assert f"{said}which logarithms make even: {option}." in found["advice"]
    told = run("describe", tmp_path / "it.csv")
    command = told.split("Next:  halfseen ")[1].strip()
    assert command == f"fit {tmp_path / 'it.csv'} {option} --out model.halfseen"
    words = [tmp_path / "m.halfseen" if w == "model.halfseen" else w for w in shlex.split(command)]
    done = json.loads(run(*words, "-k", 1, "--json"))
    assert done["columns"] == [*"abc", *tails]


@pytest.mark.parametrize(
    "column",
    [
        np.r_[RNG.normal(50, 5, N - 2), 5000, 4000].round(2),  # mistyped, not skewed
        np.exp(RNG.normal(0, 1, N)) - 0.3,  # negative values have no logarithm
        np.r_[RNG.normal(10, 1, N - 20), RNG.normal(80, 1, 20)],  # a rare group far away
        RNG.gamma(9, 5, N),
    ],
)
def test_columns_that_logarithms_do_not_make_even_are_left_alone(tmp_path, column):
    assert not any("tail" in one for one in advised(tmp_path, frame(x=column))["advice"])


def test_codes_for_gaps_are_told_once_with_all_that_can_be_emptied(tmp_path):
    table = frame(age=RNG.integers(20, 60, N), dose=RNG.gamma(9, 1, N).round(1))
    table.loc[:9, "age"], table.loc[10:14, "age"], table.loc[5:30, "dose"] = 998, 999, -9
    found = advised(tmp_path, table)["advice"]
    assert (
        "-9 is the value of 'dose' in 26 rows, far from all others. If it stands for a gap, use "
        "--missing-values=-9,998,999." in found
    )
    assert any(one.startswith("999 is the value of 'age' in 5 rows") for one in found)
    again = advised(tmp_path, table, "--missing-values=-9,998,999")
    assert not any("stands for a gap" in one for one in again["advice"])


def test_a_code_that_is_a_value_elsewhere_is_not_emptied_everywhere(tmp_path):
    table = frame(age=RNG.integers(20, 60, N), platelets=RNG.integers(800, 1200, N))
    table.loc[:9, "age"] = 999
    table.loc[20, "platelets"] = 999
    found = advised(tmp_path, table)["advice"]
    assert (
        "999 is the value of 'age' in 10 rows, far from all others. If it stands for a gap there, "
        "use --missing-values age:999. The number alone would empty cells of 'platelets' too."
        in found
    )


def test_counts_are_told_from_ratings_amounts_and_years(tmp_path):
    counts = pd.DataFrame(RNG.poisson(2, (N, 6)), columns=[f"word {i}" for i in range(6)])
    found = advised(tmp_path, counts)
    assert any("If they count things, use --model gamma-poisson" in one for one in found["advice"])
    ratings = pd.DataFrame(RNG.integers(1, 7, (N, 6)), columns=list("abcdef"))
    for other in (ratings, counts.assign(year=RNG.integers(1990, 2020, N)), counts.clip(upper=1)):
        assert not any("count things" in one for one in advised(tmp_path, other)["advice"])


def test_hardly_known_columns_are_dropped_by_an_option(tmp_path):
    table = frame(**{"rare one": RNG.normal(size=N), "rare two": RNG.normal(size=N)})
    table.loc[12:, ["rare one", "rare two"]] = np.nan
    found = advised(tmp_path, table)
    assert found["options"] == ["--drop 'rare one,rare two'"]
    assert (
        "'rare one' and 'rare two' are known in fewer than 30 rows, which says next to nothing: "
        "--drop 'rare one,rare two'." in found["advice"]
    )


def test_columns_that_are_complete_enough_are_told_by_number(tmp_path):
    table = frame(d=RNG.normal(size=N))
    gaps = RNG.random(table.shape) < np.array([0.2, 0.25, 0.3, 0.5])
    found = advised(tmp_path, table.mask(gaps))
    best = np.sort(1 - gaps.mean(axis=0))[-3]
    assert found["options"] == [f"--complete-above {np.floor(best * 100) / 100:.2f}"]


def test_the_next_command_keeps_what_was_asked_for(tmp_path):
    table = frame(wide=RNG.normal(0, 5000, N), **{"left out": RNG.normal(size=N)})
    table.to_csv(tmp_path / "it.csv", index=False)
    said = run("describe", tmp_path / "it.csv", "--drop", "left out", "--missing-values", "x y,-1")
    assert said.endswith(
        f"Next:  halfseen fit {tmp_path / 'it.csv'} --drop 'left out' --missing-values 'x y,-1' "
        "--out model.halfseen\n"
    )


def test_nothing_is_advised_where_nothing_is_wrong(tmp_path):
    found = advised(tmp_path, frame())
    assert found["advice"] == ["Nothing stands in the way of a fit."]
    assert found["options"] == []


def test_concerns_of_a_fit_come_with_options(tmp_path):
    table = frame(**{"no relation": RNG.normal(size=N)})
    table = pd.concat([table] * 5, ignore_index=True) + RNG.normal(0, 0.5, (5 * N, 4))
    table["no relation"] = RNG.normal(size=5 * N)
    table.to_csv(tmp_path / "it.csv", index=False)
    said = run("fit", tmp_path / "it.csv", "-k", 2, *DIAG, "--out", tmp_path / "m.halfseen")
    assert "and adds only noise. Use --drop 'no relation'." in said


def test_numbers_that_a_fit_would_refuse_are_told_before(tmp_path):
    huge = np.where(np.arange(N) == 7, -1e201, np.arange(N) % 5)
    frame(huge=huge).to_csv(tmp_path / "it.csv", index=False)
    shown = run("describe", tmp_path / "it.csv")
    assert "Values in 'huge' are too large to compute with: 'huge' holds -1e+201" in shown
    assert "Nothing stands in the way of a fit." not in shown


@pytest.mark.parametrize("n_rows", [3, 11, 60])
def test_a_sparse_matrix_of_which_no_column_has_a_kind_is_described(tmp_path, n_rows):
    path = tmp_path / "it.mtx"
    mmwrite(path, csr_array(20.0 + np.random.default_rng(0).poisson(20.0, (n_rows, 4))))
    assert "few different values" not in run("describe", path)
