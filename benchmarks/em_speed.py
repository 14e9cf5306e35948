"""What one EM iteration of each model costs beside the matrix products that it cannot avoid.

Run ``python -m benchmarks.em_speed``: 100,000 rows of 20 columns and five components, both in one
run and on one thread, by seconds of the processor, the least of several. Products are those of
NumPy, of the same statistics: of values, squares and presence with each component's parameters, and
with the components' shares; of categories as columns of ones; of rows with each component's
covariance; and of states with the chances to go from one to another, all sequences at once.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import class_speed, markov_tables, results_file
from halfseen import GaussianMixture, HiddenMarkov, LatentClass
from halfseen.data.arrays import Array
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.sequences import Sequences
from halfseen.distributions.mixed import Mixed
from halfseen.moments.survey import survey

N, D, K, LENGTH, SOME = 100_000, 20, 5, 50, 4_000
LEVELS = [5] * 4 + [2] * 4
Twice = tuple[Callable[[], object], Callable[[], object]]
"""One iteration of ours, and its products."""


def least_seconds(function: Callable[[], object], repeats: int) -> float:
    """The shortest time of many runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def iteration(estimator: Any, X: Array, lengths: list[int] | None = None) -> Callable[[], object]:
    """One step of EM on all rows, from where a fit to some of them ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if lengths is None:
            estimator.fit(X[:SOME])
        else:
            estimator.fit(X[:SOME], lengths=[LENGTH] * (SOME // LENGTH))
    fitted = estimator.fitted
    own = None if lengths is None else Sequences.of_lengths(np.array(lengths))
    rows = MemoryRows(X, fitted.names, sequences=own)
    model = fitted.model.adapted_to(rows, survey(rows, 1.0).of_kept())
    steps, parameters = model.structure.steps(model.emission), fitted.parameters
    if isinstance(model.emission, Mixed) and model.emission.facts is not None:  # as in a fit
        parameters = replace(parameters, level_values=model.emission.facts.level_values)
    ready = rows.recentred(np.zeros(X.shape[1]))
    return lambda: steps.maximise(ready.accumulate(steps.expect(parameters)), parameters)


def pairs(*statistics: Array) -> Callable[[], object]:
    """Of statistics (n, s) with parameters (s, k), and of shares with statistics."""
    rng = np.random.default_rng(0)
    ready = [(one, rng.normal(size=(one.shape[1], K))) for one in statistics]
    shares = rng.dirichlet(np.ones(K), len(statistics[0]))

    def products() -> None:
        for one, parameters in ready:
            one @ parameters
            shares.T @ one

    return products


def numbers(kind: str, X: Array) -> Twice:
    """Columns that vary by themselves."""
    model = GaussianMixture(K, covariance_type=kind, outliers=None, max_iter=20, random_state=0)
    filled, mask = np.nan_to_num(X), (~np.isnan(X)).astype(float)
    squares = filled**2 if "diag" in kind else (filled**2).sum(axis=1, keepdims=True)
    return iteration(model, X), pairs(filled, mask, squares)


def correlated(kind: str, X: Array) -> Twice:
    """Columns that go along, of rows without gaps."""
    model = GaussianMixture(K, covariance_type=kind, outliers=None, max_iter=20, random_state=0)
    rng = np.random.default_rng(0)
    roots, shares = rng.normal(size=(K, D, D)), rng.dirichlet(np.ones(K), len(X))

    def products() -> None:
        for k in range(K):
            X @ roots[k]
            X.T @ (shares[:, k, None] * X)

    return iteration(model, X), products


def categories(X: Array) -> Twice:
    """Columns of categories alone."""
    kinds = {str(i): "categorical" for i in range(X.shape[1])}
    model = LatentClass(K, kinds=kinds, outliers=None, max_iter=20, random_state=0)
    ones = [X[:, [i]] == np.arange(n) for i, n in enumerate(LEVELS)]
    return iteration(model, X), pairs(np.hstack(ones).astype(float))


def chain(X: Array) -> Twice:
    """States that last, of sequences of fifty rows."""
    lengths = [LENGTH] * (len(X) // LENGTH)
    model = HiddenMarkov(K, outliers=None, max_iter=20, random_state=0)
    filled, mask = np.nan_to_num(X), (~np.isnan(X)).astype(float)
    emitted = pairs(filled, mask, filled**2)
    rng = np.random.default_rng(0)
    moves, states = rng.dirichlet(np.ones(K), K), rng.random((LENGTH, len(lengths), K))

    def products() -> None:
        emitted()
        for here in states:  # forwards, backwards, and how often each goes where
            here @ moves
            here @ moves.T
            here.T @ here

    return iteration(model, X, lengths), products


def cases() -> dict[str, Twice]:
    """By name."""
    rng = np.random.default_rng(1)
    X = class_speed.numbers(rng, N, K)
    whole = np.nan_to_num(X)
    levels = class_speed.mixed(rng, N, K)[:, 12:]
    states, _ = markov_tables.draw(rng, markov_tables.chain(rng, K, D), N // LENGTH, LENGTH)
    kinds = ("tied_spherical", "spherical", "tied_diag", "diag")
    return {
        **{kind: numbers(kind, X) for kind in kinds},
        **{f"{kind}, no gaps": correlated(kind, whole) for kind in ("tied", "full")},
        "categories": categories(levels),
        "chain": chain(np.where(rng.random(states.shape) < 0.8, states, np.nan)),
    }


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    figures = {}
    with threadpool_limits(1):
        for name, (ours, products) in cases().items():
            cost, floor = (least_seconds(one, options.repeats) for one in (ours, products))
            figures[name] = {"ms": 1e3 * cost, "products ms": 1e3 * floor, "ratio": cost / floor}
            print(f"{name}: {1e3 * cost:.1f} ms, {cost / floor:.2f} times its products", flush=True)
    if options.keep:
        results_file.write("em_speed", "python -m benchmarks.em_speed", figures)


if __name__ == "__main__":
    main()
