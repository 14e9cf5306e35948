"""How much faster the packed third moment is than a plain loop over features.

Run ``python -m benchmarks.third_moment_speed``: one BLAS thread for both, in one run, and
the largest difference between the two.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import results_file
from halfseen.data.arrays import Array, Mask
from halfseen.data.engines.memory import MemoryRows
from halfseen.moments import symmetric_tensors
from halfseen.moments.third_moment import ThirdSums


def plain_loop(deviations: Array, observed: Mask) -> tuple[Array, Array]:
    """The sums and counts as one would write them first; (d, d, d) each."""
    mask = observed.astype(float)
    features = range(deviations.shape[1])
    sums = np.array([(deviations * deviations[:, [i]]).T @ deviations for i in features])
    counts = np.array([(mask * mask[:, [i]]).T @ mask for i in features])
    return sums, counts


def timed(function: Callable[[], object], repeats: int) -> float:
    """The shortest time of a few runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def difference(sums: ThirdSums, plain: tuple[Array, Array]) -> float:
    """The largest difference, relative to the largest entry."""
    totals, counts = plain
    d = len(totals)
    worst = 0.0
    for j, place in symmetric_tensors.slabs(d):
        shape = (j + 1, d - j)
        gap = np.abs(sums.total[place].reshape(shape) - totals[j, : j + 1, j:]).max()
        count_gap = np.abs(sums.count[place].reshape(shape) - counts[j, : j + 1, j:]).max()
        worst = max(worst, gap / np.abs(totals).max(), float(count_gap))
    return worst


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((options.rows, options.features))
    X[rng.random(X.shape) < 0.2] = np.nan
    observed = ~np.isnan(X)
    origin = np.nanmean(X, axis=0)
    deviations = np.where(observed, X - origin, 0.0)
    rows = MemoryRows(X, tuple(map(str, range(options.features))))
    with threadpool_limits(1):
        sums = rows.accumulate(ThirdSums.about(origin))  # compiles the counting kernel
        ours = timed(lambda: rows.accumulate(ThirdSums.about(origin)), options.repeats)
        plain = timed(lambda: plain_loop(deviations, observed), options.repeats)
        worst = difference(sums, plain_loop(deviations, observed))
    figures = {"plain s": plain, "ours s": ours, "times faster": plain / ours, "difference": worst}
    print("  ".join(f"{name} {value:.3g}" for name, value in figures.items()))
    if options.keep:
        command = f"python -m benchmarks.third_moment_speed --rows {options.rows}"
        results_file.write(
            "third_moment_speed", f"{command} --features {options.features}", figures
        )


if __name__ == "__main__":
    main()
