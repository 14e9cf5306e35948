"""What is measured at a point with a seed: a number for each method, on the same table."""

import time
from functools import cache
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.reproduce import sepsis
from benchmarks.reproduce.description import Point
from benchmarks.reproduce.methods import METHODS, learned_components
from benchmarks.reproduce.quiet import quiet
from benchmarks.reproduce.sources import SOURCES
from halfseen.data.arrays import Array, Labels
from halfseen.diagnostics.recovery import total_angle

ICU_COMPONENTS = 6
TEST_SHARE = 0.2
REPEATS = 5


class Table(NamedTuple):
    """Rows with gaps, and the truth about them."""

    X: Array  # (n, d)
    components: Array  # (k, d)
    complete: Labels


def draw(point: Point, seed: int) -> Table:
    """The table of a point: the same for the same seed, whatever is compared."""
    rng = np.random.default_rng(seed)
    source = SOURCES[point.source]
    world = source.world(rng)
    incomplete = source.incomplete(rng)
    X = point.gaps.put(world.draw(point.n_rows, rng), incomplete, rng)
    complete = np.setdiff1d(np.arange(X.shape[1]), incomplete)
    return Table(without_lone_features(X), world.components, complete)


def without_lone_features(X: Array) -> Array:
    """``X`` without the features that some other is never observed together with.

    Their covariance cannot be estimated. The paper does not say what it does about them; here the
    feature with most such partners goes first, until there are none.
    """
    mask = (~np.isnan(X)).astype(np.float32)
    apart = (mask.T @ mask) == 0  # (d, d)
    used = np.ones(len(apart), dtype=bool)
    while apart[np.ix_(used, used)].any():
        used[np.argmax(np.where(used, apart[:, used].sum(axis=1), -1))] = False
    return np.where(used, X, np.nan)


def angle(point: Point, seed: int) -> dict[str, float]:
    """ε_c: the sum of angles between learned and true components on the complete features."""
    table, source = draw(point, seed), SOURCES[point.source]
    found = {}
    with threadpool_limits(1), quiet():  # one thread: the same sums in the same order everywhere
        for name in point.methods:
            model = METHODS[name].fits[source.model](source.n_components, table.X)
            found[name] = total_angle(learned_components(model), table.components, table.complete)
    return found


def seconds(point: Point, seed: int) -> dict[str, float]:
    """The shortest of a few fits by each method, taken in turns."""
    table, source = draw(point, seed), SOURCES[point.source]
    times: dict[str, list[float]] = {name: [] for name in point.methods}
    with threadpool_limits(1), quiet():
        for _ in range(REPEATS):
            for name in point.methods:
                start = time.perf_counter()
                METHODS[name].fits[source.model](source.n_components, table.X)
                times[name].append(time.perf_counter() - start)
    return {name: min(taken) for name, taken in times.items()}


@cache
def _stays() -> sepsis.Stays:
    return sepsis.load()


def held_out(point: Point, seed: int) -> dict[str, float]:
    """Mean log-likelihood of the complete features of other patients' rows, after training."""
    train, test = sepsis.split_by_patient(_stays(), TEST_SHARE, seed)
    train = train[: point.n_rows]
    complete = (~np.isnan(train)).mean(axis=0) >= 0.95
    test = np.where(complete, test, np.nan)
    with threadpool_limits(1), quiet():
        return {
            name: METHODS[name].fits["gaussian"](ICU_COMPONENTS, train).score(test)
            for name in point.methods
        }
