"""``halfseen impute`` of a table without a model: it learns from the table first."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import Imputer
from halfseen.cli import new_table
from halfseen.cli.app import app

COLUMNS = ["id", "heat", "pulse", "visits", "cough", "colour", "ward", "note"]
N = 150


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def succeed(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def patients():
    rng = np.random.default_rng(0)
    ill = rng.random(N) < 0.4
    heat = rng.normal(np.where(ill, 39.0, 36.8), 0.5).round(1)
    frame = pd.DataFrame(
        {
            "id": [f"P{i:05}" for i in rng.permutation(N)],
            "heat": heat,
            "pulse": np.round(60 + 12 * (heat - 36) + rng.normal(size=N) * 4),
            "visits": rng.poisson(np.where(ill, 3.0, 0.5)),
            "cough": np.where(rng.random(N) < np.where(ill, 0.9, 0.2), "yes", "no"),
            "colour": np.where(heat > 38.2, "red", rng.choice(["pale", "rosy"], N)),
            "ward": "north",
            "note": [f"seen on day {i} by somebody" for i in range(N)],
        }
    )
    gaps = rng.random(frame.shape) < 0.15
    gaps[:, [0, 7]] = False
    frame = frame.astype({"visits": float}).mask(gaps)
    frame.loc[3, "note"] = None
    return frame


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("alone") / "patients.csv"
    patients().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def filled(data):
    out = data.with_name("filled.csv")
    succeed("impute", data, "--out", out)
    return pd.read_csv(out)


def test_all_columns_are_written_and_known_cells_stay(data, filled):
    frame = pd.read_csv(data)
    assert list(filled) == COLUMNS
    known = frame.notna()
    pd.testing.assert_frame_equal(filled.where(known), frame.where(known), check_dtype=False)
    assert filled.drop(columns="note").notna().all(axis=None)
    assert filled["note"].isna().sum() == 1


def test_gaps_get_values_that_the_columns_can_have(data, filled):
    frame = pd.read_csv(data)
    assert set(filled["cough"]) == {"yes", "no"}
    assert set(filled["colour"]) == {"red", "pale", "rosy"}
    assert set(filled["ward"]) == {"north"}
    assert (filled[["pulse", "visits"]] % 1 == 0).all(axis=None)
    assert (filled["heat"].round(1) == filled["heat"]).all()
    assert filled["heat"].between(frame["heat"].min(), frame["heat"].max()).all()


def test_it_is_said_that_the_table_is_learned_from_and_what_is_not_used(data, tmp_path):
    said = succeed("impute", data, "--out", tmp_path / "f.csv").output
    assert "No model is given, so gaps are learned to be filled from patients.csv itself." in said
    assert said.count("Column 'id' was ignored: it has the name of an identifier") == 1
    assert said.count("'note' was ignored") == 1
    n_gaps = int(patients().drop(columns="note").isna().sum().sum())
    assert f"{n_gaps} gaps in {N} rows were filled." in said
    assert f"Table: {tmp_path / 'f.csv'}" in said


def test_fills_are_those_of_python(data, filled):
    frame = pd.read_csv(data)[COLUMNS[1:7]]
    expected = Imputer().fit_transform(frame)
    pd.testing.assert_frame_equal(filled[COLUMNS[1:7]], expected, check_dtype=False)


@pytest.mark.parametrize("ending", ["parquet", "feather", "tsv.gz"])
def test_files_of_other_kinds_are_filled_alike(ending, data, filled, tmp_path):
    frame, source = pd.read_csv(data), tmp_path / f"it.{ending}"
    if ending == "tsv.gz":
        frame.to_csv(source, sep="\t", index=False)
    else:
        getattr(frame, f"to_{ending}")(source)
    out = tmp_path / "out.parquet"
    succeed("impute", source, "--out", out)
    found = pd.read_parquet(out).where(lambda table: table.notna(), np.nan)
    pd.testing.assert_frame_equal(found, filled, check_dtype=False)


def test_a_matrix_without_names_is_filled(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3))
    gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    np.save(tmp_path / "it.npy", gappy)
    succeed("impute", tmp_path / "it.npy", "--out", tmp_path / "f.csv")
    filled = pd.read_csv(tmp_path / "f.csv").to_numpy()
    np.testing.assert_allclose(filled, Imputer().fit_transform(gappy))


def test_columns_with_gaps_are_told_with_how_well_they_can_be_filled(data, tmp_path):
    said = succeed("impute", data, "--out", tmp_path / "f.csv").stdout
    assert "Known cells were hidden together, as cells are missing together in this table" in said
    gaps = json.loads(succeed("impute", data, "--out", tmp_path / "g.csv", "--json").stdout)["gaps"]
    counts = patients()[COLUMNS[1:7]].isna().sum()
    assert {name: one["gaps"] for name, one in gaps.items()} == counts.to_dict()
    assert gaps["heat"]["explained"] > 0.6
    assert gaps["ward"]["explained"] is None
    assert gaps["ward"]["n_tested"] == 0
    assert gaps["heat"]["variance_explained"] > 0.6
    assert gaps["heat"]["right"] is None
    assert 1 >= gaps["colour"]["right"] > gaps["colour"]["right_if_all_alike"] > 0
    assert 20 <= gaps["heat"]["n_tested"] <= N


def test_a_column_is_said_to_be_filled_as_well_as_where_its_copy_is_missing_too(tmp_path):
    rng = np.random.default_rng(0)
    a, noise = rng.normal(size=(2, 400))
    frame = pd.DataFrame({"a": a, "copy": a + 0.01 * noise, "other": rng.normal(size=400)})
    frame.loc[:99, ["a", "copy"]] = None
    frame.to_csv(tmp_path / "it.csv", index=False)
    result = succeed("impute", tmp_path / "it.csv", "--out", tmp_path / "f.csv", "--json").stdout
    found = json.loads(result)
    for name, other in (("a", "copy"), ("copy", "a")):
        assert found["gaps"][name]["missing_with"] == [other]
        assert found["gaps"][name]["variance_explained"] < 0.05
    assert "tell hardly anything of 'a' and 'copy'" in found["cautions"][0]
    said = succeed("impute", tmp_path / "it.csv", "--out", tmp_path / "g.csv").stdout
    (line,) = [line for line in said.splitlines() if line.startswith("copy")]
    assert line.split()[:3] == ["copy", "'a'", "100"]
    assert line.strip().endswith("% of variance")


def test_a_column_that_is_hardly_ever_known_is_warned_of(tmp_path):
    frame = patients()[["heat", "pulse"]]
    frame["pool"] = np.where(np.arange(N) % 10 == 0, frame["heat"], np.nan)
    frame.to_csv(tmp_path / "it.csv", index=False)
    told = succeed("impute", tmp_path / "it.csv", "--out", tmp_path / "f.csv", "--json").stdout
    (caution,) = json.loads(told)["cautions"]
    assert caution.startswith("'pool' is known in fewer than 20% of the rows, so that most of")


def test_gaps_beside_zeros_are_said_to_mean_that_there_is_none(tmp_path):
    rng = np.random.default_rng(1)
    frame = patients()[["heat", "pulse"]]
    frame["pools"] = rng.integers(3, size=N)
    frame["quality"] = np.where(frame["pools"] > 0, rng.choice(["good", "poor"], N), None)
    frame["water"] = np.where(frame["pools"] > 0, rng.normal(size=N), np.nan)
    frame.to_csv(tmp_path / "it.csv", index=False)
    told = succeed("impute", tmp_path / "it.csv", "--out", tmp_path / "f.csv", "--json").stdout
    first = json.loads(told)["cautions"][0]
    assert first.startswith("Some empty cells seem to mean that there is none, as they are nearly")
    assert "'quality' and 'water' where 'pools' is 0." in first
    assert first.endswith("made up: write that there is none instead.")


def test_a_column_of_which_others_tell_nothing_is_named(tmp_path):
    frame = patients()[["heat", "pulse"]].dropna()
    coins = np.random.default_rng(2).choice(["head", "tail"], len(frame)).astype(object)
    coins[::4] = None
    frame.assign(coin=coins).to_csv(tmp_path / "it.csv", index=False)
    told = succeed("impute", tmp_path / "it.csv", "--out", tmp_path / "f.csv", "--json").stdout
    (caution,) = json.loads(told)["cautions"]
    assert caution.startswith("The other columns tell hardly anything of 'coin': gaps there get")


def test_draws_are_numbered_tables_that_differ_and_are_repeatable(data, tmp_path):
    for name in ("a", "b"):
        out = tmp_path / f"{name}.csv"
        told = succeed("impute", data, "--out", out, "--draws", 2, "--seed", 5, "--json").stdout
        assert json.loads(told)["tables"] == [str(tmp_path / f"{name}.{n}.csv") for n in (1, 2)]
    one, two = (pd.read_csv(tmp_path / f"a.{n}.csv") for n in (1, 2))
    assert not one.equals(two)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "b.2.csv"), two)
    known = patients().notna()
    pd.testing.assert_frame_equal(
        one.where(known), patients().where(known), check_dtype=False, check_exact=False
    )


def test_spreads_are_zero_where_cells_are_known_and_empty_for_words(data, tmp_path):
    succeed("impute", data, "--out", tmp_path / "f.csv", "--std")
    spread, gaps = pd.read_csv(tmp_path / "f.std.csv"), patients().isna()
    for name in ("heat", "pulse", "visits"):
        assert (spread[name][gaps[name]] > 0).all()
        assert (spread[name][~gaps[name]] == 0).all()
    assert spread[["cough", "colour"]].isna().all(axis=None)


def test_averages_are_written_if_asked_for(data, tmp_path):
    succeed("impute", data, "--out", tmp_path / "f.csv", "--expected")
    gaps = patients()["visits"].isna()
    assert (pd.read_csv(tmp_path / "f.csv")["visits"][gaps] % 1 != 0).any()


def test_fills_do_not_depend_on_how_rows_are_cut(data, filled, tmp_path, monkeypatch):
    monkeypatch.setattr(new_table, "CHUNK_ROWS", 32)
    succeed("impute", data, "--out", tmp_path / "f.csv")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "f.csv"), filled)


def test_columns_that_are_dropped_or_ignored_stay_as_they_are(data, tmp_path):
    asked = ("--drop", "pulse", "--kind", "cough=ignored", "--kind", "visits=ordinal")
    succeed("impute", data, "--out", tmp_path / "f.csv", *asked)
    filled, frame = pd.read_csv(tmp_path / "f.csv"), patients()
    assert list(filled) == COLUMNS
    for name in ("pulse", "cough"):
        assert filled[name].isna().sum() == frame[name].isna().sum()
    assert filled[["heat", "visits", "colour"]].notna().all(axis=None)


def test_only_columns_that_are_kept_are_written_if_some_are_named(data, tmp_path):
    succeed("impute", data, "--out", tmp_path / "f.csv", "--keep", "id")
    assert list(pd.read_csv(tmp_path / "f.csv")) == COLUMNS[:-1]


def test_what_else_stands_for_a_gap_is_filled(data, tmp_path):
    frame = patients()
    frame["heat"] = frame["heat"].fillna(-999)
    frame["colour"] = frame["colour"].fillna("unclear")
    frame.to_csv(tmp_path / "it.csv", index=False)
    out = tmp_path / "f.csv"
    succeed("impute", tmp_path / "it.csv", "--out", out, "--missing-values", "-999,unclear")
    filled = pd.read_csv(out)
    assert filled["heat"].min() > 30
    assert set(filled["colour"]) == {"red", "pale", "rosy"}


def test_a_column_that_is_never_observed_stays_empty_and_is_named(tmp_path):
    frame = patients()[["heat", "cough"]].assign(empty=np.nan)
    frame.to_csv(tmp_path / "it.csv", index=False)
    result = succeed("impute", tmp_path / "it.csv", "--out", tmp_path / "f.csv")
    assert "'empty' is never observed" in result.output
    assert f"{N} gaps stay, in columns of which no value was ever seen." in result.output
    rows = (tmp_path / "f.csv").read_text().splitlines()
    assert all(row.endswith(",") for row in rows[1:])


WRONG = {
    "over the input": (lambda data: (data, "--out", data, "--force"), "and would be written over"),
    "unknown kind": (lambda data: (data, "--kind", "puls=count"), "Did you mean 'pulse'?"),
    "unknown column": (lambda data: (data, "--drop", "puls"), "--drop names 'puls'"),
    "no time": (lambda data: (data, "--max-seconds", 0), "--max-seconds must be a number above 0"),
    "no draws": (lambda data: (data, "--draws", 0), "--draws must be a whole number of at least 1"),
    "both": (lambda data: (data, "--draws", 2, "--std"), "Leave out --std or --draws."),
    "no such table": (lambda data: (data.with_name("no.csv"),), "does not exist"),
    "no such format": (lambda data: (data, "--out", "f.txt"), "is of no kind that is written"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_call_is_refused_and_nothing_is_written(case, data, tmp_path):
    make, sentence = WRONG[case]
    before = data.read_bytes()
    call = make(data)
    result = run("impute", *call, *(() if "--out" in call else ("--out", tmp_path / "f.csv")))
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())
    assert data.read_bytes() == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "asked",
    [
        ("--kind", "heat=ignored"),
        ("--drop", "heat"),
        ("--columns", "heat"),
        ("--max-seconds", 1),
    ],
)
def test_options_of_learning_do_not_go_with_a_model(asked, data, tmp_path):
    model = tmp_path / "m.halfseen"
    succeed("fit", data, "-k", 1, "--out", model)
    result = run("impute", model, data, "--out", tmp_path / "f.csv", *asked)
    assert result.exit_code == 2
    assert f"Leave out {asked[0]}, or the model." in result.stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n", "The table has no rows, so there is nothing to learn from. Give some."),
        ("a,b\n1,2\ninf,3\n2,\n", "mark them as missing with --missing-values inf,-inf"),
        ("a,b\n1e300,1\n3e300,\n2e300,3\n", "On the command line use --drop a."),
        ("a,a\n1,2\n3,\n", "Give each its own name."),
    ],
)
def test_a_table_that_cannot_be_filled_is_refused_in_words(text, sentence, tmp_path):
    (tmp_path / "it.csv").write_text(text)
    result = run("impute", tmp_path / "it.csv", "--out", tmp_path / "f.csv")
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert not (tmp_path / "f.csv").exists()


def test_small_tables_are_told_of_in_the_singular(tmp_path):
    (tmp_path / "it.csv").write_text("a,b,c\n1,2,\n,4,\n5,6,\n")
    said = succeed("impute", tmp_path / "it.csv", "--out", tmp_path / "f.csv").output
    assert "1 gap in 3 rows was filled." in said
    assert "3 gaps stay, in columns of which no value was ever seen." in said
    assert "guessed" not in said


def test_a_table_without_anything_to_learn_from_is_refused_in_words(tmp_path):
    notes = pd.DataFrame({"note": [f"this is text number {i}" for i in range(1200)]})
    notes.to_csv(tmp_path / "it.csv", index=False)
    result = run("impute", tmp_path / "it.csv", "--out", tmp_path / "f.csv")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert not (tmp_path / "f.csv").exists()
