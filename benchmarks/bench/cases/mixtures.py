"""Mixtures of normals, with gaps and without.

Everybody stops when a pass gains less than 1e-7 nats a row, which is our default, unless the words
of an entrant say that it has its own.
"""

from importlib import import_module
from itertools import product
from typing import Any

import numpy as np

from benchmarks.bench import normals
from benchmarks.bench.case import OURS, Case, Entrant, Errors, Setting
from benchmarks.bench.normals import Mixture, Table
from benchmarks.bench.r_language import mclust
from halfseen import GaussianMixture
from halfseen.data.arrays import Array

GAIN, K, SEED = 1e-7, 5, 2000
MOST_CELLS = 100_000_000


def ours(table: Table, threads: int) -> Mixture:
    """One call, with our defaults; outliers are not looked for, as nobody else does."""
    model = GaussianMixture(
        table.k, covariance_type=table.kind, outliers=None, random_state=0, n_jobs=threads
    ).fit(table.X)
    return Mixture(model.weights_, model.means_, _spread(model.covariances_, model.means_))


def _spread(covariances: Any, means: Array) -> Array:
    """Variances for each component and column, from one for each component."""
    held = np.asarray(covariances)
    return held if held.ndim > 1 else np.broadcast_to(held[:, None], means.shape)


def stepmix(table: Table, threads: int) -> Mixture:
    """One start and its own tolerance, as by default."""
    return _stepmix(table, 1e-10)


def stepmix_shorter(table: Table, threads: int) -> Mixture:
    """With ours."""
    return _stepmix(table, GAIN)


def _stepmix(table: Table, tol: float) -> Mixture:
    gaps = "_nan" if np.isnan(table.X[:1000]).any() else ""
    model = import_module("stepmix.stepmix").StepMix(
        n_components=table.k,
        measurement=f"gaussian_{table.kind}{gaps}",
        abs_tol=tol,
        random_state=0,
        progress_bar=0,
        verbose=0,
    )
    found = model.fit(table.X).get_parameters()
    own = found["measurement"]
    return Mixture(found["weights"], own["means"], _spread(own["covariances"], own["means"]))


def _scikit_learn(X: Array, table: Table, tol: float) -> Mixture:
    kind = import_module("sklearn.mixture").GaussianMixture
    model = kind(table.k, covariance_type=table.kind, tol=tol, max_iter=500, random_state=0)
    model.fit(X)
    return Mixture(model.weights_, model.means_, _spread(model.covariances_, model.means_))


def scikit_learn(table: Table, threads: int) -> Mixture:
    """With its own tolerance."""
    return _scikit_learn(table.X, table, 1e-3)


def scikit_learn_further(table: Table, threads: int) -> Mixture:
    """With ours."""
    return _scikit_learn(table.X, table, GAIN)


def scikit_learn_filled(table: Table, threads: int) -> Mixture:
    """Gaps filled with column means, as it takes none."""
    X = np.where(np.isnan(table.X), np.nanmean(table.X, axis=0), table.X)
    return _scikit_learn(X, table, 1e-3)


def pomegranate(table: Table, threads: int) -> Mixture:
    """Normals of torch; gaps as a masked tensor."""
    torch = import_module("torch")
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    X = torch.tensor(table.X, dtype=torch.float32)
    if bool(torch.isnan(X).any()):
        masked = import_module("torch.masked").MaskedTensor
        X = masked(torch.nan_to_num(X), mask=~torch.isnan(X))
    normal = import_module("pomegranate.distributions").Normal
    kind = "full" if table.kind == "full" else "diag"
    parts = [normal(covariance_type=kind) for _ in range(table.k)]
    model = (
        import_module("pomegranate.gmm")
        .GeneralMixtureModel(
            parts, init="random", tol=GAIN * len(table.X), max_iter=500, random_state=0
        )
        .fit(X)
    )
    means = np.array([one.means.numpy() for one in model.distributions], dtype=float)
    spreads = np.array([one.covs.numpy() for one in model.distributions], dtype=float)
    return Mixture(np.asarray(model.priors.numpy(), dtype=float), means, spreads)


