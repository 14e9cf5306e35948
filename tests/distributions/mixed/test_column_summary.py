"""The kinds of columns are found from their values, and what there is of values is counted."""

import numpy as np
import pytest

from halfseen import DataError
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Block
from halfseen.distributions.column_kinds import kind_of
from halfseen.distributions.column_summary import found_kind, highest_count, summarise_columns
from halfseen.moments.robust_statistics import ValueCounts, padded
from halfseen.moments.survey import survey

RNG = np.random.default_rng(0)
COLUMNS = {
    "measured": (RNG.normal(size=1000), "continuous"),
    "years of age": (RNG.integers(0, 95, size=1000), "continuous"),
    "children": (RNG.poisson(1.2, size=1000), "count"),
    "visits": (RNG.poisson(RNG.gamma(0.7, 5.0, size=1000)), "count"),
    "rare events": (RNG.poisson(0.1, size=3000), "count"),
    "rating of 0 to 10": (RNG.integers(0, 11, size=1100), "continuous"),
    "rating of 0 to 4": (RNG.integers(0, 5, size=1000), "ordinal"),
    "item of 1 to 6": (RNG.integers(1, 7, size=1000), "ordinal"),
    "item with a typing error": (np.r_[RNG.integers(1, 6, size=999), 55], "ordinal"),
    "three doses": (RNG.choice([0.0, 0.5, 1.0], size=1000), "ordinal"),
    "area, mostly none": (
        np.where(RNG.random(1000) < 0.6, 0, RNG.integers(20, 900, 1000)),
        "continuous",
    ),
    "area, nearly always none": (np.r_[np.zeros(990), RNG.integers(20, 900, 10)], "continuous"),
    "yes or no": (RNG.integers(2, size=1000), "binary"),
    "one or two": (RNG.integers(2, size=1000) + 1, "binary"),
    "few rows": (RNG.integers(5, size=12), "continuous"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_kinds_are_what_a_person_would_say(name):
    values, kind = COLUMNS[name]
    values = np.sort(values.astype(float))
    found = found_kind(values, np.ones(len(values)), len(values), values[0], values[-1])
    assert found == kind


def words(found):
    return [kind_of(code).word for code in found.kinds]


def facts(X, declared=None):
    rows = MemoryRows(X, tuple("abcdef"[: X.shape[1]]))
    return summarise_columns(rows, survey(rows, 0.95), declared or {})


def test_levels_that_a_sample_would_miss_are_found():
    """A value that one of 50,000 rows holds is a level as well."""
    x = np.random.default_rng(0).integers(1, 5, size=50_000).astype(float)
    x[17] = 9.0
    found = facts(np.column_stack([x, np.random.default_rng(1).normal(size=50_000)]))
    assert words(found) == ["ordinal", "continuous"]
    np.testing.assert_array_equal(found.level_values[:, 0], [1, 2, 3, 4, 9])
    shares = [np.mean(x == v) for v in (1, 2, 3, 4, 9)]
    np.testing.assert_allclose(found.histograms[0], shares)


def test_many_rare_values_make_a_column_continuous():
    x = np.zeros(60_000)
    x[:50] = np.arange(50) + 0.5
    x[50:30_000] = 1.0
    found = facts(np.column_stack([x, x + 1.0]))
    assert words(found)[0] == "continuous"


def test_declared_kinds_are_kept():
    X = np.column_stack([np.arange(40) % 4, np.arange(40) % 7]).astype(float)
    found = facts(X, {"a": "continuous", "b": "categorical"})
    assert words(found) == ["continuous", "categorical"]


def test_a_wild_count_is_beyond_the_highest():
    x = np.r_[np.random.default_rng(0).poisson(2.0, size=500), 999]
    values, often = np.unique(x.astype(float), return_counts=True)
    most = highest_count(values, often.astype(float))
    assert values[-2] <= most < 60


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.0, 1.0, -2.0], "Column 'a' is to hold counts, but holds -2. Declare it continuous"),
        ([0.0, 1.0, 2.5], "Column 'a' is to hold counts, but holds 2.5."),
        ([0.0, 1.0, 1e9], r"holds 1e\+09. Declare counts as large as that continuous"),
    ],
)
def test_what_is_no_count_is_refused(values, message):
    with pytest.raises(DataError, match=message):
        facts(np.array(values)[:, None], {"a": "count"})


def test_too_many_categories_are_refused():
    with pytest.raises(DataError, match="holds 1,500 different values, and can hold 1,000"):
        facts(np.arange(1500.0)[:, None], {"a": "categorical"})


def test_values_are_counted_as_a_loop_counts_them():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(200, 2)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    weights = rng.integers(1, 4, size=200).astype(float)
    listed = padded([np.array([0.0, 2.0]), np.array([1.0])])
    count = ValueCounts.of(np.array([True, True]), listed)
    parts = [slice(0, 0), slice(0, 50), slice(50, 200)]
    blocks = [Block.from_table(X[p], weights[p]) for p in parts]
    total = count(blocks[0]) + (count(blocks[1]) + count(blocks[2]))
    for d, (values, often) in enumerate(total.each(listed)):
        known = X[:, d][~np.isnan(X[:, d])]
        np.testing.assert_array_equal(values, np.unique(known))
        np.testing.assert_array_equal(often, [weights[X[:, d] == v].sum() for v in values])
