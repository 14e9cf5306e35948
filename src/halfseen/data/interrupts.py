"""Run compiled loops in short calls, so that Ctrl-C takes effect soon.

Python acts on Ctrl-C only between two of its own instructions, so a compiled loop over a block of
rows cannot be stopped. What takes long a row is called for a few rows at a time; work in other
threads looks between the calls whether anyone still waits for it.
"""

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from halfseen.data.arrays import Array

MOST_STEPS = float(1 << 25)
"""Of a call: at a few nanoseconds each, about a tenth of a second."""


class NobodyWaits(Exception):
    """Raised in a thread whose result is no longer needed."""


class _Here(threading.local):
    given_up: threading.Event | None = None


_here = _Here()


@contextmanager
def serving(given_up: threading.Event) -> Iterator[None]:
    """Stop the work of this thread soon after ``given_up`` is set."""
    _here.given_up = given_up
    try:
        yield
    finally:
        _here.given_up = None


def is_served() -> bool:
    """Whether this is a worker thread whose result is awaited."""
    return _here.given_up is not None


def go_on() -> None:
    """Raise if the result of this thread is no longer needed."""
    if _here.given_up is not None and _here.given_up.is_set():
        raise NobodyWaits


def short_calls(steps: Array) -> Iterator[slice]:
    """Cut rows into pieces of about ``MOST_STEPS`` steps, from the steps of each row (n,).

    There is one piece at least, which may be empty. A row is never cut.
    """
    piece = (np.cumsum(steps) // MOST_STEPS).astype(np.int64)
    cuts = [0, *(np.flatnonzero(np.diff(piece)) + 1), len(steps)]
    for first, last in itertools.pairwise(cuts):
        go_on()
        yield slice(int(first), int(last))
