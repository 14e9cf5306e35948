"""How often each piece of advice is right when it is printed.

Half of the worlds give cause for it, the others look as if they did: mistyped values for long
tails, ratings and prices for counts, amounts for identifiers. Run ``python -m benchmarks.advice``.
"""

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from benchmarks import results_file
from benchmarks.number_of_components import FIRST_SEED
from halfseen import GaussianMixture, WeakMomentsWarning, simulate
from halfseen.cli.advice import Advice, NumberSums, advise
from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.column_moments import ValueSums
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import side_by_side
from halfseen.diagnostics.missingness import CodeSums, missingness
from halfseen.io.cells.cell_sums import CellSums
from halfseen.io.kind_inference import identifier_reason

N_ROWS, D = 1200, 6
TOLERANCE = 0.01
"""Of agreement with the true groups (adjusted Rand index)."""
Random = np.random.Generator
Verdict = bool | None
"""Whether advice was right; None if it was not printed."""


def _groups(rng: Random, apart: float = 2.5) -> tuple[Array, Labels]:
    """A table of three groups (n, d), and the group of each row."""
    labels = rng.choice(3, N_ROWS, p=[0.5, 0.3, 0.2])
    table: Array = rng.normal(0, apart, (3, D))[labels] + rng.normal(size=(N_ROWS, D))
    return table, labels


def _gappy(X: Array, rng: Random) -> Array:
    return simulate.independent_gaps(X, [1, 1, 1, 0.9, 0.8, 0.7], rng)


def advised(X: Array) -> list[Advice]:
    """What ``halfseen describe`` advises."""
    names = tuple(f"c{i}" for i in range(X.shape[1]))
    rows = MemoryRows(X, names)
    logged = ValueSums.logging(np.ones(len(names), bool))
    sums = rows.accumulate(side_by_side(FeatureSums.of, ValueSums.of, logged, CodeSums.of)).each
    return list(advise(missingness(rows, sums[0]), NumberSums(names, *sums), {}))


def _option(X: Array, option: str) -> list[int] | None:
    """The columns that an option names in the advice; None if it is not given."""
    found = [o for one in advised(X) for o in one.options if o.startswith(option)]
    if not found:
        return None
    return [int(name.strip("'").lstrip("c")) for name in found[0].split(" ", 1)[1].split(",")]


def _held_out(X: Array, log_jacobian: Array, **options: Any) -> float:
    """Mean log-likelihood of every second row under a model of the others, in units of before."""
    train, test = np.arange(len(X)) % 2 == 0, np.arange(len(X)) % 2 == 1
    model = GaussianMixture(3, random_state=0, **options).fit(X[train])
    return float(np.mean(model.score_samples(X[test]) + log_jacobian[test]))


def _standardised(X: Array) -> tuple[Array, Array]:
    spread = np.nanstd(X, axis=0)
    seen = ~np.isnan(X)
    return (X - np.nanmean(X, axis=0)) / spread, -(seen * np.log(spread)).sum(axis=1)


def logarithms(X: Array) -> Verdict:
    """Right if rows held out of the fit are likelier with the columns on a log scale."""
    columns = _option(X, "--log")
    if columns is None:
        return None
    Z = X.copy()
    Z[:, columns] = np.log(X[:, columns])
    plain, logged = (_standardised(table) for table in (X, Z))
    per_row = np.nansum(Z[:, columns], axis=1)
    before = _held_out(*plain, covariance_type="diag")
    return _held_out(logged[0], logged[1] - per_row, covariance_type="diag") > before


def log_normal(rng: Random) -> Array:
    """Three columns are logarithms of what they should be, with gaps."""
    X, _ = _groups(rng, 1.0)
    X[:, [1, 3, 5]] = np.exp(rng.uniform(0.5, 1.0, 3) * X[:, [1, 3, 5]])
    return _gappy(X, rng)


def waiting_times(rng: Random) -> Array:
    """Weibull times of each group, some with a longer tail than others."""
    X, labels = _groups(rng)
    X[:, 1] = (1 + labels) * rng.weibull(0.8, N_ROWS) + 0.02
    X[:, 4] = (1 + labels) * rng.gamma(0.7, 2.0, N_ROWS) + 0.01
    return _gappy(X, rng)


def mistyped(rng: Random) -> Array:
    """A few cells are a hundred times what they should be."""
    X, _ = _groups(rng)
    X += 30
    wrong = rng.random(X.shape) < 0.003
    return _gappy(np.where(wrong, 100 * X, X), rng)


def rare_group(rng: Random) -> Array:
    """One group in thirty is far away in some columns."""
    X, _ = _groups(rng)
    X += 15
    X[rng.random(N_ROWS) < 0.03, 2:4] += 40
    return _gappy(X, rng)


