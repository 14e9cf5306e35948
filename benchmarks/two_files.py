"""Two studies in two files of different formats and columns, fitted as one table.

``python -m benchmarks.two_files crossover``: the paper's Fig. 3, from a full study of 10,000 rows
in a CSV file beside a partial one of 1,000 to 1,000,000 rows in a Parquet file, by the same draws
and methods as ``halfseen reproduce crossover``; how far errors are from those that are kept there,
and the error of ``halfseen fit full.csv partial.parquet``, as a command.

``python -m benchmarks.two_files large``: 10,000,000 rows out of core, six columns in both files and
four more in each, moments only; peak memory and processor time of a process of its own, beside a
plain scan that sums the columns.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import memory, results_file
from benchmarks.reproduce.figures.motivation import CROSSOVER
from benchmarks.reproduce.measures import draw
from benchmarks.reproduce.methods import METHODS
from benchmarks.reproduce.quiet import quiet
from benchmarks.reproduce.sources import SOURCES
from halfseen import GaussianMixture, load, simulate, together
from halfseen.diagnostics.recovery import total_angle

N_WHOLE, SIZES, SEEDS = 10_000, (1_000, 10_000, 100_000, 1_000_000), 3
METHODS_SHOWN = ("full", "partial", "weighted", "defaults")
REPRODUCED = Path(__file__).parent.parent / "docs" / "reproduction" / "crossover.json"
N_SHARED, N_OWN, N_COMPONENTS, ROWS_A_PART = 6, 4, 5, 500_000


def write_studies(folder: Path, X: Any) -> Any:
    """The first rows, which are whole, in a CSV file, and the others in a Parquet file."""
    import pandas as pd  # type: ignore[import-untyped]

    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    frame[:N_WHOLE].to_csv(folder / "full.csv", index=False)
    frame[N_WHOLE:].dropna(axis=1, how="all").to_parquet(folder / "partial.parquet", index=False)
    return together(folder / "full.csv", folder / "partial.parquet")


def by_command(folder: Path, k: int) -> Any:
    """What a stranger would run."""
    command = ["fit", "full.csv", "partial.parquet", "--model", "gamma-poisson", "-k", str(k)]
    subprocess.run(
        [sys.executable, "-m", "halfseen", *command, "--out", "both.halfseen", "--force"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return load(folder / "both.halfseen")


def crossover() -> dict[str, Any]:
    """Errors by size of the partial study, and how far they are from those of one table."""
    reproduced = json.loads(REPRODUCED.read_text())
    points = [point["x"] for point in reproduced["points"]]
    kept = {(points[r["point"]], r["method"]): r["values"] for r in reproduced["results"]}
    figures: dict[str, Any] = {}
    furthest = 0.0
    for point in CROSSOVER.full.points:
        if point.x not in SIZES:
            continue
        errors: dict[str, list[float]] = {name: [] for name in (*METHODS_SHOWN, "command")}
        source = SOURCES[point.source]
        for seed in range(SEEDS):
            table = draw(point, seed)
            with tempfile.TemporaryDirectory() as name, quiet():
                X = write_studies(Path(name), table.X)
                for method in METHODS_SHOWN:
                    model = METHODS[method].fits[source.model](source.n_components, X)
                    errors[method].append(
                        total_angle(model.components_, table.components, table.complete)
                    )
                if not seed:
                    model = by_command(Path(name), source.n_components)
                    errors["command"].append(
                        total_angle(model.components_, table.components, table.complete)
                    )
            apart = [abs(errors[m][-1] - kept[point.x, m][seed]) for m in METHODS_SHOWN]
            furthest = max(furthest, *apart)
        means = {name: float(np.mean(found)) for name, found in errors.items()}
        figures[f"{int(point.x):,}"] = means
        print(int(point.x), "  ".join(f"{name} {value:.3f}" for name, value in means.items()))
    figures["largest difference from one table"] = furthest
    print(f"largest difference from one table {furthest:.2g}")
    return figures


def write_large(folder: Path, n_rows: int) -> None:
    """Draw a mixture and write two files of it, half of the rows each."""
    import pyarrow as pa
    import pyarrow.parquet

    rng = np.random.default_rng(0)
    d = N_SHARED + 2 * N_OWN
    means, weights = rng.normal(0, 2, (N_COMPONENTS, d)), rng.dirichlet(np.full(N_COMPONENTS, 5.0))
    names = [f"x{i}" for i in range(d)]
    own = [range(d)[: N_SHARED + N_OWN], [*range(N_SHARED), *range(N_SHARED + N_OWN, d)]]
    for file, columns in zip(("a", "b"), own, strict=True):
        schema = pa.schema([(names[i], pa.float32()) for i in columns])
        with pa.parquet.ParquetWriter(folder / f"{file}.parquet", schema) as writer:
            for _ in range(0, n_rows // 2, ROWS_A_PART):
                n = min(ROWS_A_PART, n_rows // 2)
                X, _ = simulate.gaussian_mixture(n, weights, means, 1.0, rng)
                cells = [pa.array(X[:, i].astype(np.float32)) for i in columns]
                writer.write_table(pa.table(cells, schema=schema))


def scan(folder: Path) -> float:
    """Processor seconds to sum every column with PyArrow and do nothing else."""
    import pyarrow.compute
    import pyarrow.parquet

    start = time.process_time()
    for file in sorted(folder.iterdir()):
        for batch in pyarrow.parquet.ParquetFile(file).iter_batches():
            for column in batch.columns:
                pyarrow.compute.sum(column)
    return time.process_time() - start


def fit_large(folder: Path) -> dict[str, float]:
    """Memory, rows and processor time of a process that has done nothing else."""
    before, start, clock = memory.peak(), time.process_time(), time.perf_counter()
    X = together(folder / "a.parquet", folder / "b.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = GaussianMixture(N_COMPONENTS, refine=None, random_state=0).fit(X)
    tables: Any = model.tables_
    return {
        "rows": float(tables.n_rows.sum()),
        "GB before": before,
        "peak memory GB": memory.peak(),
        "processor s": time.process_time() - start,
        "wall s": time.perf_counter() - clock,
    }


def large(n_rows: int) -> dict[str, float]:
    """Ten million rows of two files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_large(folder, n_rows)
        size = sum(file.stat().st_size for file in folder.iterdir())
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            figures = pool.submit(fit_large, folder).result()
        figures |= {"files GB": size / 1e9, "plain scan processor s": scan(folder)}
    figures["of a plain scan"] = figures["processor s"] / figures["plain scan processor s"]
    print("  ".join(f"{name} {value:.3g}" for name, value in figures.items()))
    return figures


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["crossover", "large"])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    figures = crossover() if options.what == "crossover" else large(options.rows)
    if options.keep:
        more = "" if options.what == "crossover" else f" --rows {options.rows}"
        command = f"python -m benchmarks.two_files {options.what}{more}"
        results_file.write(f"two_files_{options.what}", command, figures)


if __name__ == "__main__":
    main()
