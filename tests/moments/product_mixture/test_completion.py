import numpy as np
import pytest

from halfseen.moments.product_mixture import item_moments as completion
from halfseen.moments.product_mixture.item_moments import (
    MeetingSums,
    complete,
    known_pairs,
    most_rank,
)

WIDTH = np.array([1, 2, 3, 1, 2, 2, 1, 3])
ITEM = np.repeat(np.arange(len(WIDTH)), WIDTH)
WEIGHTS = np.linspace(0.3, 1.0, len(WIDTH))


def low_rank(rank, seed=0):
    B = np.random.default_rng(seed).normal(size=(len(ITEM), rank))
    return 0.5 * B / np.linalg.norm(B, axis=1).max()


def sums_of(products, count):
    empty = np.empty((0, 0))
    return MeetingSums(products * count[np.ix_(ITEM, ITEM)], empty, count, empty, empty)


def counts(seed=0):
    rng = np.random.default_rng(seed)
    count = rng.integers(5, 30, (len(WIDTH), len(WIDTH))).astype(float)
    return np.triu(count) + np.triu(count, 1).T


def test_a_moment_of_low_rank_is_found_again_whatever_is_within_items():
    B, count = low_rank(3), counts()
    garbage = np.where(ITEM[:, None] == ITEM, 7.0, B @ B.T)
    found = complete(sums_of(garbage, count), ITEM, WEIGHTS, 3)
    np.testing.assert_allclose(found.back @ found.back.T, B @ B.T, atol=1e-7)
    assert found.n_supported == found.rank == 3
    np.testing.assert_allclose(found.spectrum[3:], 0, atol=1e-7)


def test_pairs_that_fewer_than_two_rows_hold_are_completed_too():
    B, count = low_rank(2), counts()
    count[0, 5] = count[5, 0] = 0.0
    count[2, 7] = count[7, 2] = 1.0
    wrong = B @ B.T + 3.0 * ((count < 2)[np.ix_(ITEM, ITEM)])
    found = complete(sums_of(wrong, count), ITEM, WEIGHTS, 2)
    np.testing.assert_allclose(found.back @ found.back.T, B @ B.T, atol=1e-7)


def test_mixed_steps_lead_where_plain_ones_do(monkeypatch):
    B = low_rank(2)
    noise = np.random.default_rng(1).normal(size=(len(ITEM),) * 2) * 0.02
    sums = sums_of(B @ B.T + noise + noise.T, counts())
    fast = complete(sums, ITEM, WEIGHTS, 2)
    monkeypatch.setattr(completion, "_mixed", lambda memory: memory[-1][1])
    monkeypatch.setattr(completion, "MOST_ITERATIONS", 5000)
    plain = complete(sums, ITEM, WEIGHTS, 2)
    np.testing.assert_allclose(fast.back @ fast.back.T, plain.back @ plain.back.T, atol=1e-6)
    assert fast.n_iterations < plain.n_iterations


def test_many_features_are_followed_to_the_same_place(monkeypatch):
    sums = sums_of(low_rank(3) @ low_rank(3).T, counts())
    exact = complete(sums, ITEM, WEIGHTS, 3)
    monkeypatch.setattr(completion, "MANY", 5)
    followed = complete(sums, ITEM, WEIGHTS, 3)
    np.testing.assert_allclose(
        followed.back @ followed.back.T, exact.back @ exact.back.T, atol=1e-6
    )


def test_classes_explain_no_more_of_an_item_than_it_varies():
    B = low_rank(2)
    B[ITEM == 0] *= 30.0
    found = complete(sums_of(B @ B.T, counts()), ITEM, WEIGHTS, 2)
    parts = np.split(found.back, np.cumsum(WIDTH)[:-1])
    assert max(np.linalg.norm(part, 2) for part in parts) <= 1 + 1e-9


def test_no_signal_supports_no_rank():
    found = complete(sums_of(np.zeros((len(ITEM),) * 2), counts()), ITEM, WEIGHTS, 2)
    assert found.n_supported == 0
    assert np.isfinite(found.back).all()


@pytest.mark.parametrize(
    ("width", "most"),
    [([1, 1, 1], 1), ([1] * 4, 1), ([1] * 5, 2), ([2, 2, 2], 2), ([1, 1], 0), ([5], 0), ([], 0)],
)
def test_a_rank_has_fewer_unknowns_than_pairs_and_triples_tell(width, most):
    item = np.repeat(np.arange(len(width)), width)
    known = known_pairs(np.full((len(width),) * 2, 9.0), item)
    assert most_rank(known, item, 7) == most
