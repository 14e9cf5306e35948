"""Published tables: one call reaches the maximum that many random starts of plain EM find."""

import itertools

import numpy as np
import pytest

from halfseen import LatentClass

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # of LSAT, 3
# Counts of answers, the last item changing fastest.
ROLE_CONFLICT = [42, 23, 6, 25, 6, 24, 7, 38, 1, 4, 1, 6, 2, 9, 2, 20]
"""Stouffer and Toby (1951), 216 students, four situations; Goodman (1974), Biometrika 61."""
LEADING_CROWD = [458, 140, 110, 49, 171, 182, 56, 87, 184, 75, 531, 281, 85, 97, 338, 554]
"""Coleman (1964), 3,398 boys, membership and attitude at two interviews; Goodman (1974)."""
LSAT_6 = [3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15]
LSAT_6 += [10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298]
"""Bock and Lieberman (1970), 1,000 examinees, five questions."""


def answers(counts):
    items = int(np.log2(len(counts)))
    return np.array(list(itertools.product([0.0, 1.0], repeat=items))), np.array(counts, float)


def plain_em(X, counts, k, seed):
    """The log-likelihood that one random start leads to."""
    rng = np.random.default_rng(seed)
    weights, chance = np.full(k, 1 / k), rng.uniform(0.1, 0.9, size=(k, X.shape[1]))
    height = -np.inf
    for _ in range(20_000):
        joint = weights * np.exp(X @ np.log(chance).T + (1 - X) @ np.log1p(-chance).T)
        total = joint.sum(axis=1)
        before, height = height, float(counts @ np.log(total))
        if height - before < 1e-10:
            break
        shares = joint / total[:, None] * counts[:, None]
        weights = shares.sum(axis=0) / counts.sum()
        chance = np.clip(shares.T @ X / shares.sum(axis=0)[:, None], 1e-12, 1 - 1e-12)
    return height


def ours(X, counts, k):
    rows = np.repeat(X, counts.astype(int), axis=0)
    model = LatentClass(k, random_state=0).fit(rows)
    assert set(model.kinds_.values()) == {"binary"}
    return float(counts @ model.score_samples(X))


@pytest.mark.parametrize(
    ("counts", "k"), [(ROLE_CONFLICT, 2), (LEADING_CROWD, 2), (LSAT_6, 2), (LSAT_6, 3)]
)
def test_one_call_reaches_what_many_random_starts_find(counts, k):
    X, counts = answers(counts)
    best = max(plain_em(X, counts, k, seed) for seed in range(8))
    assert ours(X, counts, k) > best - 0.01


@pytest.mark.parametrize(("counts", "published"), [(ROLE_CONFLICT, 2.72), (LEADING_CROWD, 249.50)])
def test_two_classes_fit_as_well_as_was_published(counts, published):
    """The likelihood ratio against the saturated model, as Goodman (1974) has it."""
    X, counts = answers(counts)
    saturated = float(counts @ np.log(counts / counts.sum()))
    assert 2 * (saturated - ours(X, counts, 2)) == pytest.approx(published, abs=0.01)
