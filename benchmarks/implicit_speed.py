"""A whole fit that never forms the third moment, beside a plain loop that does nothing else.

Run ``python -m benchmarks.implicit_speed``: 100,000 rows of 175 counts, 116 of them with
gaps in a fraction of rows drawn from U(0, 0.9), four topics; both in one run.
"""

import argparse
import time
import warnings

import numpy as np

from benchmarks import results_file
from benchmarks.third_moment_speed import plain_loop
from halfseen import GammaPoisson, simulate
from halfseen.diagnostics.recovery import total_angle

N_FEATURES, N_GAPPY, N_COMPONENTS = 175, 116, 4


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(N_FEATURES, 0.1), N_COMPONENTS)
    X, _ = simulate.gamma_poisson(options.rows, topics, np.ones(N_COMPONENTS), 0.04, rng)
    gappy = rng.permutation(N_FEATURES) < N_GAPPY
    # Below two percent even a hundred thousand rows hold no pair of such features often enough.
    fractions = np.where(gappy, rng.uniform(0.02, 0.9, N_FEATURES), 1.0)
    X = simulate.independent_gaps(X, fractions, rng)
    warnings.simplefilter("ignore", UserWarning)  # rare features are part of the design
    errors, seconds = {}, {}
    for route in ("implicit", "explicit"):
        model = GammaPoisson(N_COMPONENTS, third_moment=route)
        model.fit(X[:1000, :12])  # compiles
        start = time.perf_counter()
        model.fit(X)
        seconds[route] = time.perf_counter() - start
        errors[route] = total_angle(model.components_, topics, np.flatnonzero(~gappy))
    observed = ~np.isnan(X)
    deviations = np.where(observed, X - np.nanmean(X, axis=0), 0.0)
    start = time.perf_counter()
    plain_loop(deviations, observed)
    plain = time.perf_counter() - start
    figures = {
        "plain loop s": plain,
        "implicit fit s": seconds["implicit"],
        "explicit fit s": seconds["explicit"],
        "times faster": plain / seconds["implicit"],
        "implicit error": errors["implicit"],
        "implicit / explicit error": errors["implicit"] / errors["explicit"],
    }
    print("  ".join(f"{name} {value:.4g}" for name, value in figures.items()))
    if options.keep:
        command = f"python -m benchmarks.implicit_speed --rows {options.rows}"
        results_file.write("implicit_speed", command, figures)


if __name__ == "__main__":
    main()