def heavy_tails(rng: Random) -> Array:
    """Student's noise with three degrees of freedom."""
    labels = rng.choice(3, N_ROWS)
    means = rng.normal(30, 2.5, (3, D))
    X = np.maximum(means[labels] + rng.standard_t(3, (N_ROWS, D)), 1.0)
    return _gappy(X, rng)


@dataclass(frozen=True)
class Coded:
    """A table, and the cells of it that stand for a gap."""

    table: Array
    cells: Mask


def codes(world: Coded) -> Verdict:
    """Right if emptying the cells empties such as stand for a gap, and no others."""
    words = "use --missing-values="
    found = [one.sentence for one in advised(world.table) if words in one.sentence]
    if not found:
        return None
    asked = [float(code) for code in found[0].split(words)[1].rstrip(".").split(",")]
    emptied = np.isin(world.table, asked)
    return bool(emptied.any() and world.cells[emptied].all())


def survey(rng: Random) -> Coded:
    """Answers from 1 to 7, ages and incomes; refusals are 98 and 99, 998 and 999 or -9."""
    X = np.column_stack(
        [*rng.integers(1, 8, (4, N_ROWS)), rng.integers(18, 80, N_ROWS), rng.gamma(4, 12, N_ROWS)]
    ).round(0)
    cells = rng.random(X.shape) < 0.02
    cells[:, 4:] = False
    code = rng.choice([(98, 99), (-9, -8), (998, 999), (-99, -99)])
    return Coded(np.where(cells, rng.choice(code, X.shape), X).astype(float), cells)


def no_codes(rng: Random) -> Coded:
    """Temperatures, percentages, distances and prices, in which such numbers are values."""
    X = np.column_stack(
        [
            rng.normal(-2, 6, N_ROWS),
            rng.beta(5, 1, N_ROWS) * 100,
            rng.lognormal(4, 1.2, N_ROWS),
            rng.gamma(2, 400, N_ROWS),
            rng.negative_binomial(1, 0.03, N_ROWS),
            np.minimum(rng.lognormal(3, 1, N_ROWS), 99),
        ]
    ).round()
    return Coded(X, np.zeros(X.shape, bool))


@dataclass(frozen=True)
class Hidden:
    """A table with gaps, and the means that it would have without."""

    table: Array
    means: Array


def telling_gaps(world: Hidden) -> Verdict:
    """Right if the likelihood refinement is nearer to the true averages than plain averages are."""
    if not any("--no-refine" in one.sentence for one in advised(world.table)):
        return None
    model = GaussianMixture(3, random_state=0).fit(world.table)
    error = np.abs(model.weights_ @ model.means_ - world.means)
    return float(error.sum()) < float(np.abs(np.nanmean(world.table, axis=0) - world.means).sum())


def gaps_by_values(rng: Random) -> Hidden:
    """Columns are known where another is high."""
    X, _ = _groups(rng)
    table = simulate.value_gaps(X, [3, 4, 5], 0.5, rng, driver=0, strength=0.4)
    return Hidden(table, X.mean(axis=0))


def gaps_by_lot(rng: Random) -> Hidden:
    """Gaps come by lot, in blocks or one by one."""
    X, _ = _groups(rng)
    if rng.random() < 0.5:
        return Hidden(_gappy(X, rng), X.mean(axis=0))
    return Hidden(simulate.block_gaps(X, [0, 0, 0, 1, 1, 1], [1.0, 0.5], rng), X.mean(axis=0))


@dataclass(frozen=True)
class Whole:
    """A table of whole numbers, and whether they count things."""

    table: Array
    counts: bool


def counts(world: Whole) -> Verdict:
    """Right if the numbers count things."""
    printed = any("count things" in one.sentence for one in advised(world.table))
    return world.counts if printed else None


def words(rng: Random) -> Whole:
    """Counts of words, in rows of many topics."""
    topics = rng.dirichlet(np.ones(D), 3)
    return Whole(simulate.gamma_poisson(N_ROWS, topics, np.ones(3), 3 / 20, rng)[0], True)


def ratings_and_amounts(rng: Random) -> Whole:
    """Ratings from 0 or 1 to 5 or 10, prices, areas that are often 0, years, yes or no."""
    kinds = [
        rng.integers(rng.integers(2), rng.choice([6, 8, 11]), N_ROWS),
        rng.integers(1, rng.choice([6, 8, 11]), N_ROWS),
        rng.lognormal(11, 0.5, N_ROWS).round(),
        rng.gamma(2, 200, N_ROWS).round() * (rng.random(N_ROWS) < 0.4),
        rng.integers(1950, 2020, N_ROWS),
        rng.integers(2, size=N_ROWS),
        rng.integers(18, 90, N_ROWS),
    ]
    return Whole(np.column_stack([kinds[i] for i in rng.choice(7, D)]).astype(float), False)


@dataclass(frozen=True)
class Named:
    """A column, its name, and whether it is an identifier."""

    name: str
    values: Array
    identifier: bool


