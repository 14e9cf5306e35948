"""How well gaps are filled by the imputer and by others, on real tables, and whether draws cover.

Run ``python -m benchmarks.imputing`` with one of these:

``mixed``
    Real tables of mixed columns, at most 2,000 rows, a tenth of the known cells hidden, three
    seeds. Columns of numbers are judged by root mean squared error in standard deviations, columns
    of categories by log-loss (no probability below a thousandth). Beside the imputer: column means
    and modes, nearest neighbours, IterativeImputer (categories as dummies with one dropped, fills
    clipped to the range), gradient-boosted trees column by column (untuned, one pass) and, with
    ``--forest``, chained ExtraTrees. Figures are ratios to the boosted trees, as geometric means.
    The imputer was tuned on ``TUNED`` tables and only confirmed on the others.
``numbers``
    Tables of numbers without gaps, from which cells are taken completely at random, at random given
    other columns, or in blocks; the imputer beside IterativeImputer.
``coverage``
    How often 95 % intervals pooled from draws hold a mean, a correlation and a slope.
``large``
    Time and memory for all of SUPPORT2.

Set OPENBLAS_NUM_THREADS=1 and OMP_NUM_THREADS=1 to compare seconds. Tables that are not at hand are
left out.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets

from benchmarks import results_file
from benchmarks.class_filling import coded, expanded, is_number
from benchmarks.real_tables import find
from halfseen import Imputer, pool
from halfseen.rows.gathered import gathered

Array = np.ndarray[Any, np.dtype[np.float64]]
HIDDEN, MOST_ROWS, LEAST = 0.1, 2000, 1e-3
TUNED = ("election", "titanic", "support2", "penguins", "mammo", "wine")
CONFIRMED = ("ames", "pbc", "icu", "bfi", "breast cancer", "diabetes")
BUNDLED = {
    "wine": datasets.load_wine,
    "breast cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
    "iris": datasets.load_iris,
}


class Said(NamedTuple):
    """What a way fills in."""

    values: Array  # (n, d)  of numbers
    chances: dict[int, tuple[Array, Array]]  # of other columns: categories, and chances (n, l)


def load(name: str, rng: np.random.Generator) -> tuple[Array, list[str]]:
    """A table as numbers, some of its rows if there are many, and the kinds of its columns."""
    pd = import_module("pandas")
    if name in BUNDLED:
        values = BUNDLED[name](return_X_y=True)[0]
        frame = pd.DataFrame(values, columns=[f"x{j}" for j in range(values.shape[1])])
    else:
        frame = pd.read_csv(find(f"{name}.csv"))
    if len(frame) > MOST_ROWS:
        frame = frame.iloc[np.sort(rng.choice(len(frame), MOST_ROWS, replace=False))]
    return coded(frame.reset_index(drop=True))


def at_hand(name: str) -> bool:
    """Whether there is such a table."""
    return name in BUNDLED or find(f"{name}.csv") is not None


def known_of(X: Array, d: int) -> Array:
    """The known cells of a column."""
    known: Array = X[~np.isnan(X[:, d]), d]
    return known


def means_and_modes(X: Array, kinds: list[str]) -> Said:
    """Of each column."""
    values, chances = X.copy(), {}
    for d, kind in enumerate(kinds):
        if is_number(kind):
            values[:, d] = known_of(X, d).mean()
        else:
            each, often = np.unique(known_of(X, d), return_counts=True)
            chances[d] = each, np.tile(often / often.sum(), (len(X), 1))
    return Said(values, chances)


def neighbours(X: Array, kinds: list[str]) -> Said:
    """Ten nearest rows."""
    from sklearn.impute import KNNImputer

    wide, names = expanded(X, kinds)
    return _narrow(X, kinds, KNNImputer(n_neighbors=10).fit_transform(wide), names)


def _narrow(X: Array, kinds: list[str], filled: Array, names: list[tuple[int, Any]]) -> Said:
    """What filled columns of expanded tables say."""
    values, chances = X.copy(), {}
    for d, kind in enumerate(kinds):
        own = [i for i, (column, _) in enumerate(names) if column == d]
        if is_number(kind):
            known = known_of(X, d)
            guess = filled[:, own[0]] * (known.std() or 1.0) + known.mean()
            values[:, d] = np.clip(guess, known.min(), known.max())
        else:
            each = np.array([names[i][1] for i in own])
            said = np.clip(filled[:, own] * np.sqrt(2), 0.0, 1.0)
            missing = np.setdiff1d(np.unique(known_of(X, d)), each)
            if len(missing):
                left = np.clip(1 - said.sum(axis=1, keepdims=True), 0.0, 1.0)
                each, said = np.r_[each, missing], np.hstack([said, left])
            said = np.maximum(said, LEAST)
            chances[d] = each, said / said.sum(axis=1, keepdims=True)
    return Said(values, chances)


def _without_first(wide: Array, names: list[tuple[int, Any]]) -> tuple[Array, list[Any]]:
    """Dummies of each column but the first: all of them would add up to one."""
    seen: set[int] = set()
    kept = []
    for i, (column, value) in enumerate(names):
        if value is not None and column not in seen:
            seen.add(column)
        else:
            kept.append(i)
    return wide[:, kept], [names[i] for i in kept]


def iterative(X: Array, kinds: list[str], estimator: Any = None) -> Said:
    """scikit-learn's chained regressions."""
    import_module("sklearn.experimental.enable_iterative_imputer")
    chained: Any = import_module("sklearn.impute").IterativeImputer

    wide, names = _without_first(*expanded(X, kinds))
    filled = chained(estimator=estimator, random_state=0).fit_transform(wide)
    return _narrow(X, kinds, filled, names)


