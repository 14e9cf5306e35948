"""Cells of text, which may be names of people, are told only to those who ask."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import DataError, DroppedFeatureWarning, Files, GaussianMixture
from halfseen.cli.app import app
from tests.cli.options import DIAG

PEOPLE = [f"Ada Lovelace {i}" for i in range(120)]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)) + (np.arange(120) % 2 * 6)[:, None]
    return pd.DataFrame(X.round(3), columns=["age", "pulse", "crp"])


def _written(frame, path):
    frame.to_csv(path, index=False)
    return path


def _mixed(frame, word, times):
    cells = [word if i < times else f"{value:.2f}" for i, value in enumerate(frame["age"])]
    return frame.assign(dose=cells)


def test_no_command_quotes_a_column_of_names(frame, tmp_path):
    path, model = _written(frame.assign(name=PEOPLE), tmp_path / "t.csv"), tmp_path / "m.halfseen"
    page = tmp_path / "p.html"
    for words in (
        ("describe", path),
        ("describe", path, "--json"),
        ("fit", path, "-k", 2, *DIAG, "--out", model),
        ("weigh", path, "-k", 2),
        ("report", model, path, "--out", page),
        ("fit", path, "--columns", "name,age", "--out", tmp_path / "n"),
    ):
        assert "Lovelace" not in run(*words).output
    assert "Lovelace" not in page.read_text()
    with pytest.warns(DroppedFeatureWarning, match=r"'name' was ignored: it holds text\.$"):
        GaussianMixture(2).fit(path)


def test_a_rare_word_among_numbers_is_not_quoted_either(frame, tmp_path):
    path = _written(_mixed(frame, "see Ada Lovelace", 9), tmp_path / "t.csv")
    said = run("describe", path).output
    assert "Lovelace" not in said
    assert (
        "111 of its 120 values are numbers, but it holds other cells too, first in row 1; if"
        in said
    )
    assert "--missing-values ('halfseen describe --show-text' shows it)" in said


def test_a_word_that_many_rows_share_is_a_code_and_quoted(frame, tmp_path):
    path = _written(_mixed(frame, "refused", 10), tmp_path / "t.csv")
    assert (
        "it holds 'refused' too, first in row 1; if that stands for a gap, use "
        in run("describe", path).output
    )


def test_those_who_ask_are_shown(frame, tmp_path):
    path = _written(_mixed(frame, "see Ada", 2).assign(name=PEOPLE), tmp_path / "t.csv")
    said = run("describe", path, "--show-text").output
    different = "nearly all of its texts are different, as names and notes are"
    assert f"{different} (such as 'Ada Lovelace 0', 'Ada Lovelace 1'" in said
    assert f"{different}." in run("describe", path).output
    assert "it holds 'see Ada' too" in said
    with pytest.warns(DroppedFeatureWarning, match="such as 'Ada Lovelace 0'"):
        GaussianMixture(2).fit(Files(path, show_text=True))


def test_a_line_of_too_many_cells_is_not_quoted(frame, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,pulse\n1,2\n3,4\nAda,Lovelace,36\n")
    with pytest.raises(DataError, match="Expected 2 columns, got 3") as told:
        GaussianMixture(1).fit(path)
    assert "Lovelace" not in str(told.value)


def test_texts_of_which_a_few_come_twice_are_names_and_not_categories(frame, tmp_path):
    few = [f"genus {max(i, 8)}" for i in range(len(frame))]
    told = run("describe", _written(frame.assign(genus=few), tmp_path / "t.csv")).output
    assert "Column 'genus' was ignored: nearly all of its texts are different" in told
    half = [f"genus {i // 2}" for i in range(len(frame))]
    told = run("describe", _written(frame.assign(genus=half), tmp_path / "t.csv")).output
    assert "'genus' was ignored" not in told


def test_a_table_without_gaps_is_said_to_have_none(frame, tmp_path):
    path = _written(frame.fillna(1.0), tmp_path / "t.csv")
    told = run("fit", path, "-k", 1, *DIAG, "--out", tmp_path / "m.halfseen").output
    assert "in which no cell is empty." in told
