"""The store keeps any estimator that it is told of, and knows none itself."""

import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from halfseen import ModelFileError
from halfseen.persistence.model_file import EstimatorKind, read, save


@dataclass(frozen=True)
class Note:
    text: str


class Middle(BaseEstimator):
    """Rows about their middle, told apart in so many parts."""

    def __init__(self, n_parts=2):
        self.n_parts = n_parts

    def fit(self, X):
        self.n_features_in_ = X.shape[1]
        self.n_parts_ = self.n_parts
        self.middle_ = X.mean(axis=0)
        self.edges_ = np.quantile(X, np.linspace(0, 1, self.n_parts), axis=0)
        self.note_ = Note("of all rows")
        return self


def rising(middle):
    if np.any(np.diff(middle.edges_, axis=0) < 0):
        raise ValueError("its edges do not rise")


FORMS = {
    "n_parts_": ("int",),
    "middle_": ("float64[d]",),
    "edges_": ("float64[p,d]",),
    "note_": ("Note", "NoneType"),
}
KIND = EstimatorKind(
    name="Middle",
    make=lambda parameters: Middle(**parameters),
    check=rising,
    forms=lambda middle, learned: FORMS,
    sizes={"p": "n_parts_"},
    records={"Note": Note},
    later={},
)


@pytest.fixture
def middle():
    return Middle(3).fit(np.random.default_rng(0).normal(size=(20, 4)))


def test_an_estimator_that_the_store_is_told_of_comes_back(middle, tmp_path):
    save(middle, tmp_path / "it", KIND, overwrite=False)
    again = read(tmp_path / "it", {"Middle": KIND})
    assert again.get_params() == {"n_parts": 3}
    assert again.note_ == Note("of all rows")
    np.testing.assert_array_equal(again.edges_, middle.edges_, strict=True)


def test_an_estimator_that_the_reader_is_not_told_of_is_refused_by_name(middle, tmp_path):
    save(middle, tmp_path / "it", KIND, overwrite=False)
    with pytest.raises(ModelFileError, match=r"estimator 'Middle', which this version .* Upgrade"):
        read(tmp_path / "it", {"Mean": KIND})


def test_what_the_kind_finds_wrong_is_said_and_nothing_is_written(middle, tmp_path):
    middle.edges_ = middle.edges_[::-1]
    with pytest.raises(ModelFileError, match="does not hold a whole Middle: its edges do not rise"):
        save(middle, tmp_path / "it", KIND, overwrite=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("attribute", "value", "words"),
    [
        ("n_parts_", 2, r"'edges_' is float64\[3,4\] and not float64\[2,4\]"),
        ("n_parts_", 3.0, "'n_parts_' is float and not int"),
        ("middle_", np.ones(5), r"'middle_' is float64\[5\] and not float64\[4\]"),
        ("middle_", np.ones(4, np.float32), r"'middle_' is float32\[4\] and not float64\[4\]"),
        ("note_", "of all rows", "'note_' is str and not Note or NoneType"),
    ],
)
def test_attributes_of_other_forms_are_refused(attribute, value, words, middle, tmp_path):
    setattr(middle, attribute, value)
    with pytest.raises(ModelFileError, match=words):
        save(middle, tmp_path / "it", KIND, overwrite=False)


def test_attributes_that_came_later_are_what_the_kind_says(middle, tmp_path):
    save(middle, tmp_path / "it", KIND, overwrite=False)
    forms = {**FORMS, "spread_": ("float", "NoneType"), "note_": ("Note",)}
    later = {
        "spread_": lambda stored: float(np.ptp(stored["edges_"])),
        "note_": lambda stored: None,
    }
    now = replace(KIND, forms=lambda middle, learned: forms, later=later)
    again = read(tmp_path / "it", {"Middle": now})
    assert again.spread_ == np.ptp(middle.edges_)
    assert again.note_ == Note("of all rows")
    with pytest.raises(ModelFileError, match="it lacks 'spread_'"):
        read(tmp_path / "it", {"Middle": replace(now, later={})})


def test_records_that_the_kind_does_not_list_are_not_stored(middle, tmp_path):
    with pytest.raises(TypeError, match="'note_' of Middle holds a record of type Note"):
        save(middle, tmp_path / "it", replace(KIND, records={}), overwrite=False)


def test_persistence_loads_no_room_but_data():
    code = "import sys, halfseen.persistence.model_file; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    rooms = {name.split(".")[1] for name in loaded if name.startswith("halfseen.")}
    assert rooms == {"data", "persistence"}
