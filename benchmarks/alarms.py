"""How often each concern is raised where there is cause, and where there is none.

Run ``python -m benchmarks.alarms``: 100 tables of each kind; ``--kinds`` for some concerns only,
the others staying as they are kept. With ``--every-model`` any concern at all is counted on sound
tables of every model, and the concern that is due on tables with one of five faults, each of 1,000
rows (``alarm_tables.py``); ``--worlds`` for some of them. Seeds from 20,000 were not tuned on.
"""

import argparse
import warnings
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from benchmarks import alarm_tables, results_file
from benchmarks.number_of_components import FIRST_SEED
from halfseen import (
    GammaPoisson,
    GaussianMixture,
    LatentDirichletAllocation,
    WeakMomentsWarning,
    simulate,
)
from halfseen.data.arrays import Array

N_ROWS, N_FEATURES, K = 4_000, 8, 3
OBSERVED = np.array([1.0, 1, 1, 1, 1, 0.7, 0.5, 0.3])
K_SHARES, WORDS = 5, 60
FIRST_OF_EVERY_MODEL = 20_000
"""The first seed of tables of every model; those below 1,000 were tuned on."""
Table = tuple[Array, Any]
"""A table with gaps, and a model to fit to it."""


def _gappy(X: Array, rng: np.random.Generator) -> Array:
    return simulate.independent_gaps(X, OBSERVED[: X.shape[1]], rng)


def _mixture(rng: np.random.Generator, apart: float = 3.0, noise: Any = 1.0) -> Array:
    """Components of a share of at least .15, ``apart`` standard deviations in each feature."""
    means = rng.normal(0, apart, (K, N_FEATURES))
    weights = 0.15 + 0.55 * rng.dirichlet(np.ones(K))
    labels = rng.choice(K, N_ROWS, p=weights)
    table: Array = means[labels] + np.sqrt(noise) * rng.normal(size=(N_ROWS, N_FEATURES))
    return table


def _topics(rng: np.random.Generator) -> Array:
    return rng.dirichlet(np.ones(N_FEATURES), K)


def _counts(rng: np.random.Generator) -> Array:
    return simulate.gamma_poisson(N_ROWS, _topics(rng), np.ones(K), K / 100, rng)[0]


def sound_mixture(rng: np.random.Generator) -> Table:
    """Nothing is wrong."""
    return _gappy(_mixture(rng), rng), GaussianMixture(K)


def sound_topics(rng: np.random.Generator) -> Table:
    """Nothing is wrong."""
    return _gappy(_counts(rng), rng), GammaPoisson(K)


def sound_shares(rng: np.random.Generator) -> Table:
    """Nothing is wrong, with shares of topics in rows of any length."""
    return _shared_out(rng, rng.dirichlet(np.full(K_SHARES, 0.5), N_ROWS))


def shares_that_go_along(rng: np.random.Generator) -> Table:
    """Logistic normal shares: two topics go along with each other, the others with none."""
    normal = rng.normal(size=(N_ROWS, K_SHARES))
    normal[:, 1] = 0.7 * normal[:, 0] + np.sqrt(0.51) * normal[:, 1]
    odds = np.exp(1.5 * normal)
    return _shared_out(rng, odds / odds.sum(axis=1, keepdims=True))


def _shared_out(rng: np.random.Generator, shares: Array) -> Table:
    lengths = 20 + rng.poisson(rng.gamma(2.0, 60.0, N_ROWS))
    topics = rng.dirichlet(np.full(WORDS, 0.1), K_SHARES)
    table = rng.multinomial(lengths, shares @ topics).astype(float)
    return table, LatentDirichletAllocation(K_SHARES, refine="saem", random_state=0)


def telling_gaps(rng: np.random.Generator) -> Table:
    """High values of the first feature make others known."""
    X = simulate.value_gaps(_mixture(rng), [5, 6, 7], 0.5, rng, driver=0, strength=0.5)
    return X, GaussianMixture(K)


def telling_gaps_of_counts(rng: np.random.Generator) -> Table:
    """The same of counts."""
    X = simulate.value_gaps(_counts(rng), [5, 6, 7], 0.5, rng, driver=0, strength=0.5)
    return X, GammaPoisson(K)


def blocks(rng: np.random.Generator) -> Table:
    """Three features are missing together."""
    X = simulate.block_gaps(_mixture(rng), [0, 0, 0, 0, 0, 1, 1, 1], [1.0, 0.4], rng)
    return X, GaussianMixture(K)


