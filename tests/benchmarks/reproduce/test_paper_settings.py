"""The paper's settings are in one place and are what the paper did."""

import numpy as np
import pytest

from benchmarks.reproduce import paper
from benchmarks.reproduce.methods import METHODS
from benchmarks.reproduce.synthetic import PATTERNS, gaussian_world, table
from halfseen import GammaPoisson, GaussianMixture


@pytest.mark.parametrize("method", paper.METHODS)
def test_the_papers_mixture(method):
    settings = paper.gaussian_mixture(4, method).get_params()
    assert settings["method"] == method
    assert settings["feature_weights"] == "observed"
    assert settings["form"] == "raw"
    assert settings["decomposer"] == "power"
    assert settings["noise_eigenvalues"] == "D-K"
    assert settings["covariance_type"] == "tied_spherical"


@pytest.mark.parametrize("make", [paper.gaussian_mixture, paper.gamma_poisson])
def test_incomplete_features_are_divided_by_their_weights(make):
    assert make(4, "weighted").incomplete_features == "divide"
    assert make(4, "partial").incomplete_features == "regress"


@pytest.mark.parametrize("make", [paper.gaussian_mixture, paper.gamma_poisson])
def test_outliers_are_not_looked_for(make):
    assert make(4).outliers is None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", ["gaussian", "gamma-poisson"])
def test_no_figure_allows_for_outliers(method, model, monkeypatch):
    for kind in (GaussianMixture, GammaPoisson):
        monkeypatch.setattr(kind, "fit", lambda self, X: self)
    X = np.abs(np.random.default_rng(0).normal(size=(60, 6)))
    assert METHODS[method].fits[model](2, X).outliers is None


def test_other_parameters_can_be_given():
    assert paper.gamma_poisson(4, random_state=3).random_state == 3
    assert isinstance(paper.gamma_poisson(4), GammaPoisson)
    assert isinstance(paper.gaussian_mixture(4), GaussianMixture)


def test_the_papers_pipeline_written_out_gives_the_same_means():
    """Appendix A and B with plain loops over entries: no packed tensors, no shared code."""
    _, X = table(gaussian_world, PATTERNS["high"], 3000, seed=5)
    d, k = X.shape[1], 4
    seen = ~np.isnan(X)
    z = np.where(seen, X, 0.0)
    p = seen.mean(axis=0)
    mean = z.sum(axis=0) / seen.sum(axis=0)
    second = (z.T @ z) / (seen.T.astype(float) @ seen)
    third = np.einsum("ni,nj,nk->ijk", z, z, z) / np.einsum(
        "ni,nj,nk->ijk", *[seen.astype(float)] * 3
    )
    covariance = second[:6, :6] - np.outer(mean[:6], mean[:6])
    variance = np.linalg.eigvalsh(covariance)[: 6 - k].mean()
    eye = np.eye(d)
    third -= variance * (
        np.einsum("ij,k->ijk", eye, mean)
        + np.einsum("ik,j->ijk", eye, mean)
        + np.einsum("jk,i->ijk", eye, mean)
    )
    weighted = np.outer(p, p) * (second - variance * eye)
    values, vectors = np.linalg.eigh(weighted)
    values, vectors = values[-k:], vectors[:, -k:]
    whiten = vectors / np.sqrt(values)
    scaled = third * p[:, None, None] * p[None, :, None] * p[None, None, :]
    tensor = np.einsum("ijk,ia,jb,kc->abc", scaled, whiten, whiten, whiten, optimize=True)
    found = []
    rng = np.random.default_rng(0)
    for _ in range(k):
        best, height = None, -np.inf
        for v in rng.standard_normal((30, k)):
            for _ in range(300):
                v = np.einsum("abc,b,c->a", tensor, v, v)
                v /= np.linalg.norm(v)
            value = np.einsum("abc,a,b,c", tensor, v, v, v)
            if value > height:
                best, height = v, value
        tensor = tensor - height * np.einsum("a,b,c->abc", best, best, best)
        found.append(best)
    model = paper.gaussian_mixture(k, random_state=0).fit(X)
    # λ is read off the tensor before deflation.
    full = np.einsum("ijk,ia,jb,kc->abc", scaled, whiten, whiten, whiten, optimize=True)
    heights = [np.einsum("abc,a,b,c", full, v, v, v) for v in found]
    back = vectors * np.sqrt(values)
    means = np.array([h * back @ v / p for h, v in zip(heights, found, strict=True)])
    order = [np.argmin(np.linalg.norm(model.means_ - m, axis=1)) for m in means]
    np.testing.assert_allclose(model.means_[order], means, rtol=1e-6, atol=1e-6)
