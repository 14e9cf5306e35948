"""Seconds and memory of a call, with those of processes that it starts."""

import resource
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from benchmarks import memory


class Taken(NamedTuple):
    """What a call took."""

    seconds: float
    processor: float  # seconds, of all threads and of processes that it started
    peak: float | None  # MB that the process had at most meanwhile, or its largest child


def taken(call: Callable[[], Any]) -> tuple[Any, Taken]:
    """What a call gives, and what it took."""
    _forget()
    before, begun = processor(), time.perf_counter()
    given = call()
    seconds, used = time.perf_counter() - begun, processor() - before
    return given, Taken(seconds, used, _peak())


def processor() -> float:
    """Seconds of this process, and of those that it started and that are done."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def _forget() -> None:
    with suppress(OSError):
        memory.forget()


def _peak() -> float | None:
    with suppress(OSError, StopIteration):
        children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
        return max(1e3 * memory.peak(), children)
    return None
