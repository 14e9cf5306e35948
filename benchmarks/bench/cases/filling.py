"""Hidden cells of real tables filled again: of mixed columns, and of numbers with draws."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks import filling_ways, imputing_mixed, imputing_numbers
from benchmarks.bench.case import OURS, Case, Entrant, Errors, Setting
from benchmarks.filling_judge import judged
from benchmarks.filling_ways import Said, by_mice, known_of
from halfseen import Imputer
from halfseen.data.arrays import Array

SEED, DRAWS = 7, 20


class Hidden(NamedTuple):
    """A table, what of it is hidden, and the kinds of its columns."""

    X: Array  # (n, d)
    hidden: Any  # (n, d)
    kinds: list[str]

    @property
    def gappy(self) -> Array:
        """What is shown."""
        return np.where(self.hidden, np.nan, self.X)


def mixed(table: str) -> Hidden:
    """At most 2,000 rows, a tenth of the known cells hidden."""
    rng = np.random.default_rng(SEED)
    X, kinds = imputing_mixed.load(table, rng, every=False)
    hidden = ~np.isnan(X) & (rng.random(X.shape) < imputing_mixed.HIDDEN)
    gappy = np.where(hidden, np.nan, X)
    varied = [len(np.unique(known_of(gappy, d))) > 1 for d in range(X.shape[1])]
    some = (~np.isnan(gappy)).any(axis=1)
    kinds = [kind for kind, keep in zip(kinds, varied, strict=True) if keep]
    return Hidden(X[some][:, varied], hidden[some][:, varied], kinds)


def _way(name: str, **settings: int) -> Callable[[Hidden, int], Said]:
    def call(data: Hidden, threads: int) -> Said:
        said: Said = filling_ways.WAYS[name](data.gappy, data.kinds, **settings)
        return said

    return call


def off(data: Hidden, said: Said) -> Errors:
    """Both errors, and their sum, which decides."""
    found = judged(data.X, said, data.hidden, data.kinds)
    return {**found, "rmse + log loss": sum(found.values())}


MIXED = Case(
    name="mixed",
    asks="Hidden cells of real tables of mixed columns: how far off are fills, how likely words?",
    draw=mixed,
    settings=tuple(
        Setting(name, {"table": name}, quick=name in ("penguins", "mammo"))
        for name in (
            "penguins",
            "mammo",
            "pbc",
            "titanic",
            "election",
            "bfi",
            "icu",
            "support2",
            "ames",
        )
    ),
    entrants={
        OURS: Entrant(OURS, _way("imputer"), "Imputer, defaults"),
        "lace": Entrant("lace", _way("lace", steps=1000), "8 states of 1,000 steps, 200 draws"),
        "lace, 100": Entrant("lace", _way("lace", steps=100), "8 states of 100 steps, 200 draws"),
        "IterativeImputer": Entrant("scikit-learn", _way("iterative"), "categories as dummies"),
        "KNNImputer": Entrant("scikit-learn", _way("neighbours"), "ten neighbours"),
        "boosted trees": Entrant("scikit-learn", _way("boosted"), "HistGradientBoosting, columns"),
        "means and modes": Entrant("numpy", _way("means and modes")),
    },
    judge=off,
    metric="rmse + log loss",
    close=0.01,
    relative=True,
    more=("rmse", "log_loss"),
    warm={"table": "iris"},
    why=(
        "Column means and nearest neighbours learn nothing, and are sooner done. Chained "
        "regressions are near where columns are numbers that go along with each other; boosted "
        "trees where columns follow from each other by rules, as in SUPPORT2."
    ),
)


class Drawn(NamedTuple):
    """Fills, and completed tables."""

    values: Array  # (n, d)
    draws: Array  # (draws, n, d)


def numbers(table: str) -> Hidden:
    """At most 500 rows, a fifth of the known cells hidden completely at random."""
    X = imputing_numbers.table(table, SEED)
    rng = np.random.default_rng([SEED, 1])
    hidden = imputing_numbers.gaps_of(rng, X, "completely at random")
    return Hidden(X, hidden, ["continuous"] * X.shape[1])


def our_draws(data: Hidden, threads: int) -> Drawn:
    """Fills, and draws by other parameters each."""
    X = data.gappy
    kinds = dict(enumerate(data.kinds))
    imputer = Imputer(kinds, draws=DRAWS, random_state=0, n_jobs=threads).fit(X)
    return Drawn(imputer.transform(X), np.array(imputer.draw(X)))


def mice(data: Hidden, threads: int) -> Drawn:
    """Twenty tables by predictive mean matching; fills are their mean."""
    draws = by_mice([data.gappy], DRAWS, "pmm")[0]
    draws = np.where(np.isnan(draws), np.nanmean(data.gappy, axis=0), draws)
    return Drawn(draws.mean(axis=0), draws)


def miceforest(data: Hidden, threads: int) -> Drawn:
    """Five tables by boosted trees and mean matching, its default number of rounds."""
    frame = import_module("pandas").DataFrame(data.gappy)
    frame.columns = [f"x{j}" for j in frame.columns]
    kernel = import_module("miceforest").ImputationKernel(frame, num_datasets=5, random_state=0)
    kernel.mice(5, num_threads=threads, verbose=False)
    draws = np.array([kernel.complete_data(i).to_numpy(float) for i in range(5)])
    return Drawn(draws.mean(axis=0), draws)


def iterative(data: Hidden, threads: int) -> Drawn:
    """Fills by the mean, and twenty tables by its posterior."""
    import_module("sklearn.experimental.enable_iterative_imputer")
    kind: Any = import_module("sklearn.impute").IterativeImputer
    X = data.gappy
    each = [
        kind(sample_posterior=True, random_state=seed).fit_transform(X) for seed in range(DRAWS)
    ]
    return Drawn(kind(random_state=0).fit_transform(X), np.array(each))


def neighbours(data: Hidden, threads: int) -> Drawn:
    """One fill, in standard deviations; a table is drawn of nothing else."""
    spread, middle = np.nanstd(data.gappy, axis=0), np.nanmean(data.gappy, axis=0)
    kind = import_module("sklearn.impute").KNNImputer
    filled = kind(n_neighbors=10).fit_transform((data.gappy - middle) / spread) * spread + middle
    return Drawn(filled, filled[None])


def scored(data: Hidden, found: Drawn) -> Errors:
    """Error of fills; energy score of draws; how far from 90 % their intervals cover."""
    spread = np.nanstd(data.X, axis=0)
    truth, said = data.X / spread, found.values / spread
    draws = found.draws / spread
    own = data.hidden
    rmse = float(np.sqrt(np.mean(np.clip(said - truth, -10, 10)[own] ** 2)))
    covered = _coverage(draws[:, own], truth[own])
    return {
        "rmse": rmse,
        "energy": _energy(truth, draws, own),
        "coverage - .9": abs(covered - 0.9),
    }


def _coverage(draws: Array, truth: Array) -> float:
    """Of intervals from draws: of ranks with more than 5 % of draws on either side."""
    below = (draws < truth).mean(axis=0) + 0.5 * (draws == truth).mean(axis=0)
    return float(np.mean((below >= 0.05) & (below <= 0.95)))


def _energy(truth: Array, draws: Array, hidden: Any) -> float:
    """Mean over rows of ``E|Y - y| - E|Y - Y'| / 2``, of hidden cells by the root of how many."""
    found = []
    for row in np.flatnonzero(hidden.any(axis=1)):
        own = hidden[row]
        each = np.clip(draws[:, row, own] - truth[row, own], -10, 10)  # (m, cells)
        apart = np.linalg.norm(each[:, None] - each[None], axis=2)
        pairs = max(len(each) * (len(each) - 1), 1)
        score = np.linalg.norm(each, axis=1).mean() - 0.5 * apart.sum() / pairs
        found.append(score / np.sqrt(own.sum()))
    return float(np.mean(found))


