"""Entries of a block against loops over them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from halfseen.data.products import DenseEntries, Parts
from halfseen.data.rows import Block

CASES = {"some": (7, 5, 3, 2), "one part": (4, 3, 1, 2), "no rows": (0, 3, 2, 2)}
shapes = pytest.mark.parametrize(("n", "d", "p", "m"), CASES.values(), ids=CASES)


LAYOUTS = {"row by row": np.ascontiguousarray, "feature by feature": np.asfortranarray}
every_layout = pytest.mark.parametrize("laid", LAYOUTS.values(), ids=LAYOUTS)


def drawn(n, d, p, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), Parts(rng.integers(0, p, d), p), rng


def naive_onto_parts(array, basis, parts):
    out = np.zeros((parts.n, len(array), basis.shape[1]))
    for n, i in np.ndindex(array.shape):
        out[parts.labels[i], n] += array[n, i] * basis[i]
    return out


def naive_there_and_back(array, basis, parts, mix, weights):
    out = np.zeros(basis.shape)
    for n, (i, j) in product(range(len(array)), np.ndindex(len(basis), len(basis))):
        share = weights[n] * mix[parts.labels[i], parts.labels[j]]
        out[i] += share * array[n, i] * array[n, j] * basis[j]
    return out


def naive_powers(array, power, per_row, features):
    out = np.zeros((array.shape[1], per_row.shape[1]))
    for n, i in np.ndindex(array.shape):
        out[i] += features[i] * array[n, i] ** power * per_row[n]
    return out


def close(found, expected):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_members_are_the_features_of_each_part_and_each_feature_is_in_one():
    parts = Parts(np.array([2, 0, 2, 0, 3]), 4)
    assert [m.tolist() for m in parts.members] == [[1, 3], [], [0, 2], [4]]


@shapes
def test_onto_is_the_product(n, d, p, m):
    array, _, rng = drawn(n, d, p)
    basis = rng.standard_normal((d, m))
    expected = np.array([[row @ column for column in basis.T] for row in array]).reshape(n, m)
    close(DenseEntries(array).onto(basis), expected)


@shapes
def test_onto_parts_is_the_product_of_each_part_by_itself(n, d, p, m):
    array, parts, rng = drawn(n, d, p)
    basis = rng.standard_normal((d, m))
    found = DenseEntries(array).onto_parts(basis, parts)
    close(found, naive_onto_parts(array, basis, parts))
    close(found.sum(axis=0), DenseEntries(array).onto(basis))


@shapes
def test_back_is_the_product_with_the_transpose(n, d, p, m):
    array, _, rng = drawn(n, d, p)
    per_row = rng.standard_normal((n, m))
    expected = sum((np.outer(x, y) for x, y in zip(array, per_row, strict=True)), np.zeros((d, m)))
    close(DenseEntries(array).back(per_row), expected)


@shapes
def test_there_and_back_mixes_the_parts_row_by_row(n, d, p, m):
    array, parts, rng = drawn(n, d, p)
    basis, mix = rng.standard_normal((d, m)), rng.standard_normal((p, p))
    weights = rng.random(n)
    expected = naive_there_and_back(array, basis, parts, mix, weights)
    close(DenseEntries(array).there_and_back(basis, parts, mix, weights), expected)


@shapes
@every_layout
def test_squares_and_cubes_are_of_the_chosen_features_only(n, d, p, m, laid):
    array, _, rng = drawn(n, d, p)
    per_row, features = rng.standard_normal((n, m)), np.arange(d) % 2 == 0
    entries, per_row = DenseEntries(laid(array)), laid(per_row)
    close(entries.squares(per_row, features), naive_powers(array, 2, per_row, features))
    third = naive_powers(array, 3, per_row, features)[:, 0]
    close(entries.cubes(per_row[:, 0], features), third)


def test_no_feature_chosen_gives_zeros():
    entries, none = DenseEntries(np.ones((3, 2))), np.zeros(2, dtype=bool)
    np.testing.assert_array_equal(entries.squares(np.ones((3, 2)), none), np.zeros((2, 2)))
    np.testing.assert_array_equal(entries.cubes(np.ones(3), none), np.zeros(2))


def test_a_part_may_be_empty():
    entries, parts = DenseEntries(np.ones((2, 2))), Parts(np.array([2, 0]), 3)
    onto = entries.onto_parts(np.array([[1.0], [10.0]]), parts)
    np.testing.assert_array_equal(onto[:, :, 0].T, [[10, 0, 1]] * 2)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(0, 6), st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_onto_and_back_are_adjoint(n, d, p, seed):
    array, _, rng = drawn(n, d, p, seed)
    basis, per_row = rng.standard_normal((d, 2)), rng.standard_normal((n, 2))
    entries = DenseEntries(array)
    one = np.vdot(entries.onto(basis), per_row)
    other = np.vdot(basis, entries.back(per_row))
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(arrays(float, (4, 3), elements=st.sampled_from([-1.0, 0.0, 2.5, np.nan])))
def test_a_block_has_deviations_that_are_zero_in_its_gaps_and_presence_that_is_one_elsewhere(table):
    block, origin, eye = Block.from_table(table), np.array([1.0, -2.0, 0.5]), np.eye(3)
    seen = ~np.isnan(table)
    np.testing.assert_array_equal(block.presence().onto(eye), seen)
    expected = np.where(seen, np.nan_to_num(table) - origin, 0.0)
    np.testing.assert_array_equal(block.deviations(origin).onto(eye), expected)
    np.testing.assert_array_equal(block.present(np.array([2, 0])), seen[:, [2, 0]])
