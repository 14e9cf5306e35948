"""How often confidence intervals hold the truth, and what they cost.

Run ``python -m benchmarks.coverage probabilities``: latent classes of which probabilities are near
zero and one, and chains of states, 200 tables each.

Run ``python -m benchmarks.coverage mixtures``: 200 tables for each pattern of gaps, mixtures of
5,000 rows and gamma-Poisson topics of 10,000, and the time of 200 replicates beside that of a fit.

Intervals were made on seeds below 1,000; those here begin at 10,000.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning

from benchmarks import results_file
from benchmarks.markov_tables import chain, draw, with_gaps
from benchmarks.number_of_components import N_COMPLETE, N_FEATURES, PATTERNS
from halfseen import (
    GammaPoisson,
    GaussianMixture,
    HiddenMarkov,
    LatentClass,
    WeakMomentsWarning,
    simulate,
)
from halfseen.data.arrays import Array

FIRST_SEED = 10_000
N_COMPONENTS = 4
Truth = dict[str, Array]
Held = dict[str, Array]
"""Whether intervals hold the truth, by what they are of."""


def mixture(concentration: float) -> Callable[..., tuple[Truth, Array, Any]]:
    """Means ~ N(0, 100), σ² = 100, π ~ Dir(concentration): at 1 some components are rare."""

    def draw(n: int, rng: np.random.Generator) -> tuple[Truth, Array, Any]:
        means = rng.normal(0, 10, (N_COMPONENTS, N_FEATURES))
        weights = rng.dirichlet(np.full(N_COMPONENTS, concentration))
        X = simulate.gaussian_mixture(n, weights, means, 100.0, rng)[0]
        truth = {"means_": means, "weights_": weights, "covariances_": np.array(100.0)}
        return truth, X, GaussianMixture(N_COMPONENTS)

    return draw


def topics(n: int, rng: np.random.Generator) -> tuple[Truth, Array, Any]:
    """Topics ~ Dir(1), shapes of one, rows of 100 counts in the mean."""
    components = rng.dirichlet(np.ones(N_FEATURES), N_COMPONENTS)
    shapes, rate = np.ones(N_COMPONENTS), N_COMPONENTS / 100
    X = simulate.gamma_poisson(n, components, shapes, rate, rng)[0]
    truth = {"components_": components, "shapes_": shapes, "rate_": np.array(rate)}
    return truth, X, GammaPoisson(N_COMPONENTS)


WORLDS: dict[str, tuple[Callable[..., tuple[Truth, Array, Any]], int]] = {
    "Gaussian mixture": (mixture(5.0), 5_000),
    "Gaussian mixture, some components rare": (mixture(1.0), 5_000),
    "gamma-Poisson": (topics, 10_000),
}


def held(world: str, pattern: str, seed: int) -> dict[str, float]:
    """The share of a table's 95 % intervals that hold the truth, for each learned attribute."""
    rng = np.random.default_rng(seed)
    draw, n = WORLDS[world]
    truth, X, model = draw(n, rng)
    X = simulate.independent_gaps(X, np.r_[np.ones(N_COMPLETE), PATTERNS[pattern]], rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakMomentsWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.perf_counter()
        model.fit(X)
        fitted = time.perf_counter()
        found = model.intervals(X)
        done = time.perf_counter()
    places = next(iter(truth))
    order = matching(truth[places], getattr(model, places))
    shares = {}
    for name, true in truth.items():
        turn = order if np.ndim(true) else ...
        shares[name] = float(np.mean(holds(found[name], turn, true)))
    return shares | {"times a fit": (done - fitted) / (fitted - start)}


def matching(true: Array, learned: Array) -> Any:
    """The learned component of each true one, by where they are (k, m)."""
    apart = ((true[:, None] - learned[None]) ** 2).sum(axis=2)
    return linear_sum_assignment(apart)[1]


def holds(interval: Any, turn: Any, true: Array) -> Any:
    """Which ends, with components in the order of the truth, are on either side of it."""
    return (interval.low[turn] <= true) & (true <= interval.high[turn])


TRUTHS = (0.02, 0.05, 0.1, 0.5)
"""Probabilities that items have in classes, of one of their two values."""
THREE_VALUED = ((0.02, 0.05, 0.93), (0.1, 0.4, 0.5))
"""Those of the three values of further items."""
N_ITEMS = 8
MOST_ALIKE = 0.5
"""Bhattacharyya coefficient of the two most similar classes: above, there is little to learn."""
CLASS_WEIGHTS = {2: (0.6, 0.4), 3: (0.5, 0.3, 0.2)}


class Classes(NamedTuple):
    """A kind of tables of latent classes."""

    k: int
    n: int
    gaps: float

    def chances(self, rng: np.random.Generator) -> list[Array]:
        """The probabilities of each item's values in the classes, (k, values) each.

        Every class has every probability of ``TRUTHS`` in two items, of either value.
        """
        while True:
            rare = np.array([rng.permutation(np.resize(TRUTHS, N_ITEMS)) for _ in range(self.k)])
            first = np.where(rng.random(rare.shape) < 0.5, rare, 1 - rare)
            items = list(np.stack([first, 1 - first], axis=2).transpose(1, 0, 2))
            for values in THREE_VALUED:
                items.append(np.array([rng.permutation(values) for _ in range(self.k)]))
            alike = np.prod([np.sqrt(item) @ np.sqrt(item).T for item in items], axis=0)
            if (alike[np.triu_indices(self.k, 1)] <= MOST_ALIKE).all():
                return items

    def held(self, seed: int) -> Held | None:
        """Of a table: whether intervals hold weights, and probabilities by what these are.

        None if fewer classes were found.
        """
        rng = np.random.default_rng(seed)
        chances, weights = self.chances(rng), np.array(CLASS_WEIGHTS[self.k])
        z = rng.choice(self.k, size=self.n, p=weights)
        X = np.column_stack([draw_values(rng, item[z]) for item in chances])
        X[rng.random(X.shape) < self.gaps] = np.nan
        kinds = dict.fromkeys(map(str, range(len(chances))), "categorical")
        model: Any = LatentClass(self.k, kinds=kinds, random_state=0).fit(X)
        if len(model.weights_) < self.k:
            return None
        true = np.full(model.level_shares_.shape, np.nan)
        for d, item in enumerate(chances):  # some values may not be in the table
            there = np.isfinite(model.level_values_[:, d])
            true[there, :, d] = item[:, model.level_values_[there, d].astype(int)].T
        places = (np.nan_to_num(one).swapaxes(0, 1) for one in (true, model.level_shares_))
        order = matching(*(one.reshape(self.k, -1) for one in places))
        found = model.intervals(X)
        inside = holds(found["level_shares_"], np.s_[:, order], true)
        by_truth = {f"{one:g}": inside[np.isclose(true, one)] for one in TRUTHS}
        return by_truth | {"weights_": holds(found["weights_"], order, weights)}


def draw_values(rng: np.random.Generator, chances: Array) -> Array:
    """A value for each row, from the probabilities of all of them (n, values)."""
    below = np.cumsum(chances, axis=1)[:, :-1]
    values: Array = (rng.random((len(chances), 1)) > below).sum(axis=1).astype(float)
    return values


class Chains(NamedTuple):
    """A kind of tables of sequences: states with normal columns that are well apart."""

    k: int
    n_sequences: int
    length: int
    observed: float  # the least share of rows that columns are observed in

    def held(self, seed: int) -> Held | None:
        """Of a table: whether intervals hold means, transitions and starts.

        None if fewer states were found.
        """
        rng = np.random.default_rng([seed, 5])
        of = chain(rng, self.k, 6)
        of = of._replace(means=1.5 * of.means)
        X, _ = draw(rng, of, self.n_sequences, self.length)
        if self.observed < 1:
            X = with_gaps(rng, X, self.observed)
        lengths = [self.length] * self.n_sequences
        model: Any = HiddenMarkov(self.k, outliers=None, random_state=0).fit(X, lengths=lengths)
        if len(model.start_) < self.k:
            return None
        order = matching(of.means, model.means_)
        found = model.intervals(X, lengths=lengths)
        return {
            "means_": holds(found["means_"], order, of.means),
            "transition_": holds(found["transition_"], np.ix_(order, order), of.transition),
            "start_": holds(found["start_"], order, of.start),
        }


PROBABILITIES: dict[str, Classes | Chains] = {
    f"{k} classes, {n} rows, {said}": Classes(k, n, gaps)
    for k in CLASS_WEIGHTS
    for n in (200, 1000)
    for gaps, said in ((0.0, "complete"), (0.3, "30 % gaps"))
} | {
    f"{k} states, {s} x {t} rows, {said}": Chains(k, s, t, observed)
    for k, s, t in ((2, 20, 10), (3, 20, 10), (3, 100, 50))
    for observed, said in ((1.0, "complete"), (0.4, "gaps"))
}


def of_probabilities(name: str, sets: int, jobs: int) -> dict[str, float]:
    """The share of intervals that hold the truth, by what they are of."""
    seeds = range(FIRST_SEED, FIRST_SEED + sets)
    every = Parallel(jobs)(delayed(quietly)(PROBABILITIES[name], seed) for seed in seeds)
    found = [one for one in every if one is not None]
    shares = {
        what: float(np.mean(np.concatenate([one[what].ravel() for one in found])))
        for what in found[0]
    }
    return shares | {"tables": len(found), "fewer components": sets - len(found)}


def quietly(kind: Classes | Chains, seed: int) -> Held | None:
    """Without warnings of tables that are small."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind.held(seed)


MIXTURES = {f"{world}, {pattern}": (world, pattern) for world in WORLDS for pattern in PATTERNS}


def of_mixtures(name: str, sets: int, jobs: int) -> dict[str, float]:
    """The same of mixtures and topics, and the time that intervals take beside a fit."""
    seeds = range(FIRST_SEED, FIRST_SEED + sets)
    found = Parallel(jobs)(delayed(held)(*MIXTURES[name], seed) for seed in seeds)
    summary = {what: float(np.mean([one[what] for one in found])) for what in found[0]}
    return summary | {"times a fit": float(np.median([one["times a fit"] for one in found]))}


PARTS: dict[str, tuple[Callable[..., dict[str, float]], tuple[str, ...]]] = {
    "probabilities": (of_probabilities, tuple(PROBABILITIES)),
    "mixtures": (of_mixtures, tuple(MIXTURES)),
}


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="kinds of tables whose name has this in it")
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    measure, names = PARTS[options.part]
    file, figures = f"coverage_{options.part}", {}
    for name in names:
        if options.only in name:
            figures[name] = measure(name, options.sets, options.jobs)
            print(name, figures[name], flush=True)
    if options.keep:
        command = f"python -m benchmarks.coverage {options.part} --sets {options.sets}"
        every = results_file.kept(file) | figures
        results_file.write(file, command, {name: every[name] for name in names if name in every})


if __name__ == "__main__":
    main()
