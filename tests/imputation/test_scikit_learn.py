"""The imputer keeps scikit-learn's contract."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from halfseen import Imputer


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator_finds_nothing_and_no_exception_is_listed():
    results = check_estimator(Imputer(), on_fail=None)
    assert [r["check_name"] for r in results if r["status"] in ("failed", "xfail")] == []
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}


def test_gaps_and_words_are_allowed_by_tag():
    tags = get_tags(Imputer()).input_tags
    assert tags.allow_nan
    assert tags.string


def test_clones_have_the_same_parameters():
    imputer = Imputer({"a": "count"}, add_indicator=True, max_seconds=3.0, random_state=1)
    assert clone(imputer).get_params() == imputer.get_params()


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3)) @ rng.normal(size=(3, 3))
    return np.where(rng.random(X.shape) < 0.2, np.nan, X)


def test_a_pipeline_gets_a_table_without_gaps(numbers):
    fitted = make_pipeline(Imputer(), LinearRegression()).fit(numbers, np.arange(100.0))
    assert np.isfinite(fitted.predict(numbers)).all()


def test_outputs_have_names(numbers):
    frame = pd.DataFrame(numbers, columns=["a", "b", "c"])
    imputer = Imputer(add_indicator=True).fit(frame)
    names = ["a", "b", "c", *(f"missingindicator_{name}" for name in "abc")]
    assert list(imputer.get_feature_names_out()) == names
    filled = imputer.transform(frame)
    assert list(filled.columns) == names
    assert (filled["missingindicator_a"] == frame["a"].isna()).all()


def test_arrays_can_be_asked_to_come_back_as_data_frames(numbers):
    filled = Imputer().set_output(transform="pandas").fit_transform(numbers)
    assert isinstance(filled, pd.DataFrame)
    assert list(filled.columns) == ["x0", "x1", "x2"]