def identifiers(world: Named) -> Verdict:
    """Right if the column is one that names rows."""
    reason = identifier_reason(world.name, CellSums.of_numbers(world.values.astype(float)))
    return world.identifier if reason is not None else None


def numbers_of_rows(rng: Random) -> Named:
    """Row numbers in any order, numbers of patients, codes, with some rows left out."""
    n = int(rng.integers(50, N_ROWS))
    name = rng.choice(["x", "order", "nr", "PID", "patient_id", "Unnamed: 0", "RecordID"])
    named = name not in ("x", "order", "nr")
    room = int(10**9 if named else n * rng.uniform(1.0, 1.9))
    return Named(str(name), rng.choice(room, n, replace=False).astype(float), True)


def whole_measurements(rng: Random) -> Named:
    """Prices, counts of cells, ages, days, years: whole numbers, often all different."""
    n = int(rng.integers(20, N_ROWS))
    name = rng.choice(["price", "platelets", "age", "day", "year", "index", "fluid", "covid"])
    values = [
        rng.lognormal(11, 1, n),
        rng.normal(250, 80, n),
        rng.integers(18, 95, n),
        rng.integers(0, int(rng.integers(n, 20 * n)), n),
        rng.integers(1900, 2030, n),
        rng.gamma(2, rng.uniform(1, 500), n),
    ]
    return Named(str(name), np.round(values[rng.integers(len(values))]), False)


def unrelated(world: tuple[Array, Labels]) -> Verdict:
    """Right if the groups that are found without the columns are no further from the true ones."""
    X, labels = world
    model = GaussianMixture(3, random_state=0).fit(X)
    said = [c.sentence for c in model.concerns(X) if "not related to any other" in c.sentence]
    if not said:
        return None
    listed = said[0].split("Leave out ")[1].strip("[].").replace("'", "").split(", ")
    others = np.setdiff1d(np.arange(D), [int(name) for name in listed])
    without = GaussianMixture(3, random_state=0).fit_predict(X[:, others])
    before, after = (adjusted_rand_score(labels, found) for found in (model.predict(X), without))
    return bool(after >= before - TOLERANCE)


def noise_columns(rng: Random) -> tuple[Array, Labels]:
    """Two columns are the same in all groups."""
    X, labels = _groups(rng)
    X[:, [1, 4]] = rng.normal(size=(N_ROWS, 2))
    return X, labels


def weak_columns(rng: Random) -> tuple[Array, Labels]:
    """Two columns tell a little of the groups."""
    X, labels = _groups(rng)
    X[:, [1, 4]] = rng.normal(size=(N_ROWS, 2)) + 0.4 * labels[:, None]
    return X, labels


def number(world: tuple[Array, int, int]) -> Verdict:
    """Right if there are fewer groups than were asked for."""
    X, asked, true = world
    found = GaussianMixture(asked, random_state=0).fit(X).concerns(X)
    return asked > true if "too_many_components" in dict(found) else None


def too_many(rng: Random) -> tuple[Array, int, int]:
    """A group too many is asked for."""
    return _gappy(_groups(rng)[0], rng), 4, 3


def as_many(rng: Random) -> tuple[Array, int, int]:
    """As many are asked for as there are, more or less far apart."""
    return _gappy(_groups(rng, rng.uniform(1.0, 3.0))[0], rng), 3, 3


World = Callable[[Random], Any]
KINDS: dict[Callable[[Any], Verdict], tuple[World, ...]] = {
    logarithms: (log_normal, waiting_times, mistyped, rare_group, heavy_tails),
    codes: (survey, no_codes),
    telling_gaps: (gaps_by_values, gaps_by_lot),
    counts: (words, ratings_and_amounts),
    identifiers: (numbers_of_rows, whole_measurements),
    unrelated: (noise_columns, weak_columns),
    number: (too_many, as_many),
}
"""What judges each kind of advice, and the worlds that it is printed in or might be."""


def verdicts(judge: Callable[[Any], Verdict], world: World, seeds: Sequence[int]) -> list[Verdict]:
    """Of one table for each seed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakMomentsWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [judge(world(np.random.default_rng(seed))) for seed in seeds]


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    seeds = [FIRST_SEED + seed for seed in range(options.sets)]
    figures = {}
    for judge, worlds in KINDS.items():
        found = Parallel(options.jobs)(delayed(verdicts)(judge, world, seeds) for world in worlds)
        printed = [verdict for some in found for verdict in some if verdict is not None]
        figures[judge.__name__] = {
            "right": float(np.mean(printed)) if printed else None,
            "printed": {
                world.__name__: float(np.mean([verdict is not None for verdict in some]))
                for world, some in zip(worlds, found, strict=True)
            },
        }
        print(judge.__name__, figures[judge.__name__], flush=True)
    if options.keep:
        command = f"python -m benchmarks.advice --sets {options.sets}"
        results_file.write("advice", command, figures)


if __name__ == "__main__":
    main()
