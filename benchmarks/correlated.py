"""Mixtures whose columns go along with each other: filling gaps, cost of a pass, memory, groups.

Run ``python -m benchmarks.correlated`` with one of these:

``sepsis``
    The sepsis table by the protocol of ``benchmarks.imputation``: RMSE of hidden cells of new
    patients, one component with a full covariance, and as many as make rows that are held out of
    the training rows likeliest; the mean log-likelihood of the patients' rows; and the processor
    time of choosing, fit and impute beside that of scikit-learn's IterativeImputer, in one run.
``passes``
    One E-step beside one product X'X of the same table: sepsis with full covariances, and 3,000
    rows of 150 columns, each with its own gaps, with four factors.
``memory``
    5,000 rows of 500, 1,000 and 2,000 columns with four factors: memory beyond the table itself.
``support2``
    Eight components of the columns of SUPPORT2: means beyond the range of their column.
``groups``
    Simulated groups with correlated noise and gaps: agreement with the truth of fits from data
    beside EM from the true parameters.
``penguins``
    Three groups beside the species.
``defaults``
    Real tables, half of the rows held out, as many components as the code finds: what each default
    that there could be makes of the other half, and in what time.

Set OPENBLAS_NUM_THREADS=1, OMP_NUM_THREADS=1 and NUMBA_NUM_THREADS=1 to compare seconds.
"""

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from sklearn.metrics import adjusted_rand_score

from benchmarks import imputation, results_file
from benchmarks.reproduce import data_folder, sepsis
from halfseen import DataError, GaussianMixture
from halfseen.data.arrays import Array, Labels
from halfseen.data.block import Block
from halfseen.data.engines.memory import MemoryRows
from halfseen.latent.correlated import sorted_by_gaps
from halfseen.latent.structure import ClassSums
from halfseen.moments.survey import survey

Figures = dict[str, Any]
FIRST_SEED = 90_000
"""Tables of seeds below were looked at while starts and choices were made."""
NUMBERS = (1, 2, 4, 8)
"""Of components, among which rows that are held out choose."""
ENOUGH = 1e-3
"""A gain a row that makes no difference to fills: the tolerance of these fits."""
APART, RAREST = 4.5, 0.05
"""Standard deviations between the nearest groups, and the share of the smallest, that are drawn."""
N_APART, N_CHOOSING = 2000, 8000
"""Rows that are held out to choose, of so many."""


ITEMS = [f"{letter}{number}" for letter in "ACENO" for number in range(1, 6)]
ASIDE = {
    "ames": ["Id", "PID"],
    "support2": ["Index", "death", "hospdead", "d.time", "sfdm2"],
    "icu": ["RecordID", "In-hospital_death"],
    "penguins": ["rownames", "year"],
    "pbc": ["rownames", "id", "time", "status"],
    "mammo": ["Severity"],
}
"""What is no measurement: identifiers and outcomes."""


def real_tables() -> dict[str, pd.DataFrame]:
    """Columns of numbers of the real tables at hand."""
    tables = {"bfi": _read("bfi")[ITEMS]}
    for name, aside in ASIDE.items():
        tables[name] = _read(name).drop(columns=aside).select_dtypes("number")
    tables["mammo without 55"] = tables["mammo"][tables["mammo"]["BI-RADS"] != 55]
    return tables


def _read(name: str) -> pd.DataFrame:
    return pd.read_csv(folder() / f"{name}.csv", na_values="?")


def folder() -> Path:
    """Where the real tables are."""
    found = data_folder.find("tables/bfi.csv")
    if found is None:
        raise DataError("The real tables are not at hand. Set HALFSEEN_DATA to their folder.")
    return found.parent


def apart(k: int, d: int, rng: np.random.Generator) -> Array:
    """Means (k, d), the typical two of which are 6 apart, and none nearer than ``APART``."""
    while True:
        means = rng.normal(0, 6 / np.sqrt(2 * d), (k, d))
        distance = np.linalg.norm(means[:, None] - means[None], axis=2)
        if k == 1 or distance[np.triu_indices(k, 1)].min() >= APART:
            return means


