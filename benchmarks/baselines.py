"""What people do today, to compare with."""

from typing import Any

import numpy as np

from halfseen import GaussianMixture
from halfseen.data.arrays import Array
from halfseen.data.engines.memory import MemoryRows
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.inference.model import EMResult
from halfseen.moments.survey import survey


def em_from(
    X: Array, weights: Array, means: Array, variance: float, tolerance: float = 1e-7
) -> EMResult[Any]:
    """EM with gaps from given parameters of a mixture with one variance."""
    start = MixtureParameters(weights, means, np.full(means.shape, variance))
    rows = MemoryRows(X, tuple(map(str, range(X.shape[1]))))
    seen = survey(rows, 0.95)
    mixture = GaussianMixture(outliers=None, tol=tolerance, max_iter=500)
    return mixture._model().adapted_to(rows, seen).run_em(rows, start, 500)


def em_from_random_starts(
    X: Array, n_components: int, n_starts: int, rng: np.random.Generator
) -> EMResult[Any]:
    """The best of EM from random starts: means at random rows, gaps there at the features' means.

    The same EM as ours, leaps and all.
    """
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    variance = float(np.nanvar(X, axis=0).mean())
    even = np.full(n_components, 1 / n_components)
    runs = [
        em_from(X, even, filled[rng.choice(len(X), n_components, replace=False)], variance)
        for _ in range(n_starts)
    ]
    return max(runs, key=lambda run: run.convergence.log_likelihood or -np.inf)
