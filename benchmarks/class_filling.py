"""Hidden cells of real mixed tables, filled in again by classes and by others.

Run ``python -m benchmarks.class_filling``: of each table a tenth of the known cells is hidden.
Columns of numbers are judged by root mean squared error in standard deviations of the column,
columns of categories by how often the filled one is right. Beside the classes, with as many classes
for all: column means and modes, nearest neighbours on standardised and one-hot columns, StepMix (if
it is installed), and a mixture of the columns of numbers alone, which is what version 0.1 had.
Tables that are not at hand are left out. Also how far classes of the penguins without their labels
are species.
"""

import argparse
import time
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks import results_file
from benchmarks.real_tables import find
from halfseen import GaussianMixture, LatentClass
from halfseen.estimators.reading import opened

TABLES = ("election", "titanic", "ames", "support2", "pbc", "mammo", "penguins", "icu")
HIDDEN = 0.1
MOST_ROWS = 3000
MOST_CELLS = 100_000
"""Of wide tables fewer rows are taken, so that StepMix is done within minutes."""
Array = np.ndarray[Any, np.dtype[np.float64]]


def read(name: str, rng: np.random.Generator) -> Any:
    """A table as its owner has it, some of its rows if there are many."""
    pd = import_module("pandas")
    frame = pd.read_csv(find(f"{name}.csv"))
    most = min(MOST_ROWS, MOST_CELLS // frame.shape[1])
    if len(frame) > most:
        frame = frame.iloc[np.sort(rng.choice(len(frame), most, replace=False))]
    return frame.reset_index(drop=True)


def coded(frame: Any) -> tuple[Array, list[str]]:
    """The used columns as numbers, and their kinds."""
    model: Any = LatentClass(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = opened(model, frame).rows
        model.fit(frame)
    table: Any = rows
    kinds = list(model.kinds_.values())
    used = [i for i in range(len(kinds)) if model.kept_features_[i]]
    return table.table[:, used], [kinds[i] for i in used]


def means_and_modes(X: Array, kinds: list[str], k: int) -> Array:
    """Of each column."""
    filled = np.empty(X.shape[1])
    for d, kind in enumerate(kinds):
        known = X[~np.isnan(X[:, d]), d]
        values, often = np.unique(known, return_counts=True)
        filled[d] = known.mean() if is_number(kind) else values[often.argmax()]
    return np.where(np.isnan(X), filled, X)


def is_number(kind: str) -> bool:
    """Whether a column is judged by its errors."""
    return kind in ("continuous", "count")


def expanded(X: Array, kinds: list[str]) -> tuple[Array, list[tuple[int, Any]]]:
    """Standardised numbers and one column a category; which column, and which category."""
    columns, names = [], []
    for d, kind in enumerate(kinds):
        if is_number(kind):
            columns.append((X[:, d] - np.nanmean(X[:, d])) / (np.nanstd(X[:, d]) or 1.0))
            names.append((d, None))
        else:
            for value in np.unique(X[~np.isnan(X[:, d]), d]):
                one = np.where(np.isnan(X[:, d]), np.nan, (X[:, d] == value) / np.sqrt(2))
                columns.append(one)
                names.append((d, value))
    return np.column_stack(columns), names


def neighbours(X: Array, kinds: list[str], k: int) -> Array:
    """Ten nearest rows."""
    from sklearn.impute import KNNImputer

    wide, names = expanded(X, kinds)
    filled = KNNImputer(n_neighbors=10).fit_transform(wide)
    out = X.copy()
    for d, kind in enumerate(kinds):
        own = [i for i, (column, _) in enumerate(names) if column == d]
        if is_number(kind):
            guess = filled[:, own[0]] * (np.nanstd(X[:, d]) or 1.0) + np.nanmean(X[:, d])
        else:
            guess = np.array([names[i][1] for i in own])[filled[:, own].argmax(axis=1)]
        out[:, d] = np.where(np.isnan(X[:, d]), guess, X[:, d])
    return out


def classes(X: Array, kinds: list[str], k: int) -> Array:
    """Ours."""
    model = LatentClass(k, kinds=dict(enumerate(kinds)), random_state=0).fit(X)
    filled: Array = model.impute(X)
    return filled


def numbers_alone(X: Array, kinds: list[str], k: int) -> Array:
    """The mixture of version 0.1: nothing is said of categories."""
    own = np.array([is_number(kind) for kind in kinds])
    filled = means_and_modes(X, kinds, k)
    if own.sum() > 1:
        spread = np.nanstd(X[:, own], axis=0)
        model = GaussianMixture(k, covariance_type="diag", outliers=None, random_state=0)
        filled[:, own] = model.fit(X[:, own] / spread).impute(X[:, own] / spread) * spread
    return filled


def stepmix(X: Array, kinds: list[str], k: int) -> Array:
    """Its classes, and what they say of gaps."""
    pd, StepMix = import_module("pandas"), import_module("stepmix.stepmix").StepMix
    numbers = [d for d, kind in enumerate(kinds) if is_number(kind)]
    others = [d for d, kind in enumerate(kinds) if not is_number(kind)]
    values = {d: np.unique(X[~np.isnan(X[:, d]), d]) for d in others}
    codes = X.copy()
    for d in others:
        codes[:, d] = np.where(np.isnan(X[:, d]), np.nan, np.searchsorted(values[d], X[:, d]))
    scale = np.nanstd(X[:, numbers], axis=0)
    parts = {}
    if numbers:
        parts["numbers"] = {"model": "gaussian_diag_nan", "n_columns": len(numbers)}
    if others:
        parts["others"] = {"model": "categorical_nan", "n_columns": len(others)}
    table = np.hstack([X[:, numbers] / scale, codes[:, others]])
    frame = pd.DataFrame(table, columns=[f"x{i}" for i in range(table.shape[1])])
    model = StepMix(
        n_components=k, measurement=parts, n_init=3, random_state=0, progress_bar=0, verbose=0
    ).fit(frame)
    shares, found = model.predict_proba(frame), model.get_parameters()["measurement"]
    out = X.copy()
    if numbers:
        guess = shares @ (np.asarray(found["numbers"]["means"]) * scale)
        out[:, numbers] = np.where(np.isnan(X[:, numbers]), guess, X[:, numbers])
    if others:
        each = np.asarray(found["others"]["pis"])  # (k, columns · most values)
        most = each.shape[1] // len(others)
        for i, d in enumerate(others):
            chance = shares @ each[:, i * most : i * most + len(values[d])]
            guess = values[d][chance.argmax(axis=1)]
            out[:, d] = np.where(np.isnan(X[:, d]), guess, X[:, d])
    return out


WAYS: dict[str, Any] = {
    "classes": classes,
    "means and modes": means_and_modes,
    "neighbours": neighbours,
    "numbers alone": numbers_alone,
    "StepMix": stepmix,
}


def judged(X: Array, filled: Array, hidden: Any, kinds: list[str]) -> dict[str, float]:
    """Errors of numbers in standard deviations, and the share of categories that are right."""
    errors, right = [], []
    for d, kind in enumerate(kinds):
        own = hidden[:, d]
        if is_number(kind):
            away = (filled[own, d] - X[own, d]) / (np.nanstd(X[:, d]) or 1.0)
            errors.append(np.clip(away, -10, 10))
        else:
            right.append(filled[own, d] == X[own, d])
    found = {}
    if errors:
        found["rmse"] = float(np.sqrt(np.mean(np.concatenate(errors) ** 2)))
    if right:
        found["right"] = float(np.mean(np.concatenate(right)))
    return found


def table(name: str, seed: int) -> dict[str, Any]:
    """All ways on one table."""
    rng = np.random.default_rng(seed)
    X, kinds = coded(read(name, rng))
    hidden = ~np.isnan(X) & (rng.random(X.shape) < HIDDEN)
    gappy = np.where(hidden, np.nan, X)
    some = (~np.isnan(gappy)).any(axis=1)
    X, hidden, gappy = X[some], hidden[some], gappy[some]
    k = int(np.clip(len(X) // 40, 2, 8))
    found: dict[str, Any] = {"rows": len(X), "columns": len(kinds), "classes": k}
    for way, fill in WAYS.items():
        if way == "StepMix" and find_spec("stepmix") is None:
            continue
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                filled = fill(gappy, kinds, k)
            except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
                found[way] = {"failed": " ".join(str(error).split())[:80]}
                continue
        seconds = time.perf_counter() - start
        found[way] = {**judged(X, filled, hidden, kinds), "seconds": round(seconds, 2)}
    return found


def penguins() -> float:
    """Agreement of three classes with species, which they are not shown."""
    from sklearn.metrics import adjusted_rand_score

    frame = read("penguins", np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = LatentClass(3, random_state=0).fit_predict(frame.drop(columns=["species"]))
    return float(adjusted_rand_score(frame["species"], given))


def main() -> None:
    """Print the figures of each table, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    figures: dict[str, Any] = results_file.kept("class_filling") if asked.keep else {}
    for name in asked.tables:
        if find(f"{name}.csv") is not None:
            figures[name] = table(name, asked.seed)
            print(name, figures[name], flush=True)
            keep(figures, asked.keep)
    figures["penguins as species, ARI"] = penguins()
    print("penguins as species, ARI", figures["penguins as species, ARI"])
    keep(figures, asked.keep)


def keep(figures: dict[str, Any], asked: bool) -> None:
    """Write what there is so far, table by table, if asked to."""
    if asked:
        results_file.write("class_filling", "python -m benchmarks.class_filling", figures)


if __name__ == "__main__":
    main()
