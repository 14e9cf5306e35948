"""What a table holds, before any model."""

import numpy as np
import pytest

from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.moments.survey import survey

NAN, INF = np.nan, np.inf


def rows_of(columns: dict[str, list[float]], weights: list[float] | None = None) -> MemoryRows:
    table = np.array(list(columns.values())).T
    return MemoryRows(table, tuple(columns), None if weights is None else np.array(weights))


TABLE = {
    "full": [1.0, 2.0, 3.0, 4.0],
    "half": [1.0, NAN, NAN, 4.0],
    "flat": [7.0, 7.0, NAN, 7.0],
    "gone": [NAN, NAN, NAN, NAN],
    "most": [0.0, 0.0, 1.0, NAN],
}


def test_features_that_vary_are_kept():
    np.testing.assert_array_equal(survey(rows_of(TABLE), 1.0).kept, [1, 1, 0, 0, 1])


def test_what_is_dropped_is_told_why():
    seen = survey(rows_of(TABLE), 1.0)
    assert seen.dropped == {"flat": "constant", "gone": "never observed"}


@pytest.mark.parametrize(
    ("above", "complete"),
    [
        (1.0, [1, 0, 0, 0, 0]),
        (0.75, [1, 0, 0, 0, 1]),
        (0.76, [1, 0, 0, 0, 0]),
        (0.5, [1, 1, 0, 0, 1]),
    ],
)
def test_complete_are_kept_features_observed_often_enough(above, complete):
    np.testing.assert_array_equal(survey(rows_of(TABLE), above).complete, complete)


def test_empty_rows_make_no_feature_incomplete():
    seen = survey(rows_of({"a": [1.0, NAN, 2.0], "b": [3.0, NAN, NAN]}), 1.0)
    np.testing.assert_array_equal(seen.complete, [True, False])


def test_rows_of_no_weight_are_not_looked_at():
    seen = survey(rows_of({"a": [1.0, 1.0, 9.0], "b": [1.0, 2.0, NAN]}, [1, 2, 0]), 1.0)
    assert seen.dropped == {"a": "constant"}
    np.testing.assert_array_equal(seen.complete, [False, True])


def test_a_table_of_gaps_keeps_nothing():
    seen = survey(rows_of({"a": [NAN, NAN], "b": [NAN, NAN]}), 0.5)
    assert not seen.kept.any()
    assert not seen.complete.any()


@pytest.mark.parametrize("infinity", [INF, -INF])
def test_infinite_values_are_refused_by_name(infinity):
    columns = {"a": [1.0, infinity, 2.0], "b": [1.0, 2.0, NAN], "c": [infinity, 1.0, 0.0]}
    message = (
        r"^Infinite values in 'a' and 'c'\. "
        r"Replace them by numbers, or by NaN if they stand for missing values\.$"
    )
    with pytest.raises(DataError, match=message):
        survey(rows_of(columns), 1.0)


def test_the_survey_keeps_names_and_sums():
    seen = survey(rows_of(TABLE), 1.0)
    assert seen.names == ("full", "half", "flat", "gone", "most")
    np.testing.assert_array_equal(seen.sums.count, [4, 2, 3, 0, 3])
