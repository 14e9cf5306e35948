"""Features observed in the same rows, against a comparison of their masks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from halfseen.data.rows import Block
from halfseen.moments.joint_counts import pair_counts
from halfseen.moments.missing_patterns import Panels, panels_of, rows_behind


def masks(*columns):
    return np.array([[mark == "1" for mark in column] for column in columns]).T


def groups_of(seen, weights=None):
    block = Block(np.zeros(seen.shape), seen, weights)
    per_row = np.ones(len(seen)) if weights is None else weights
    return panels_of(pair_counts(block), float(per_row @ seen.any(axis=1)))


def listed(groups):
    return [np.flatnonzero(members).tolist() for members in groups.together]


def test_features_are_alone_together_or_complete():
    groups = groups_of(masks("1111", "1101", "0011", "1101", "1111", "1000", "0011"))
    assert np.flatnonzero(groups.alone).tolist() == [5]
    assert listed(groups) == [[1, 3], [2, 6]]
    assert np.flatnonzero(groups.representatives).tolist() == [1, 2, 5]


def test_each_group_is_a_part_after_one_of_all_others():
    groups = groups_of(masks("1111", "1101", "0011", "1101", "1111", "1000", "0011"))
    assert groups.parts.labels.tolist() == [0, 1, 2, 1, 0, 0, 2]
    assert groups.parts.n == 3
    assert [part.tolist() for part in groups.parts.members] == [[0, 4, 5], [1, 3], [2, 6]]


def test_without_gaps_there_is_one_part():
    parts = Panels(np.zeros(3, bool), ()).parts
    assert parts.labels.tolist() == [0, 0, 0]
    assert parts.n == 1


@settings(max_examples=100, deadline=None, derandomize=True)
@given(arrays(bool, (6, 5)), st.booleans())
def test_groups_are_those_with_equal_masks(seen, weighted):
    seen[0, 0] = True  # some row is not empty
    seen = seen[seen.any(axis=1)]
    weights = np.arange(1.0, len(seen) + 1) / 3 if weighted else None
    groups = groups_of(seen, weights)
    gappy = ~seen.all(axis=0)
    for i in range(5):
        same = gappy[i] & gappy & (seen == seen[:, [i]]).all(axis=0)
        assert groups.alone[i] == (same.sum() == 1)
        holds_i = [members for members in groups.together if members[i]]
        assert len(holds_i) == (same.sum() > 1)
        for members in holds_i:
            np.testing.assert_array_equal(members, same)


def test_rows_left_out_are_counted_by_group():
    """A group of two at one half and one feature at one half: a quarter of the rows are empty."""
    alone = np.array([False, False, True])
    groups = Panels(alone, (~alone,))
    assert rows_behind(np.array([500.0] * 3), 750.0, groups) == pytest.approx(1000.0, rel=1e-9)


def test_a_complete_feature_leaves_no_row_out():
    groups = Panels(np.array([True, False]), ())
    assert rows_behind(np.array([300.0, 750.0]), 750.0, groups) == 750.0
