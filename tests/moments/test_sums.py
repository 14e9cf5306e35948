"""The law of all sums: they may be cut and merged anyhow.

Values are multiples of 1/4 and small, so that every sum of products is exact in floating point
and equal means equal.
"""

from collections.abc import Callable
from dataclasses import astuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import Block
from halfseen.moments.second_moment import PairSums
from halfseen.moments.third_moment import ThirdSums

ORIGIN = np.array([0.5, -1.0, 0.25])
SUMMARIES = {
    "features": FeatureSums.of,
    "pairs": PairSums.about(ORIGIN),
    "triples": ThirdSums.about(ORIGIN),
}
all_sums = pytest.mark.parametrize("summarise", SUMMARIES.values(), ids=SUMMARIES)
many = settings(max_examples=50, deadline=None, derandomize=True)

entries = st.one_of(st.just(np.nan), st.integers(-8, 8).map(lambda quarters: quarters / 4))
tables = st.integers(0, 10).flatmap(lambda n: arrays(float, (n, 3), elements=entries))


def assert_same(ours: Any, expected: Any) -> None:
    for one, other in zip(astuple(ours), astuple(expected), strict=True):
        np.testing.assert_array_equal(one, other)


def merged(parts: list[Any], data: st.DataObject) -> Any:
    """The parts added two at a time, any two."""
    while len(parts) > 1:
        first = parts.pop(data.draw(st.integers(0, len(parts) - 1)))
        second = parts.pop(data.draw(st.integers(0, len(parts) - 1)))
        parts.append(first + second)
    return parts[0]


def cut(n_rows: int, data: st.DataObject) -> list[np.ndarray]:
    """All rows in any order, in any number of parts, some of them empty."""
    order = data.draw(st.permutations(range(n_rows)))
    places = data.draw(st.lists(st.integers(0, n_rows), max_size=4))
    return np.split(np.array(order, dtype=int), sorted(places))


@all_sums
@given(table=tables, data=st.data())
@many
def test_any_split_in_any_order_gives_the_sums_of_all_rows(summarise: Callable, table, data):
    parts = [summarise(Block.from_table(table[rows])) for rows in cut(len(table), data)]
    assert_same(merged(parts, data), summarise(Block.from_table(table)))


@all_sums
@given(table=tables, data=st.data())
@many
def test_any_split_of_rows_with_weights_gives_the_sums_of_all(summarise: Callable, table, data):
    quarters = data.draw(arrays(int, len(table), elements=st.integers(0, 8)))
    weights = quarters / 4
    cuts = cut(len(table), data)
    parts = [summarise(Block.from_table(table[rows], weights[rows])) for rows in cuts]
    assert_same(merged(parts, data), summarise(Block.from_table(table, weights)))


@all_sums
@given(table=tables)
@many
def test_the_sums_of_no_rows_are_neutral_on_both_sides(summarise: Callable, table):
    sums, empty = summarise(Block.from_table(table)), summarise(Block.from_table(table[:0]))
    assert_same(sums + empty, sums)
    assert_same(empty + sums, sums)
    assert_same(empty + empty, empty)


@all_sums
@given(table=tables, data=st.data())
@many
def test_a_row_of_whole_weight_is_there_that_often(summarise: Callable, table, data):
    table = table[~np.isnan(table).all(axis=1)]  # empty rows are counted, not weighed
    times = data.draw(arrays(int, len(table), elements=st.integers(0, 3)))
    weighted = summarise(Block.from_table(table, times.astype(float)))
    assert_same(weighted, summarise(Block.from_table(np.repeat(table, times, axis=0))))
