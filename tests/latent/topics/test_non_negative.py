"""Non-negative least squares from normal equations, against SciPy's and its own conditions."""

import numpy as np
import pytest
from scipy.optimize import nnls

from halfseen.latent.topic_regression import RIDGE, non_negative_least_squares


def regressions(t, n, k, seed, alike=0.0):
    """Regressors (t, n, k), targets (t, n) and their normal equations."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(t, n, k)) + alike * rng.normal(size=(t, n, 1))
    y = rng.normal(size=(t, n))
    return A, y, np.einsum("tni,tnj->tij", A, A), np.einsum("tni,tn->ti", A, y)


@pytest.mark.parametrize("k", [1, 2, 5, 20])
@pytest.mark.parametrize("alike", [0.0, 3.0])
def test_it_is_scipys_of_each_target(k, alike):
    A, y, gram, cross = regressions(60, k + 8, k, k, alike)
    trace = np.trace(gram, axis1=1, axis2=2)
    found = non_negative_least_squares(gram, cross)
    for one, aim, size, ours in zip(A, y, trace, found, strict=True):
        padded = np.vstack([one, np.sqrt(RIDGE * size) * np.eye(k)])
        theirs = nnls(padded, np.append(aim, np.zeros(k)))[0]
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
    assert (found == 0).any()


def test_collinear_and_empty_regressors_have_the_fit_of_the_others():
    A, y, _, _ = regressions(40, 12, 3, 7)
    twice = np.concatenate([A, A[..., :1], np.zeros((40, 12, 1))], axis=2)
    gram, cross = np.einsum("tni,tnj->tij", twice, twice), np.einsum("tni,tn->ti", twice, y)
    found = non_negative_least_squares(gram, cross)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    for one, aim, ours in zip(twice, y, found, strict=True):
        best = nnls(one, aim)[1]
        assert np.linalg.norm(one @ ours - aim) == pytest.approx(best, rel=1e-6)


def test_no_targets_and_units_of_any_size():
    assert non_negative_least_squares(np.empty((0, 3, 3)), np.empty((0, 3))).shape == (0, 3)
    _, _, gram, cross = regressions(20, 12, 4, 1)
    for size in (1e-8, 1e8):
        np.testing.assert_allclose(
            non_negative_least_squares(gram * size**2, cross * size),
            non_negative_least_squares(gram, cross) / size,
            rtol=1e-9,
        )