def common(k: int, rng: np.random.Generator) -> Array:
    """Shares (k,), none below ``RAREST``."""
    while True:
        shares = rng.dirichlet(np.full(k, 5.0))
        if shares.min() >= RAREST:
            return shares


def rmse(filled: Array, true: Array, hidden: Any) -> float:
    """Of the hidden cells."""
    return float(np.sqrt(np.mean((filled - true)[hidden] ** 2)))


def of_sepsis(seed: int) -> Figures:
    """Filling gaps of new patients, and what it takes."""
    stays = sepsis.load()
    train, test = sepsis.split_by_patient(stays, 0.2, seed)
    hidden = (np.random.default_rng(seed + 1).random(test.shape) < 0.1) & ~np.isnan(test)
    gappy = np.where(hidden, np.nan, test)
    figures: Figures = {}
    _full(2).fit(train[:2000]).impute(gappy[:100])  # compiled
    start = time.process_time()
    one = _full(1).fit(train)
    filled = one.impute(gappy)
    seconds = time.process_time() - start
    figures["one component"] = {
        "rmse": rmse(filled, test, hidden),
        "row likelihood": one.score(test),
        "seconds": seconds,
    }
    print("one component", figures["one component"], flush=True)
    begun = time.process_time()
    number = number_by_rows(train)
    between = time.process_time()
    model = _full(number).fit(train)
    filled = model.impute(gappy)
    end = time.process_time()
    figures["chosen"] = {
        "components": number,
        "rmse": rmse(filled, test, hidden),
        "row likelihood": model.score(test),
        "seconds to choose": between - begun,
        "seconds of fit and impute": end - between,
    }
    print("chosen", figures["chosen"], flush=True)
    start = time.process_time()
    filled = imputation.iterative(train, gappy)
    seconds = time.process_time() - start
    figures["iterative imputer"] = {"rmse": rmse(filled, test, hidden), "seconds": seconds}
    figures["time, of the iterative imputer's"] = {
        "one component": figures["one component"]["seconds"] / seconds,
        "chosen": (end - between) / seconds,
        "chosen, with choosing": (end - begun) / seconds,
    }
    return figures


def _full(k: int) -> GaussianMixture:
    return GaussianMixture(k, covariance_type="full", tol=ENOUGH, random_state=0)


def number_by_rows(train: Array) -> int:
    """The number of components under which the rows of a lot, held out, are likeliest."""
    every = np.random.default_rng(0).permutation(len(train))[:N_CHOOSING]
    apart, rest = train[every[:N_APART]], train[every[N_APART:]]
    return NUMBERS[int(np.argmax([_full(k).fit(rest).score(apart) for k in NUMBERS]))]


def times(*functions: Callable[[], Any], repeats: int = 15) -> list[float]:
    """Seconds of each, by turns: the least of several, as others use the machine too."""
    found = []
    for _ in range(repeats):
        for function in functions:
            start = time.perf_counter()
            function()
            found.append(time.perf_counter() - start)
    return [min(found[i :: len(functions)]) for i in range(len(functions))]


def of_pass(model: GaussianMixture, X: Array) -> Figures:
    """An E-step beside X'X."""
    fitted = model.fitted
    emission, parameters = fitted.model.emission, fitted.parameters  # type: ignore[attr-defined]
    block = Block.from_table(X)
    step = ClassSums.under(emission, parameters)
    filled = np.nan_to_num(X)
    seconds, product = times(lambda: step(block), lambda: filled.T @ filled)
    return {"pass": seconds, "X'X": product, "times": seconds / product}


