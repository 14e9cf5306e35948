"""Covariances of Gaussian mixtures: the right spread, the maximum of the likelihood, and the prior.

Run ``python -m benchmarks.covariances`` with one of these:

``clusters``
    Three clusters of standard deviation 1, 3 to 3,000 apart: how many components are found, and
    their standard deviations (pooled over components), for every kind of covariance.
``em``
    Complete real tables: log-likelihood with ``prior=None`` beside the best of ten random starts of
    scikit-learn's EM, and what one more step of plain EM gains from our result.
``held_out``
    The same tables, five folds: log-likelihood of held-out rows with the default prior and without.
``prior``
    The same for several strengths of the prior, on tables that it was chosen on.
``affine``
    Log-likelihood after affine maps of the columns (changes of units if columns are independent),
    and after other orders of columns and rows.

The strength of the prior was chosen on iris, wine, diabetes, penguins and simulated tables of seeds
5 to 9; the
figures of ``em`` and ``held_out`` are of other tables.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn import datasets, mixture
from sklearn.model_selection import KFold

from benchmarks import results_file
from benchmarks.reproduce import data_folder
from halfseen import GaussianMixture
from halfseen.data.arrays import Array

SEPARATIONS = (3, 30, 300, 3000)
KINDS = ("tied_spherical", "spherical", "tied_diag", "diag", "tied", "full", "factor")
CORRELATED = ("tied", "full")
NUMBERS = (2, 3, 4, 5)
RANDOM_STARTS, FOLDS = 10, 5
STRENGTHS = (None, 0.1, 0.3, 1.0, 3.0, 10.0)
Figures = dict[str, Any]


def clusters(seed: int, separation: float) -> Array:
    """300 rows of four columns, in three clusters along the diagonal."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=300)
    noise = rng.normal(size=(300, 4))
    return noise + separation * np.array([0, 1, -1])[group][:, None]


def pooled_deviations(model: GaussianMixture) -> Array:
    """Standard deviations of the columns within components; (d,)."""
    fitted = model.fitted
    emission: Any = fitted.model.emission  # type: ignore[attr-defined]
    variances = emission.variances(fitted.parameters)
    pooled: Array = np.sqrt(fitted.parameters.weights @ variances)
    return pooled


def of_clusters(seeds: range) -> Figures:
    """Components found, and how far their standard deviations are from 1."""
    found: Figures = {}
    for kind in KINDS:
        for outliers in ("auto", None):
            for separation in SEPARATIONS:
                right, off = 0, []
                for seed in seeds:
                    model = GaussianMixture(
                        3, covariance_type=kind, n_factors=1, outliers=outliers, random_state=0
                    ).fit(clusters(seed, separation))
                    right += len(model.weights_) == 3
                    off.append(float(np.abs(pooled_deviations(model) - 1).max()))
                name = f"{kind}, outliers={outliers!r}, {separation} apart"
                found[name] = {"three": right / len(seeds), "furthest_from_1": max(off)}
    return found


def tables() -> Iterator[tuple[str, Array]]:
    """Complete tables that the prior was not chosen on."""
    for name in ("crabs", "thyroid", "wdbc"):
        path = data_folder.find(f"labelled/{name}.csv")
        if path is not None:
            yield name, np.genfromtxt(path, delimiter=",", skip_header=1)[:, :-1]
    rng = np.random.default_rng(77)
    for name, spread in {"apart": 4.0, "overlapping": 2.0}.items():
        turn = rng.normal(size=(3, 5, 5)) / 2 + np.eye(5)
        group, centres = rng.integers(3, size=300), rng.normal(size=(3, 5)) * spread
        noise = np.einsum("nde,ne->nd", turn[group], rng.normal(size=(300, 5)))
        yield f"simulated, {name}", noise + centres[group]
    cancer = datasets.load_breast_cancer().data
    yield "breast cancer, worst", cancer[:, 20:28]
    yield "old faithful like", _two_bursts(rng)


def _two_bursts(rng: np.random.Generator) -> Array:
    """Two correlated groups of two columns, and a tail."""
    short = rng.random(272) < 0.36
    length = np.where(short, rng.normal(2.0, 0.25, 272), rng.normal(4.3, 0.4, 272))
    return np.column_stack([length, 34 + 10.7 * length + rng.normal(0, 5.5, 272)])


def of_em() -> Figures:
    """Log-likelihoods beside scikit-learn's, in nats of all rows."""
    found: Figures = {}
    for name, table in tables():
        for kind in CORRELATED:
            for k in NUMBERS:
                ours = GaussianMixture(
                    k,
                    covariance_type=kind,
                    outliers=None,
                    prior=None,
                    random_state=0,
                    tol=1e-9,
                    max_iter=5000,
                ).fit(table)
                height = float(ours.score_samples(table).sum())
                random = _best_of_random_starts(table, kind, k)
                step = mixture.GaussianMixture(
                    len(ours.weights_),
                    covariance_type=kind,
                    weights_init=ours.weights_,
                    means_init=ours.means_,
                    precisions_init=np.linalg.inv(ours.covariances_),
                    max_iter=1,
                    tol=0,
                    reg_covar=0,
                ).fit(table)
                found[f"{name}, {kind}, K={k}"] = {
                    "ahead": height - float(random.score_samples(table).sum()),
                    "our_smallest": float(len(table) * ours.weights_.min()),
                    "one_step_gains": float(step.score_samples(table).sum()) - height,
                    "its_smallest": float(len(table) * random.weights_.min()),
                }
    return found


