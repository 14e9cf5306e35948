"""The third moment that is never formed, beside the one formed from all triples.

Run ``python -m benchmarks.implicit_accuracy``: topics from 30 tables of 10,000 rows, the
incomplete features missing independently of each other, all together, or entangled. Where they are
missing together also with moments divided by products of probabilities, which ignores it.
"""

import argparse
import warnings
from collections.abc import Callable
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from benchmarks import results_file
from benchmarks.comparison import geometric_ratio
from benchmarks.reproduce.synthetic import N_COMPLETE, N_COMPONENTS, gamma_poisson_world
from halfseen import GammaPoisson, simulate
from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import WeakMomentsWarning
from halfseen.data.products import Parts
from halfseen.diagnostics.recovery import total_angle
from halfseen.inference import plan
from halfseen.moments import second_moment_operator
from halfseen.moments.missing_patterns import Panels

FRACTIONS = (0.5, 0.2, 0.1)
N_INCOMPLETE = 4


def independent(X: Array, fraction: float, rng: np.random.Generator) -> Array:
    """Each incomplete feature is missing on its own."""
    return simulate.independent_gaps(X, [1.0] * N_COMPLETE + [fraction] * N_INCOMPLETE, rng)


def together(X: Array, fraction: float, rng: np.random.Generator) -> Array:
    """All incomplete features are missing together."""
    return simulate.block_gaps(X, [0] * N_COMPLETE + [1] * N_INCOMPLETE, [1.0, fraction], rng)


def entangled(X: Array, fraction: float, rng: np.random.Generator) -> Array:
    """A row has no, one, two or three neighbours of the incomplete features, or all of them."""
    n_seen = np.where(rng.random(len(X)) < fraction, N_INCOMPLETE, rng.integers(4, size=len(X)))
    first = rng.integers(N_INCOMPLETE, size=len(X))
    place = (np.arange(N_INCOMPLETE) - first[:, None]) % N_INCOMPLETE
    seen = np.hstack([np.ones((len(X), N_COMPLETE), bool), place < n_seen[:, None]])
    return np.where(seen, X, np.nan)


PATTERNS: dict[str, Callable[[Array, float, np.random.Generator], Array]] = {
    "independent": independent,
    "together": together,
    "entangled": entangled,
}


def every_feature_alone(keys: Array, complete: Mask) -> tuple[Parts, NDArray[np.intp], Panels]:
    """What one would assume without looking: no two features are missing together."""
    labels = np.where(complete, 0, 1)
    return Parts(labels, 2), np.flatnonzero(complete)[:1], Panels(~complete, ())


def error(X: Array, true: Array, third_moment: str) -> float:
    """ε_c of topics learned from a table, with the paper's weights."""
    model = GammaPoisson(N_COMPONENTS, feature_weights="observed", third_moment=third_moment)
    model.fit(X)
    return total_angle(model.components_, true, np.arange(N_COMPLETE))


def product_error(X: Array, true: Array) -> float:
    """The same with second and third moments divided by products of probabilities."""
    with (
        mock.patch.object(plan, "WIDE", 0),
        mock.patch.object(second_moment_operator, "_sorted", every_feature_alone),
    ):
        return error(X, true, "implicit")


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    figures = {}
    for pattern, put_gaps in PATTERNS.items():
        for fraction in FRACTIONS:
            errors: dict[str, list[float]] = {"explicit": [], "implicit": [], "product": []}
            for seed in range(options.seeds):
                rng = np.random.default_rng(seed)
                world = gamma_poisson_world(1.0, 100.0)(rng)
                X = put_gaps(world.draw(options.rows, rng), fraction, rng)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", WeakMomentsWarning)
                    for route in ("explicit", "implicit"):
                        errors[route].append(error(X, world.components, route))
                    errors["product"].append(product_error(X, world.components))
            name = f"{pattern}, p = {fraction}"
            explicit = np.array(errors["explicit"])
            figures[name] = {"explicit mean": float(explicit.mean())}
            for route in ("implicit", "product"):
                ratio, spread = geometric_ratio(np.array(errors[route]), explicit)
                figures[name] |= {f"{route} / explicit": ratio, f"{route} se": spread}
            row = figures[name].items()
            print(f"{name:>18}  " + "  ".join(f"{key} {value:.4f}" for key, value in row))
    if options.keep:
        command = f"python -m benchmarks.implicit_accuracy --rows {options.rows}"
        results_file.write("implicit_accuracy", f"{command} --seeds {options.seeds}", figures)


if __name__ == "__main__":
    main()
