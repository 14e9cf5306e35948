"""Sequences on the command line: from a file to states, filled gaps and a page."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen.cli.app import app

RUNNER = CliRunner()


def run(*arguments, code=0):
    result = RUNNER.invoke(app, [str(one) for one in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("visits")
    rng = np.random.default_rng(0)
    ill = np.zeros((40, 12), dtype=int)
    for t in range(1, 12):
        ill[:, t] = rng.random(40) < np.where(ill[:, t - 1], 0.8, 0.2)
    h = ill.ravel()
    table = pd.DataFrame(
        {
            "patient": np.repeat([f"p{i}" for i in range(40)], 12),
            "day": np.tile(np.arange(12), 40),
            "pulse": rng.normal(70 + 25 * h, 6).round(1),
            "fever": np.where(rng.random(480) < np.where(h, 0.9, 0.1), "yes", "no"),
            "crp": rng.normal(5 + 20 * h, 4).round(1),
        }
    )
    for name in ("pulse", "fever", "crp"):
        table.loc[rng.random(480) < 0.3, name] = None
    table.sample(frac=1.0, random_state=0).to_csv(place / "visits.csv", index=False)
    by = "--sequence", "patient", "--order", "day", "-k", 2, "--seed", 0
    result = run("fit", place / "visits.csv", *by, "--out", place / "m.halfseen", "--json")
    return place, json.loads(result.stdout)


def test_a_fit_goes_by_the_columns_that_say_how_rows_follow(folder):
    _, told = folder
    assert told["estimator"] == "HiddenMarkov"
    assert told["columns"] == ["pulse", "fever", "crp"]
    assert {one["state"] for one in told["components"]} == {1, 2}


def test_states_are_written_in_the_order_of_the_file(folder):
    place, _ = folder
    run("predict", place / "m.halfseen", place / "visits.csv", "--out", place / "s.csv", "--keep",
        "patient,day")  # fmt: skip
    table, states = pd.read_csv(place / "visits.csv"), pd.read_csv(place / "s.csv")
    assert states["patient"].tolist() == table["patient"].tolist()
    pulse = table["pulse"].groupby(states["state"]).mean()
    assert abs(pulse[1] - pulse[2]) > 15


def test_gaps_are_filled_and_a_page_is_written(folder):
    place, _ = folder
    out = place / "filled.csv"
    run("impute", place / "m.halfseen", place / "visits.csv", "--out", out, "--keep", "patient,day")
    table, filled = pd.read_csv(place / "visits.csv"), pd.read_csv(out)
    assert filled.notna().all(axis=None)
    assert filled["patient"].tolist() == table["patient"].tolist()
    known = table["pulse"].notna()
    np.testing.assert_allclose(filled["pulse"][known], table["pulse"][known])
    run("report", place / "m.halfseen", place / "visits.csv", "--out", place / "page.html")
    assert "How states follow each other" in (place / "page.html").read_text()


def test_options_that_do_not_fit_are_refused(folder):
    place, _ = folder
    fit = "fit", place / "visits.csv", "--out", place / "no.halfseen"
    result = run(*fit, "--model", "classes", "--sequence", "patient", code=2)
    assert "--sequence belongs to --model markov" in result.output
    result = run(*fit, "--step", 2, code=2)
    assert "--step is that of the order of rows. Give --order too." in result.output
    result = run(*fit, "--sequence", "person", code=2)
    assert "person" in result.output
    assert not (place / "no.halfseen").exists()


def test_an_outcome_is_shown_and_not_learned_from(folder):
    place, _ = folder
    data, out = place / "visits.csv", place / "o.halfseen"
    fitted = run(
        "fit", data, "--sequence", "patient", "--order", "day", "-k", 2, "--seed", 0,
        "--outcome", "fever", "--out", out,
    )  # fmt: skip
    assert "--outcome fever --out report.html" in fitted.output.replace("\n", " ")
    run("report", out, data, "--outcome", "fever", "--out", place / "o.html")
    page = (place / "o.html").read_text()
    assert "The states were found without fever." in page
    assert "fever is yes most often in state" in page
    refused = run("report", out, data, "--outcome", "crp", "--out", place / "p.html", code=2)
    assert "learned from 'crp', so that it is no outcome" in refused.output.replace("\n", " ")
    unknown = run("fit", data, "--outcome", "death", "--out", place / "q.halfseen", code=2)
    assert "--outcome" in unknown.output
