"""Population counts of packed masks, against counting rows one by one."""

import numpy as np
import pytest

from halfseen.moments.joint_counts import pack, pairs_in_masks, triples_in_masks
from halfseen.moments.symmetric_tensors import slabs

N_ROWS = [0, 1, 7, 8, 63, 64, 65, 127, 128, 200]


def mask_of(n_rows: int, n_features: int = 5) -> np.ndarray:
    generator = np.random.default_rng(n_rows)
    return generator.random((n_rows, n_features)) < np.linspace(0.2, 1.0, n_features)


def sorted_triples(d: int) -> list[tuple[int, int, int]]:
    """(i, j, k) with i ≤ j ≤ k in the order in which they are packed."""
    return [(i, j, k) for j in range(d) for i in range(j + 1) for k in range(j, d)]


@pytest.mark.parametrize("n_rows", N_ROWS)
def test_pairs_are_the_rows_that_hold_both(n_rows):
    mask = mask_of(n_rows)
    naive = [[sum(bool(r[i] and r[j]) for r in mask) for j in range(5)] for i in range(5)]
    np.testing.assert_array_equal(pairs_in_masks(mask), naive)


@pytest.mark.parametrize("n_rows", N_ROWS)
def test_triples_are_the_rows_that_hold_all_three(n_rows):
    mask = mask_of(n_rows)
    naive = [sum(bool(r[i] and r[j] and r[k]) for r in mask) for i, j, k in sorted_triples(5)]
    np.testing.assert_array_equal(triples_in_masks(mask), naive)


@pytest.mark.parametrize("n_rows", [1, 64, 65])
def test_what_is_observed_everywhere_is_counted_everywhere(n_rows):
    mask = np.ones((n_rows, 3), bool)
    np.testing.assert_array_equal(pairs_in_masks(mask), np.full((3, 3), n_rows))
    np.testing.assert_array_equal(triples_in_masks(mask), np.full(10, n_rows))


def test_what_is_never_observed_is_counted_nowhere():
    mask = np.zeros((70, 3), bool)
    np.testing.assert_array_equal(pairs_in_masks(mask), np.zeros((3, 3)))
    np.testing.assert_array_equal(triples_in_masks(mask), np.zeros(10))


@pytest.mark.parametrize(
    "layout", [np.asfortranarray, lambda mask: mask[::2], lambda m: m[:, ::-1]]
)
def test_counts_do_not_depend_on_the_layout_in_memory(layout):
    mask = layout(mask_of(131))
    np.testing.assert_array_equal(pairs_in_masks(mask), mask.astype(float).T @ mask)
    np.testing.assert_array_equal(triples_in_masks(mask), triples_in_masks(mask.copy(order="C")))


def test_a_table_without_features_has_no_counts():
    assert pairs_in_masks(np.empty((10, 0), bool)).shape == (0, 0)
    assert triples_in_masks(np.empty((10, 0), bool)).shape == (0,)


@pytest.mark.parametrize(("n_rows", "n_words"), [(0, 0), (1, 1), (64, 1), (65, 2), (200, 4)])
def test_a_word_holds_64_rows(n_rows, n_words):
    assert pack(mask_of(n_rows)).shape == (5, n_words)


def test_one_feature_is_its_own_pair_and_triple():
    mask = mask_of(100, 1)
    assert pairs_in_masks(mask) == triples_in_masks(mask) == mask.sum()


def test_triples_lie_where_the_slabs_say():
    mask = mask_of(90)
    counts = triples_in_masks(mask)
    for j, place in slabs(5):
        with_j = mask[:, : j + 1] & mask[:, [j]]
        naive = with_j.astype(float).T @ mask[:, j:]
        np.testing.assert_array_equal(counts[place].reshape(j + 1, 5 - j), naive)