def rare_pairs(rng: np.random.Generator) -> Table:
    """Two features are together in about 10 rows."""
    observed = np.array([1.0, 1, 1, 1, 1, 1, 0.05, 0.05])
    return simulate.independent_gaps(_mixture(rng), observed, rng), GaussianMixture(K)


def noise_feature(rng: np.random.Generator) -> Table:
    """One feature has the same mean in all components."""
    X = _mixture(rng)
    X[:, 6] = rng.normal(size=len(X))
    return _gappy(X, rng), GaussianMixture(K)


def noise_word(rng: np.random.Generator) -> Table:
    """One feature is Poisson whatever the topics."""
    X = _counts(rng)
    X[:, 6] = rng.poisson(10.0, len(X))
    return _gappy(X, rng), GammaPoisson(K)


def one_too_many(rng: np.random.Generator) -> Table:
    """A component too many is asked for."""
    return _gappy(_mixture(rng), rng), GaussianMixture(K + 1)


def one_topic_too_many(rng: np.random.Generator) -> Table:
    """The same of topics."""
    return _gappy(_counts(rng), rng), GammaPoisson(K + 1)


def one_too_few(rng: np.random.Generator) -> Table:
    """A component too few is asked for."""
    return _gappy(_mixture(rng), rng), GaussianMixture(K - 1)


def overlapping(rng: np.random.Generator) -> Table:
    """Components are about 1.2 standard deviations apart."""
    return _gappy(_mixture(rng, apart=0.3), rng), GaussianMixture(K)


def uneven_noise(rng: np.random.Generator) -> Table:
    """One feature has 1.6 times the noise of the others."""
    noise = np.ones(N_FEATURES)
    noise[2] = 1.6
    return _gappy(_mixture(rng, noise=noise), rng), GaussianMixture(K)


def shared_noise(rng: np.random.Generator) -> Table:
    """The noise of two features has a correlation of 0.5."""
    X = _mixture(rng, noise=np.r_[0.5, 0.5, np.ones(N_FEATURES - 2)])
    X[:, :2] += np.sqrt(0.5) * rng.normal(size=(len(X), 1))
    return _gappy(X, rng), GaussianMixture(K)


def fixed_lengths(rng: np.random.Generator) -> Table:
    """Rows of 100 items each."""
    shares = rng.dirichlet(np.ones(K), N_ROWS) @ _topics(rng)
    return _gappy(rng.multinomial(100, shares).astype(float), rng), GammaPoisson(K)


def poisson_lengths(rng: np.random.Generator) -> Table:
    """Rows of a Poisson number of items."""
    shares = rng.dirichlet(np.ones(K), N_ROWS) @ _topics(rng)
    return _gappy(rng.poisson(100 * shares).astype(float), rng), GammaPoisson(K)


def heavy_loadings(rng: np.random.Generator) -> Table:
    """Loadings that are log-normal and not gamma."""
    loadings = 100 / K * rng.lognormal(-0.5, 1.0, (N_ROWS, K))
    return _gappy(rng.poisson(loadings @ _topics(rng)).astype(float), rng), GammaPoisson(K)


def bursty_words(rng: np.random.Generator) -> Table:
    """Words that were used are used again: negative binomial given the topics."""
    loadings = rng.gamma(1.0, 100 / K, (N_ROWS, K))
    rates = loadings @ _topics(rng) * rng.gamma(2.0, 0.5, (N_ROWS, N_FEATURES))
    return _gappy(rng.poisson(rates).astype(float), rng), GammaPoisson(K)


def wild_count(rng: np.random.Generator) -> Table:
    """One count is mistyped."""
    X = _gappy(_counts(rng), rng)
    X[rng.integers(N_ROWS), 1] = 5_000.0
    return X, GammaPoisson(K)


def long_rows(rng: np.random.Generator) -> Table:
    """Three rows are sums of many."""
    X = _counts(rng)
    X[:3] = 60 * (1 + X[:3])
    return _gappy(X, rng), GammaPoisson(K)


def mistyped_cells(rng: np.random.Generator) -> Table:
    """Three cells have a decimal point too few."""
    X = _mixture(rng)
    X[rng.choice(len(X), 3, replace=False), 2] = 60.0
    return _gappy(X, rng), GaussianMixture(K)


def heavy_tails(rng: np.random.Generator) -> Table:
    """Noise of Student's t with two degrees of freedom."""
    X = _mixture(rng, noise=np.zeros(N_FEATURES)) + rng.standard_t(2, (N_ROWS, N_FEATURES))
    return _gappy(X, rng), GaussianMixture(K)


