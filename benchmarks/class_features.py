"""What bounded features of columns are worth where classes begin, and classes of spread alone.

Run ``python -m benchmarks.class_features``: tables of ``benchmarks.mixed_tables``, as they are and
with spreads that differ more between classes (0.4 to 2, or 0.3 to 2.5 with means closer together,
instead of 0.6 to 1.5). The start's error is the root mean square of class means of continuous
columns and counts in standard deviations and of probabilities of categories in units of their
spread, classes matched; once with the features that are used (two of each number, bounded), once
with the numbers alone, clipped as starts have them.
Classes that differ in spread only (two of equal size, eight columns observed in 20 to 100 % of
rows, standard deviations 1 and 2.5) are found if default labels agree with the truth as well as
those of the true parameters do, to 0.02 of the adjusted Rand index.
"""

import argparse
import warnings
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import norm
from sklearn.metrics import adjusted_rand_score

from benchmarks import results_file
from benchmarks.mixed_tables import KINDS, World, draw, with_gaps, world
from halfseen import LatentClass
from halfseen.data.progress import Stages
from halfseen.estimators.reading import opened
from halfseen.inference.method_of_moments import moment_start
from halfseen.inference.plan import planned, routes
from halfseen.latent import moment_start as starts
from halfseen.moments.survey import survey

FIRST_SEED = 3000
FAR = 400.0
"""Times its spread, an item's features are the number itself: squares are then cut off."""


WORLDS: dict[str, tuple[float, tuple[float, float] | None]] = {
    "": (1.0, None),
    ", uneven spreads": (1.0, (0.4, 2.0)),
    ", spreads tell most": (0.4, (0.3, 2.5)),
}
"""What means are multiplied with, and between what spreads are; as they are if that is None."""


def changed(
    rng: np.random.Generator, of: World, nearer: float, spreads: tuple[float, float] | None
) -> World:
    """A world with means that are nearer to each other, and other spreads."""
    wide: Any = of.spreads if spreads is None else rng.uniform(*spreads, size=of.spreads.shape)
    return of._replace(means=nearer * of.means, spreads=wide)


def truth_of(of: World) -> np.ndarray[Any, Any]:
    """Class statistics in units in which columns vary by about one; (k, s)."""
    wide = np.sqrt(of.weights @ (of.spreads**2 + of.means**2) - (of.weights @ of.means) ** 2)
    rates = np.sqrt(of.weights @ (of.rates + of.rates**2) - (of.weights @ of.rates) ** 2)
    parts = [of.means / wide, of.rates / rates]
    for shares in [*of.shares, np.dstack([1 - of.chances, of.chances]).transpose(1, 0, 2)]:
        each = [shares] if shares.ndim == 2 else list(shares)
        for one in each:
            pooled = of.weights @ one
            parts.append(one / np.sqrt(pooled * (1 - pooled)))
    return np.hstack(parts)


def found_of(parameters: Any, of: World) -> np.ndarray[Any, Any]:
    """The same of parameters that were found."""
    p = parameters
    found = World(
        of.weights,
        p.centres[:, :4],
        of.spreads,
        p.rates[:, 4:6],
        [p.level_shares[: s.shape[1], :, 6 + i].T for i, s in enumerate(of.shares)],
        p.level_shares[1, :, 9:12],
    )
    scale = truth_of(of._replace(weights=of.weights)) / _plain(of)
    scaled: np.ndarray[Any, Any] = _plain(found) * scale
    return scaled


def _plain(of: World) -> np.ndarray[Any, Any]:
    pairs = [np.column_stack([1 - c, c]) for c in of.chances.T]
    return np.hstack([of.means, of.rates, *of.shares, *pairs]) + 1e-12


def error(X: Any, of: World, linear: bool) -> float:
    """Of the start alone."""
    k = len(of.weights)
    estimator: Any = LatentClass(k, kinds=KINDS, refine=None, random_state=0)
    settings, _ = estimator.checked()
    rows = opened(estimator, X).rows
    seen = survey(rows, 0.95)
    usual: Any = starts.Statistics.items
    if linear:
        starts.Statistics.items = property(  # type: ignore[assignment,method-assign]
            lambda known: [one._replace(spread=FAR * one.spread) for one in usual.fget(known)]
        )
    try:
        model: Any = estimator._model().adapted_to(rows, seen)
        model = replace(model, emission=model.emission)
        plan = planned(settings, model, seen, k)
        winsorised = model.winsorised(rows, seen)
        start = moment_start(
            model, winsorised, plan, routes(plan, model, winsorised), Stages()
        ).found
    finally:
        starts.Statistics.items = usual  # type: ignore[method-assign]
    truth, found = truth_of(of), found_of(start, of) if len(start.weights) == k else None
    if found is None:
        return float(np.sqrt(np.mean((truth - of.weights @ truth) ** 2)))
    away = ((truth[:, None] - found[None]) ** 2).mean(axis=2)
    return float(np.sqrt(away[linear_sum_assignment(away)].mean()))


def spread_alone(seed: int, n: int) -> bool:
    """Whether classes that differ in spread only are found."""
    rng = np.random.default_rng(seed)
    z = rng.integers(2, size=n)
    X = with_gaps(rng, rng.normal(size=(n, 8)) * np.where(z, 2.5, 1.0)[:, None])
    some = ~np.isnan(X).all(axis=1)
    X, z = X[some], z[some]
    given = LatentClass(2, random_state=0).fit_predict(X)
    wide = np.nansum(norm.logpdf(X, scale=2.5) - norm.logpdf(X, scale=1.0), axis=1)
    best = adjusted_rand_score(z, wide > 0)
    return bool(adjusted_rand_score(z, given) > best - 0.02)


def main() -> None:
    """Print the figures, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=40, help="for each number of rows")
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    figures: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n, name in product((1000, 10_000), WORLDS):
            pairs = []
            for seed in range(FIRST_SEED, FIRST_SEED + asked.tables):
                rng, k = np.random.default_rng(seed), 2 + seed % 4
                of = changed(rng, world(rng, k), *WORLDS[name])
                X = with_gaps(rng, draw(rng, of, n)[0])
                pairs.append([error(X, of, linear) for linear in (True, False)])
            ratio = np.exp(np.mean(np.log(pairs), axis=0))
            figures[f"{n} rows{name}"] = {
                "linear": float(ratio[0]),
                "bounded": float(ratio[1]),
                "ratio": float(ratio[0] / ratio[1]),
            }
            print(n, name, figures[f"{n} rows{name}"], flush=True)
        found = [spread_alone(seed, 2000) for seed in range(FIRST_SEED, FIRST_SEED + asked.tables)]
    figures["spread alone found %"] = float(100 * np.mean(found))
    print(figures)
    if asked.keep:
        results_file.write("class_features", "python -m benchmarks.class_features", figures)


if __name__ == "__main__":
    main()
