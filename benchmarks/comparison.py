"""Several estimators on the same tables, and how far each is from the truth."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.reproduce.methods import learned_components
from benchmarks.reproduce.synthetic import N_COMPLETE, PATTERNS, World, table
from halfseen.data.arrays import Array
from halfseen.data.errors import WeakMomentsWarning
from halfseen.diagnostics.recovery import total_angle

Estimators = Mapping[str, Callable[[], Any]]


def errors(
    make: Callable[[np.random.Generator], World], estimators: Estimators, n: int, n_seeds: int
) -> dict[str, dict[str, list[float]]]:
    """ε_c of each estimator on each pattern of gaps, one a seed, paired by seed."""
    results: dict[str, dict[str, list[float]]] = {}
    for pattern, observed in PATTERNS.items():
        results[pattern] = {name: [] for name in estimators}
        for seed in range(n_seeds):
            world, X = table(make, observed, n, seed)
            for name, estimator in estimators.items():
                with warnings.catch_warnings():
                    # The point is to measure what weak moments give.
                    warnings.simplefilter("ignore", WeakMomentsWarning)
                    learned = learned_components(estimator().fit(X))
                error = total_angle(learned, world.components, np.arange(N_COMPLETE))
                results[pattern][name].append(error)
    return results


def geometric_ratio(numerator: Array, denominator: Array) -> tuple[float, float]:
    """Ratio of geometric means of paired errors, and its standard error."""
    logs = np.log(numerator) - np.log(denominator)
    ratio = float(np.exp(logs.mean()))
    return ratio, float(ratio * logs.std(ddof=1) / np.sqrt(len(logs)))
