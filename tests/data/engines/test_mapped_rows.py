"""Rows on other scales, against the same numbers in a table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfseen.data.column_moments import ValueSums
from halfseen.data.engines.batched import all_columns
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.missing_patterns import PatternSums
from halfseen.data.rows import Block, side_by_side
from halfseen.io.batches import open_batches
from halfseen.io.preprocessing import Preprocessing
from halfseen.io.validation import read_batch
from halfseen.moments.second_moment import PairSums

N, NAMES = 90, ("a", "b", "c")
RNG = np.random.default_rng(0)
X = np.where(RNG.random((N, 3)) < 0.3, np.nan, RNG.gamma(2.0, 3.0, (N, 3)))
LOGGED, CENTRE, SCALE = (
    np.array([True, False, True]),
    np.array([1.0, 2, 0]),
    np.array([2.0, 0.5, 1]),
)
EXPECTED = (np.where(LOGGED, np.log(X), X) - CENTRE) / SCALE
ENGINES = {
    "memory": lambda: MemoryRows(X, NAMES),
    "weighted": lambda: MemoryRows(X, NAMES, RNG.random(N) + 0.5),
    "batches": lambda: all_columns(open_batches([X[:20], X[20:]], read_batch)),
    "prepared": lambda: MemoryRows(X, NAMES).recentred(np.zeros(3)),
}
every_engine = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)


def scaled(rows):
    return Preprocessing(NAMES, LOGGED, CENTRE, SCALE).rows(rows)


def table_of(rows):
    return np.concatenate(
        rows.accumulate(lambda block: [np.where(block.observed, block.values, np.nan)])
    )


@every_engine
def test_rows_are_on_their_scales_and_gaps_stay_gaps(engine):
    np.testing.assert_allclose(table_of(scaled(engine())), EXPECTED, rtol=1e-12, atol=1e-14)


@every_engine
def test_selecting_and_measuring_from_an_origin_are_those_of_the_scaled_rows(engine):
    keep, origin = np.array([True, False, True]), np.array([0.5, -1.0])
    rows = scaled(engine()).select(keep).recentred(origin)
    assert rows.names == ("standardised(log(a))", "log(c)")
    np.testing.assert_allclose(table_of(rows), EXPECTED[:, keep] - origin, atol=1e-12)


@every_engine
def test_what_is_kept_beside_blocks_sees_scaled_rows(engine):
    carried = scaled(engine()).carrying(lambda block: float(block.values.sum()))
    first = carried.accumulate(lambda block, kept: (kept, kept + 1.0))
    second = carried.accumulate(lambda block, kept: (kept, kept))
    blocks = scaled(engine()).accumulate(lambda block: 1)
    assert first == pytest.approx(np.nansum(EXPECTED))
    assert second == pytest.approx(first + blocks)


def test_sums_are_finished_where_they_are():
    total = scaled(ENGINES["memory"]()).condensed(FeatureSums.of, lambda sums: sums.total)
    np.testing.assert_allclose(total, np.nansum(EXPECTED, axis=0))


def test_values_without_a_logarithm_are_named():
    rows = MemoryRows(np.array([[0.0, 1, 1], [-2, 1, 1], [1, 1, 1]]), NAMES)
    message = r"'a' cannot be put on a log scale: 2 values of 'a' are not above zero \(the smallest"
    with pytest.raises(DataError, match=message):
        scaled(rows).accumulate(FeatureSums.of)


cuts = st.lists(st.integers(0, N), max_size=4).map(sorted)


@given(cuts, st.permutations(range(5)))
def test_any_split_gives_the_spread_and_the_skewness_of_all_rows(cuts, order):
    parts = np.split(X + 1e6, cuts)
    parts = [parts[i] for i in order if i < len(parts)]
    sums = [ValueSums.of(Block.from_table(part)) for part in parts]
    total = sum(sums[1:], start=sums[0])
    whole = X + 1e6
    mean, spread = np.nanmean(whole, axis=0), np.nanstd(whole, axis=0)
    np.testing.assert_allclose(total.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(total.spread, spread, rtol=1e-9)
    skewness = np.nanmean(((whole - mean) / spread) ** 3, axis=0)
    np.testing.assert_allclose(total.skewness, skewness, rtol=1e-6)


def test_nothing_observed_has_no_spread():
    total = ValueSums.of(Block.from_table(np.empty((0, 2))))
    total = total + ValueSums.of(Block.from_table(np.full((3, 2), np.nan))) + total
    np.testing.assert_array_equal(total.spread, [0, 0])
    np.testing.assert_array_equal(total.skewness, [0, 0])
    assert total.n_rows == 3


@given(cuts)
def test_patterns_of_any_split_are_those_of_all_rows_in_their_order(cuts):
    starts = [0, *cuts]
    parts = [
        PatternSums.of(Block.from_table(part, start=start))
        for start, part in zip(starts, np.split(X, cuts), strict=True)
    ]
    total = sum(parts[1:], start=parts[0]).merged()
    counted = {}
    for row in ~np.isnan(X):
        counted[tuple(row)] = counted.get(tuple(row), 0) + 1
    order = sorted(counted, key=lambda mask: -counted[mask])  # as they come where they are as many
    assert [tuple(mask) for mask in total.masks] == order
    assert total.count.tolist() == [counted[mask] for mask in order]


def test_several_sums_in_one_pass_are_those_of_a_pass_each():
    rows = ENGINES["batches"]()
    features, pairs = rows.accumulate(
        side_by_side(FeatureSums.of, PairSums.about(np.zeros(3)))
    ).each
    np.testing.assert_array_equal(features.count, rows.accumulate(FeatureSums.of).count)
    np.testing.assert_array_equal(pairs.count, rows.accumulate(PairSums.about(np.zeros(3))).count)