def forest(X: Array, kinds: list[str]) -> Said:
    """The same with trees."""
    from sklearn.ensemble import ExtraTreesRegressor

    trees = ExtraTreesRegressor(50, min_samples_leaf=3, max_features=0.5, random_state=0)
    return iterative(X, kinds, trees)


def boosted(X: Array, kinds: list[str]) -> Said:
    """Each column from all others, gaps being seen as gaps."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    values, chances = X.copy(), {}
    for d, kind in enumerate(kinds):
        rows = ~np.isnan(X[:, d])
        others = (np.arange(len(kinds)) != d) & (np.sum(~np.isnan(X[rows]), axis=0) > 20)
        if not others.any():  # hardly ever known: nothing to learn from
            each, often = np.unique(X[rows, d], return_counts=True)
            values[:, d] = X[rows, d].mean()
            chances[d] = each, np.tile(often / often.sum(), (len(X), 1))
            continue
        own = {"categorical_features": _nominal(X, kinds)[others], "random_state": 0}
        part, table = X[rows][:, others], X[:, others]
        if is_number(kind):
            model = _stopped(HistGradientBoostingRegressor, own, part, X[rows, d])
            low, high = X[rows, d].min(), X[rows, d].max()
            values[:, d] = np.clip(model.predict(table), low, high)
        else:
            each, codes = np.unique(X[rows, d], return_inverse=True)
            model = _stopped(HistGradientBoostingClassifier, own, part, codes)
            chances[d] = each[model.classes_], model.predict_proba(table)
    return Said(values, chances)


def _stopped(kind: Any, settings: dict[str, Any], X: Array, y: Any) -> Any:
    """Stopped early: probabilities of default trees are worse than the mode's."""
    try:
        return kind(**settings, early_stopping=True).fit(X, y)
    except ValueError:  # a category that one row has cannot be in both parts
        return kind(**settings, max_iter=20).fit(X, y)


def _nominal(X: Array, kinds: list[str]) -> Any:
    few = np.nan_to_num(X).max(axis=0) < 250
    return np.array([kind == "categorical" for kind in kinds]) & few


def ours(X: Array, kinds: list[str], **settings: Any) -> Said:
    """The imputer."""
    imputer = Imputer(dict(enumerate(kinds)), possible=False, **settings)
    values = imputer.fit_transform(X)
    each = {int(name.removeprefix("x")): c for name, c in imputer.probabilities(X).items()}
    levels = {int(name.removeprefix("x")): c for name, c in imputer.categories_.items()}
    return Said(values, {d: (np.array(levels[d], dtype=float), each[d]) for d in each})


def classes_alone(X: Array, kinds: list[str]) -> Said:
    """What its mixtures say."""
    from halfseen.rows.engines.memory import MemoryRows

    imputer = Imputer(dict(enumerate(kinds)), max_seconds=None).fit(X)
    filler: Any = imputer.learned_.filler
    rows = MemoryRows(X, tuple(map(str, range(X.shape[1])))).select(imputer.learned_.kept)
    expected, view = gathered(rows, filler.ensemble.features), filler.view
    values, chances = X.copy(), {}
    for j, d in enumerate(np.flatnonzero(imputer.learned_.kept).tolist()):
        own = expected[:, view.targets(j)]
        if view.numbers[j]:
            known = known_of(X, d)
            values[:, d] = np.clip(view.value(j, own[:, 0]), known.min(), known.max())
        else:
            chances[d] = view.levels[j], own
    return Said(values, chances)


WAYS: dict[str, Callable[..., Said]] = {
    "imputer": ours,
    "its classes alone": classes_alone,
    "means and modes": means_and_modes,
    "neighbours": neighbours,
    "iterative": iterative,
    "boosted": boosted,
    "forest": forest,
}


