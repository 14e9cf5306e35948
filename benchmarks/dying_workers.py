"""Fits during which a random worker process is killed in every stage, against fits in memory.

Run ``python -m benchmarks.dying_workers``: two worker processes on this machine; while
the tasks of a stage run, one of them gets SIGKILL. Mixtures (dense) and topics (blocks of CSR, with
stochastic EM, whose chains a killed worker takes along) by turns.
"""

import argparse
import logging
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from benchmarks import results_file
from benchmarks.stage_watch import WITH_ROWS, watched
from halfseen import GammaPoisson, GaussianMixture, simulate
from halfseen.data.arrays import Array

N_FEATURES, N_COMPONENTS, N_PARTITIONS = 12, 3, 12
OBSERVED = [1.0] * 8 + [0.7, 0.5, 0.3, 0.2]
RIGHT = 1e-9
"""How far parameters may be from those in memory, relative to the largest."""


def measurements(number: int, n_rows: int) -> Array:
    """A partition of a table of measurements, the same whoever makes it."""
    rng = np.random.default_rng([1, number])
    means = np.random.default_rng(1).normal(0, 3, (N_COMPONENTS, N_FEATURES))
    X, _ = simulate.gaussian_mixture(n_rows, [0.5, 0.3, 0.2], means, 1.0, rng)
    return simulate.independent_gaps(X, OBSERVED, rng)


def counts(number: int, n_rows: int) -> Any:
    """A partition of a sparse table of counts, the same whoever makes it."""
    rng = np.random.default_rng([2, number])
    topics = np.random.default_rng(2).dirichlet(np.ones(N_FEATURES), N_COMPONENTS)
    X, _ = simulate.gamma_poisson(n_rows, topics, [1.0] * N_COMPONENTS, 0.05, rng)
    return csr_array(simulate.independent_gaps(X, OBSERVED, rng))


def mixture() -> GaussianMixture:
    """A mixture by moments and EM."""
    return GaussianMixture(N_COMPONENTS, random_state=0)


def topics() -> GammaPoisson:
    """Topics by moments and stochastic EM."""
    return GammaPoisson(N_COMPONENTS, refine="saem", n_sweeps=12, random_state=0)


def parameters(model: Any) -> Array:
    """All that was learned, in one vector."""
    if isinstance(model, GaussianMixture):
        parts = [model.weights_, model.means_, model.covariances_]
    else:
        parts = [model.components_, model.shapes_, model.rate_]
    return np.concatenate([np.ravel(part) for part in parts])


class World(NamedTuple):
    """A table in partitions, and what is learned from it."""

    model: Callable[[], Any]
    partition: Callable[[int, int], Any]
    n_rows: int  # of a partition

    def far(self) -> Any:
        """The table as a ``dask.array``."""
        import dask.array as da
        from dask import delayed

        meta = self.partition(0, 1)[:0]
        parts = [
            da.from_delayed(
                delayed(self.partition)(i, self.n_rows), (self.n_rows, N_FEATURES), meta=meta
            )
            for i in range(N_PARTITIONS)
        ]
        return da.concatenate(parts)

    def near(self) -> Any:
        """The table in memory."""
        parts = [self.partition(i, self.n_rows) for i in range(N_PARTITIONS)]
        if isinstance(parts[0], np.ndarray):
            return np.vstack(parts)
        return csr_array(np.vstack([part.toarray() for part in parts]))


WORLDS = {
    "mixture": World(mixture, measurements, 20_000),
    "topics": World(topics, counts, 3_000),
}


@dataclass
class Killer:
    """Kills a random worker in each of some stages, while tasks of ours are running."""

    cluster: Any
    stages: tuple[str, ...]
    choose: random.Random
    killed: Counter[str] = field(default_factory=Counter)
    stage: str = ""

    def hear(self, stage: str) -> None:
        """A stage begins, or ends. It waits until the victim of the last one is replaced."""
        self.stage = stage
        if stage in self.stages:
            while len(self._at_work()) < 2:
                time.sleep(0.05)
            threading.Thread(target=self._strike, args=(stage,), daemon=True).start()

    def _strike(self, stage: str) -> None:
        time.sleep(self.choose.random() * 0.05)  # not always at the same task
        while self.stage == stage:
            if self._running():
                os.kill(self.choose.choice(self._at_work()), signal.SIGKILL)
                self.killed[stage] += 1
                return
            time.sleep(0.001)

    def _at_work(self) -> list[int]:
        """Processes that have started: Dask gives up on one that never does."""
        known = set(self.cluster.scheduler.workers)
        nannies = list(self.cluster.workers.values())
        return [nanny.pid for nanny in nannies if nanny.pid and nanny.worker_address in known]

    def _running(self) -> bool:
        workers = list(self.cluster.scheduler.workers.values())
        tasks = [task.key for worker in workers for task in list(worker.processing)]
        return any(str(key).startswith("halfseen-") for key in tasks)


@contextmanager
def local_cluster(n_workers: int) -> Iterator[Any]:
    """Worker processes of one thread each, and a client of theirs."""
    import dask
    from distributed import Client, LocalCluster

    with (
        # A LocalCluster drops a worker that is away so long after it died, also if it has been
        # back in between.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster),
    ):
        yield cluster


def fit_among_killings(
    cluster: Any, world: World, stages: tuple[str, ...], seed: int
) -> tuple[Array, Counter[str]]:
    """What is learned while workers die, and in which stages one did."""
    killer = Killer(cluster, stages, random.Random(seed))
    with watched(killer.hear):
        model = world.model().fit(world.far())
    return parameters(model), killer.killed


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=20)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    right = {name: parameters(world.model().fit(world.near())) for name, world in WORLDS.items()}
    killed: Counter[str] = Counter()
    differences, seconds = [], []
    with local_cluster(2) as cluster:
        for number in range(options.fits):
            name = list(WORLDS)[number % len(WORLDS)]
            start = time.perf_counter()
            found, fallen = fit_among_killings(cluster, WORLDS[name], WITH_ROWS, number)
            seconds.append(time.perf_counter() - start)
            killed += fallen
            worst = np.abs(found - right[name]).max() / np.abs(right[name]).max()
            differences.append(float(worst))
            print(f"{name:8} {sum(fallen.values())} killed, difference {worst:.1e}", flush=True)
    figures = {
        "fits": options.fits,
        "right results": sum(difference <= RIGHT for difference in differences),
        "largest difference from memory": max(differences),
        "workers killed": {stage: killed[stage] for stage in WITH_ROWS},
        "mean seconds": float(np.mean(seconds)),
    }
    print("  ".join(f"{name} {value}" for name, value in figures.items()))
    if options.keep:
        command = f"python -m benchmarks.dying_workers --fits {options.fits}"
        results_file.write("dying_workers", command, figures)


if __name__ == "__main__":
    main()
