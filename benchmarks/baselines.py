"""What people do today, to compare with."""

import numpy as np

from halfseen.method.refinement import Refined
from halfseen.models.gaussian_mixture.covariance_shape import SHAPES
from halfseen.models.gaussian_mixture.em import polish
from halfseen.models.gaussian_mixture.parameters import MixtureParameters
from halfseen.rows.arrays import Array
from halfseen.rows.memory import MemoryRows


def em_from(
    X: Array, weights: Array, means: Array, variance: float, tolerance: float = 1e-7
) -> Refined[MixtureParameters]:
    """EM with gaps from given parameters of a mixture with one variance."""
    start = MixtureParameters(weights, means, np.full(means.shape, variance))
    rows = MemoryRows(X, tuple(map(str, range(X.shape[1]))))
    feature_range = np.nanmax(X, axis=0) - np.nanmin(X, axis=0)
    shape = SHAPES["tied_spherical"]
    return polish(rows, start, shape, feature_range, tolerance=tolerance, max_iterations=500)


def em_from_random_starts(
    X: Array, n_components: int, n_starts: int, rng: np.random.Generator
) -> Refined[MixtureParameters]:
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
    heights = [run.climb.log_likelihood if run.climb else -np.inf for run in runs]
    return runs[int(np.argmax(heights))]
