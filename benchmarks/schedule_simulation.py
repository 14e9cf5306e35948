"""How long a pass takes on many workers: by a formula, and by playing the schedule through."""

import heapq
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from halfseen.data.engines.dask_rows import FAN_IN


class Work(NamedTuple):
    """A pass, as a schedule sees it. Times in seconds."""

    tasks: Sequence[float]  # of each partition
    addition: float  # of two sums
    sums: float  # bytes that an addition needs of each of its parts
    shared: float  # bytes that every worker gets before its first task
    client: float  # what the client does before the next pass


class Machine(NamedTuple):
    """What does not depend on the data."""

    per_task: float  # seconds that the scheduler takes for each task
    latency: float  # seconds until a message arrives
    bandwidth: float  # bytes a second in and out of a worker

    def sending(self, size: float) -> float:
        """Seconds until so many bytes have arrived."""
        return self.latency + size / self.bandwidth


def formula(work: Work, machine: Machine, n_workers: int) -> float:
    """Rounds of tasks, or the scheduler's pace; then the levels of the tree, one after another.

    Only the last of a tree's additions wait for the last task: one a level.
    """
    n_tasks = len(work.tasks)
    rounds = math.ceil(n_tasks / n_workers) * float(np.mean(work.tasks))
    depth = math.ceil(math.log(n_tasks, FAN_IN)) if n_tasks > 1 else 0
    additions = max(n_tasks - 1, 0) * work.addition / n_workers
    level = machine.sending((FAN_IN - 1) * work.sums * (n_workers > 1)) + machine.per_task
    spreading = machine.sending(work.shared) * math.ceil(math.log2(n_workers + 1))
    busy = max(rounds + additions, n_tasks * machine.per_task)
    return spreading + busy + depth * (level + (FAN_IN - 1) * work.addition) + work.client


def simulated(work: Work, machine: Machine, n_workers: int) -> float:
    """The same pass, task by task.

    The scheduler hands out one task after another; a worker does one at a time. An addition is done
    by the worker that has its first part, which gets the others over its own wire, and before any
    partition that has not begun.
    """
    n_tasks = len(work.tasks)
    begin = machine.sending(work.shared) * math.ceil(math.log2(n_workers + 1))
    free = [(begin, worker) for worker in range(n_workers)]
    heapq.heapify(free)
    extra = [0.0] * n_workers  # additions that came between
    level: list[tuple[float, int]] = []  # when each part is there, and where
    for number, seconds in enumerate(work.tasks):
        at, worker = heapq.heappop(free)
        start = max(at + extra[worker], begin + number * machine.per_task)
        extra[worker] = 0.0
        level.append((start + seconds, worker))
        heapq.heappush(free, (start + seconds, worker))
        if (number + 1) % FAN_IN == 0:  # the first level is done along the way
            owner = level[number + 1 - FAN_IN][1]
            extra[owner] += _adding(work, machine, level[number + 1 - FAN_IN : number + 1], owner)
    while len(level) > 1:
        groups = [level[start : start + FAN_IN] for start in range(0, len(level), FAN_IN)]
        level = [_added(work, machine, group) for group in groups]
    return (level[0][0] if n_tasks else begin) + work.client


def _added(work: Work, machine: Machine, group: list[tuple[float, int]]) -> tuple[float, int]:
    owner = group[0][1]
    ready = max(at for at, _ in group) + machine.per_task
    return ready + _adding(work, machine, group, owner), owner


def _adding(work: Work, machine: Machine, group: list[tuple[float, int]], owner: int) -> float:
    fetched = sum(worker != owner for _, worker in group)
    wire = machine.latency * bool(fetched) + fetched * work.sums / machine.bandwidth
    return wire + (len(group) - 1) * work.addition