def judged(X: Array, said: Said, hidden: Any, kinds: list[str]) -> dict[str, float]:
    """Errors of numbers in standard deviations, and log-loss of categories."""
    errors, losses = [], []
    for d, kind in enumerate(kinds):
        own = hidden[:, d]
        if not own.any():
            continue
        if is_number(kind):
            away = (said.values[own, d] - X[own, d]) / (np.nanstd(X[:, d]) or 1.0)
            errors.append(np.clip(away, -10, 10))
        elif d in said.chances:
            each, chances = said.chances[d]
            right = X[own, d][:, None] == each
            losses.append(-np.log(np.maximum((chances[own] * right).sum(axis=1), LEAST)))
    found = {}
    if errors:
        found["rmse"] = float(np.sqrt(np.mean(np.concatenate(errors) ** 2)))
    if losses:
        found["log_loss"] = float(np.mean(np.concatenate(losses)))
    return found


def one_table(name: str, seed: int, ways: list[str]) -> dict[str, Any]:
    """Some ways on one table."""
    rng = np.random.default_rng(seed)
    X, kinds = load(name, rng)
    hidden = ~np.isnan(X) & (rng.random(X.shape) < HIDDEN)
    gappy = np.where(hidden, np.nan, X)
    varied = [len(np.unique(known_of(gappy, d))) > 1 for d in range(X.shape[1])]
    some = (~np.isnan(gappy)).any(axis=1)
    X, hidden, gappy = X[some][:, varied], hidden[some][:, varied], gappy[some][:, varied]
    kinds = [kind for kind, keep in zip(kinds, varied, strict=True) if keep]
    found: dict[str, Any] = {"shape": list(X.shape)}
    for way in ways:
        begun = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = WAYS[way](gappy, kinds)
        seconds = time.process_time() - begun
        found[way] = {**judged(X, said, hidden, kinds), "seconds": round(seconds, 2)}
    return found


def ratios(figures: dict[str, Any], way: str, to: str, names: Any) -> dict[str, float]:
    """Geometric means over tables of what one way has by another."""
    found = {}
    for what in ("rmse", "log_loss"):
        logs = [
            np.log(run[way][what] / run[to][what])
            for name in names
            for run in figures.get(name, {}).values()
            if way in run and to in run and what in run[way]
        ]
        if logs:
            found[what] = round(float(np.exp(np.mean(logs))), 4)
    return found


def mixed(asked: argparse.Namespace) -> dict[str, Any]:
    """All ways on all tables."""
    ways = asked.ways or [way for way in WAYS if way != "forest" or asked.forest]
    figures: dict[str, Any] = {}
    for name in filter(at_hand, asked.tables or (*TUNED, *CONFIRMED)):
        for seed in range(asked.seeds):
            run = one_table(name, seed, ways)
            figures.setdefault(name, {})[str(seed)] = run
            print(name, seed, run, flush=True)
    for part in (TUNED, CONFIRMED):
        for way in ways:
            if "boosted" in ways:
                print(part, way, ratios(figures, way, "boosted", part), flush=True)
    return figures


def complete_table(rng: np.random.Generator, n: int, skewed: bool) -> Array:
    """Two columns, a third that depends on both, and one of two values."""
    X = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=n)
    if skewed:
        X = np.column_stack([X[:, 0], np.exp(0.5 * X[:, 1])])
    y = 1 + 0.5 * X[:, 0] + 0.7 * X[:, 1] + rng.normal(size=n)
    group = rng.random(n) < 1 / (1 + np.exp(-X[:, 0]))
    return np.column_stack([X, y, group]).astype(float)


def gaps_at_random(rng: np.random.Generator, X: Array) -> Array:
    """Gaps in all but the first column, more where that is high."""
    chance = 1 / (1 + np.exp(-(X[:, :1] - 1)))
    gaps = rng.random(X.shape) < chance
    gaps[:, 0] = False
    return np.where(gaps, np.nan, X)


def estimates(X: Array) -> tuple[Array, Array]:
    """A mean, a correlation (Fisher's z) and a slope, and their variances."""
    n, y = len(X), X[:, 2]
    design = np.column_stack([np.ones(n), X[:, :2]])
    inverse = np.linalg.inv(design.T @ design)
    slopes = inverse @ design.T @ y
    left = float(((y - design @ slopes) ** 2).sum()) / (n - 3)
    z = np.arctanh(np.corrcoef(X[:, 1], y)[0, 1])
    found = [y.mean(), z, slopes[2]]
    return np.array(found), np.array([y.var(ddof=1) / n, 1 / (n - 3), left * inverse[2, 2]])


