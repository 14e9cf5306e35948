"""Whether a default fit ends as high as the best of twenty random starts, and in how many passes.

Run ``python -m benchmarks.starts``: real tables of numbers, columns in robust spreads, with 2, 3,
4, 6 and 8 components, and simulated ones of 10,000 rows. Both climb with the same EM on the same
objective until it converges. A fit is worse, or better, if its log-likelihood of all rows is off
by more than one nat.
"""

import argparse
import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from benchmarks import results_file
from benchmarks.contaminated import draw
from benchmarks.real_tables import TABLES, Array, at_hand, scaled
from halfseen import GaussianMixture
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.progress import Stages
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.inference.fit import fit_rows
from halfseen.moments.survey import survey

NUMBERS = (2, 3, 4, 6, 8)
N_STARTS = 20
NATS = 1.0
SIMULATED_ROWS = 10_000


class Start(NamedTuple):
    """Parameters to climb from."""

    weights: Array  # (k,)
    means: Array  # (k, d)
    variances: Array  # (k, d)


class Reached(NamedTuple):
    """How high an EM run ended, and how many passes of EM over all rows it took.

    A pass over some of the rows counts by their share.
    """

    log_likelihood: float  # of all rows, with the prior if the objective has one
    passes: float


class Compared(NamedTuple):
    """A default fit and the best of random starts of one table."""

    table: str
    k: int
    ours: Reached
    random: Reached


def random_start(table: Array, k: int, seed: int, kind: str = "diag") -> Start:
    """Means at random rows, gaps there at the columns' means; overall variances; equal shares."""
    rng = np.random.default_rng(seed)
    filled = np.where(np.isnan(table), np.nanmean(table, axis=0), table)
    variances = np.nanvar(table, axis=0)
    if kind.endswith("spherical"):
        # The first step must not fall to what the type allows, or EM takes it for the end.
        variances = np.full_like(variances, variances.mean())
    return Start(
        np.full(k, 1 / k),
        filled[rng.choice(len(table), k, replace=False)],
        np.tile(variances, (k, 1)),
    )


def compared(name: str, table: Array, k: int, kind: str, n_starts: int) -> Compared:
    """Both ways on one table, on the same objective: that of the default fit."""
    rows = MemoryRows(table, tuple(map(str, range(table.shape[1]))))
    seen = survey(rows, 0.95)
    rows, seen = rows.select(seen.kept), seen.of_kept()
    estimator = GaussianMixture(k, covariance_type=kind, random_state=0)
    settings, checked = estimator.checked()
    model: Any = checked
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = fit_rows(settings, model, rows, seen, k, Stages())
        emission = model.adapted_to(rows, seen).emission
        model = replace(model, emission=emission)

        def height(parameters: MixtureParameters, log_likelihood: float | None) -> float:
            return float(len(table) * (log_likelihood or 0.0) + emission.prior(parameters))

        climbs = []
        for seed in range(n_starts):
            start = emission.em_start(MixtureParameters(*random_start(rows.table, k, seed, kind)))
            start = replace(start, outlier_share=0.0) if ours.parameters.plain else start
            climbs.append(model.run_em(rows, start, estimator.max_iter))
        beside = emission.left_out(rows, climbs[0].parameters)
    climb = ours.convergence
    assert climb is not None
    return Compared(
        name,
        k,
        Reached(height(ours.parameters, climb.log_likelihood), climb.work),
        Reached(
            max(len(table) * (one.convergence.log_likelihood or 0.0) for one in climbs) + beside,
            float(sum(one.convergence.n_iterations for one in climbs)),
        ),
    )


def summary(found: list[Compared]) -> dict[str, float]:
    """How often a fit is worse or better, and its share of the passes of random starts."""
    gain = np.array([one.ours.log_likelihood - one.random.log_likelihood for one in found])
    passes = np.array([[one.ours.passes, one.random.passes] for one in found])
    return {
        "fits": len(found),
        "worse %": float(100 * np.mean(gain < -NATS)),
        "better %": float(100 * np.mean(gain > NATS)),
        "passes / theirs": float(passes[:, 0].sum() / passes[:, 1].sum()),
        "median of passes / theirs": float(np.median(passes[:, 0] / passes[:, 1])),
    }


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--type", default="diag", help="type of covariance")
    parser.add_argument(
        "--tables", nargs="+", default=list(TABLES), choices=TABLES, metavar="TABLE"
    )
    parser.add_argument("--numbers", nargs="+", type=int, default=list(NUMBERS), metavar="K")
    parser.add_argument("--starts", type=int, default=N_STARTS)
    parser.add_argument("--simulated", type=int, default=100, help="simulated tables")
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    real: list[Compared] = []
    for name, table in at_hand(options.tables).items():
        for k in options.numbers:
            one = compared(name, scaled(table.values), k, options.type, options.starts)
            real.append(one)
            gain = one.ours.log_likelihood - one.random.log_likelihood
            passes = f"passes {one.ours.passes:.0f} / {one.random.passes:.0f}"
            print(f"{name:>14} K = {k}  {gain:+12.1f} nats  {passes}", flush=True)
    simulated = [
        compared("simulated", draw("Gauss", 1_000 + seed, n_rows=SIMULATED_ROWS).values, 4, *how)
        for how in [(options.type, options.starts)]
        for seed in range(options.simulated)
    ]
    groups = {"real tables": real, "simulated": simulated}
    figures: dict[str, Any] = {name: summary(some) for name, some in groups.items() if some}
    for name, row in figures.items():
        print(f"{name:>14}  " + "  ".join(f"{key} {value:.3g}" for key, value in row.items()))
    if options.keep:
        figures["tables"] = len({one.table for one in real})
        command = f"python -m benchmarks.starts --type {options.type}"
        results_file.write("starts", f"{command} --simulated {options.simulated}", figures)


if __name__ == "__main__":
    main()
