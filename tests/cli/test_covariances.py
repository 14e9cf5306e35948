"""``halfseen fit``: how columns vary within groups is chosen, told, and may be asked for."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import load
from halfseen.cli.app import app

WORDS = "Within groups columns go along with each other, alike in all groups. --covariance tied: "


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def succeed(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two groups of rows whose columns go along with each other; the last counts whole things."""
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(500, 1))
    X = (
        3 * shared
        + rng.normal(size=(500, 4))
        + 9.0 * rng.integers(2, size=(500, 1)) * [1, -1, 1, 0]
    )
    X[:, 3] = np.round(5 * X[:, 3])
    X[rng.random(X.shape) < 0.15] = np.nan
    path = tmp_path_factory.mktemp("covariances") / "data.csv"
    pd.DataFrame(X, columns=list("abcd")).round(3).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def fitted(data):
    out = data.parent / "chosen.halfseen"
    return out, succeed("fit", data, "-k", 2, "--out", out, "--seed", 0)


def test_the_kind_is_chosen_and_the_reason_is_told(fitted):
    out, said = fitted
    assert f"{WORDS}held-out rows are more likely than with --covariance tied_diag, by" in (
        " ".join(said.output.split())
    )
    model = load(out)
    assert (model.covariance_type, model.covariance_type_) == ("auto", "tied")


def test_json_holds_the_kind_and_the_reason(data, tmp_path):
    asked = ("-k", 2, "--covariance", "factor", "--factors", 1)
    said = succeed("fit", data, *asked, "--out", tmp_path / "m", "--json")
    content = json.loads(said.stdout)
    assert (content["covariance"], content["factors"]) == ("factor", 1)
    assert content["covariance_reason"] is None
    said = succeed("fit", data, "-k", 2, "--out", tmp_path / "n", "--json")
    content = json.loads(said.stdout)
    assert (content["covariance"], content["factors"]) == ("tied", None)
    assert content["covariance_reason"].startswith(WORDS)


def test_factors_are_of_groups_of_numbers(data, tmp_path):
    result = run("fit", data, "--model", "gamma-poisson", "--factors", 2, "--out", tmp_path / "m")
    assert result.exit_code == 2
    assert "--factors belongs to --model gaussian. Leave it out." in result.stderr


def test_gaps_are_filled_from_the_other_cells_of_the_row_with_values_that_are_possible(
    data, fitted, tmp_path
):
    out = tmp_path / "filled.csv"
    succeed("impute", fitted[0], data, "--out", out, "--std")
    filled, frame = pd.read_csv(out), pd.read_csv(data)
    known = frame.notna().to_numpy()
    np.testing.assert_array_equal(filled.to_numpy()[known], frame.to_numpy()[known])
    assert (filled["d"] == filled["d"].round()).all()
    std = pd.read_csv(tmp_path / "filled.std.csv").to_numpy()
    assert (std[known] == 0).all()
    assert (std[~known] > 0).all()
    # What the row's other cells say leaves less than the groups alone do.
    left = frame["a"].std() * 0.6
    assert np.median(std[:, 0][~known[:, 0]]) < left


def test_the_page_says_how_columns_vary(data, fitted, tmp_path):
    page = tmp_path / "page.html"
    succeed("report", fitted[0], data, "--out", page)
    text = page.read_text()
    assert "Within groups columns go along with each other, alike in all groups." in text
    assert "related to each other linearly" in text


def test_predictions_are_the_models_own(data, fitted, tmp_path):
    out = tmp_path / "groups.csv"
    succeed("predict", fitted[0], data, "--out", out)
    model, frame = load(fitted[0]), pd.read_csv(data)
    shares = pd.read_csv(out).filter(like="probability").to_numpy()
    assert shares.shape[1] == 2
    own = model.predict_proba(frame)
    np.testing.assert_allclose(np.sort(shares, axis=1), np.sort(own, axis=1), atol=1e-6)
