"""From a file that another program wrote to a page: what a new user sees."""

import gzip
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import GaussianMixture, load, simulate
from halfseen.cli.app import app
from tests.cli.options import DIAG

N_ROWS = 20_000
MEANS = np.array([[0, 0, 0, 0, 0, 0.0], [3, 2.5, -2.5, 2, 3, 2.5], [-0.5, 0.5, 3, 2.5, 0, 3]])
TYPICAL = np.array([36.8, 75, 122, 15, 7, 80])
SPREAD = np.array([0.4, 10, 12, 2, 1.8, 14])
MEASURED = ["temperature", "heart rate", "pressure", "breathing", "white cells", "creatinine"]

PROBABILITIES = [f"probability_{k}" for k in (1, 2, 3)]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def succeed(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table as pandas writes it: an index, NA, text, a constant, nothing, thousands."""
    rng = np.random.default_rng(5)
    scores, groups = simulate.gaussian_mixture(N_ROWS, [0.6, 0.25, 0.15], MEANS, 1.0, rng)
    scores = simulate.independent_gaps(scores, [1, 1, 0.98, 0.97, 0.5, 0.2], rng)
    frame = pd.DataFrame((TYPICAL + SPREAD * scores).round(3), columns=MEASURED)
    frame["creatinine"] = np.exp(0.25 * scores[:, 5] + 4.3).round(1)
    frame.insert(0, "patient", [f"P{number:05}" for number in rng.permutation(N_ROWS)])
    frame["unit"] = 1
    frame["genome"] = np.nan
    cost = rng.gamma(9, 200, N_ROWS) * (1 + groups)
    frame["cost"] = [f"{value:,.0f}" if rng.random() < 0.9 else "NA" for value in cost]
    path = tmp_path_factory.mktemp("clinic")
    frame.to_csv(path / "patients.csv", na_rep="NA")
    np.save(path / "groups.npy", groups)
    return path


@pytest.fixture(scope="module")
def fitted(folder):
    out = folder / "patients.halfseen"
    result = succeed(
        *("fit", folder / "patients.csv", "-k", 3, "--log", "creatinine,cost"),
        *("--standardise", "--seed", 0, "--out", out),
    )
    return out, result


IGNORED = [
    "Column 'column 1' was ignored: it numbers the rows.",
    "Column 'unit' was ignored: it is 1 wherever it is known.",
    "Column 'genome' was ignored: it has no values.",
    "'cost': commas in it were read as thousands separators.",
]


def test_describe_says_what_is_missing_and_what_was_ignored(folder):
    said = succeed("describe", folder / "patients.csv").stdout
    for sentence in (*IGNORED, "Column 'patient' was ignored: it holds more than 1,000 different"):
        assert sentence in said
    assert "20,000 rows, 7 columns that can be used" in said
    assert "Columns look to be missing independently of each other" in said
    assert "partial: the 4 columns known for at least 95% of rows; the other 3" in said
    assert "Nothing stands in the way of a fit." in said


def test_describe_for_machines_is_one_object_and_nothing_else(folder):
    found = json.loads(succeed("describe", folder / "patients.csv", "--json").stdout)
    frame = pd.read_csv(folder / "patients.csv")
    for name in MEASURED:
        assert found["observed_fraction"][name] == pytest.approx(frame[name].notna().mean())
    assert sum(pattern["rows"] for pattern in found["patterns"]) <= N_ROWS
    assert found["gaps_independent"]
    assert any("'patient' was ignored" in note for note in found["notes"])


def test_fit_says_what_it_learned_in_the_units_of_the_file(fitted):
    said = fitted[1].stdout
    for sentence in (*IGNORED, "Column 'patient' was ignored: it holds text."):
        assert sentence in said
    assert "All columns that can be used hold numbers, so --model gaussian was taken." in said
    assert "Group 1: 60% of rows" in said
    assert "white cells higher than average: 12.4" in said
    assert "creatinine: weight 0.20, being known for 20% of rows." in said
    assert "Next:  halfseen report" in said


def test_means_come_back_in_the_units_of_the_file(folder, tmp_path):
    said = succeed(
        *("fit", folder / "patients.csv", "-k", 3, *DIAG, "--log", "creatinine", "--standardise"),
        *("--columns", ",".join(MEASURED), "--out", tmp_path / "it", "--json"),
    ).stdout
    content = json.loads(said)
    means = np.array([[c["centre"][name] for name in MEASURED] for c in content["components"]])
    true = TYPICAL + SPREAD * MEANS
    true[:, 5] = np.exp(0.25 * MEANS[:, 5] + 4.3)
    # The rarest group has creatinine in 600 rows, which leaves 1 % open.
    np.testing.assert_allclose(means, true, rtol=0.03)
    shares = [component["share"] for component in content["components"]]
    np.testing.assert_allclose(shares, [0.6, 0.25, 0.15], atol=0.02)
    assert content["cautions"] == []


def test_the_model_is_what_the_estimator_learns_from_the_same_numbers(folder, tmp_path):
    succeed(
        *("fit", folder / "patients.csv", "-k", 3, "--columns", "temperature, white cells"),
        *("--columns", "breathing, pressure", "--out", tmp_path / "it"),
    )
    learned = load(tmp_path / "it")
    frame = pd.read_csv(folder / "patients.csv")
    frame = frame[["temperature", "white cells", "breathing", "pressure"]]
    expected = GaussianMixture(3, covariance_type="auto").fit(frame)
    assert learned.preprocessing_ is None
    # Columns that lie otherwise in memory are summed in another order.
    np.testing.assert_allclose(learned.means_, expected.means_, rtol=1e-12)
    np.testing.assert_allclose(learned.bic(frame), expected.bic(frame), rtol=1e-12)


def test_predict_numbers_groups_as_fit_does_and_keeps_rows_and_identifiers(folder, fitted):
    out = folder / "groups.csv"
    said = succeed("predict", fitted[0], folder / "patients.csv", "--out", out, "--keep", "patient")
    found, frame = pd.read_csv(out), pd.read_csv(folder / "patients.csv")
    assert list(found) == ["patient", "group", *PROBABILITIES, "unusual"]
    assert (found["patient"] == frame["patient"]).all()
    assert (found["group"] == np.load(folder / "groups.npy") + 1).mean() > 0.95
    shares = found[PROBABILITIES].to_numpy()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares.argmax(axis=1) + 1 == found["group"]).all()
    assert "Of 20,000 rows" in said.stdout


def test_impute_fills_gaps_in_units_and_leaves_the_rest_as_it_is(folder, fitted):
    out = folder / "filled.parquet"
    said = succeed("impute", fitted[0], folder / "patients.csv", "--out", out, "--keep", "*")
    filled, frame = pd.read_parquet(out), pd.read_csv(folder / "patients.csv", thousands=",")
    assert list(filled)[1:] == list(frame)[1:]
    known = frame[MEASURED].notna().to_numpy()
    assert not filled[MEASURED].isna().any(axis=None)
    np.testing.assert_array_equal(
        filled[MEASURED].to_numpy()[known], frame[MEASURED].to_numpy()[known]
    )
    gaps = filled["creatinine"][frame["creatinine"].isna()]
    assert 60 < gaps.min() < gaps.max() < 170
    assert (filled["patient"] == frame["patient"]).all()
    n_gaps = int(frame[[*MEASURED, "cost"]].isna().sum().sum())
    assert f"{n_gaps:,} gaps in 20,000 rows were filled." in said.stdout


def test_report_writes_a_page_without_rows_unless_asked(folder, fitted):
    out = folder / "page.html"
    succeed("report", fitted[0], folder / "patients.csv", "--out", out)
    page = out.read_text("utf-8")
    assert "<h1>3 groups in patients.csv</h1>" in page
    assert "creatinine, cost were put on a log scale" in page
    assert "Not part of the model: &#39;column 1&#39;, &#39;patient&#39;" in page
    assert "This page holds no row of the table, and no average of fewer than 10 of them." in page
    assert 'id="rows"' not in page
    succeed(
        *("report", fitted[0], folder / "patients.csv", "--out", out, "--force"),
        *("--include-rows", "--title", "Ours"),
    )
    assert 'id="rows"' in out.read_text("utf-8")
    assert "<h1>Ours</h1>" in out.read_text("utf-8")


def test_columns_are_found_by_name_in_any_order(folder, fitted, tmp_path):
    frame = pd.read_csv(folder / "patients.csv", dtype={"cost": str}).iloc[:500, ::-1]
    frame.to_csv(tmp_path / "new.tsv", sep="\t", index=False)
    succeed("predict", fitted[0], tmp_path / "new.tsv", "--out", tmp_path / "new.parquet")
    whole = tmp_path / "all.parquet"
    succeed("predict", fitted[0], folder / "patients.csv", "--out", whole)
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "new.parquet"), pd.read_parquet(whole)[:500]
    )


def test_a_table_that_does_not_fit_is_refused_by_the_names_of_its_columns(folder, fitted, tmp_path):
    frame = pd.read_csv(folder / "patients.csv")[:50]
    frame.rename(columns={"pressure": "systolic"}).to_csv(tmp_path / "new.csv")
    result = run("predict", fitted[0], tmp_path / "new.csv", "--out", tmp_path / "out.csv")
    assert result.exit_code == 1
    assert "new.csv does not fit the model: it has no column 'pressure'." in result.stderr
    assert not (tmp_path / "out.csv").exists()
    frame.assign(pressure="high").to_csv(tmp_path / "new.csv")
    result = run("impute", fitted[0], tmp_path / "new.csv", "--out", tmp_path / "out.csv")
    assert result.exit_code == 1
    assert "Column 'pressure' of new.csv cannot be read as numbers: it holds text" in result.stderr


def test_codes_for_gaps_are_kept_in_the_model(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(50, 1, size=(300, 4)) + 9 * rng.integers(2, size=(300, 1))
    frame = pd.DataFrame(X.round(2), columns=list("abcd")).astype(object)
    frame.loc[::3, "d"] = -999.0
    frame.loc[1::3, "c"] = "late"
    frame.to_csv(tmp_path / "it.csv", index=False)
    advice = succeed("describe", tmp_path / "it.csv").stdout
    assert "200 of its 300 values are numbers, but it holds 'late' too" in advice
    assert "-999 is the value of 'd' in 100 rows, far from all others." in advice
    assert "If it stands for a gap, use --missing-values=-999." in advice
    model = tmp_path / "it.halfseen"
    codes = ("--missing-values", "late,-999")
    succeed("fit", tmp_path / "it.csv", "-k", 2, *DIAG, "--out", model, *codes)
    assert load(model).preprocessing_.missing_values == ("late", "-999")
    np.testing.assert_allclose(load(model).observed_fraction_, [1, 1, 2 / 3, 2 / 3])
    succeed("impute", model, tmp_path / "it.csv", "--out", tmp_path / "filled.csv")
    assert pd.read_csv(tmp_path / "filled.csv")["d"].min() > 40


def test_counts_go_to_topics_sparse_or_not(tmp_path):
    from scipy import io, sparse

    rng = np.random.default_rng(0)
    topics = [[0.4, 0.4, 0.1, 0.05, 0.05], [0.05, 0.05, 0.1, 0.4, 0.4]]
    counts, _ = simulate.gamma_poisson(3000, topics, [0.6, 0.4], 0.05, rng)
    sparse.save_npz(tmp_path / "it.npz", sparse.csr_matrix(counts))
    io.mmwrite(tmp_path / "it.mtx", sparse.coo_matrix(counts))
    (tmp_path / "it.mtx.gz").write_bytes(gzip.compress((tmp_path / "it.mtx").read_bytes()))
    pd.DataFrame(counts.astype(int), columns=list("abcde")).to_csv(tmp_path / "it.csv", index=False)
    assert "use --model gamma-poisson" in succeed("describe", tmp_path / "it.csv").stdout
    learned = []
    for name in ("it.npz", "it.mtx", "it.mtx.gz", "it.csv"):
        model = tmp_path / f"{name}.halfseen"
        said = succeed("fit", tmp_path / name, "--model", "gamma-poisson", "-k", 2, "--out", model)
        assert "Topic 1: 6" in said.stdout
        out = tmp_path / f"{name}.csv.gz"
        succeed("predict", model, tmp_path / name, "--out", out)
        learned.append(pd.read_csv(out))
        assert list(learned[-1]) == ["topic_1", "topic_2", "unusual"]
    for other in learned[1:]:
        np.testing.assert_allclose(other, learned[0], rtol=1e-6)
    succeed("report", model, tmp_path / "it.csv", "--out", tmp_path / "page.html")
    assert "What the topics are like" in (tmp_path / "page.html").read_text("utf-8")
    succeed(
        "impute", tmp_path / "it.mtx.halfseen", tmp_path / "it.mtx", "--out", tmp_path / "f.csv"
    )
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "f.csv"), counts)


def test_what_cannot_be_is_said_in_one_sentence_with_exit_code_1(folder, tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [2.0, 1, 4, 3], "text": list("wxyz")})
    frame.to_csv(tmp_path / "few.csv", index=False)
    result = run("fit", tmp_path / "few.csv", "-k", 9, "--out", tmp_path / "it")
    assert result.exit_code == 1
    assert "-k 9 needs at least 9 rows" in result.stderr
    assert "Traceback" not in result.output
    (tmp_path / "it.parquet").write_bytes(b"not parquet at all")
    result = run("describe", tmp_path / "it.parquet")
    assert result.exit_code == 1
    assert "it.parquet cannot be read at its footer" in result.stderr
    pd.DataFrame({"day": ["2024-01-01", "2024-01-02"]}).to_csv(tmp_path / "day.csv", index=False)
    result = run("describe", tmp_path / "day.csv")
    assert result.exit_code == 1
    assert "No column of numbers or categories is left in day.csv" in result.stderr
    (tmp_path / "model").write_bytes(b"not a model")
    result = run("predict", tmp_path / "model", tmp_path / "few.csv", "--out", tmp_path / "o.csv")
    assert result.exit_code == 1
    assert "is not a model saved by halfseen" in result.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("-k", "many"), "-k must be a whole number of at least 1, or auto. Got 'many' instead."),
        (("-k", "0"), "-k must be a whole number of at least 1, or auto. Got '0' instead."),
        (("-k", "2", "--columns", "pulse"), "--columns names 'pulse', but patients.csv has"),
        (("-k", "2", "--drop", "temprature"), "Did you mean 'temperature'?"),
        (("-k", "2", "--log", "unit"), "--log names 'unit'"),
        (("-k", "2", "--complete-above", "7"), "--complete-above"),
        (("-k", "2", "--standardise", "--model", "gamma-poisson"), "make fractions of counts"),
        (("-k", "2", "--model", "guess"), "guess"),
    ],
)
def test_a_wrong_call_is_told_with_exit_code_2(folder, tmp_path, options, sentence):
    result = run("fit", folder / "patients.csv", "--out", tmp_path / "it", *options)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stdout == "" or "patients.csv: 20,000 rows" in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_logarithms_of_what_is_not_above_zero_are_refused(tmp_path):
    pd.DataFrame({"a": [0.0, 1, 2, 5], "b": [1.0, 2, 1, 3]}).to_csv(tmp_path / "it.csv")
    result = run("fit", tmp_path / "it.csv", "-k", 1, "--log", "*", "--out", tmp_path / "it")
    assert result.exit_code == 1
    assert "'a' cannot be put on a log scale: 1 values of 'a' are not above zero" in result.stderr


def test_nothing_is_overwritten_without_force(folder, fitted, tmp_path):
    data = folder / "patients.csv"
    mine = tmp_path / "mine.csv"
    mine.write_text("mine")
    for command in (
        ("fit", data, "-k", 2, *DIAG, "--out", mine),
        ("impute", fitted[0], data, "--out", mine),
        ("predict", fitted[0], data, "--out", mine),
        ("report", fitted[0], data, "--out", mine),
    ):
        result = run(*command)
        assert result.exit_code == 2
        assert "is there already. Use --force" in result.stderr
        assert mine.read_text() == "mine"
    result = run("predict", fitted[0], data, "--out", tmp_path / "nowhere" / "it.csv")
    assert result.exit_code == 2
    assert "does not exist. Create it first." in result.stderr
    result = run("predict", fitted[0], data, "--out", tmp_path / "it.xlsx")
    assert result.exit_code == 2
    assert "is of no kind that is written" in result.stderr
    succeed("predict", fitted[0], data, "--out", mine, "--force")
    assert mine.read_text() != "mine"


def test_cautions_of_the_library_come_in_the_words_of_the_command_line(folder, tmp_path):
    spherical = ("--scale", "none", "--covariance", "tied_spherical")
    result = succeed("fit", folder / "patients.csv", "-k", 3, *spherical, "--out", tmp_path / "it")
    assert "Careful: Features are on very different scales" in result.stderr
    assert "Use --covariance tied_diag, or --scale robust." in result.stderr
    assert "Careful" not in result.stdout


def test_gaps_that_matter_are_told_with_what_follows(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    X[:200, 0] = X[200:, 1] = np.nan
    X[X[:, 2] > 0.3, 3] = np.nan
    pd.DataFrame(X, columns=list("abcd")).to_csv(tmp_path / "it.csv", index=False)
    said = succeed("describe", tmp_path / "it.csv").stdout
    assert "'a' and 'b' are never known in the same row." in said
    assert "Columns are not missing independently of each other: 'a' and 'b'" in said
    assert "where 'd' is missing, 'c' is higher by 1.6 of its standard deviations." in said
    assert "do not use --no-refine" in said
    told = succeed("fit", tmp_path / "it.csv", "-k", 1, "--out", tmp_path / "it").stdout
    assert "Features 'a' and 'b' are never observed together: what the model says of how" in told


def test_nothing_is_said_when_whoever_reads_has_enough(folder):
    command = f"{sys.executable} -m halfseen describe {folder / 'patients.csv'} --json | head -c 9"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert result.stderr == ""


def test_a_stop_by_hand_leaves_nothing_behind(folder, tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    result = run(
        "fit", folder / "patients.csv", "-k", 2, *DIAG, "--standardise", "--out", tmp_path / "it"
    )
    assert result.exit_code not in (0, 2)
    assert list(tmp_path.iterdir()) == []
