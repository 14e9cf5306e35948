"""Processes of attacks, watched: what dies or hangs is a defect, and the attacks go on."""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock, Thread
from typing import Any, NamedTuple

from benchmarks.attack.kinds import KINDS

ROOT = Path(__file__).parents[2]
LIMIT = 60.0
"""Seconds that an attack may take."""
GRACE = 20.0
"""Seconds beyond those in which a process must have ended itself."""
READY = 600.0
"""Seconds in which a process is ready for its first attack: it may have much to compile."""


class Found(NamedTuple):
    """A defect, and the seed that shows it again."""

    seed: int
    law: str
    details: str


@dataclass
class Tally:
    """What came of many attacks of one kind."""

    kind: str
    words: Counter[str] = field(default_factory=Counter)
    defects: list[Found] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, 0)  # seconds, seed
    most_work: float = 0.0  # seconds of processor, which others on the machine do not add to
    lock: Any = field(default_factory=Lock)

    def add(self, line: dict[str, Any]) -> None:
        """Count what a process said."""
        with self.lock:
            self.words[line["word"]] += 1
            self.slowest = max(self.slowest, (line["took"], line["seed"]))
            self.most_work = max(self.most_work, line["worked"])
            if line["defect"]:
                found = Found(line["seed"], line["word"], line["details"])
                self.defects.append(found)
                print(again(self.kind, found), flush=True)

    @property
    def number(self) -> int:
        """Of attacks."""
        return sum(self.words.values())


def again(kind: str, found: Found) -> str:
    """The command that shows a defect again, and what it is."""
    details = " ".join(found.details.split())[:300]
    command = f"python -m benchmarks.attack {kind} --number 1 --seed {found.seed}"
    return f"{command}  # {found.law}: {details}"


def attacked(
    kind: str, number: int, seconds: float, seed: int, jobs: int, limit: float = LIMIT
) -> Tally:
    """Attack with so many seeds, or for so long, in processes of their own."""
    tally, deadline = Tally(kind), time.monotonic() + seconds
    end = seed + number
    threads = [
        Thread(target=_lane, args=(tally, kind, first, end, jobs, deadline, limit))
        for first in range(seed, min(seed + jobs, end))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally


def _lane(
    tally: Tally, kind: str, first: int, end: int, step: int, deadline: float, limit: float
) -> None:
    """Every so many-th attack, one process after the other if they die."""
    while first < end and time.monotonic() < deadline:
        begun = None
        with TemporaryFile("w+") as told:
            process = _started(kind, first, end, step, deadline - time.monotonic(), limit, told)
            for line in _lines(process, limit):
                if "begins" in line:
                    begun = line["begins"]
                else:
                    begun, first = None, line["seed"] + step
                    tally.add(line)
            if begun is None and process.returncode == 0:
                return
            told.seek(0)
            law = _death(process.returncode, told.read(), limit)
        seed = first if begun is None else begun
        line = {"word": law[0], "details": law[1], "seed": seed}
        tally.add(line | {"defect": True, "took": 0.0, "worked": 0.0})
        first = seed + step


def _started(
    kind: str, first: int, end: int, step: int, seconds: float, limit: float, told: Any
) -> "subprocess.Popen[str]":
    words = [KINDS[kind].home, first, end, step, seconds, limit]
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.attack.worker", *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=told,
        text=True,
        cwd=ROOT,
    )


def _lines(process: "subprocess.Popen[str]", limit: float) -> Iterator[dict[str, Any]]:
    """What a process says until it ends, by itself or by our hand if it cannot."""
    heard = [time.monotonic() + READY]
    ended = Thread(target=_end_if_silent, args=(process, heard, limit + GRACE), daemon=True)
    ended.start()
    assert process.stdout is not None
    for line in process.stdout:
        heard[0] = time.monotonic()
        yield json.loads(line)
    process.stdout.close()
    process.wait()


def _end_if_silent(process: "subprocess.Popen[str]", heard: list[float], limit: float) -> None:
    while process.poll() is None:
        if time.monotonic() - heard[0] > limit:
            process.kill()
        time.sleep(0.2)


def _death(code: int | None, told: str, limit: float) -> tuple[str, str]:
    """Why a process ended before its attack did, and its last words."""
    if "Timeout (" in told:
        lines = [line.strip() for line in told[told.rindex("Timeout (") :].splitlines()]
        ours = [line for line in lines if "halfseen" in line][:3]
        return f"hang of {limit:g} s", " < ".join(ours or lines[:4])
    return f"crash with code {code}", " ".join(told.split())[-300:]
