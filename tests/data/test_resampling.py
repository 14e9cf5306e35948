"""Bins of rows: what belongs together stays together, and where blocks are cut does not matter."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.data.resampling import MOST_BINS, Bins
from halfseen.data.rows import Block

law = settings(max_examples=60, deadline=None, derandomize=True)


def block(n, start=0):
    """Rows that hold their own numbers."""
    return Block.from_table(np.arange(start, start + n, dtype=float)[:, None], start=start)


def cut(n, places):
    """Blocks of n rows, cut at some places; some may be empty."""
    ends = [0, *sorted(place % (n + 1) for place in places), n]
    return [block(stop - start, start) for start, stop in itertools.pairwise(ends)]


labels_of_rows = st.lists(st.integers(0, 400), min_size=1, max_size=500)


@pytest.mark.parametrize("n", [1, 2, 199, 200])
def test_few_rows_have_a_bin_each(n):
    bins = Bins.of_rows(n)
    assert bins.n == n
    assert sorted(bins.of(block(n))) == list(range(n))


@pytest.mark.parametrize("period", [1, 2, 200, 1000])
def test_many_rows_are_spread_over_all_bins_and_so_are_those_that_repeat(period):
    bins = Bins.of_rows(10**6)
    numbers = period * np.arange(20_000)
    found = np.concatenate([bins.of(block(1, number)) for number in numbers])
    sizes = np.bincount(found, minlength=bins.n)
    assert bins.n == MOST_BINS == len(sizes)
    assert sizes.min() > 50  # of 100 in the mean: chance would leave 60
    assert sizes.max() < 150


@law
@given(labels_of_rows)
def test_a_group_is_never_divided(labels):
    bins = Bins.of_groups(labels)
    found = bins.of(block(len(labels)))
    assert all(len(set(found[np.equal(labels, label)])) == 1 for label in labels)


@law
@given(labels_of_rows)
def test_groups_are_dealt_alike_and_none_shares_a_bin_if_there_are_enough(labels):
    bins = Bins.of_groups(labels)
    groups_a_bin = np.bincount([found for found, _ in {*zip(bins.labels, labels, strict=True)}])
    assert len(groups_a_bin) == bins.n == min(len(set(labels)), MOST_BINS)
    assert groups_a_bin.max() - groups_a_bin.min() <= 1


@law
@given(labels_of_rows, st.lists(st.integers(0, 500), max_size=4), st.booleans())
def test_any_split_into_blocks_gives_the_same_bins(labels, places, grouped):
    n = len(labels)
    bins = Bins.of_groups(labels) if grouped else Bins.of_rows(n)
    apart = np.concatenate([bins.of(part) for part in cut(n, places)])
    np.testing.assert_array_equal(apart, bins.of(block(n)))


@law
@given(labels_of_rows, st.integers(0, 300))
def test_parts_hold_every_row_of_a_block_once_in_its_bin(labels, start):
    bins = Bins(7, np.array([0] * start + labels) % 7)
    whole = block(len(labels), start)
    parts = list(bins.parts(whole))
    assert len({bin_ for bin_, _ in parts}) == len(parts)
    assert sorted(np.concatenate([part.values[:, 0] for _, part in parts])) == [*whole.values[:, 0]]
    for bin_, part in parts:
        assert (bins.labels[part.values[:, 0].astype(int)] == bin_).all()


def test_a_block_of_no_rows_has_no_parts():
    assert list(Bins.of_rows(10).parts(block(0))) == []


@pytest.mark.parametrize("labels", [["b", "a", "b"], [2.5, -1, 2.5], [True, False, True]])
def test_labels_may_be_anything_that_sorts(labels):
    np.testing.assert_array_equal(Bins.of_groups(labels).labels, [1, 0, 1])
