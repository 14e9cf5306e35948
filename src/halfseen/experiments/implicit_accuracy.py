"""The third moment that is never formed, beside the one formed from all triples.

Run ``python -m halfseen.experiments.implicit_accuracy``: topics from 30 tables of 10,000 rows, the
incomplete features missing independently of each other or all together; in the second case also
with the product of their probabilities that ignores it.
"""

import argparse
import warnings
from unittest import mock

import numpy as np

from halfseen import GammaPoisson, simulate
from halfseen.core import gaps
from halfseen.core.arrays import Array
from halfseen.core.errors import WeakMomentsWarning
from halfseen.core.feature_sums import fraction_of
from halfseen.core.mask_groups import MaskGroups
from halfseen.experiments import results_file
from halfseen.experiments.comparison import geometric_ratio
from halfseen.experiments.synthetic import N_COMPLETE, N_COMPONENTS, gamma_poisson_world
from halfseen.recovery import total_angle

FRACTIONS = (0.5, 0.2, 0.1)
BLOCKS = {"independent": [0] * N_COMPLETE + [1, 2, 3, 4], "together": [0] * N_COMPLETE + [1] * 4}


def every_feature_alone(count: Array, n_rows: float) -> MaskGroups:
    """What one would assume without looking: no two features are missing together."""
    return MaskGroups(fraction_of(np.diag(count), n_rows) < 1, ())


def error(X: Array, true: Array, third_moment: str) -> float:
    """ε_c of topics learned from a table, with the paper's weights."""
    model = GammaPoisson(N_COMPONENTS, feature_weights="observed", third_moment=third_moment)
    model.fit(X)
    return total_angle(model.components_, true, np.arange(N_COMPLETE))


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    figures = {}
    for pattern, blocks in BLOCKS.items():
        for fraction in FRACTIONS:
            errors: dict[str, list[float]] = {"explicit": [], "implicit": [], "product": []}
            for seed in range(options.seeds):
                rng = np.random.default_rng(seed)
                world = gamma_poisson_world(1.0, 100.0)(rng)
                observed = [1.0] + [fraction] * max(blocks)
                X = simulate.block_gaps(world.draw(options.rows, rng), blocks, observed, rng)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", WeakMomentsWarning)
                    for route in ("explicit", "implicit"):
                        errors[route].append(error(X, world.components, route))
                    with mock.patch.object(gaps, "mask_groups", every_feature_alone):
                        errors["product"].append(error(X, world.components, "implicit"))
            name = f"{pattern}, p = {fraction}"
            explicit = np.array(errors["explicit"])
            figures[name] = {
                "explicit mean": float(explicit.mean()),
                "implicit / explicit": geometric_ratio(np.array(errors["implicit"]), explicit)[0],
                "product / explicit": geometric_ratio(np.array(errors["product"]), explicit)[0],
            }
            row = figures[name].items()
            print(f"{name:>18}  " + "  ".join(f"{key} {value:.4f}" for key, value in row))
    if options.keep:
        command = f"python -m halfseen.experiments.implicit_accuracy --rows {options.rows}"
        results_file.write("implicit_accuracy", f"{command} --seeds {options.seeds}", figures)


if __name__ == "__main__":
    main()
