"""Ways to fill gaps of a table of mixed columns: ours, scikit-learn's, mice of R, and lace.

A way takes a table (n, d) of numbers and codes with NaN in the gaps and the kinds of its columns,
and says what each number is, and how likely each category is.
"""

import subprocess
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

import numpy as np

from benchmarks.class_filling import expanded, is_number
from halfseen import Imputer
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import gathered

Array = np.ndarray[Any, np.dtype[np.float64]]
LEAST = 1e-3
FOREST_ROUNDS = 4
"""After which chained forests hardly change."""


class Said(NamedTuple):
    """What a way fills in."""

    values: Array  # (n, d)  of numbers
    chances: dict[int, tuple[Array, Array]]  # of other columns: categories, and chances (n, l)


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
    rounds = 10 if estimator is None else FOREST_ROUNDS
    filled = chained(estimator=estimator, max_iter=rounds, random_state=0).fit_transform(wide)
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


FITTED: list[tuple[Array, Imputer]] = []
"""The table that was filled last, and its imputer, so that it is not fitted twice."""


def _fitted(X: Array, kinds: list[str]) -> Imputer:
    if not FITTED or FITTED[0][0] is not X:
        FITTED[:] = [(X, Imputer(dict(enumerate(kinds)), possible=False).fit(X))]
    return FITTED[0][1]


def ours(X: Array, kinds: list[str]) -> Said:
    """The imputer."""
    FITTED.clear()
    imputer = _fitted(X, kinds)
    values = imputer.transform(X)
    each = {int(name.removeprefix("x")): c for name, c in imputer.probabilities(X).items()}
    levels = {int(name.removeprefix("x")): c for name, c in imputer.categories_.items()}
    return Said(values, {d: (np.array(levels[d], dtype=float), each[d]) for d in each})


def classes_alone(X: Array, kinds: list[str]) -> Said:
    """What its mixtures say."""
    imputer = _fitted(X, kinds)
    filler: Any = imputer.learned_.imputation
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


MICE = """
suppressPackageStartupMessages(library(mice))
asked <- commandArgs(trailingOnly = TRUE)
every <- read.csv(asked[1], na.strings = "NA")
set.seed(1)
completed <- function(table) {
  found <- mice(table, m = as.integer(asked[3]), method = asked[4], printFlag = FALSE)
  do.call(rbind, lapply(seq_len(found$m), function(i) as.matrix(complete(found, i))))
}
tables <- lapply(split(every[-1], every[[1]]), completed)
write.table(do.call(rbind, tables), asked[2], sep = ",", row.names = FALSE, col.names = FALSE)
"""


def by_mice(tables: list[Array], number: int, method: str) -> Array:
    """Completed tables of R's mice, of tables of one shape; (tables, number, n, d)."""
    n, d = tables[0].shape
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / name) for name in ("it.R", "in.csv", "out.csv")]
        lines = [",".join(["of", *(f"x{j}" for j in range(d))])]
        for place, table in enumerate(tables):
            for row in table:
                cells = ("NA" if np.isnan(value) else repr(float(value)) for value in row)
                lines.append(",".join([str(place), *cells]))
        Path(files[0]).write_text(MICE)
        Path(files[1]).write_text("\n".join(lines) + "\n")
        call = ["Rscript", *files, str(number), method]
        subprocess.run(call, check=True, capture_output=True)
        found: Array = np.genfromtxt(files[2], delimiter=",")
    return found.reshape(len(tables), number, n, d)


def _mean_of_mice(X: Array, number: int, method: str) -> Said:
    filled = by_mice([X], number, method)[0].mean(axis=0)
    middle = np.nanmean(X, axis=0)
    return Said(np.where(np.isnan(filled), middle, filled), {})


def mice(X: Array, kinds: list[str]) -> Said:
    """Of numbers only: the mean of five tables by predictive mean matching."""
    return _mean_of_mice(X, 5, "pmm")


def mice_regressed(X: Array, kinds: list[str]) -> Said:
    """The same without chance: what its regressions predict."""
    found = _mean_of_mice(X, 1, "norm.predict").values
    return Said(np.clip(found, np.nanmin(X, axis=0), np.nanmax(X, axis=0)), {})


LACE_STEPS, LACE_DRAWS = 1000, 200


def lace(X: Array, kinds: list[str], steps: int = LACE_STEPS) -> Said:
    """Distributions of its cells, by draws: means of numbers, shares of categories."""
    pd = import_module("pandas")
    frame = pd.DataFrame({"ID": [f"r{i}" for i in range(len(X))]})
    levels: dict[int, Array] = {}
    for d, kind in enumerate(kinds):
        if is_number(kind):
            frame[f"x{d}"] = X[:, d]
        else:
            levels[d], codes = np.unique(known_of(X, d), return_inverse=True)
            column = np.full(len(X), None, dtype=object)
            column[~np.isnan(X[:, d])] = [f"c{code}" for code in codes]
            frame[f"x{d}"] = column
    frame = frame.set_index("ID")
    engine = import_module("lace").Engine.from_df(frame, n_states=8, rng_seed=1)
    engine.update(steps, quiet=True)
    values = X.copy()
    chances = {d: (each, np.full((len(X), len(each)), 1 / len(each))) for d, each in levels.items()}
    for i, d in np.argwhere(np.isnan(X)):
        drawn = np.array(engine.draw(f"r{i}", f"x{d}", n=LACE_DRAWS).to_list())
        if d in levels:
            often = np.array([(drawn == f"c{code}").sum() for code in range(len(levels[d]))])
            chances[d][1][i] = (often + 0.5) / (often + 0.5).sum()
        else:
            known = known_of(X, d)
            values[i, d] = np.clip(drawn.astype(float).mean(), known.min(), known.max())
    return Said(values, chances)


WAYS: dict[str, Callable[..., Said]] = {
    "imputer": ours,
    "its classes alone": classes_alone,
    "means and modes": means_and_modes,
    "neighbours": neighbours,
    "iterative": iterative,
    "boosted": boosted,
    "forest": forest,
    "mice": mice,
    "mice, regressed": mice_regressed,
    "lace": lace,
}


def is_at_hand(way: str) -> bool:
    """Whether what a way needs is installed."""
    if way.startswith("mice"):
        return which("Rscript") is not None
    return way != "lace" or find_spec("lace") is not None
