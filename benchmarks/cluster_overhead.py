"""A folder of Parquet files fitted by two worker processes, beside two threads of one process.

Run ``python -m benchmarks.cluster_overhead``: 4 GB of float32 columns, a fifth of the
values missing, in a temporary folder; six components, moments only. Each fit has a process of its
own, which has fitted one file before, so that everything is loaded and compiled.
"""

import argparse
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import memory, results_file, scale_plan, traffic
from benchmarks.dying_workers import local_cluster, parameters
from benchmarks.out_of_core import N_COMPONENTS, N_FEATURES, fit, write_folder
from halfseen import Files
from halfseen.data.arrays import Array

N_WORKERS = 2


def by_threads(folder: Path) -> tuple[float, Array]:
    """Seconds of the out-of-core engine with two threads, and what it learned."""
    fit(_first(folder))
    start = time.perf_counter()
    model = fit(folder)
    return time.perf_counter() - start, parameters(model)


def by_workers(folder: Path) -> tuple[dict[str, Any], Array]:
    """Seconds of two worker processes, memory of their client, and bytes sent to it."""
    start = time.perf_counter()
    with local_cluster(N_WORKERS) as cluster:
        ready = time.perf_counter() - start
        fit(Files(_first(folder), dask=True))
        with traffic.measured(cluster.scheduler_address) as received:
            start = time.perf_counter()
            model = fit(Files(folder, dask=True))
            seconds = time.perf_counter() - start
    stages = model.diagnostics_.seconds
    return {
        "workers s": seconds,
        "starting workers s": ready,
        "client's peak memory GB": memory.peak(),
        "stages s": stages,
        "bytes to the client": {stage: received[stage] for stage in planned(stages)},
    }, parameters(model)


def planned(seconds: dict[str, float]) -> dict[str, float]:
    """Bytes to the client by the plan, in stages that take so many seconds."""
    passes = scale_plan.mixture(N_FEATURES, N_COMPONENTS, 0, n_steps=0)
    return scale_plan.heard(passes, seconds)


def _first(folder: Path) -> Path:
    return min(folder.iterdir())


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=18_000_000)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_folder(folder, options.rows)
        size = sum(file.stat().st_size for file in folder.iterdir())
        with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
            threads, theirs = pool.submit(by_threads, folder).result()
            figures, ours = pool.submit(by_workers, folder).result()
    figures = {
        "folder GB": size / 1e9,
        "threads s": threads,
        **figures,
        "workers / threads": figures["workers s"] / threads,
        "largest difference": float(np.abs(ours - theirs).max() / np.abs(theirs).max()),
    }
    for title, value in figures.items():
        print(f"{title:>26}  {value:.4g}" if isinstance(value, float) else f"{title:>26}  {value}")
    print(f"{'bytes by the plan':>26}  {planned(figures['stages s'])}")
    if options.keep:
        command = f"python -m benchmarks.cluster_overhead --rows {options.rows}"
        results_file.write("cluster_overhead", command, figures)


if __name__ == "__main__":
    main()