def coverage(asked: argparse.Namespace) -> dict[str, Any]:
    """How often pooled intervals hold the truth, over many tables of 500 rows."""
    figures: dict[str, Any] = {}
    names = ("mean", "correlation", "slope")
    for skewed in (False, True):
        many = complete_table(np.random.default_rng(1), 2_000_000, skewed)
        truth = estimates(many)[0]
        hits, lost, bias = [], [], []
        for number in range(asked.runs):
            rng = np.random.default_rng(number)
            X = gaps_at_random(rng, complete_table(rng, 500, skewed))
            tables = Imputer(draws=20, random_state=number).fit(X).draw(X)
            each = [estimates(table) for table in tables]
            found = pool([one[0] for one in each], [one[1] for one in each], df=497)
            hits.append((found.low <= truth) & (truth <= found.high))
            lost.append(found.missing_information)
            bias.append((found.estimate - truth) / found.std)
        share, spread = np.mean(hits, axis=0), np.mean(lost, axis=0)
        name = "skewed" if skewed else "normal"
        figures[name] = {
            what: {"covered": float(a), "lost": round(float(b), 3), "bias": round(float(c), 3)}
            for what, a, b, c in zip(names, share, spread, np.mean(bias, axis=0), strict=True)
        }
        print(name, figures[name], flush=True)
    return figures


def correlated(rng: np.random.Generator, groups: int) -> Array:
    """Six hundred rows of twelve columns that share four factors, in one group or several."""
    loadings = rng.normal(size=(groups, 4, 12))
    centres = 2 * rng.normal(size=(groups, 12)) * (groups > 1)
    of = rng.integers(groups, size=600)
    factors = rng.normal(size=(600, 4))
    noise = 0.7 * rng.normal(size=(600, 12))
    table: Array = centres[of] + np.einsum("nf,nfd->nd", factors, loadings[of]) + noise
    return table


NUMBERS: dict[str, Callable[[np.random.Generator], Array]] = {
    "wine": lambda rng: datasets.load_wine(return_X_y=True)[0],
    "diabetes": lambda rng: datasets.load_diabetes(return_X_y=True)[0],
    "breast cancer": lambda rng: datasets.load_breast_cancer(return_X_y=True)[0],
    "one group": lambda rng: correlated(rng, 1),
    "three groups": lambda rng: correlated(rng, 3),
}


def gaps_of(rng: np.random.Generator, X: Array, pattern: str) -> Any:
    """About a fifth of the cells: at random, given the first column, or in two blocks."""
    n, d = X.shape
    if pattern == "completely at random":
        return rng.random(X.shape) < 0.2
    if pattern == "at random":
        rank = X[:, 0].argsort().argsort() / n
        gaps = rng.random(X.shape) < 0.4 * rank[:, None]
        gaps[:, 0] = False
        return gaps
    gaps = np.zeros(X.shape, bool)
    for part in np.array_split(rng.permutation(d), 3)[:2]:
        gaps[np.ix_(rng.random(n) < 0.3, part)] = True
    return gaps


def numbers(asked: argparse.Namespace) -> dict[str, Any]:
    """The imputer beside IterativeImputer on tables of numbers."""
    figures: dict[str, Any] = {}
    patterns = ("completely at random", "at random", "blocks")
    for name, make in NUMBERS.items():
        for pattern in patterns:
            for seed in range(asked.seeds):
                rng = np.random.default_rng(seed)
                X = make(rng)
                X = X[:, X.std(axis=0) > 0]
                hidden = gaps_of(rng, X, pattern)
                gappy, kinds = np.where(hidden, np.nan, X), ["continuous"] * X.shape[1]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    run = {
                        way: judged(X, WAYS[way](gappy, kinds), hidden, kinds)["rmse"]
                        for way in ("imputer", "iterative")
                    }
                figures.setdefault(name, {}).setdefault(pattern, []).append(run)
            print(name, pattern, figures[name][pattern], flush=True)
    runs = [run for of in figures.values() for each in of.values() for run in each]
    won = [run["imputer"] < run["iterative"] for run in runs]
    figures["won"] = {"runs": len(won), "share": float(np.mean(won))}
    print(figures["won"])
    return figures


def large(asked: argparse.Namespace) -> dict[str, Any]:
    """All of SUPPORT2: seconds, and the most memory that the process had."""
    import resource

    frame = import_module("pandas").read_csv(find("support2.csv"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = time.process_time()
        imputer = Imputer().fit(frame)
        fitted = time.process_time()
        imputer.transform(frame)
        filled = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {
        "shape": list(frame.shape),
        "seconds to fit": round(fitted - begun, 1),
        "seconds to fill": round(filled - fitted, 1),
        "peak MB": round(peak),
    }
    print(figures)
    return figures


def main() -> None:
    """Print figures, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=list(PARTS))
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--ways", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--forest", action="store_true")
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    figures = PARTS[asked.what](asked)
    if asked.keep:
        command = f"python -m benchmarks.imputing {asked.what}"
        results_file.write(f"imputing_{asked.what}", command, figures)


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "mixed": mixed,
    "coverage": coverage,
    "numbers": numbers,
    "large": large,
}


if __name__ == "__main__":
    main()
