import numpy as np
import pytest

from benchmarks.reproduce.figures import FIGURES
from benchmarks.reproduce.store import Results


@pytest.fixture
def made_up():
    """Results of a figure with numbers by a rule instead of measurements."""

    def make(name, number, runs=8, quick=True):
        results = Results.none_yet(FIGURES[name], quick)
        rng = np.random.default_rng(0)
        for index, point in enumerate(results.points):
            for seed in range(runs):
                noise = np.exp(0.01 * rng.standard_normal())
                numbers = {m: number(point, m) * noise for m in point.methods}
                results.put(index, seed, numbers)
        return results

    return make
