"""The one runner of all figures."""

import os
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from joblib import Parallel, delayed

from benchmarks.reproduce import data_folder
from benchmarks.reproduce.description import Measure, Point
from benchmarks.reproduce.sources import FILES
from benchmarks.reproduce.store import Results, check_versions


def measurable(results: Results, runs: int) -> list[tuple[int, int]]:
    """The points and seeds still to be measured for which the data are at hand."""
    absent = absent_files(results)
    points = results.points
    return [task for task in results.missing(runs) if FILES[points[task[0]].source] not in absent]


def ready(results: Results, runs: int, out: Path) -> list[tuple[int, int]]:
    """What there is to measure; raises if it would mix with runs of other versions."""
    tasks = measurable(results, runs)
    if tasks:
        check_versions(results, out)
    return tasks


def absent_files(results: Results) -> list[str]:
    """The files of real data that the figure needs and that are not at hand."""
    files = dict.fromkeys(FILES[point.source] for point in results.points)
    return [file for file in files if file is not None and data_folder.find(file) is None]


def measure(
    results: Results, runs: int, jobs: int, out: Path, advance: Callable[[int], None]
) -> None:
    """Make the runs that are missing, keeping each as it is done.

    A process that is killed loses what it was measuring at that moment and no more.
    """
    tasks = ready(results, runs, out)
    workers = jobs if results.figure.repeatable else 1  # clocks want the machine for themselves
    pool = Parallel(n_jobs=workers, return_as="generator_unordered")
    how = results.figure.measure
    for index, seed, numbers in pool(
        delayed(_one_run)(how, results.points[index], index, seed, os.getpid())
        for index, seed in tasks
    ):
        results.put(index, seed, numbers)
        results.write(out)
        advance(1)
    if not results.points:
        results.write(out)  # nothing to measure, but something to draw


def _one_run(
    how: Measure, point: Point, index: int, seed: int, owner: int
) -> tuple[int, int, dict[str, float]]:
    if os.getpid() != owner:
        _leave_with(owner)
    return index, seed, how(point, seed)


@cache
def _leave_with(owner: int) -> None:
    """Have this worker end when the process that it works for does, however that ends."""

    def watch() -> None:
        while os.getppid() == owner:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
