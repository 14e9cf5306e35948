"""What callers may catch, and where warnings point."""

import inspect
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halfseen import (
    GammaPoisson,
    GaussianMixture,
    choose_components,
    compare_weights,
    simulate,
)
from halfseen.data import errors
from halfseen.data.errors import DataError, DroppedFeatureWarning, WeakMomentsWarning, warn


def test_a_data_error_is_a_value_error():
    with pytest.raises(ValueError, match="no rows"):
        raise DataError("no rows")


@pytest.mark.parametrize("warning", [WeakMomentsWarning, DroppedFeatureWarning])
def test_warnings_are_for_users_and_apart_from_errors(warning):
    assert issubclass(warning, UserWarning)
    assert not issubclass(warning, DataError)


def measurements():
    """With a column that is always the same, which every fit warns of."""
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(300, [0.5, 0.5], [[0] * 4, [6] * 4], 1.0, rng)
    return pd.DataFrame(X, columns=list("abcd")).assign(ward=2.0)


def counts():
    X, _ = simulate.gamma_poisson(
        300, np.eye(2, 4) + 0.2, [1.0, 1.0], 0.1, np.random.default_rng(0)
    )
    return np.column_stack([X, np.full(300, 2.0)])


END, MIDDLE = make_pipeline(GaussianMixture(2)), make_pipeline(GammaPoisson(2), StandardScaler())
# A line each, so that the line of the call is the function's own.
CALLS = {
    "a direct call": lambda: GaussianMixture(2).fit(measurements()),
    "a method of a mixin": lambda: GaussianMixture(2).fit_predict(measurements()),
    "a method that is wrapped": lambda: GammaPoisson(2).fit_transform(counts()),
    "a batch of a stream": lambda: GaussianMixture(2).partial_fit(measurements()),
    "the end of a pipeline": lambda: END.fit(measurements()),
    "the middle of a pipeline": lambda: MIDDLE.fit(counts()),
    "folds of a pipeline": lambda: cross_val_score(END, measurements(), cv=2),
    "choose_components": lambda: choose_components(measurements(), max_components=2),
    "compare_weights": lambda: compare_weights(measurements(), n_components=2),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_warnings_point_at_the_line_of_the_users_that_called(call):
    with pytest.warns(DroppedFeatureWarning) as caught:
        call()
    assert {warning.filename for warning in caught} == {__file__}
    assert {warning.lineno for warning in caught} == {inspect.getsourcelines(call)[1]}


def test_code_beside_the_library_is_the_users(monkeypatch):
    # As sklearn_extra is beside sklearn, this file is beside a package called "test_err".
    package = ModuleType("test_err")
    package.__file__ = str(Path(__file__).with_name("test_err") / "__init__.py")
    monkeypatch.setitem(sys.modules, "test_err", package)
    monkeypatch.setattr(errors, "BETWEEN", ("halfseen", "test_err"))
    with pytest.warns(UserWarning, match="what is wrong") as caught:
        warn("what is wrong, and what to do", UserWarning)
    assert caught[0].filename == __file__


def test_nobody_outside_is_no_reason_to_fail(monkeypatch):
    monkeypatch.setattr(errors, "_folder", lambda package: "/")
    with pytest.warns(UserWarning, match="what is wrong"):
        warn("what is wrong, and what to do", UserWarning)