def of_passes(seed: int) -> Figures:
    """What a pass costs."""
    train, _ = sepsis.split_by_patient(sepsis.load(), 0.2, seed)
    figures = {}
    for kind, k in (("full", 1), ("tied", 6), ("full", 6)):
        model = GaussianMixture(k, covariance_type=kind, max_iter=3, random_state=0)
        figures[f"sepsis, {kind}, {k} components"] = of_pass(model.fit(train), train)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 4)) @ rng.normal(size=(4, 150)) + rng.normal(size=(3000, 150))
    X[rng.random(X.shape) < 0.2] = np.nan
    model = GaussianMixture(1, covariance_type="factor", n_factors=4, max_iter=3, random_state=0)
    figures["3,000 x 150, factor, q = 4, 1 component"] = of_pass(model.fit(X), X)
    model.set_params(n_components=3)
    figures["3,000 x 150, factor, q = 4, 3 components"] = of_pass(model.fit(X), X)
    return figures


def of_memory(seed: int) -> Figures:
    """Memory beyond the table."""
    figures = {}
    for d in (500, 1000, 2000):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(5000, 4)) @ rng.normal(size=(4, d)) + rng.normal(size=(5000, d))
        X[rng.random(X.shape) < 0.2] = np.nan
        model = GaussianMixture(
            2, covariance_type="factor", n_factors=4, max_iter=10, random_state=0
        )
        tracemalloc.start()
        start = time.perf_counter()
        model.fit(X)
        seconds = time.perf_counter() - start
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        figures[f"{d} columns"] = {
            "MB at most": peak / 1e6,
            "of the table": peak / X.nbytes,
            "seconds, traced": seconds,
        }
        print(d, figures[f"{d} columns"], flush=True)
    return figures


def of_support2(seed: int) -> Figures:
    """Means of many components."""
    frame = real_tables()["support2"]
    low, high = frame.min().to_numpy(), frame.max().to_numpy()
    figures = {}
    for kind in ("tied", "full", "factor"):
        model = GaussianMixture(8, covariance_type=kind, n_factors=4, tol=1e-5, random_state=seed)
        model.fit(frame)
        outside = (model.means_ < low) | (model.means_ > high)
        figures[kind] = {
            "means outside": int(outside[:, model.kept_features_].sum()),
            "converged": model.converged_,
            "row likelihood": model.lower_bound_,
        }
        print(kind, figures[kind], flush=True)
    return figures