SOUND = (sound_mixture, sound_topics)
ALSO_SOUND = {"correlated_components": (sound_shares,)}
"""Worlds in which one concern would be a false alarm, and which take long."""
CAUSES: dict[str, tuple[Callable[[np.random.Generator], Table], ...]] = {
    "missing_not_at_random": (telling_gaps, telling_gaps_of_counts),
    "missing_together": (blocks,),
    "few_joint_observations": (rare_pairs,),
    "noise_only_feature": (noise_feature, noise_word),
    "too_many_components": (one_too_many, one_topic_too_many),
    "too_few_components": (one_too_few,),
    "overlapping_components": (overlapping,),
    "not_spherical": (uneven_noise,),
    "dependent_within": (shared_noise,),
    "outlying_cells": (mistyped_cells,),
    "heavy_tails": (heavy_tails,),
    "not_over_dispersed": (fixed_lengths, poisson_lengths),
    "routes_disagree": (heavy_loadings,),
    "bursts": (bursty_words,),
    "wild_counts": (wild_count,),
    "long_rows": (long_rows,),
    "correlated_components": (shares_that_go_along,),
}


def raised(world: Callable[[np.random.Generator], Table], seed: int) -> set[str]:
    """The kinds of concerns about a table of a world."""
    X, model = world(np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakMomentsWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return {concern.kind for concern in model.fit(X).concerns(X)}


def of_every_model(world: alarm_tables.World, seed: int) -> list[tuple[str, int]]:
    """The kinds of concerns about a table of a world, and how grave they are."""
    table = world(np.random.default_rng(seed))
    more = {} if table.lengths is None else {"lengths": table.lengths}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakMomentsWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = table.model.fit(table.X, **more).concerns(table.X, **more)
    return [(concern.kind, int(concern.gravity)) for concern in found]


def measure_every_model(options: argparse.Namespace) -> None:
    """Shares of sound tables with any concern, and of faulty ones with that which is due."""
    due = {world: kind for kind, worlds in alarm_tables.FAULTS.items() for world in worlds}
    figures: dict[str, Any] = {}
    for world in (*alarm_tables.SOUND, *due):
        if options.worlds and world.__name__ not in options.worlds:
            continue
        found = Parallel(options.jobs)(
            delayed(of_every_model)(world, FIRST_OF_EVERY_MODEL + seed)
            for seed in range(options.sets)
        )
        kinds = [{kind for kind, _ in one} for one in found]
        row: dict[str, Any] = {"tables": options.sets}
        if world in due:
            row["detected"] = float(np.mean([due[world] in one for one in kinds]))
        else:
            row["false alarms"] = float(np.mean([bool(one) for one in kinds]))
            grave = [any(gravity > 1 for _, gravity in one) for one in found]
            row["of numbers or components"] = float(np.mean(grave))
        every = sorted(set().union(*kinds))
        row["each"] = {kind: float(np.mean([kind in one for one in kinds])) for kind in every}
        figures[world.__name__] = row
        print(world.__name__, row, flush=True)
    if options.keep:
        command = f"python -m benchmarks.alarms --every-model --sets {options.sets}"
        before = results_file.kept("alarms_every_model")
        results_file.write("alarms_every_model", command, before | figures)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--kinds", nargs="*", choices=CAUSES, default=list(CAUSES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    parser.add_argument("--every-model", action="store_true")
    parser.add_argument("--worlds", nargs="*", help="some tables of every model only")
    options = parser.parse_args()
    if options.every_model:
        measure_every_model(options)
        return

    def rate(world: Callable[[np.random.Generator], Table], kind: str) -> float:
        return float(np.mean([kind in one for one in found[world.__name__]]))

    causes = {kind: CAUSES[kind] for kind in options.kinds}
    sound = {kind: (*SOUND, *ALSO_SOUND.get(kind, ())) for kind in causes}
    worlds = {*chain(*sound.values(), *causes.values())}
    found = {
        world.__name__: Parallel(options.jobs)(
            delayed(raised)(world, FIRST_SEED + seed) for seed in range(options.sets)
        )
        for world in worlds
    }
    figures = {
        kind: {
            "detected": {world.__name__: rate(world, kind) for world in some},
            "false alarms": {world.__name__: rate(world, kind) for world in sound[kind]},
        }
        for kind, some in causes.items()
    }
    for kind, row in figures.items():
        print(kind, row)
    if options.keep:
        command = f"python -m benchmarks.alarms --sets {options.sets}"
        if options.kinds != list(CAUSES):
            command = f"python -m benchmarks.alarms; {command} --kinds {' '.join(options.kinds)}"
        results_file.write("alarms", command, results_file.kept("alarms") | figures)


if __name__ == "__main__":
    main()
