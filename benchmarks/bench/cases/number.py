"""How many components there are."""

from importlib import import_module

import numpy as np

from benchmarks.bench import normals, r_language
from benchmarks.bench.case import OURS, Case, Entrant, Errors, Setting
from benchmarks.bench.normals import Table
from halfseen import choose_components
from halfseen.data.arrays import Array

MOST, SEED = 8, 6000


def drawn(rows: int, components: int, gaps: float) -> Table:
    """Ten columns."""
    return normals.drawn(rows, 10, components, "diag", gaps, 4.5, SEED)


def ours(table: Table, threads: int) -> int:
    """By halves of the rows."""
    from halfseen import GaussianMixture

    model = GaussianMixture(covariance_type="diag", random_state=0, n_jobs=threads)
    return int(choose_components(table.X, model, max_components=MOST).n_components)


def _filled(X: Array) -> Array:
    filled: Array = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    return filled


def scikit_learn(table: Table, threads: int) -> int:
    """BIC, the best of three starts; gaps filled with means."""
    kind, X = import_module("sklearn.mixture").GaussianMixture, _filled(table.X)
    found = [
        kind(k, covariance_type="diag", n_init=3, random_state=0).fit(X).bic(X)
        for k in range(1, MOST + 1)
    ]
    return 1 + int(np.argmin(found))


def mclust(table: Table, threads: int) -> int:
    """BIC; gaps filled with means."""
    return len(r_language.chosen(_filled(table.X), f"1:{MOST}", "VVI").weights)


def off(table: Table, number: int) -> Errors:
    """How many too many, or too few."""
    return {"wrong by": abs(number - table.k)}


NUMBER = Case(
    name="number",
    asks="How many groups are there?",
    draw=drawn,
    settings=tuple(
        Setting(
            f"{n:,} rows, {k} groups, {gaps:.0%} gaps",
            {"rows": n, "components": k, "gaps": gaps},
            quick=n == 1000,
        )
        for gaps in (0.0, 0.3)
        for n, k in ((1000, 3), (5000, 5), (100_000, 4))
    ),
    entrants={
        OURS: Entrant(OURS, ours, f"choose_components up to {MOST}"),
        "scikit-learn": Entrant("scikit-learn", scikit_learn, "BIC of 1 to 8, three starts"),
        "mclust": Entrant("mclust", mclust, "BIC of 1 to 8"),
    },
    judge=off,
    metric="wrong by",
    close=0.0,
    warm={"rows": 500, "components": 2, "gaps": 0.3},
    why=(
        "Halves of the rows are fitted apart for every number, more than once, where BIC needs one "
        "fit of each: on complete tables of normals BIC is right too, and sooner."
    ),
)