def simulated(seed: int, tied: bool) -> tuple[Array, Labels, Array, Array, Array]:
    """A table with gaps, its groups, and the truth: shares, means and covariances."""
    rng = np.random.default_rng(seed)
    d, k = (10, 20, 40)[seed % 3], (3, 4, 5)[seed // 3 % 3]
    n = 3000
    shares = common(k, rng)
    roots = rng.normal(size=(1 if tied else k, d, 3)) * 0.8
    covariances = roots @ roots.swapaxes(1, 2) + np.eye(d)
    covariances = np.broadcast_to(covariances, (k, d, d))
    # Separation by so many standard deviations of the correlated noise itself.
    root = np.linalg.cholesky(covariances.mean(axis=0))
    means = apart(k, d, rng) * 0.8 @ root.T
    labels = rng.choice(k, n, p=shares)
    noise = np.einsum(
        "nij,nj->ni", np.linalg.cholesky(covariances)[labels], rng.normal(size=(n, d))
    )
    X = means[labels] + noise
    gaps = np.linspace(0, 0.4, d)
    return np.where(rng.random(X.shape) < gaps, np.nan, X), labels, shares, means, covariances


def from_the_truth(model: GaussianMixture, X: Array, truth: list[Array]) -> Labels:
    """What EM makes of the rows that begins at the true parameters."""
    shares, means, covariances = truth
    names = tuple(f"x{i}" for i in range(X.shape[1]))
    rows = MemoryRows(X, names)
    kept = survey(rows, 0.95)
    own: Any = model._model().adapted_to(rows, kept)
    ready = sorted_by_gaps(rows, kept)
    emission = own.emission
    begun = emission.independent(shares, means, np.diagonal(covariances, axis1=1, axis2=2))
    begun = emission.em_start(replace(begun, covariances=covariances.copy()))
    found = own.run_em(ready, begun, 500).parameters
    labels: Labels = own.expected_latent(Block.from_table(X), found).argmax(axis=1)
    return labels


def of_groups(seed: int, n_tables: int) -> Figures:
    """Groups with correlated noise."""
    figures: Figures = {}
    for kind in ("tied", "full"):
        ratios = []
        for i in range(n_tables):
            X, labels, *truth = simulated(seed + i, kind == "tied")
            k = len(truth[0])
            model = GaussianMixture(k, covariance_type=kind, random_state=0)
            ours = adjusted_rand_score(labels, model.fit(X).predict(X))
            best = adjusted_rand_score(labels, from_the_truth(model, X, truth))
            diag = "tied_diag" if kind == "tied" else "diag"
            plain = GaussianMixture(k, covariance_type=diag, random_state=0).fit(X)
            apart = adjusted_rand_score(labels, plain.predict(X))
            ratios.append({"d": X.shape[1], "k": k, "ari": ours, "truth": best, diag: apart})
            print(kind, i, ratios[-1], flush=True)
        good = [one["ari"] >= 0.98 * one["truth"] for one in ratios]
        figures[kind] = {"tables": n_tables, "at least .98": float(np.mean(good)), "each": ratios}
    return figures


def of_penguins(seed: int) -> Figures:
    """Groups beside species."""
    frame = pd.read_csv(folder() / "penguins.csv")
    columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    X = frame[columns].to_numpy(float)
    known = ~np.isnan(X).all(axis=1)
    figures = {}
    for kind in ("tied_diag", "tied", "full"):
        model = GaussianMixture(3, covariance_type=kind, random_state=seed).fit(X[known])
        figures[kind] = adjusted_rand_score(frame["species"][known], model.predict(X[known]))
    model = GaussianMixture("auto", covariance_type="auto", random_state=seed).fit(X[known])
    figures["auto"] = {
        "ari": adjusted_rand_score(frame["species"][known], model.predict(X[known])),
        "components": model.n_components_,
        "covariance": model.covariance_type_,
        "reason": model.diagnostics_.covariance_reason,
    }
    return figures


DEFAULTS: dict[str, Figures] = {
    "tied_spherical": {},
    "tied_spherical, in robust units": {"scale": "robust"},
    "tied_diag": {"covariance_type": "tied_diag"},
    "auto": {"covariance_type": "auto"},
}


def of_defaults(seed: int) -> Figures:
    """Real tables under each default."""
    tables = real_tables()
    figures: Figures = {}
    for name in ("penguins", "pbc", "mammo", "bfi", "icu", "support2"):
        X = tables[name].to_numpy(float)
        X = X[~np.isnan(X).all(axis=1)]
        order = np.random.default_rng(seed).permutation(len(X))[:4000]
        half = len(order) // 2
        train, test = X[order[:half]], X[order[half:]]
        figures[name] = {}
        for default, parameters in DEFAULTS.items():
            model = GaussianMixture("auto", random_state=0, **parameters)
            start = time.process_time()
            model.fit(train)
            figures[name][default] = {
                "row likelihood": model.score(test),
                "components": model.n_components_,
                "covariance": model.covariance_type_,
                "seconds": time.process_time() - start,
            }
            print(name, default, figures[name][default], flush=True)
    return figures


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    alone: dict[str, Callable[[int], Figures]] = {
        "sepsis": of_sepsis,
        "passes": of_passes,
        "memory": of_memory,
        "support2": of_support2,
        "penguins": of_penguins,
        "defaults": of_defaults,
    }
    of_tables = {"groups": of_groups}
    parser.add_argument("part", choices=[*alone, *of_tables])
    parser.add_argument("--seed", type=int, help="0, or the first of fresh ones for tables")
    parser.add_argument("--tables", type=int, default=24, help="that are simulated")
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    command = f"python -m benchmarks.correlated {options.part}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options.part in alone:
            figures = alone[options.part](options.seed or 0)
        else:
            seed = FIRST_SEED if options.seed is None else options.seed
            figures = of_tables[options.part](seed, options.tables)
            command += f" --tables {options.tables}"
    print(figures)
    if options.keep:
        results_file.write(f"correlated_{options.part}", command, figures)


if __name__ == "__main__":
    main()
