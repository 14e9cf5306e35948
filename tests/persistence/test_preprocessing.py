"""What is done to columns before a fit is undone after it, and kept in the file."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from halfseen import DataError, GaussianMixture, ModelFileError, load, simulate
from halfseen.estimators.serialisation import kind_of
from halfseen.io.preprocessing import Preprocessing
from halfseen.models import MODELS
from halfseen.persistence import model_file
from halfseen.persistence.model_file import loads

POSITIVE = arrays.arrays(float, (8, 3), elements=st.floats(1e-3, 1e6), unique=True)
KINDS = {kind.name: kind for kind in map(kind_of, MODELS.values())}


def dumps(model):
    return model_file.dumps(model, kind_of(type(model)))


@given(POSITIVE, st.booleans(), st.sets(st.sampled_from(["a", "b", "c"])))
def test_undoing_gives_back_what_was_there(table, standardise, log):
    done = Preprocessing.learn(["a", "b", "c"], table, log=sorted(log), standardise=standardise)
    np.testing.assert_allclose(done.undo(done.apply(table)), table, rtol=1e-6)
    if standardise:
        np.testing.assert_allclose(done.apply(table).mean(axis=0), 0, atol=1e-6)
        np.testing.assert_allclose(done.apply(table).std(axis=0), 1, rtol=1e-6)


def test_gaps_stay_gaps():
    table = np.array([[1.0, np.nan], [2.0, 5.0], [4.0, 6.0]])
    done = Preprocessing.learn(["a", "b"], table, log=["b"], standardise=True)
    assert np.isnan(done.undo(done.apply(table))[0, 1])


def patients(seed=0):
    rng = np.random.default_rng(seed)
    X, _ = simulate.gaussian_mixture(500, [0.5, 0.5], [[0] * 4, [5, 4, 3, 2]], 1.0, rng)
    return np.exp(simulate.independent_gaps(X, [1, 1, 1, 0.5], rng))


@pytest.fixture
def preprocessed():
    names, table = ["age", "crp", "pulse", "lactate"], patients()
    done = Preprocessing.learn(names, table, log=names, standardise=True, missing_values=["NA"])
    frame = pd.DataFrame(done.apply(table), columns=done.fitted_names)
    model = GaussianMixture(2).fit(frame)
    model.preprocessing_ = done
    return model, frame


def test_the_file_keeps_it_to_the_last_bit(preprocessed, tmp_path):
    model, frame = preprocessed
    model.save(tmp_path / "it.halfseen")
    again = load(tmp_path / "it.halfseen")
    for name in ("columns", "missing_values"):
        assert getattr(again.preprocessing_, name) == getattr(model.preprocessing_, name)
    for name in ("logged", "centre", "scale"):
        np.testing.assert_array_equal(
            getattr(again.preprocessing_, name), getattr(model.preprocessing_, name), strict=True
        )
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


def test_a_table_that_was_not_preprocessed_is_refused_and_not_misread(preprocessed):
    model, _ = preprocessed
    again = loads(dumps(model), "it", KINDS)
    raw = pd.DataFrame(patients(), columns=again.preprocessing_.columns)
    with pytest.raises(DataError, match=r"preprocessing_\.apply makes them of numbers"):
        again.predict(raw)


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": ("age", "crp")},
        {"columns": ("age", "crp", "pulse", "sodium")},
        {"scale": np.array([1.0, 1.0, 0.0, 1.0])},
        {"centre": np.zeros(3)},
    ],
)
def test_a_file_whose_preprocessing_is_of_something_else_is_refused(preprocessed, wrong):
    model, _ = preprocessed
    for name, value in wrong.items():
        object.__setattr__(model.preprocessing_, name, value)
    with pytest.raises(ModelFileError, match="its preprocessing"):
        loads(dumps(model), "it", KINDS)


def test_arrow_tables_are_taken_by_name_and_filled(tmp_path):
    table = patients()
    names = ["age", "crp", "pulse", "lactate"]
    arrow = pa.table(list(np.log(table).T), names=names)
    frame = pd.DataFrame(np.log(table), columns=names)
    model = GaussianMixture(2).fit(arrow)
    np.testing.assert_array_equal(model.feature_names_in_, names)
    np.testing.assert_allclose(model.means_, GaussianMixture(2).fit(frame).means_, rtol=1e-10)
    again = loads(dumps(model), "it", KINDS)
    filled = again.impute(arrow.select(names[::-1]))
    assert filled.column_names == names[::-1]
    np.testing.assert_allclose(
        filled["lactate"].to_numpy(), again.impute(frame)["lactate"], rtol=1e-10
    )
    _, spread = again.impute(arrow, return_std=True)
    assert spread.column_names == names


def test_a_preprocessed_model_of_an_earlier_version_still_says_what_was_done():
    done = load(Path(__file__).parent / "fixtures" / "preprocessed-1.halfseen").preprocessing_
    assert done.columns == ("pulse", "crp", "âge")
    assert done.fitted_names[1] == "standardised(log(crp))"
    assert done.missing_values == ("-9",)
    middle = np.zeros((1, 3))
    np.testing.assert_allclose(np.log(done.undo(middle))[0, 1], done.centre[1])
