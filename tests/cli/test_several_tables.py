"""Several tables on one command line: put together by the names of their columns."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import GaussianMixture, load, simulate, together
from halfseen.cli.app import app

NAMES = ["pulse", "age", "crp", "lactate"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    means = [[0, 0, 0, 0], [4, 4, 4, 4]]
    X, _ = simulate.gaussian_mixture(300, [0.5, 0.5], means, 1.0, rng)
    frame = pd.DataFrame(X, columns=NAMES)
    frame.iloc[:120].to_csv(folder / "study.csv", index=False)
    frame.iloc[120:, :3].rename(columns={"pulse": "hr"}).assign(
        crp=lambda t: t["crp"] / 10
    ).to_parquet(folder / "registry.parquet")
    frame.iloc[120:, 3:].to_csv(folder / "apart.csv", index=False)
    return folder


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def call(*arguments, code=0):
        result = CliRunner().invoke(app, [*map(str, arguments)])
        assert result.exit_code == code, result.output
        return result.output

    return call


ALIKE = ("--rename", "hr=pulse", "--unit", "registry.parquet:crp=10")


@pytest.fixture
def fitted(run, folder):
    given = ("study.csv", "registry.parquet", *ALIKE)
    out = run("fit", *given, "-k", 2, "--covariance", "tied_diag", "--out", "m.halfseen", "--force")
    return out, load(folder / "m.halfseen")


def test_a_fit_of_two_files_is_that_of_both_together(fitted, folder):
    out, model = fitted
    assert "study.csv and registry.parquet: 300 rows, and 4 columns" in out
    assert "'crp' of registry.parquet is multiplied by 10." in out
    both = together(
        *(folder / "study.csv", folder / "registry.parquet"),
        rename={"hr": "pulse"},
        units={"registry.parquet": {"crp": 10}},
    )
    same = GaussianMixture(2, covariance_type="tied_diag", scale="robust").fit(both)
    np.testing.assert_allclose(model.means_, same.means_, atol=1e-12)
    assert model.tables_.names == ("study.csv", "registry.parquet")
    assert "report m.halfseen study.csv registry.parquet --rename hr=pulse --unit" in out


def test_a_table_that_lacks_columns_has_groups_too(fitted, run, folder):
    run("predict", "m.halfseen", "registry.parquet", *ALIKE, "--out", "p.csv", "--force")
    found = pd.read_csv(folder / "p.csv")
    assert len(found) == 180
    both = ("study.csv", "registry.parquet", *ALIKE)
    run("predict", "m.halfseen", *both, "--out", "all.csv", "--force")
    pd.testing.assert_frame_equal(
        pd.read_csv(folder / "all.csv").iloc[120:].reset_index(drop=True), found
    )
    run("impute", "m.halfseen", *both, "--out", "filled.csv", "--force")
    filled = pd.read_csv(folder / "filled.csv")
    assert list(filled) == NAMES
    assert not filled.isna().any().any()


def test_describe_and_report_take_the_same(fitted, run, folder):
    both = ("study.csv", "registry.parquet", *ALIKE)
    assert "study.csv and registry.parquet: 300 rows, 4 columns" in run("describe", *both)
    run("report", "m.halfseen", *both, "--out", "page.html", "--force")
    assert "lactate" in (folder / "page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("study.csv", "apart.csv", "--drop", "lactate"), "have no column in common"),
        (("study.csv", "registry.parquet", "--rename", "hr"), "--rename must be like hr=pulse"),
        (
            ("study.csv", "registry.parquet", "--unit", "crp=10"),
            "--unit must say of a column of a table what to multiply it by",
        ),
        (
            ("study.csv", "registry.parquet", "--unit", "study.csv:crp=ten"),
            "b.csv:glucose=18.016. Got 'study.csv:crp=ten'",
        ),
        (("study.csv", "registry.parquet", "--rename", "study.csv:hr=x"), "study.csv does not"),
    ],
)
def test_what_cannot_be_put_together_is_told(run, arguments, message):
    result = CliRunner().invoke(app, ["fit", *arguments, "--out", "no.halfseen"])
    assert result.exit_code in (1, 2)
    assert message in " ".join(result.output.split())


def test_json_names_the_tables(run, folder):
    out = run(
        "fit", "study.csv", "registry.parquet", *ALIKE, "-k", 2, "--json", "--out", "j.halfseen"
    )
    assert json.loads(out)["model"] == "j.halfseen"
