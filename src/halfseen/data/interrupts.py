"""Compiled work in calls so short that an interrupt between them is heard at once.

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
    """Raised in a thread whose result is not wanted any more."""


class _Here(threading.local):
    given_up: threading.Event | None = None


_here = _Here()


@contextmanager
def serving(given_up: threading.Event) -> Iterator[None]:
    """Have work of this thread end soon after ``given_up`` is set."""
    _here.given_up = given_up
    try:
        yield
    finally:
        _here.given_up = None


def is_served() -> bool:
    """Whether somebody waits for this thread, which is one of several."""
    return _here.given_up is not None


def go_on() -> None:
    """Raise if nobody waits for the work of this thread."""
    if _here.given_up is not None and _here.given_up.is_set():
        raise NobodyWaits


def short_calls(steps: Array) -> Iterator[slice]:
    """Rows in pieces of at most about ``MOST_STEPS``, from those that each row takes (n,).

    There is one piece at least, which may be empty. A row is never cut.
    """
    piece = (np.cumsum(steps) // MOST_STEPS).astype(np.int64)
    cuts = [0, *(np.flatnonzero(np.diff(piece)) + 1), len(steps)]
    for first, last in itertools.pairwise(cuts):
        go_on()
        yield slice(int(first), int(last))
