"""Matching and angles."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen import recovery


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(1, 5), st.integers(0, 1000))
def test_the_match_is_the_best_of_all_orders(k, seed):
    rng = np.random.default_rng(seed)
    learned, true = rng.standard_normal((2, k, 6))

    def angle(a, b):
        return np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1))

    best = min(
        sum(angle(learned[i], true[j]) for j, i in enumerate(order))
        for order in itertools.permutations(range(k))
    )
    assert recovery.total_angle(learned, true) == pytest.approx(best, rel=1e-9)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.permutations(range(4)), st.lists(st.floats(0.01, 100), min_size=4, max_size=4))
def test_order_and_length_of_components_do_not_matter(order, lengths):
    true = np.random.default_rng(0).standard_normal((4, 5))
    learned = (true * np.array(lengths)[:, None])[list(order)]
    np.testing.assert_allclose(recovery.angles(learned, true), 0, atol=1e-7)
    np.testing.assert_array_equal(np.array(order)[recovery.match(learned, true)], range(4))


def test_small_angles_are_exact():
    turned = [[np.cos(1e-9), np.sin(1e-9)]]
    np.testing.assert_allclose(recovery.angles(turned, [[1.0, 0.0]]), 1e-9, rtol=1e-6)


def test_right_angles_and_opposites():
    assert recovery.total_angle([[0.0, 1.0]], [[1.0, 0.0]]) == pytest.approx(np.pi / 2)
    assert recovery.total_angle([[-1.0, 0.0]], [[1.0, 0.0]]) == pytest.approx(np.pi)
    assert recovery.total_angle([[0.0, 0.0]], [[1.0, 0.0]]) == pytest.approx(np.pi / 2)


def test_only_the_chosen_features_count():
    learned, true = [[1.0, 0.0, 9.0]], [[1.0, 0.0, -9.0]]
    assert recovery.total_angle(learned, true, [0, 1]) == 0
    assert recovery.total_angle(learned, true, np.array([True, True, False])) == 0
    assert recovery.total_angle(learned, true) > 1
