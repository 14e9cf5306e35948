"""Tables in files: a batch at a time beside a plain scan, and by workers beside threads."""

import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import out_of_core
from benchmarks.bench.case import OURS, Case, Entrant, Errors, Setting
from benchmarks.out_of_core import fit, scan, write_folder
from halfseen import Files
from halfseen.data.arrays import Array


class Folder(NamedTuple):
    """Parquet files, kept for as long as the process lasts."""

    path: Path
    held: tempfile.TemporaryDirectory[str]


def written(rows: int) -> Folder:
    """Fifty float32 columns with 20 % of gaps."""
    held = tempfile.TemporaryDirectory()
    write_folder(Path(held.name), rows)
    return Folder(Path(held.name), held)


def by_batches(folder: Folder, threads: int) -> Array:
    """Six components by moments, three passes over the files."""
    means: Array = fit(folder.path).means_
    return means


def plain_scan(folder: Folder, threads: int) -> None:
    """Sums of columns by PyArrow, once for each of the three passes."""
    for _ in range(3):
        scan(folder.path)


def by_workers(folder: Folder, threads: int) -> Array:
    """Worker processes of Dask, their start included."""
    from benchmarks.dying_workers import local_cluster

    with local_cluster(threads):
        means: Array = fit(Files(folder.path, dask=True)).means_
    return means


def off(folder: Folder, means: Array | None) -> Errors:
    """From the means that the rows were drawn by; a scan learns nothing, and is not judged."""
    rng = np.random.default_rng(0)
    truth = rng.normal(0, 2, (out_of_core.N_COMPONENTS, out_of_core.N_FEATURES))
    found = truth if means is None else means
    away = ((truth[:, None] - found[None]) ** 2).mean(axis=2).min(axis=1)
    return {"rmse of means": float(np.sqrt(away.mean()))}


LARGE = Case(
    name="files",
    asks="Parquet files fitted a batch at a time: beside plain scans, and beside Dask's workers?",
    draw=written,
    settings=tuple(
        Setting(f"{n:,} × 50", {"rows": n}, quick=n == 200_000)
        for n in (200_000, 1_000_000, 10_000_000)
    ),
    entrants={
        OURS: Entrant(OURS, by_batches, "moments, two threads"),
        "three scans": Entrant("pyarrow", plain_scan, "PyArrow's sums of columns: a yardstick"),
        "halfseen by Dask": Entrant("dask", by_workers, "the same by two worker processes"),
    },
    judge=off,
    metric="rmse of means",
    close=0.5,
    along="rows",
    why="Three scans learn nothing: they are what reading costs.",
)
