"""Cases run: one process for each entrant and table, all with the same threads."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.bench import peers
from benchmarks.bench.case import OURS, Case, Entrant, Setting
from benchmarks.bench.results import Results, Row

THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON", "VECLIB")
MODULE = "benchmarks.bench.one"
"""What each process runs."""
PATIENCE = 10
"""How much longer than its seconds of the processor a process on a busy machine may take."""
CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Asked:
    """What is to be run."""

    quick: bool = False
    peers: tuple[str, ...] = ()
    """All if none are named; we always take part."""
    only: str = ""
    """What titles of tables hold."""
    threads: int = 2
    limit: float = 600.0
    """Seconds that an entrant may take for one table, by the clock that decides."""
    clock: str = "wall"
    again: bool = False


class Task(NamedTuple):
    """One entrant and one table."""

    case: Case
    setting: Setting
    name: str

    @property
    def entrant(self) -> Entrant:
        """Who it is."""
        return self.case.entrants[self.name]


def tasks(cases: list[Case], asked: Asked) -> Iterator[Task]:
    """In order: the tables of a case, everybody on each."""
    for case in cases:
        for setting in case.settings:
            if (asked.quick and not setting.quick) or asked.only not in setting.title:
                continue
            for name, entrant in case.entrants.items():
                if not asked.peers or entrant.peer in (*asked.peers, OURS):
                    yield Task(case, setting, name)


def is_done(task: Task, results: Results) -> bool:
    """Whether there is a row that this version would not change."""
    row = results.row(task.case.name, task.setting.title, task.name)
    if row is None:
        return False
    version = peers.found(task.entrant.peer)
    return row.get("version") == version and ("absent" in row) == (version is None)


def run(task: Task, results: Results, asked: Asked) -> Row:
    """The row of a task, kept."""
    row = _row(task, results, asked)
    results.put(task.case.name, task.setting.title, task.name, row)
    return row


def _row(task: Task, results: Results, asked: Asked) -> Row:
    version = peers.found(task.entrant.peer)
    if version is None:
        return {"absent": peers.PEERS[task.entrant.peer].remedy}
    smaller = _stopped_before(task, results)
    if smaller:
        return {"stopped": f"not tried: stopped at {smaller}", "version": version}
    return _measured(task, asked) | {"version": version}


def _stopped_before(task: Task, results: Results) -> str | None:
    """A smaller table of the same kind that took too long, where tables grow."""
    along = task.case.along
    if along is None:
        return None
    own = dict(task.setting.values)
    size = own.pop(along)
    for other in task.case.settings:
        values = dict(other.values)
        if values.pop(along) < size and values == own:
            row = results.row(task.case.name, other.title, task.name) or {}
            if "stopped" in row:
                return other.title
    return None


def _measured(task: Task, asked: Asked) -> Row:
    call = [sys.executable, "-m", MODULE, task.case.name, task.setting.title]
    try:
        told = subprocess.run(
            [*call, task.name, str(asked.threads)],
            env=_environment(asked.threads),
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            timeout=asked.limit * (1 if asked.clock == "wall" else PATIENCE),
            preexec_fn=None if asked.clock == "wall" else partial(_at_most, int(asked.limit)),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"stopped": f"stopped after {asked.limit:g} s"}
    if told.returncode == -signal.SIGXCPU:
        return {"stopped": f"stopped after {asked.limit:g} s of the processor"}
    if told.returncode:
        return {"failed": _last_line(told.stderr) or f"ended with {told.returncode}"}
    row: Row = json.loads(told.stdout.strip().splitlines()[-1])
    return row


def _at_most(seconds: int) -> None:
    """Let the process that this is called in have so many seconds of the processor."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


def _environment(threads: int) -> dict[str, str]:
    limits = {f"{name}_NUM_THREADS": str(threads) for name in THREADS}
    limits["POLARS_MAX_THREADS"] = str(threads)
    return os.environ | limits


def _last_line(text: str) -> str:
    """Why a process ended, without the folders of this machine."""
    lines = text.strip().splitlines()
    return re.sub(r"(?<!\w)/\S*/", "…/", lines[-1])[:200] if lines else ""
