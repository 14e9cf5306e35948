"""Draws for multiple imputation have the law of the table, in the manner of Geweke.

The table's law is known, so that rows of which half the cells were forgotten and drawn again must
be like rows that were drawn from it afresh; the imputer learned it from rows enough to be sure.
"""

import numpy as np
import pytest

from halfseen import Imputer
from tests.models.geweke import FAR, apart, forgetting, statistics

TURNS, ROWS = 2, 1500


def rows(n, seed):
    """Columns that go along with each other, and a code that depends on the first."""
    rng = np.random.default_rng(seed)
    first = rng.normal(size=n)
    second = 0.8 * first + 0.6 * rng.normal(size=n)
    code = (rng.random(n) < 1 / (1 + np.exp(-2 * first))).astype(float)
    third = second - code + rng.normal(size=n)
    return np.column_stack([first, second, third, code])


@pytest.fixture(scope="module")
def imputer():
    holes = rows(4000, 0)
    holes[np.random.default_rng(1).random(holes.shape) < 0.1] = np.nan
    return Imputer({3: "binary"}, draws=TURNS, random_state=0).fit(holes)


def drawn_by(imputer):
    turns = iter(range(TURNS))
    return lambda X: imputer.draw(X)[next(turns)]


def expected_by(imputer):
    return imputer.transform


def given_nothing(imputer):
    fill = drawn_by(imputer)
    return lambda X: np.where(np.isnan(X), fill(np.full_like(X, np.nan)), X)


def by_the_row_before(imputer):
    fill = drawn_by(imputer)
    return lambda X: np.where(np.isnan(X), np.roll(fill(X), 1, axis=0), X)


def moved(imputer, fill):
    fresh, X = rows(ROWS, 2), rows(ROWS, 3)
    after = forgetting(X, fill(imputer), TURNS, np.random.default_rng(4))
    return apart(statistics(fresh, fresh), statistics(after, fresh))


def test_gaps_that_are_drawn_again_and_again_leave_the_law_of_rows_as_it_is(imputer):
    assert moved(imputer, drawn_by) < FAR


@pytest.mark.parametrize("wrong", [expected_by, given_nothing, by_the_row_before])
def test_a_conditional_that_is_wrong_on_purpose_is_noticed(imputer, wrong):
    assert moved(imputer, wrong) > FAR
