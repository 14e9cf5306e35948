"""Draws that fill gaps have the law that the model says, for every model of the registry.

The joint distribution test of Geweke: rows that are drawn, and rows of which half the cells are
forgotten and filled again, must be of one law. A conditional that is wrong moves it.
"""

import numpy as np
import pytest

from halfseen.models import MODELS
from tests.models.geweke import FAR, apart, forgetting, statistics

every_model = pytest.mark.parametrize("name", MODELS)
TURNS = 2


def learned(name):
    """A model of two components that overlap, so that gaps leave doubt about them."""
    kind = MODELS[name]
    rng = np.random.default_rng(0)
    centres = np.array([[2.0, 6, 3], [5, 2, 6]])
    one_each, loadings = np.eye(2)[rng.integers(2, size=2000)], rng.gamma(1, 1, (2000, 2))
    rates = (one_each if kind.about.labels else loadings) @ centres
    X = rng.poisson(rates).astype(float) if kind.about.counts else rng.normal(rates)
    # Outliers are known to the conditional and never drawn: without them the two are of one law.
    model = kind(2, outliers=None, random_state=0).fit(X)
    model.value_limits_ = np.outer([-np.inf, np.inf], np.ones(3))  # what is drawn is not clipped
    return model


def filled_by(model):
    """Draws of the estimator's own verb for multiple imputation, one table a turn."""
    seeds = iter(range(1000))

    def fill(X):
        return model.set_params(random_state=next(seeds)).impute(X, draws=1)[0]

    return fill


@pytest.fixture(scope="module")
def drawn():
    known = {}

    def draw(name):
        if name not in known:
            model = learned(name)
            n_rows = 800 if model._model().abilities.scored_rows else 6000  # some are slow
            fresh, X = (model.set_params(random_state=s).sample(n_rows)[0] for s in (11, 12))
            known[name] = model, fresh, X
        return known[name]

    return draw


@every_model
def test_gaps_that_are_filled_by_draws_again_and_again_leave_the_law_of_rows_as_it_is(name, drawn):
    model, fresh, X = drawn(name)
    after = forgetting(X, filled_by(model), TURNS, np.random.default_rng(0))
    assert apart(statistics(fresh, fresh), statistics(after, fresh)) < FAR


@every_model
def test_many_draws_of_one_table_are_as_good_as_draws_one_by_one(name, drawn):
    model, fresh, X = drawn(name)
    gaps = np.random.default_rng(1).random(X.shape) < 0.5
    for table in model.set_params(random_state=5).impute(np.where(gaps, np.nan, X), draws=3):
        assert apart(statistics(fresh, fresh), statistics(table, fresh)) < FAR


def given_nothing(model):
    fill = filled_by(model)
    return lambda X: np.where(np.isnan(X), fill(np.full_like(X, np.nan)), X)


def by_expectations(model):
    nearest = np.rint if model.about.counts else np.asarray
    return lambda X: nearest(model.impute(X))


def by_the_row_before(model):
    fill = filled_by(model)
    return lambda X: np.where(np.isnan(X), np.roll(fill(X), 1, axis=0), X)


@every_model
@pytest.mark.parametrize("wrong", [given_nothing, by_expectations, by_the_row_before])
def test_a_conditional_that_is_wrong_on_purpose_is_noticed(name, wrong, drawn):
    model, fresh, X = drawn(name)
    after = forgetting(X, wrong(model), TURNS, np.random.default_rng(0))
    assert apart(statistics(fresh, fresh), statistics(after, fresh)) > FAR


@every_model
def test_the_ends_of_the_sample_are_no_limits_of_draws(name):
    kind = MODELS[name]
    rng = np.random.default_rng(0)
    X = rng.poisson(6, (60, 3)) if kind.about.counts else rng.normal(20, 2, (60, 3))
    model = kind(1, random_state=0).fit(X.astype(float))
    (drawn,) = model.impute(np.full((3000, 3), np.nan), draws=1)
    assert (drawn.max(axis=0) > X.max(axis=0)).all()
    assert (drawn >= 0).all()
