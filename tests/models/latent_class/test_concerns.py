"""Columns that follow from others are named, if leaving them out changes the classes for better."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from halfseen import LatentClass
from halfseen.models.latent_class.concerns import find_redundant

LEVELS, NUMBERS = np.full(3, 2.0), np.zeros(3)
TOLD = np.array([3.0, 2.0, 1.0])


def answers(n=600, seed=0):
    """Two classes behind four answers, and a coin that is recorded twice."""
    rng = np.random.default_rng(seed)
    z, coin = rng.integers(2, size=n), rng.integers(2, size=n)
    given = np.where(rng.random((n, 4)) < 0.75, z[:, None], 1 - z[:, None])
    frame = pd.DataFrame(np.where(given, "yes", "no"), columns=list("abcd"))
    return frame.assign(side=np.where(coin, "heads", "tails"), code=coin), z


def said(model, frame):
    return [str(one) for one in model.concerns(frame) if one.kind == "said_twice"]


def test_following_the_advice_finds_the_classes_and_ends_the_concern():
    frame, z = answers()
    model = LatentClass(2, random_state=0).fit(frame)
    (sentence,) = said(model, frame)
    pattern = (
        r"'code' follows from 'side', and what is said twice decides the components\. Leave out "
        r"\['code'\]: then \d+% of rows change theirs, and the components tell (\d+\.\d) times as "
        r"much of the other columns\."
    )
    found = re.fullmatch(pattern, sentence)
    assert found is not None
    assert float(found[1]) > 3
    assert adjusted_rand_score(z, model.predict(frame)) < 0.1
    followed = LatentClass(2, kinds={"code": "ignored"}, random_state=0).fit(frame)
    assert adjusted_rand_score(z, followed.predict(frame)) > 0.4
    assert not said(followed, frame)


def test_nothing_is_said_of_columns_that_repeat_others_without_deciding_the_classes():
    frame, z = answers()
    rng = np.random.default_rng(1)
    apart = pd.DataFrame(rng.normal(4 * z[:, None], size=(len(z), 4)), columns=list("wxyz"))
    both = pd.concat([frame, apart], axis=1)
    assert not said(LatentClass(2, random_state=0).fit(both), both)


@pytest.mark.parametrize(
    ("columns", "kinds", "expected"),
    [
        (lambda x, y: (x, y, 3 - x), LEVELS, [(2, 0)]),
        (lambda x, y: (x // 2, x, y), LEVELS, [(0, 1)]),  # the coarser follows
        (lambda x, y: (np.where(y == 0, np.nan, x), x, y), LEVELS, [(0, 1)]),  # that has gaps
        (lambda x, y: (x, x, x), LEVELS, [(1, 0), (2, 0)]),
        (lambda x, y: (x, y, np.where(y == 0, 0, x)), LEVELS, []),
        (lambda x, y: (x, 1.0 * (np.arange(len(x)) < 5), y), LEVELS, []),
        (lambda x, y: (np.arange(len(x)), -np.exp(np.arange(len(x)) / 99), y), NUMBERS, [(1, 0)]),
        (lambda x, y: (x, x, y), np.array([2.0, 0.0, 2.0]), []),  # other kinds are not compared
    ],
)
def test_columns_that_follow_from_others_are_found(columns, kinds, expected):
    rng = np.random.default_rng(0)
    x, y = rng.integers(4, size=(2, 400)).astype(float)
    assert find_redundant(np.column_stack(columns(x, y)), kinds, TOLD) == expected


def test_many_values_follow_from_each_other_in_few_rows_only_by_chance():
    rng = np.random.default_rng(0)
    table = np.column_stack([np.arange(100) % 50, rng.integers(30, size=100), np.zeros(100)])
    assert not find_redundant(table, LEVELS, TOLD)


def test_columns_that_hardly_any_row_holds_together_are_not_compared():
    x = np.arange(100.0) % 4
    table = np.column_stack([x, np.where(np.arange(100) < 40, x, np.nan), np.zeros(100)])
    assert not find_redundant(table, LEVELS, TOLD)
