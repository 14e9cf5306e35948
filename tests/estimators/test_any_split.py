"""Rows may be cut into blocks and ordered in any way: every route gives the same parameters."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from halfseen import GammaPoisson, GaussianMixture, simulate
from halfseen.data.engines import memory
from halfseen.data.engines import sparse_rows as sparse_engine
from halfseen.inference import plan

N, D, K = 400, 9, 2
MEANS = np.random.default_rng(1).normal(0, 3, (K, D))
TOPICS = np.random.default_rng(2).dirichlet(np.full(D, 0.4), size=K)


def independent(X, rng):
    return simulate.independent_gaps(X, [1.0] * 5 + [0.8] * 4, rng)


def entangled(X, rng):
    has = rng.random(N) < 0.6
    seen = np.ones((N, D), bool)
    seen[:, 5:7] = has[:, None]
    seen[:, 7:] = (has ^ (rng.random(N) < 0.2))[:, None]
    return np.where(seen, X, np.nan)


ROUTES = {  # the route, what gaps lead to it, and whether features are too many for an array
    "explicit": ("explicit", independent, False),
    "implicit": ("implicit", independent, False),
    "least squares": ("implicit", entangled, False),
    "thin implicit": ("implicit", independent, True),
    "thin least squares": ("implicit", entangled, True),
}


@functools.cache
def table(model, gaps):
    rng = np.random.default_rng(3)
    if model is GaussianMixture:
        X, _ = simulate.gaussian_mixture(N, [0.6, 0.4], MEANS, 1.0, rng)
    else:
        X, _ = simulate.gamma_poisson(N, TOPICS, [1.0, 1.0], 0.05, rng)
    return gaps(X, rng)


def learned(model, route, X, n_jobs=1):
    settings = {"refine": None} if model is GaussianMixture else {}
    fitted = model(K, third_moment=ROUTES[route][0], n_jobs=n_jobs, **settings).fit(X)
    assert fitted.diagnostics_.third_moment == route.removeprefix("thin ")
    if model is GaussianMixture:
        return np.concatenate([fitted.weights_, fitted.means_.ravel(), [fitted.covariances_]])
    return np.concatenate([fitted.components_.ravel(), fitted.shapes_, [fitted.rate_]])


@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    ("model", "is_sparse"),
    [(GaussianMixture, False), (GammaPoisson, False), (GammaPoisson, True)],
    ids=["mixture", "topics", "sparse topics"],
)
@settings(max_examples=5, deadline=None)
@given(size=st.integers(1, N), seed=st.integers(0, 2**32 - 1), n_jobs=st.integers(1, 3))
def test_blocks_and_their_order_do_not_change_the_parameters(
    model, route, is_sparse, size, seed, n_jobs
):
    _, gaps, thin = ROUTES[route]
    X = table(model, gaps)
    shuffled = X[np.random.default_rng(seed).permutation(N)]
    if is_sparse:
        X, shuffled = csr_array(X), csr_array(shuffled)
    with pytest.MonkeyPatch.context() as patch:
        if thin:
            patch.setattr(plan, "WIDE", 1)
            patch.setattr(plan, "SPARSE_WIDE", 1)
        expected = learned(model, route, X)
        patch.setattr(memory, "BLOCK_ENTRIES", 1)
        patch.setattr(memory, "FEWEST_ROWS", size)
        patch.setattr(sparse_engine, "BLOCK_ENTRIES", 1)
        patch.setattr(sparse_engine, "FEWEST_ROWS", size)
        found = learned(model, route, shuffled, n_jobs)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
