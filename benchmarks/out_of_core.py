"""A table in Parquet files fitted a batch at a time, beside a plain scan that only sums columns.

Run ``python -m benchmarks.out_of_core``: 10,000,000 rows of 50 float32 columns, a fifth
of the values missing, written to a temporary folder; six components, moments only. One of the files
is fitted in memory too.
"""

import argparse
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import memory, results_file
from halfseen import GaussianMixture, simulate

N_FEATURES, N_COMPONENTS, ROWS_A_FILE = 50, 6, 500_000


def write_folder(folder: Path, n_rows: int) -> None:
    """Draw a mixture and write it, a file at a time."""
    import pyarrow as pa
    import pyarrow.parquet

    rng = np.random.default_rng(0)
    means = rng.normal(0, 2, (N_COMPONENTS, N_FEATURES))
    weights = rng.dirichlet(np.full(N_COMPONENTS, 5.0))
    names = [f"x{i}" for i in range(N_FEATURES)]
    for part, start in enumerate(range(0, n_rows, ROWS_A_FILE)):
        n = min(ROWS_A_FILE, n_rows - start)
        X, _ = simulate.gaussian_mixture(n, weights, means, 1.0, rng)
        X = simulate.independent_gaps(X, [0.8] * N_FEATURES, rng).astype(np.float32)
        table = pa.table(
            {
                name: pa.array(column, from_pandas=True)
                for name, column in zip(names, X.T, strict=True)
            }
        )
        pa.parquet.write_table(table, folder / f"part-{part:04d}.parquet")


def scan(folder: Path) -> float:
    """Seconds to sum every column with PyArrow and do nothing else."""
    import pyarrow.compute
    import pyarrow.dataset

    start = time.perf_counter()
    for batch in pyarrow.dataset.dataset(folder).to_batches():
        for column in batch.columns:
            pyarrow.compute.sum(column)
    return time.perf_counter() - start


def fit(X: Any) -> GaussianMixture:
    """Six components, moments only."""
    model = GaussianMixture(N_COMPONENTS, refine=None, third_moment="implicit", n_jobs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no feature is complete: by design
        return model.fit(X)


def measured_fit(folder: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of each stage; and memory and passes of a process that has done nothing else."""
    before = bytes_read()
    seconds = fit(folder).diagnostics_.seconds
    size = sum(file.stat().st_size for file in folder.iterdir())
    return seconds, {
        "peak memory GB": memory.peak(),
        "bytes read, of the folder's": (bytes_read() - before) / size,
    }


def bytes_read() -> int:
    """Bytes that this process has asked Linux for, whether they came from the disk or not."""
    return int(Path("/proc/self/io").read_text().split()[1])


def difference_from_memory(file: Path) -> float:
    """Between the parameters learned from a file and from the same rows in memory, relative."""
    import pyarrow.parquet

    models = fit(file), fit(pyarrow.parquet.read_table(file))
    ours, theirs = ([m.weights_, m.means_, np.array(m.covariances_)] for m in models)
    return max(float(np.abs(a / b - 1).max()) for a, b in zip(ours, theirs, strict=True))


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_folder(folder, options.rows)
        plain = min(scan(folder) for _ in range(2))
        # A process of its own, so that its memory is that of the fit alone.
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            seconds, measured = pool.submit(measured_fit, folder).result()
        difference = difference_from_memory(folder / "part-0000.parquet")
    passes = ("features", "pairs of features", "triples of features")
    figures = {
        "plain scan s": plain,
        "fit s": sum(seconds.values()),
        **measured,
        "largest difference from memory": difference,
        **{f"{name}: of a plain scan's speed": plain / seconds[name] for name in passes},
    }
    print("  ".join(f"{name} {value:.3g}" for name, value in figures.items()))
    if options.keep:
        command = f"python -m benchmarks.out_of_core --rows {options.rows}"
        results_file.write("out_of_core", command, figures)


if __name__ == "__main__":
    main()
