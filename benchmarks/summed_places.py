"""Sums of three places against all rows: by moments, by rounds, and how large the files are.

Run ``python -m benchmarks.summed_places`` (``--keep`` keeps the figures): how far parameters that
are read off the sums of three places are from a fit to all rows by moments; how far the likelihood
is from that of the fit to all rows after 30 rounds, from where the moments lead; and bytes of the
files by number of columns, beside the formula.
"""

import argparse
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import results_file
from halfseen import GammaPoisson, GaussianMixture, LatentClass, Plan, simulate, summed
from halfseen.data.engines.precomputed import MoreSumsNeeded
from halfseen.inference.parameters import declared
from halfseen.moments import symmetric_tensors

ROUNDS = 30
COLUMNS = (5, 10, 20, 50, 100, 110, 200)
SEEDS = range(3000, 3003)


def gaussian(seed: int, n: int = 3000) -> Any:
    """Three groups in six columns, of which two have gaps."""
    rng = np.random.default_rng(seed)
    X, _ = simulate.gaussian_mixture(n, [0.5, 0.3, 0.2], rng.normal(20, 3, (3, 6)), 1.0, rng)
    return simulate.independent_gaps(X, [1, 1, 1, 1, 0.6, 0.4], rng)


def counts(seed: int, n: int = 3000) -> Any:
    """Two topics of six columns, of which two have gaps."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(6, 0.5), size=2)
    X, _ = simulate.gamma_poisson(n, topics, [1.0, 0.7], 0.05, rng)
    return simulate.independent_gaps(X, [1, 1, 1, 1, 0.6, 0.4], rng)


def mixed(seed: int, n: int = 3000) -> Any:
    """Three classes in columns of four kinds, with gaps."""
    import pandas as pd  # type: ignore[import-untyped]

    rng = np.random.default_rng(seed)
    own = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    ward = np.where(rng.random(n) < 0.7, own, rng.integers(3, size=n))
    table = pd.DataFrame(
        {
            "temperature": rng.normal(np.array([36.8, 39.0, 37.5])[own], 0.5),
            "age": rng.normal(np.array([40.0, 60.0, 80.0])[own], 8.0),
            "cough": np.where(rng.random(n) < np.array([0.1, 0.9, 0.5])[own], "yes", "no"),
            "ward": np.array(["a", "b", "c"])[ward],
            "visits": np.minimum(rng.poisson(np.array([0.5, 3.0, 1.0])[own]), 6),
        }
    )
    return table.mask(rng.random(table.shape) < [0, 0.2, 0.3, 0, 0.1])


def of_three(X: Any, plan: Plan, at: Any = None, leave_out: bool = False) -> Any:
    """The sums of three places."""
    n = len(X)
    parts = X[: n // 4], X[n // 4 : n // 2], X[n // 2 :]
    one, two, three = (summed(part, plan, at=at, leave_out=leave_out) for part in parts)
    return one + two + three


def begun(estimator: Any, X: Any, plan: Plan) -> Any:
    """The model that first sums lead to, and in how many rounds."""
    sums = of_three(X, plan)
    while True:
        try:
            return type(estimator)(**estimator.get_params()).fit(sums), len(sums.rounds) + 1
        except MoreSumsNeeded:
            sums = of_three(X, plan, at=sums)


def wide(plan: Plan) -> Plan:
    """With ranges that clip nothing."""
    columns = tuple(c if c.values else replace(c, low=-1e4, high=1e4) for c in plan.columns)
    return replace(plan, columns=columns)


def parameters(model: Any) -> Any:
    """All that was learned, in one vector."""
    names = [one.name for one in declared(model.Parameters)]
    return np.concatenate([np.ravel(np.asarray(getattr(model, n), dtype=float)) for n in names])


MOMENTS: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "gaussian, tied_spherical": (GaussianMixture(3), gaussian),
    "gaussian, spherical": (GaussianMixture(3, covariance_type="spherical"), gaussian),
    "gamma-poisson": (GammaPoisson(2), counts),
}
CLIMBS: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "gaussian, tied_spherical": (GaussianMixture(3), gaussian),
    "gaussian, diag": (GaussianMixture(3, covariance_type="diag"), gaussian),
    "gaussian, full": (GaussianMixture(3, covariance_type="full"), gaussian),
    "classes": (LatentClass(3), mixed),
}


def by_moments(estimator: Any, drawn: Callable[[int], Any], seed: int) -> float:
    """The largest difference of a parameter, relative to its size or one."""
    X = drawn(seed)
    found, _ = begun(estimator, X, wide(Plan.of(X[: len(X) // 4], estimator)))
    own = {"refine": None, "outliers": None, "incomplete_features": "divide"}
    own |= {"third_moment": "explicit"}
    wanted = type(estimator)(**(estimator.get_params() | own)).fit(X)
    ours, theirs = parameters(found), parameters(wanted)
    return float(np.nanmax(np.abs(ours - theirs) / np.maximum(np.abs(theirs), 1.0)))


def by_rounds(estimator: Any, drawn: Callable[[int], Any], seed: int) -> tuple[float, int]:
    """Nats a row below the fit to all rows after 30 rounds, and rounds before the first model."""
    X = drawn(seed)
    plan = wide(Plan.of(X, estimator))
    model, n_before = begun(estimator, X, plan)
    for _ in range(ROUNDS):
        like = type(estimator)(**estimator.get_params())
        model = like.fit(of_three(X, plan, at=model))
    wanted = type(estimator)(**(estimator.get_params() | {"outliers": None})).fit(X)
    return wanted.score(X) - model.score(X), n_before


def sizes() -> dict[str, dict[str, float]]:
    """Megabytes of the files of all rounds that a model by moments takes, and the formula."""
    found = {}
    for d in COLUMNS:
        rng = np.random.default_rng(d)
        means = rng.normal(0, 2, (2, d))
        X, _ = simulate.gaussian_mixture(600, [0.5, 0.5], means, 1.0, rng)
        plan = Plan.of(X, GaussianMixture(2))
        sums = of_three(X, plan)
        triples = symmetric_tensors.size(2 * d) if plan.few_columns else 0
        first = len(sums.dumped())
        row = {"formula": 8e-6 * (triples + 4 * d * d), "first": 1e-6 * first, "second": 0.0}
        if not plan.few_columns:
            row["second"] = 1e-6 * len(of_three(X, plan, at=sums).dumped())
        found[str(d)] = row
        print(d, {key: round(value, 3) for key, value in row.items()}, flush=True)
    return found


def main() -> None:
    """Print the figures, and keep them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--keep", action="store_true")
    asked = options.parse_args()
    figures: dict[str, Any] = {"moments": {}, "rounds": {}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (estimator, drawn) in MOMENTS.items():
            figures["moments"][name] = max(by_moments(estimator, drawn, s) for s in SEEDS)
            print("moments", name, figures["moments"][name], flush=True)
        for name, (estimator, drawn) in CLIMBS.items():
            each = [by_rounds(estimator, drawn, seed) for seed in SEEDS]
            below = [one for one, _ in each]
            figures["rounds"][name] = {"nats_below": below, "rounds_before": each[0][1]}
            print("rounds", name, figures["rounds"][name], flush=True)
        figures["megabytes"] = sizes()
    if asked.keep:
        print(results_file.write("summed_places", "python -m benchmarks.summed_places", figures))


if __name__ == "__main__":
    main()
