"""What became of many columns is one sentence a reason."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import DroppedFeatureWarning, GaussianMixture
from halfseen.cli.app import app

WORDS = [f"w{number}" for number in range(14)]


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)).round(3), columns=["age", "pulse", "crp"])
    frame[WORDS] = rng.choice(["red", "blue"], (200, len(WORDS)))
    frame = frame.assign(one=1, two=2, empty=np.nan, patient_id=rng.choice(10**8, 200))
    frame["seen"] = [
        "late" if 7 <= i < 17 else f"{v:.2f}" for i, v in enumerate(rng.normal(size=200))
    ]
    frame["told"] = [
        "late" if 9 <= i < 19 else f"{v:.2f}" for i, v in enumerate(rng.normal(size=200))
    ]
    for name in ("cost", "price"):
        frame[name] = [f"{value:,.0f}" for value in rng.gamma(9, 900, 200)]
    path = tmp_path_factory.mktemp("columns") / "it.csv"
    frame.to_csv(path, index=False)
    return path


SAID = [
    "Columns 'one' and 'two' were ignored: each has only one value.",
    "Column 'empty' was ignored: it has no values.",
    "Column 'patient_id' was ignored: it has the name of an identifier, and nearly all of its",
    "Columns 'seen' and 'told' were ignored: most of their values are numbers, but they hold "
    "'late' too; if that stands for a gap, use --missing-values late",
    "'cost' and 'price': commas in them were read as thousands separators.",
]


def test_describe_names_all_columns_of_a_reason(data):
    said = run("describe", data)
    for sentence in SAID:
        assert sentence in said
    assert "names all of them" not in said
    found = json.loads(run("describe", data, "--json"))["ignored"]
    assert set(found) == {"one", "two", "empty", "patient_id", "seen", "told"}
    assert "use --missing-values late" in found["seen"]


def test_fit_names_the_first_and_says_who_names_all(data, tmp_path):
    out = ("--model", "gaussian", "--out", tmp_path / "m.halfseen")
    said = run("fit", data, "-k", 1, *out)
    assert "Columns 'w0', 'w1', 'w2', 'w3', 'w4' and 9 more were ignored: they hold text." in said
    assert f"'halfseen describe {data}' names all of them." in said
    for sentence in SAID:
        assert sentence in said


@pytest.mark.filterwarnings("ignore:Features are on very different scales")
def test_a_fit_by_path_warns_once_a_reason(data):
    with pytest.warns(DroppedFeatureWarning) as heard:
        GaussianMixture(1).fit(data)
    first = str(heard[0].message)
    assert "'w10', 'w11' and 2 more were ignored: they hold text." in first
    assert first.count("hold text") == 1