NUMBERS = Case(
    name="filling",
    asks="Hidden cells of real tables of numbers: errors of fills, energy and coverage of draws?",
    draw=numbers,
    settings=tuple(
        Setting(name, {"table": name}, quick=name in ("wine", "iris"))
        for name in (
            "wine",
            "iris",
            "diabetes",
            "breast cancer",
            "penguins",
            "pbc",
            "bfi",
            "icu",
            "ames",
        )
    ),
    entrants={
        OURS: Entrant(OURS, our_draws, f"Imputer, {DRAWS} draws"),
        "mice": Entrant("mice", mice, f"R, predictive mean matching, {DRAWS} draws"),
        "miceforest": Entrant("miceforest", miceforest, "5 rounds, 5 draws"),
        "IterativeImputer": Entrant("scikit-learn", iterative, f"{DRAWS} posterior draws"),
        "KNNImputer": Entrant("scikit-learn", neighbours, "ten neighbours, no draws"),
    },
    judge=scored,
    metric="rmse",
    close=0.01,
    relative=True,
    more=("energy", "coverage - .9"),
    warm={"table": "iris"},
    why=(
        "Neighbours are filled in at once, without draws. In small tables draws of mice and of "
        "IterativeImputer, one linear model a column, may be the sharper. "
        "What we fill in stays possible, as ratings that are whole, which squares of errors punish."
    ),
)
