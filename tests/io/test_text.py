"""Columns of text, counted by their words."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer
from typer.testing import CliRunner

from halfseen import Files, GammaPoisson, GaussianMixture, load
from halfseen.cli.app import app
from halfseen.data.errors import DataError
from halfseen.io.open_source import open_source
from halfseen.io.text import WORD, Text

KITCHEN = ["soup", "bread", "waiter", "menu", "chef"]
ROAD = ["engine", "wheel", "brake", "petrol", "gear"]


def reviews(path: Path, n_rows: int = 240) -> list[str]:
    """Texts of two topics in a file, beside other columns; every fiftieth is missing."""
    rng, texts = np.random.default_rng(0), []
    for i in range(n_rows):
        first, second = rng.gamma(0.6, 9.0, 2)
        words = [*rng.choice(KITCHEN, rng.poisson(first)), *rng.choice(ROAD, rng.poisson(second))]
        texts.append("" if i % 50 == 0 else " ".join(["The", *words, "42", "and then"]))
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["id", "review"])
        lines.writerows((f"r{i}", text) for i, text in enumerate(texts))
    return texts


def test_words_are_counted_as_a_vectoriser_counts_them(tmp_path):
    texts = reviews(tmp_path / "reviews.csv")
    source = open_source(Files(tmp_path / "reviews.csv", text=Text("review")))
    vectoriser = CountVectorizer(stop_words="english", min_df=2, max_df=0.5, token_pattern=WORD)
    expected = vectoriser.fit_transform([text for text in texts if text])
    assert source.names == tuple(vectoriser.get_feature_names_out())
    there = np.array([bool(text) for text in texts])
    np.testing.assert_array_equal(source.known, there)
    np.testing.assert_array_equal(source.matrix.toarray()[there], expected.toarray())
    assert source.notes == (
        "'review' was counted by words: 10 in 235 texts, without English stop words, words in "
        "fewer than 2 of them, and words in more than half. 5 rows without text are missing.",
    )


def test_a_model_reads_new_texts_by_its_own_words(tmp_path):
    reviews(tmp_path / "reviews.csv")
    files = Files(tmp_path / "reviews.csv", text=Text("review", "none", 3))
    model = GammaPoisson(2).fit(files)
    assert model.diagnostics_.n_empty_rows == 5
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.text_ == Text("review", "none", 3)
    with (tmp_path / "new.csv").open("w") as file:
        file.write("review\nsoup soup bicycle\n\nwheel\n")
    run = ["predict", str(tmp_path / "model"), str(tmp_path / "new.csv")]
    told = CliRunner().invoke(app, [*run, "--out", str(tmp_path / "out.csv")])
    assert told.exit_code == 0, told.output
    found = np.genfromtxt(tmp_path / "out.csv", delimiter=",", skip_header=1)[:, :2]
    names = list(model.feature_names_in_)
    counts = np.zeros((2, len(names)))
    counts[0, names.index("soup")], counts[1, names.index("wheel")] = 2, 1
    order = np.argsort(-model.fitted.model.shares(model.fitted.parameters), kind="stable")
    np.testing.assert_allclose(
        found[[0, -1]], model.transform(csr_array(counts))[:, order], rtol=1e-6
    )


def test_the_command_line_counts_words_and_keeps_other_columns(tmp_path):
    reviews(tmp_path / "reviews.csv")
    data, model = str(tmp_path / "reviews.csv"), str(tmp_path / "model")
    fit = CliRunner().invoke(app, ["fit", data, "--text", "review", "-k", "2", "--out", model])
    assert fit.exit_code == 0, fit.output
    assert "'review' was counted by words: 10 in 235 texts" in fit.output
    assert "All that is stored counts things, so --model lda was taken" in fit.output
    run = ["predict", model, data, "--out", str(tmp_path / "out.csv"), "--keep", "id"]
    assert CliRunner().invoke(app, run).exit_code == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 241
    page = CliRunner().invoke(app, ["report", model, data, "--out", str(tmp_path / "page.html")])
    assert page.exit_code == 0, page.output
    assert "waiter" in (tmp_path / "page.html").read_text()


def test_what_is_no_text_is_refused(tmp_path):
    reviews(tmp_path / "reviews.csv", 8)
    path = tmp_path / "reviews.csv"
    with pytest.raises(DataError, match=r"reviews.csv has no column 'text' of text. It has 'id'"):
        open_source(Files(path, text=Text("text")))
    with pytest.raises(DataError, match=r"'id' holds no words that are in 2 rows or more"):
        open_source(Files(path, text=Text("id")))
    with pytest.raises(DataError, match=r"text in 7 rows, and words are to be in 5 at least"):
        open_source(Files(path, text=Text("review", min_rows=5)))
    with pytest.raises(ValueError, match=r"for models that take sparse counts, and GaussianMix"):
        GaussianMixture(2).fit(Files(path, text=Text("review")))
    with pytest.raises(ValueError, match=r"stop_words must be one of english, none. Got 'german'"):
        Text("review", "german")
    with pytest.raises(ValueError, match=r"min_rows must be at least 0. Got -1 instead"):
        Text("review", min_rows=-1)
