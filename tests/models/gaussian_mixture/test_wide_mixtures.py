"""Mixtures of so many features that no array of all pairs is formed."""

import numpy as np
import pytest

from halfseen import GaussianMixture, simulate
from halfseen.diagnostics.recovery import total_angle
from halfseen.inference import plan

D, K = 60, 3
MEANS = np.random.default_rng(5).normal(0, 2, (K, D))


def table(gaps):
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(3000, [0.5, 0.3, 0.2], MEANS, [1.0, 1.5, 0.7], rng)
    return gaps(X, rng)


def blocks(X, rng):
    return simulate.block_gaps(X, np.repeat([0, 1, 2], D // 3), [1.0, 0.6, 0.3], rng)


def entangled(X, rng):
    has = rng.random(len(X)) < 0.5
    other = has ^ (rng.random(len(X)) < 0.2)
    seen = np.column_stack([np.ones_like(has), has, other])[:, np.repeat([0, 1, 2], D // 3)]
    return np.where(seen, X, np.nan)


def alone(X, rng):
    return simulate.independent_gaps(X, [1.0] * 20 + [0.7] * 40, rng)


@pytest.mark.parametrize("kind", ["tied_spherical", "diag"])
@pytest.mark.parametrize("gaps", [blocks, entangled])
def test_thin_products_give_the_same_mixture(kind, gaps, monkeypatch):
    X = table(gaps)
    settings = {"covariance_type": kind, "third_moment": "implicit", "max_iter": 1000}
    dense = GaussianMixture(K, **settings).fit(X)
    monkeypatch.setattr(plan, "WIDE", 10)
    thin = GaussianMixture(K, **settings).fit(X)
    assert len(thin.diagnostics_.spectrum) < len(dense.diagnostics_.spectrum)
    assert thin.diagnostics_.third_moment == dense.diagnostics_.third_moment
    np.testing.assert_allclose(thin.means_, dense.means_, atol=1e-4)


def test_thin_products_give_the_same_moments_alone(monkeypatch):
    X = table(blocks)
    settings = {"refine": None, "third_moment": "implicit"}
    dense = GaussianMixture(K, **settings).fit(X)
    monkeypatch.setattr(plan, "WIDE", 10)
    thin = GaussianMixture(K, **settings).fit(X)
    np.testing.assert_allclose(thin.means_, dense.means_, atol=1e-4)
    np.testing.assert_allclose(thin.weights_, dense.weights_, atol=1e-5)
    assert thin.covariances_ == pytest.approx(dense.covariances_, rel=1e-7)


@pytest.mark.parametrize("kind", ["tied_spherical", "spherical"])
def test_features_with_gaps_of_their_own_are_learned(kind, monkeypatch):
    monkeypatch.setattr(plan, "WIDE", 10)
    model = GaussianMixture(K, covariance_type=kind, refine=None).fit(table(alone))
    assert total_angle(model.means_, MEANS) < 0.1
    if kind == "spherical":
        np.testing.assert_allclose(np.sort(model.covariances_), [0.7, 1.0, 1.5], rtol=0.15)


def test_raw_moments_keep_their_array(monkeypatch):
    monkeypatch.setattr(plan, "WIDE", 10)
    model = GaussianMixture(K, form="raw", refine=None).fit(table(blocks))
    assert len(model.diagnostics_.spectrum) == D