def _best_of_random_starts(table: Array, kind: str, k: int) -> mixture.GaussianMixture:
    """Of scikit-learn, by turns from k-means and from responsibilities drawn at random.

    A start whose covariances become singular ends in an error there, and is not counted; nor is
    one that ends with a component of its own covariance on no more rows than there are columns.
    """
    fewest = table.shape[1] + 1 if kind == "full" else 0
    found = []
    for seed in range(RANDOM_STARTS):
        one = mixture.GaussianMixture(
            k,
            covariance_type=kind,
            init_params=("kmeans", "random")[seed % 2],
            random_state=seed,
            tol=1e-9,
            max_iter=5000,
            reg_covar=1e-12,
        )
        try:
            one.fit(table)
        except ValueError:
            continue
        if len(table) * one.weights_.min() >= fewest:
            found.append(one)
    return max(found, key=lambda one: one.lower_bound_)


def _held_out(table: Array, kind: str, k: int, prior: float | None) -> float:
    """Mean log-likelihood of held-out rows."""
    total = 0.0
    for train, test in KFold(FOLDS, shuffle=True, random_state=1).split(table):
        model = GaussianMixture(
            k, covariance_type=kind, outliers=None, prior=prior, random_state=0
        ).fit(table[train])
        total += float(model.score_samples(table[test]).sum())
    return total / len(table)


def of_held_out() -> Figures:
    """Means a row with the default prior, and without."""
    return {
        f"{name}, {kind}, K={k}": {
            "default": _held_out(table, kind, k, 1.0),
            "none": _held_out(table, kind, k, None),
        }
        for name, table in tables()
        for kind in ("diag", "tied", "full")
        for k in NUMBERS
    }


def of_prior() -> Figures:
    """Means a row by the strength of the prior, on tables that it was chosen on."""
    rng = np.random.default_rng(5)
    mixed = rng.normal(size=(250, 5)) @ rng.normal(size=(5, 5))
    chosen_on = {
        "iris": datasets.load_iris().data,
        "wine": datasets.load_wine().data,
        "diabetes": datasets.load_diabetes().data[:, [0, 2, 3, 4, 5, 8]],
        "simulated": mixed + 4 * rng.normal(size=(3, 5))[rng.integers(3, size=250)],
    }
    return {
        f"{name}, {kind}, K={k}": {str(one): _held_out(table, kind, k, one) for one in STRENGTHS}
        for kind in ("diag", "full")
        for name, table in chosen_on.items()
        for k in (2, 3)
    }


def of_affine(seeds: range) -> Figures:
    """The largest difference in mean log-likelihood, beside what a map changes by itself."""
    found: Figures = {}
    for kind in KINDS:
        worst: dict[str, float] = dict.fromkeys(("map", "units", "columns", "rows"), 0.0)
        for seed in seeds:
            rng = np.random.default_rng(seed)
            table = np.asarray(next(t for n, t in tables() if n == "simulated, apart"))[:, :4]
            table = table[rng.permutation(len(table))]
            fit: Figures = {"covariance_type": kind, "n_factors": 1, "outliers": None}
            fit["random_state"] = 0
            score = GaussianMixture(3, **fit).fit(table).lower_bound_
            changes = {
                "units": np.diag(10.0 ** rng.uniform(-3, 3, 4)),
                "columns": np.eye(4)[rng.permutation(4)],
                "rows": np.eye(4),
            }
            if kind in CORRELATED:
                changes["map"] = rng.normal(size=(4, 4)) + 2 * np.eye(4)
            if kind in ("tied_spherical", "spherical"):
                changes["units"] = 10.0 ** rng.uniform(-3, 3) * np.eye(4)
            for name, matrix in changes.items():
                other = table @ matrix.T + rng.normal(size=4)
                if name == "rows":
                    other = table[rng.permutation(len(table))]
                there = GaussianMixture(3, **fit).fit(other).lower_bound_
                moved = there + np.linalg.slogdet(matrix)[1]
                worst[name] = max(worst[name], abs(float(moved - score)))
        found[kind] = worst
    return found


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("clusters", "em", "held_out", "prior", "affine"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    measured: dict[str, Callable[[], Figures]] = {
        "clusters": lambda: of_clusters(seeds),
        "em": of_em,
        "held_out": of_held_out,
        "prior": of_prior,
        "affine": lambda: of_affine(seeds),
    }
    figures = measured[given.what]()
    for name, values in figures.items():
        print(name, {key: round(value, 6) for key, value in values.items()})
    if given.keep:
        command = f"python -m benchmarks.covariances {given.what} --seeds {given.seeds}"
        results_file.write(f"covariances_{given.what}", command, figures)


if __name__ == "__main__":
    main()