def judge(table: Table, found: Mixture) -> Errors:
    """How unlikely the rows are."""
    return {"nats a row": normals.loss(table.X, found)}


def gappy(rows: int, columns: int, kind: str, apart: float) -> Table:
    """Three tenths of the cells are gaps."""
    return normals.drawn(rows, columns, K, kind, 0.3, apart, SEED)


def complete(rows: int, columns: int, kind: str, apart: float) -> Table:
    """No gaps."""
    return normals.drawn(rows, columns, K, kind, 0.0, apart, SEED)


WORDS = {3.0: "overlapping", 6.0: "well apart"}
"""Means three or six spreads from each other."""
POWERS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


def _settings(rows: tuple[int, ...], kinds: tuple[str, ...]) -> tuple[Setting, ...]:
    every = product(kinds, (10, 100), WORDS, rows)
    return tuple(
        Setting(
            f"{n:,} × {d}, {kind}, {WORDS[apart]}",
            {"rows": n, "columns": d, "kind": kind, "apart": apart},
            quick=n <= 10_000 and d == 10 and kind == "diag",
        )
        for kind, d, apart, n in every
        if n * d <= MOST_CELLS and (apart == 3 or (d == 10 and kind == "diag"))
    )


WARM = {"rows": 1000, "columns": 10, "kind": "diag", "apart": 6.0}
WITH_GAPS = Case(
    name="mixtures",
    asks="Mixtures of five normals from tables with 30 % of gaps: how likely, and how fast?",
    draw=gappy,
    settings=_settings(POWERS, ("diag", "spherical")),
    entrants={
        OURS: Entrant(OURS, ours, "defaults, without outliers"),
        "StepMix": Entrant("stepmix", stepmix, "defaults: one random start"),
        "StepMix, shorter": Entrant("stepmix", stepmix_shorter, "our tolerance"),
        "pomegranate": Entrant("pomegranate", pomegranate, "diagonal, our tolerance, float32"),
        "scikit-learn, filled": Entrant(
            "scikit-learn", scikit_learn_filled, "gaps filled with column means, its tolerance"
        ),
    },
    judge=judge,
    metric="nats a row",
    close=1e-4,
    along="rows",
    warm=WARM,
    why=(
        "At a thousand rows what is around the passes, starts that are compared and moves, takes "
        "longer than one random start, which is enough where components are well apart. A table "
        "whose gaps are filled with means is quickly fitted, and wrongly."
    ),
)
WITHOUT = Case(
    name="complete",
    asks="Mixtures of five normals from complete tables: how likely, and how fast?",
    draw=complete,
    settings=_settings(POWERS[:4], ("diag", "spherical", "full")),
    entrants={
        OURS: Entrant(OURS, ours, "defaults, without outliers"),
        "scikit-learn": Entrant("scikit-learn", scikit_learn, "defaults"),
        "scikit-learn, further": Entrant("scikit-learn", scikit_learn_further, "our tolerance"),
        "StepMix": Entrant("stepmix", stepmix, "defaults: one random start"),
        "StepMix, shorter": Entrant("stepmix", stepmix_shorter, "our tolerance"),
        "pomegranate": Entrant("pomegranate", pomegranate, "our tolerance, float32"),
        "mclust": Entrant("mclust", mclust, "VVI, VII or VVV; its start by hierarchy"),
    },
    judge=judge,
    metric="nats a row",
    close=1e-4,
    along="rows",
    warm=WARM,
    why=(
        "Up to some ten thousand rows most of a fit are short climbs from several starts, and "
        "moves, on samples of the rows; scikit-learn climbs once from k-means. Where components "
        "are well apart any start will do, and it is done sooner; with its own tolerance it also "
        "stops earlier, at less likely parameters where components overlap. Of one variance a "
        "component in a hundred columns our starts do not agree, and moves from where they lead "
        "are tried on many rows. Full covariances of a hundred columns from a thousand rows have "
        "many maxima, and take over a thousand passes to be searched; ours are held to what "
        "components share, so that the rows that they were learned from are less likely."
    ),
)
