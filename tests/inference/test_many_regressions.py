"""Many regressions in one pass against one after another, for both models."""

import numpy as np
import pytest

from halfseen import simulate
from halfseen.data.engines import memory
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.resampling import Bins, reweighted
from halfseen.distributions.covariance_types import SHAPES
from halfseen.distributions.normal import Normal
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.latent.loadings import TopicParameters
from halfseen.latent.structure import ClassRegression
from halfseen.latent.topic_regression import TopicRegression
from halfseen.moments.regression import recovered, recovered_each

N, COMPLETE = 300, np.array([True, True, False, True, False])
BINS = Bins.of_groups(np.random.default_rng(1).integers(15, size=N))
WEIGHTS = np.random.default_rng(2).exponential(size=(4, 15))
WEIGHTS[0] = 1.0
WEIGHTS[1, ::4] = 0.0


def mixture(kind, rng):
    means = rng.normal(0, 3, (2, 5))
    X, _ = simulate.gaussian_mixture(N, [0.6, 0.4], means, 1.0, rng)
    references = [
        MixtureParameters(
            np.array([0.5, 0.5]), means[:, COMPLETE] + rng.normal(0, 0.3, (2, 3)), np.ones((2, 3))
        )
        for _ in WEIGHTS
    ]
    return X, ClassRegression(Normal(SHAPES[kind]), np.nanmean(X, axis=0)), references


def topics(rng):
    shares = rng.dirichlet(np.ones(5), 2)
    X, _ = simulate.gamma_poisson(N, shares, [1.0, 2.0], 0.05, rng)
    references = [
        TopicParameters(shares[:, COMPLETE] + rng.random((2, 3)) / 9, np.ones(2), np.ones(2))
        for _ in WEIGHTS
    ]
    return X, TopicRegression(np.zeros(5)), references


MODELS = {
    "tied_spherical": lambda rng: mixture("tied_spherical", rng),
    "diag": lambda rng: mixture("diag", rng),
    "topics": topics,
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_all_at_once_is_one_by_one_on_reweighted_rows(model, weighted, monkeypatch):
    monkeypatch.setattr(memory, "FEWEST_ROWS", 70)
    monkeypatch.setattr(memory, "BLOCK_ENTRIES", 1)
    rng = np.random.default_rng(3)
    X, regression, references = model(rng)
    X = simulate.independent_gaps(X, [1.0, 1.0, 0.5, 0.9, 0.3], rng)
    rows = MemoryRows(X, tuple("abcde"), rng.random(N) + 0.5 if weighted else None)
    together = recovered_each(rows, regression, references, COMPLETE, BINS, WEIGHTS)
    assert len(together) == len(WEIGHTS)
    for ours, reference, weights in zip(together, references, WEIGHTS, strict=True):
        part = reweighted(rows, BINS, weights)
        alone = recovered(part, regression, reference, COMPLETE)
        for name, value in vars(alone).items():
            np.testing.assert_allclose(getattr(ours, name), value, rtol=1e-10, atol=1e-10)
