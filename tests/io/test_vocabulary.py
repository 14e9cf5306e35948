"""Columns of counts that are called by words from elsewhere."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import csr_array, save_npz
from sklearn.feature_extraction.text import CountVectorizer

from halfseen import Files, GammaPoisson, load, simulate
from halfseen.data.errors import DataError
from halfseen.io.text import check_vocabulary, vocabulary_candidates, vocabulary_of

WORDS = ["cat", "dog", "hen", "naïve", "pig"]


@pytest.fixture(scope="module")
def counts() -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(0)
    topics = np.array([[0.5, 0.3, 0.1, 0.1, 0.0], [0.0, 0.1, 0.2, 0.2, 0.5]])
    return simulate.gamma_poisson(400, topics, [1.0, 2.0], 0.1, rng)[0]


@pytest.fixture
def matrix(tmp_path: Path, counts: np.ndarray[Any, Any]) -> Path:
    mmwrite(tmp_path / "ap.mtx", csr_array(counts.astype(int)))
    return tmp_path / "ap.mtx"


def written(path: Path, words: list[str] = WORDS, encoding: str = "utf-8") -> Path:
    path.write_text("\n".join(words) + "\n", encoding=encoding)
    return path


@pytest.mark.parametrize(
    "name",
    ["ap_terms.txt", "ap.vocab", "ap-words.txt", "ap.vocabulary.txt", "vocab.txt", "vocab.ap.txt"],
)
def test_words_beside_a_matrix_name_its_columns(matrix: Path, name: str) -> None:
    written(matrix.with_name(name))
    found = vocabulary_of(matrix, 5, None)
    assert found.words == tuple(WORDS)
    assert found.notes == (f"Its 5 columns are named by {name}, beside it.",)


def test_only_a_file_of_as_many_words_as_columns_is_taken(matrix: Path) -> None:
    written(matrix.with_name("ap.vocab"), WORDS[:4])
    assert vocabulary_of(matrix, 5, None).words is None
    written(matrix.with_name("words.txt"))
    assert vocabulary_of(matrix, 5, None).words == tuple(WORDS)


def test_the_rule_goes_by_the_name_without_both_endings() -> None:
    names = [path.name for path in vocabulary_candidates(Path("/data/ap.mtx.gz"))]
    assert names.index("ap_terms.txt") < names.index("terms.txt")


def test_words_beside_that_repeat_are_said_and_not_used(matrix: Path) -> None:
    written(matrix.with_name("ap_terms.txt"), ["cat", "dog", "cat", "hen", "pig"])
    found = vocabulary_of(matrix, 5, None)
    assert found.words is None
    assert "has 'cat' twice, at places 1 and 3" in found.notes[0]
    with pytest.warns(UnicodeWarning, match="not named by ap_terms.txt"):
        assert not hasattr(GammaPoisson(2).fit(matrix), "feature_names_in_")


def test_a_file_with_other_bytes_is_no_vocabulary(matrix: Path) -> None:
    matrix.with_name("vocab.txt.gz").write_bytes(b"no gzip")
    with pytest.raises(DataError, match=r"vocab.txt.gz cannot be read as a vocabulary: .*one word"):
        vocabulary_of(matrix, 5, matrix.with_name("vocab.txt.gz"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_words_are_read_as_they_are_encoded(matrix: Path, encoding: str) -> None:
    given = written(matrix.with_name("given.list"), WORDS, encoding)
    assert vocabulary_of(matrix, 5, given).words == tuple(WORDS)


def test_words_may_be_gzipped(matrix: Path) -> None:
    with gzip.open(matrix.with_name("given.gz"), "wt") as file:
        file.write("\n".join(WORDS[:3]) + "\n\n")
    assert vocabulary_of(matrix, 3, matrix.with_name("given.gz")).words == tuple(WORDS[:3])


def test_words_in_an_archive_name_its_columns(tmp_path: Path, counts: np.ndarray[Any, Any]) -> None:
    csr = csr_array(counts)
    arrays = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": csr.shape}
    np.savez(tmp_path / "own.npz", vocab=np.array(WORDS), **arrays)
    save_npz(tmp_path / "scipy.npz", csr)
    model = GammaPoisson(2).fit(tmp_path / "own.npz")
    assert list(model.feature_names_in_) == WORDS
    same = GammaPoisson(2).fit(tmp_path / "scipy.npz")
    np.testing.assert_array_equal(model.components_, same.components_)
    assert not hasattr(same, "feature_names_in_")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (WORDS[:4], r"vocabulary has 4 words, and the table has 5 columns. Give one word a column"),
        ([*WORDS[:4], "cat"], r"has 'cat' twice, at places 1 and 5. Give each column a word"),
        ([*WORDS[:4], " "], r"has no word at place 5"),
    ],
)
def test_words_that_cannot_name_columns_are_refused(
    counts: np.ndarray[Any, Any], words: list[str], said: str
) -> None:
    with pytest.raises(DataError, match=said):
        GammaPoisson(2).fit(csr_array(counts), vocabulary=words)


@pytest.mark.parametrize("dense", [True, False])
def test_a_vocabulary_stays_with_the_model_and_asks_no_names_of_others(
    tmp_path: Path, counts: np.ndarray[Any, Any], dense: bool
) -> None:
    X = counts if dense else csr_array(counts)
    model = GammaPoisson(2).fit(X, vocabulary=WORDS)
    model.transform(X)  # without a warning that it has no names
    model.save(tmp_path / "model")
    assert list(load(tmp_path / "model").feature_names_in_) == WORDS
    plain = GammaPoisson(2).fit(X)
    np.testing.assert_array_equal(model.components_, plain.components_)


def test_what_a_vectoriser_gives_is_taken_as_it_is() -> None:
    texts = [text for text in ("cat dog", "hen pig hen", "dog cat dog", "pig") for _ in range(30)]
    vectoriser = CountVectorizer()
    X = vectoriser.fit_transform(texts)
    named = GammaPoisson(1).fit(X, vocabulary=vectoriser.get_feature_names_out())
    assert list(named.feature_names_in_) == ["cat", "dog", "hen", "pig"]
    assert check_vocabulary(vectoriser.vocabulary_, 4) == ("cat", "dog", "hen", "pig")


def test_a_file_is_read_by_the_words_it_is_given_with(matrix: Path) -> None:
    given = written(matrix.with_name("given.list"))
    model = GammaPoisson(2).fit(matrix, vocabulary=given)
    assert list(model.feature_names_in_) == WORDS
    some = GammaPoisson(1).fit(Files(matrix, vocabulary=given, columns=["pig", "cat"]))
    assert list(some.feature_names_in_) == ["pig", "cat"]


def test_a_model_without_words_takes_a_file_that_has_some(
    matrix: Path, counts: np.ndarray[Any, Any]
) -> None:
    model = GammaPoisson(2).fit(csr_array(counts))
    written(matrix.with_name("ap_terms.txt"))
    np.testing.assert_array_equal(model.transform(matrix), model.transform(csr_array(counts)))


def test_columns_with_names_need_no_vocabulary(
    tmp_path: Path, counts: np.ndarray[Any, Any]
) -> None:
    import pandas as pd

    frame = pd.DataFrame(counts, columns=WORDS)
    with pytest.raises(ValueError, match=r"those of X have some. Leave vocabulary out"):
        GammaPoisson(2).fit(frame, vocabulary=WORDS)
    frame.to_csv(tmp_path / "counts.csv", index=False)
    with pytest.raises(ValueError, match=r"counts.csv is none: .* Leave vocabulary out"):
        GammaPoisson(2).fit(tmp_path / "counts.csv", vocabulary=WORDS)
    with pytest.raises(ValueError, match="Batches of rows have names if they are data frames"):
        GammaPoisson(2).fit([counts[:200], counts[200:]], vocabulary=WORDS)
