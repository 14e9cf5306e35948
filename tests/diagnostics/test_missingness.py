"""What is missing, against plain counting."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from halfseen import simulate
from halfseen.data.engines.batched import all_columns
from halfseen.diagnostics.missingness import missingness, missingness_of
from halfseen.io.batches import open_batches
from halfseen.io.validation import read_batch
from halfseen.report.columns import what_is_missing

NAMES = ["a", "b", "c", "d"]
MASKS = arrays.arrays(bool, st.tuples(st.integers(1, 40), st.just(4)))


@given(MASKS)
def test_patterns_and_pairs_are_those_of_plain_counting(mask):
    table = np.where(mask, 1.0, np.nan)
    found = missingness_of(NAMES, table)
    counted = {}
    for row in mask:
        counted[tuple(row)] = counted.get(tuple(row), 0) + 1
    assert {tuple(p.observed): p.n_rows for p in found.patterns} == counted
    sizes = [pattern.n_rows for pattern in found.patterns]
    assert sizes == sorted(sizes, reverse=True)
    assert found.n_whole_rows == counted.get((True,) * 4, 0)
    assert found.n_empty_rows == counted.get((False,) * 4, 0)
    np.testing.assert_allclose(found.observed, mask.mean(axis=0))
    apart = {
        (NAMES[i], NAMES[j])
        for i in range(4)
        for j in range(i + 1, 4)
        if mask[:, i].any() and mask[:, j].any() and not (mask[:, i] & mask[:, j]).any()
    }
    assert {(pair.first, pair.second) for pair in found.never_together} == apart


def table_of(n_rows, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, 4))


def test_independent_gaps_are_taken_as_such():
    rng = np.random.default_rng(1)
    found = missingness_of(
        NAMES, simulate.independent_gaps(table_of(5000), [1, 0.8, 0.5, 0.2], rng)
    )
    assert found.independent
    assert found.at_random
    assert found.n_rows == 5000


def test_features_that_are_missing_together_are_named():
    table = table_of(2000)
    gone = np.random.default_rng(1).random(2000) < 0.5
    table[gone, 1] = np.nan
    table[gone, 3] = np.nan
    found = missingness_of(NAMES, table)
    assert not found.independent
    assert found.most_dependent == ("b", "d")
    assert found.together


def test_gaps_that_depend_on_values_are_found_with_their_size():
    table = table_of(4000)
    table[table[:, 0] > 0.5, 2] = np.nan
    shift = missingness_of(NAMES, table).shift
    assert (shift.feature, shift.where_missing) == ("a", "c")
    high = table[:, 0] > 0.5
    expected = (table[high, 0].mean() - table[~high, 0].mean()) / table[:, 0].std()
    assert shift.difference == pytest.approx(expected)


def test_the_rarest_pair_is_told():
    table = table_of(100)
    table[5:, 1] = np.nan
    table[:2, 2] = np.nan
    assert missingness_of(NAMES, table).rarest == ("b", "c", 3)


def test_tables_without_rows_or_with_one_column_have_nothing_to_say():
    assert missingness_of(["a"], np.empty((0, 1))).patterns == ()
    alone = missingness_of(["a"], np.array([[1.0], [np.nan]]))
    assert alone.most_dependent is None
    assert alone.rarest is None


@pytest.mark.parametrize("cuts", [(), (1,), (3, 3, 40), tuple(range(0, 60, 7))])
def test_any_split_of_the_rows_gives_what_the_whole_table_gives(cuts):
    rng = np.random.default_rng(3)
    table = simulate.independent_gaps(table_of(60), [1, 0.8, 0.5, 0.2], rng)
    whole = missingness_of(NAMES, table)
    batches = open_batches(np.split(table, cuts), read_batch)
    parts = missingness(all_columns(replace(batches, names=tuple(NAMES), named=False)))
    assert parts.n_rows == whole.n_rows
    assert parts.rarest == whole.rarest
    np.testing.assert_allclose(parts.dependence, whole.dependence)
    for ours, theirs in zip(parts.patterns, whole.patterns, strict=True):
        assert ours.n_rows == theirs.n_rows
        np.testing.assert_array_equal(ours.observed, theirs.observed)


def test_of_many_columns_pairs_are_looked_at_among_those_with_the_most_gaps(monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 12))
    seen = rng.permutation(np.linspace(0.2, 0.95, 12))
    X[rng.random(X.shape) > seen] = np.nan
    X[:, 3] = np.nan  # nothing to compare
    names = [f"c{i}" for i in range(12)]
    known = np.isfinite(X).sum(axis=0)
    worst = sorted(sorted(set(range(12)) - {3}, key=lambda i: known[i])[:5])
    monkeypatch.setattr("halfseen.diagnostics.missingness.MOST_COMPARED", 5)
    found = missingness_of(names, X)
    np.testing.assert_allclose(found.observed, known / 300)
    assert found.n_compared == 5
    alone = missingness_of([names[i] for i in worst], X[:, worst])
    assert (found.rarest, found.never_together) == (alone.rarest, alone.never_together)
    assert found.shift == alone.shift
    assert found.most_dependent == alone.most_dependent
    said = list(what_is_missing(found))
    assert "Pairs of columns were looked at among the 5 with the most gaps." in said


def test_rows_that_were_added_are_no_rows_with_gaps():
    table = np.array([[1.0, 2.0], [1.0, np.nan], [np.nan] * 2, [np.nan] * 2, [np.nan] * 2])
    whole = missingness_of(["a", "b"], table)
    for n in (0, 1, 2, 3):
        found = whole.without_added(n)
        expected = missingness_of(["a", "b"], table[: 5 - n])
        for part in ("n_rows", "n_empty_rows", "n_whole_rows", "n_patterns"):
            assert getattr(found, part) == getattr(expected, part)
        np.testing.assert_allclose(found.observed, expected.observed)
        counts = [(one.observed.tolist(), one.n_rows) for one in found.patterns]
        assert sorted(counts) == sorted(
            (one.observed.tolist(), one.n_rows) for one in expected.patterns
        )
