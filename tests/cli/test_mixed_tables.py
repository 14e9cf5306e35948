"""Tables of mixed columns: kinds found and declared, classes told, words in and words out."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import Files, LatentClass, load
from halfseen.cli import new_table
from halfseen.cli.app import app

N = 600
KINDS = {
    "age": "continuous",
    "fare, paid": "continuous",
    "visits": "count",
    "stage": "ordinal",
    "cough": "binary",
    "tumour site": "categorical",
    "smokes": "binary",
}


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def succeed(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def patients(seed=0):
    rng = np.random.default_rng(seed)
    ill = rng.random(N) < 0.4
    frame = pd.DataFrame(
        {
            "patient_id": [f"P{i:06}" for i in rng.permutation(N)],
            "age": rng.normal(np.where(ill, 70, 40), 8).round(1),
            "fare, paid": np.exp(rng.normal(np.where(ill, 3, 1), 0.5)).round(2),
            "visits": rng.poisson(np.where(ill, 5.0, 1.0)),
            "stage": np.where(ill, rng.choice([3, 4], N), rng.choice([1, 2], N)),
            "cough": np.where(rng.random(N) < np.where(ill, 0.9, 0.1), "yes", "no"),
            "tumour site": np.where(ill, rng.choice(["lung", "liver"], N, p=[0.9, 0.1]), "skin"),
            "smokes": rng.random(N) < np.where(ill, 0.8, 0.2),
            "ward": "north",
            "day": pd.date_range("2024-01-01", periods=N).strftime("%Y-%m-%d"),
        }
    )
    gaps = rng.random((N, 3)) < 0.2
    for place, name in enumerate(("age", "cough", "tumour site")):
        frame.loc[gaps[:, place], name] = np.nan
    return frame


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("mixed") / "patients.csv"
    patients().to_csv(path, index=False, na_rep="NA")
    return path


@pytest.fixture(scope="module")
def fitted(data):
    out = data.with_name("patients.halfseen")
    return out, succeed("fit", data, "-k", 2, "--seed", 0, "--out", out).stdout


def test_columns_of_words_are_learned_with_the_numbers_and_said(fitted):
    model, said = load(fitted[0]), fitted[1]
    assert isinstance(model, LatentClass)
    assert (
        "'cough', 'tumour site' and 'smokes' hold categories, so --model classes was taken "
        "(--model gaussian would take the 4 columns of numbers alone)." in said
    )
    assert "patients.csv: 600 rows, and 7 columns in which 9% of the cells are empty." in said
    assert "Columns by kind: 2 continuous, 2 binary, 1 count, 1 ordinal, 1 categorical." in said
    assert "Column 'ward' was ignored: it is the same wherever it is known." in said
    assert "Column 'day' was ignored: it holds dates or times." in said
    assert "Column 'patient_id' was ignored: it has the name of an identifier" in said
    assert "Class 1: 6" in said
    assert model.kinds_ == KINDS


def test_the_model_is_that_of_python(data, fitted):
    expected = LatentClass(2, random_state=0).fit(Files(data, columns=list(KINDS)))
    model = load(fitted[0])
    assert model.coding_ == expected.coding_
    np.testing.assert_array_equal(model.means_, expected.means_)


def test_json_holds_kinds_and_how_likely_categories_are(data, tmp_path):
    said = succeed("fit", data, "-k", 2, "--seed", 0, "--out", tmp_path / "m", "--json").stdout
    told = json.loads(said)
    assert told["kinds"] == KINDS
    assert told["columns"] == list(KINDS)
    assert told["estimator"] == "LatentClass"
    assert told["model_reason"].startswith("'cough', 'tumour site' and 'smokes' hold categories")
    well, ill = (component["probabilities"] for component in told["components"])
    assert ill["cough"]["yes"] > 0.8 > 0.2 > well["cough"]["yes"]
    assert set(well["tumour site"]) == {"liver", "lung", "skin"}
    assert set(ill["stage"]) == {"1", "2", "3", "4"}
    assert told["components"][0]["centre"]["tumour site"] is None


def test_numbers_and_one_constant_word_stay_with_the_usual_model(data, tmp_path):
    numbers = ("--columns", 'age,visits,"fare, paid",ward')
    result = run("fit", data, "-k", 2, *numbers, "--out", tmp_path / "m", "--json")
    assert result.exit_code == 1  # of columns that are asked for none is left out
    frame = patients()[["age", "fare, paid", "visits", "ward"]]
    frame.assign(old=True).to_csv(tmp_path / "it.csv", index=False)
    said = succeed("fit", tmp_path / "it.csv", "-k", 2, "--out", tmp_path / "m", "--json").stdout
    told = json.loads(said)
    assert told["estimator"] == "GaussianMixture"
    assert told["kinds"] is None
    assert told["model_reason"] == (
        "All columns that can be used hold numbers, so --model gaussian was taken."
    )


def test_numbers_that_may_be_codes_are_told_of(tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.integers(1, 6, (200, 4)), columns=list("abcd")).to_csv(tmp_path / "it.csv")
    said = succeed("fit", tmp_path / "it.csv", "-k", 1, "--out", tmp_path / "m").stdout
    codes = "4 of 4 have few different values: if those are answers or codes, use --model classes."
    assert codes in said
    advised = succeed("describe", tmp_path / "it.csv").stdout
    assert "'a', 'b', 'c' and 'd' have few different values. If they are answers or" in advised


def test_describe_tells_the_kind_of_each_column_and_quotes_no_cell(data):
    said = succeed("describe", data).stdout
    shown = {line.split("  ")[0]: line for line in reversed(said.splitlines())}
    assert " categorical, 3 " in shown["tumour site"]
    assert " ordinal, 4 " in shown["stage"]
    assert " binary " in shown["cough"]
    assert " count " in shown["visits"]
    assert not {"lung", "skin", "yes"} & set(said.replace("'", " ").split())
    found = json.loads(succeed("describe", data, "--json").stdout)
    assert found["kinds"] == KINDS
    assert found["n_categories"] == {"stage": 4, "cough": 2, "tumour site": 3, "smokes": 2}
    assert set(found["ignored"]) == {"patient_id", "ward", "day"}
    asked = succeed("describe", data, "--show-text").stdout
    assert "  - tumour site: 'liver', 'lung' and 'skin'." in asked


def test_a_category_of_one_row_is_told_without_being_quoted(tmp_path):
    frame = patients()
    frame.loc[3, "tumour site"] = "lnug"
    frame.to_csv(tmp_path / "it.csv", index=False)
    advice = json.loads(succeed("describe", tmp_path / "it.csv", "--json").stdout)["advice"]
    assert (
        "'tumour site' has a category that a single row holds. Check its spelling (--show-text "
        "shows it)." in advice
    )


def test_no_word_is_said_to_be_higher_where_another_column_is_missing(tmp_path):
    frame = patients()[["cough", "tumour site"]].assign(noise=np.arange(N) % 37 / 3)
    frame.loc[frame["cough"] == "yes", "tumour site"] = np.nan
    frame.to_csv(tmp_path / "it.csv", index=False)
    missing = json.loads(succeed("describe", tmp_path / "it.csv", "--json").stdout)["missing"]
    assert not any("higher" in one or "lower" in one for one in missing)


def test_kinds_are_declared_with_any_name_and_kept_for_the_next_command(data, tmp_path):
    declared = ("--kind", "tumour site=ignored", "--kind", "fare, paid=continuous")
    said = succeed("describe", data, *declared).stdout
    assert "--kind 'tumour site=ignored' --kind 'fare, paid=continuous' --log" in said
    more = (*declared, "--kind", "stage=categorical", "--kind", "visits = ordinal")
    out = tmp_path / "m.halfseen"
    succeed("fit", data, "-k", 2, *more, "--out", out)
    wanted = KINDS | {"stage": "categorical", "visits": "ordinal"}
    del wanted["tumour site"]
    assert load(out).kinds_ == wanted


WRONG = {
    "name": (("--kind", "sage=ordinal"), "--kind names 'sage', but patients.csv has"),
    "close name": (("--kind", "sage=ordinal"), "Did you mean 'stage'?"),
    "kind": (("--kind", "stage=nominal"), "--kind says that 'stage' is 'nominal'. A column is one"),
    "nothing": (("--kind", "stage"), "--kind 'stage' does not say what is what. Write the column"),
    "twice": (
        ("--kind", "stage=count", "--kind", "stage=ordinal"),
        "--kind says that 'stage' is 'count' and 'ordinal'.",
    ),
    "other model": (
        ("--kind", "stage=ordinal", "--model", "gaussian"),
        "--kind belongs to --model classes. Leave it out.",
    ),
    "gaps": (
        ("--gaps", "informative", "--model", "gaussian"),
        "--gaps belongs to --model classes. Leave it out.",
    ),
    "both": (("--gaps", "informative", "--covariance", "diag"), "--covariance belongs to --model"),
    "log": (
        ("--log", "cough"),
        "--log names 'cough', which is binary, and logarithms are for columns that are continuous. "
        "Leave it out of --log.",
    ),
    "log of codes": (
        ("--log", "stage"),
        "Leave it out of --log, or say that it is: --kind stage=continuous.",
    ),
    "moments": (
        ("--moments", "adjusted"),
        "--moments must be 'available'. Got 'adjusted' instead.",
    ),
    "weights": (("--weights", "signal"), "--weights signal is for columns of numbers alone."),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_go_with_the_columns_is_a_wrong_call(case, data, tmp_path):
    options, sentence = WRONG[case]
    result = run("fit", data, "-k", 2, *options, "--out", tmp_path / "m.halfseen")
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_kind_that_the_cells_do_not_have_is_refused(data, tmp_path):
    asked = ("--kind", "cough=continuous", "--out", tmp_path / "m")
    result = run("fit", data, "-k", 2, *asked)
    assert result.exit_code == 1
    assert "'cough' is declared 'continuous', but it holds text." in result.stderr
    assert "or leave out its --kind" in result.stderr


def test_options_of_one_model_choose_it(data, tmp_path):
    said = succeed("fit", data, "-k", 1, "--covariance", "diag", "--out", tmp_path / "m").stdout
    assert (
        "--model gaussian was taken, to which --covariance belongs. It takes numbers only, and not "
        "'cough', 'tumour site' and 'smokes'." in said
    )
    numbers = ("--columns", "age,visits", "--gaps", "informative")
    said = succeed("fit", data, "-k", 1, *numbers, "--out", tmp_path / "n").stdout
    assert "--model classes was taken, to which --gaps belongs." in said
    assert load(tmp_path / "n").gaps == "informative"


def test_a_model_that_is_asked_for_is_not_explained(data, tmp_path):
    said = succeed("fit", data, "-k", 1, "--model", "gaussian", "--out", tmp_path / "m").stdout
    assert "was taken" not in said
    assert "were ignored: they hold text." in said


def test_scales_are_for_continuous_columns_alone_and_undone(data, fitted, tmp_path):
    out = tmp_path / "m.halfseen"
    scaled = ("--log", "*", "--standardise", "--seed", 0)
    told = json.loads(succeed("fit", data, "-k", 2, *scaled, "--out", out, "--json").stdout)
    model = load(out)
    assert list(model.feature_names_in_) == [
        "standardised(log(age))",
        "standardised(log(fare, paid))",
        "visits",
        *list(KINDS)[3:],
    ]
    assert told["kinds"] == KINDS
    assert told["components"][0]["centre"]["age"] == pytest.approx(40, abs=1.5)
    for command in ("predict", "impute"):
        succeed(command, out, data, "--out", tmp_path / f"{command}.csv")
        succeed(command, fitted[0], data, "--out", tmp_path / f"{command}2.csv")
    ours, plain = (pd.read_csv(tmp_path / f"predict{n}.csv")["class"] for n in ("", "2"))
    assert (ours == plain).mean() > 0.98
    filled = pd.read_csv(tmp_path / "impute.csv")
    assert not filled.isna().any(axis=None)
    assert (filled["tumour site"] == pd.read_csv(tmp_path / "impute2.csv")["tumour site"]).all()
    succeed("report", out, data, "--out", tmp_path / "page.html")


def test_predict_gives_classes_of_new_rows_and_tells_once_of_new_categories(
    fitted, tmp_path, monkeypatch
):
    monkeypatch.setattr(new_table, "CHUNK_ROWS", 150)
    new = patients(1).replace({"tumour site": {"lung": "brain"}})
    new.iloc[:, ::-1].to_csv(tmp_path / "new.csv", index=False)
    result = succeed("predict", fitted[0], tmp_path / "new.csv", "--out", tmp_path / "o.csv")
    found = pd.read_csv(tmp_path / "o.csv")
    assert list(found) == ["class", "probability_1", "probability_2", "unusual"]
    n_new = int((new["tumour site"] == "brain").sum())
    assert result.stderr == (
        f"Careful: {n_new} cells of 'tumour site' hold categories that the fit did not see, and "
        "count as gaps. Check the spelling, or fit again with rows that hold such categories.\n"
    )
    assert ((found["class"] == 2) == (new["stage"] > 2)).mean() > 0.99


def test_impute_fills_words_with_words_and_keeps_what_is_known(data, fitted, tmp_path, monkeypatch):
    monkeypatch.setattr(new_table, "CHUNK_ROWS", 250)
    frame = pd.read_csv(data)
    said = succeed("impute", fitted[0], data, "--out", tmp_path / "f.csv", "--keep", "*").stdout
    filled = pd.read_csv(tmp_path / "f.csv")
    assert list(filled) == list(frame)
    pd.testing.assert_frame_equal(filled.where(frame.notna()), frame, check_dtype=False)
    assert not filled.isna().any(axis=None)
    ill = frame["stage"] > 2
    assert (filled["tumour site"][ill & frame["tumour site"].isna()] == "lung").all()
    assert f"{int(frame.isna().sum().sum())} gaps in 600 rows were filled." in said


def test_cells_that_are_new_to_the_model_or_trimmed_stay_as_they_are(fitted, tmp_path):
    new = patients(1)[:50].replace({"tumour site": {"lung": "brain ", "skin": " skin"}})
    new.to_csv(tmp_path / "new.csv", index=False)
    succeed("impute", fitted[0], tmp_path / "new.csv", "--out", tmp_path / "f.csv")
    filled = pd.read_csv(tmp_path / "f.csv")["tumour site"]
    known = new["tumour site"].notna()
    assert (filled[known] == new["tumour site"][known]).all()
    assert filled.notna().all()


def test_draws_are_words_and_repeatable_and_words_have_no_standard_deviation(
    data, fitted, tmp_path
):
    frame = pd.read_csv(data)
    for name in ("a.csv", "b.csv"):
        out = ("--out", tmp_path / name, "--draws", 2, "--seed", 3)
        succeed("impute", fitted[0], data, *out)
    first, second = (pd.read_csv(tmp_path / f"a.{n}.csv") for n in (1, 2))
    pd.testing.assert_frame_equal(first, pd.read_csv(tmp_path / "b.1.csv"))
    assert set(first["tumour site"]) == {"liver", "lung", "skin"}
    gaps = frame["cough"].isna()
    assert (first["cough"][gaps] != second["cough"][gaps]).any()
    succeed("impute", fitted[0], data, "--out", tmp_path / "c.csv", "--std")
    spread = pd.read_csv(tmp_path / "c.std.csv")
    assert list(spread) == list(KINDS)
    assert ((spread["age"] > 0) == frame["age"].isna()).all()
    assert spread["cough"].isna().all()


def test_types_of_a_parquet_file_are_kept(fitted, tmp_path):
    frame = patients(2)
    frame["tumour site"] = pd.Categorical(frame["tumour site"])
    frame["smokes"] = frame["smokes"].astype("boolean").mask(frame.index % 7 == 0)
    frame.to_parquet(tmp_path / "new.parquet")
    out = ("--out", tmp_path / "f.parquet", "--keep", "patient_id")
    succeed("impute", fitted[0], tmp_path / "new.parquet", *out)
    filled = pd.read_parquet(tmp_path / "f.parquet")
    assert isinstance(filled["tumour site"].dtype, pd.CategoricalDtype)
    assert filled["smokes"].dtype == bool
    assert (filled["patient_id"] == frame["patient_id"]).all()
    assert not filled.isna().any(axis=None)


def test_what_stands_for_a_gap_is_kept_in_the_model(tmp_path):
    frame = patients().replace({"tumour site": {np.nan: "not known"}})
    frame.to_csv(tmp_path / "it.csv", index=False)
    model, data = tmp_path / "m.halfseen", tmp_path / "it.csv"
    succeed("fit", data, "-k", 2, "--missing-values", "not known", "--out", model)
    assert load(model).coding_.labels[5] == ("liver", "lung", "skin")
    result = succeed("impute", model, data, "--out", tmp_path / "f.csv")
    assert result.stderr == ""
    assert set(pd.read_csv(tmp_path / "f.csv")["tumour site"]) == {"liver", "lung", "skin"}


def test_codes_that_begin_with_zeros_are_kept_as_they_are(tmp_path):
    frame = patients()[["age", "cough", "stage"]].assign(code=[f"{i % 70:03}" for i in range(N)])
    data, model = tmp_path / "it.csv", tmp_path / "m.halfseen"
    frame.to_csv(data, index=False)
    succeed("fit", data, "-k", 1, "--drop", "code", "--out", model)
    succeed("predict", model, data, "--keep", "code", "--out", tmp_path / "o.csv")
    kept = pd.read_csv(tmp_path / "o.csv", dtype={"code": str})["code"]
    assert (kept == frame["code"]).all()


def test_the_number_of_classes_is_chosen(data, tmp_path):
    said = succeed("fit", data, "--seed", 0, "--out", tmp_path / "m").stdout
    assert "2 clear classes: held-out rows are more likely under them than under the best" in said


def test_workers_fit_what_one_process_does(fitted, data, tmp_path):
    out = tmp_path / "m.halfseen"
    succeed("fit", data, "-k", 2, "--seed", 0, "--workers", 1, "--out", out)
    here, there = load(fitted[0]), load(out)
    assert there.coding_ == here.coding_
    np.testing.assert_allclose(there.means_, here.means_, rtol=1e-6, equal_nan=True)


def test_a_page_is_written(data, fitted, tmp_path):
    succeed("report", fitted[0], data, "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<h1>2 classes in patients.csv</h1>" in page
    assert "tumour site" in page


def test_classes_have_no_weights_to_compare(data):
    result = run("weigh", data, "-k", 2, "--model", "classes")
    assert result.exit_code == 2
    assert "Classes are learned by likelihood, in which weights play no part." in result.stderr
