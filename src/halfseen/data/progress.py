"""Progress of a fit: its stages, rows read and elapsed time."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO


class Stages:
    """Times the stages of a fit and shows a progress bar if asked to.

    >>> stages = Stages()
    >>> with stages("pair sums"):
    ...     stages.advance(100)
    >>> list(stages.seconds)
    ['pair sums']
    """

    def __init__(self, n_rows: int = 0, verbose: int | bool = 0, stream: TextIO | None = None):
        self.seconds: dict[str, float] = {}
        self._n_rows = n_rows
        self._verbose = bool(verbose)
        self._stream = stream
        self._stage = ""
        self._rows = 0
        self._start = 0.0

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        self._stage, self._rows, self._start = stage, 0, time.perf_counter()
        self._show("")
        try:
            yield
        finally:
            self.seconds[stage] = time.perf_counter() - self._start
            self._show("\n")

    @property
    def told(self) -> Callable[[int], None] | None:
        """The function that is told of processed rows; None without a progress bar."""
        return self.advance if self._verbose else None

    def advance(self, n_rows: int) -> None:
        """Record that ``n_rows`` more rows are processed."""
        self._rows += n_rows
        self._show("")

    def _show(self, end: str) -> None:
        if not self._verbose:
            return
        stream = self._stream or sys.stderr
        line = self._line(finished=bool(end))
        if stream.isatty():
            print(f"\r{line:<78}", end=end, file=stream, flush=True)
        elif end:  # a log file gets one line a stage
            print(line, file=stream, flush=True)

    def _line(self, finished: bool) -> str:
        elapsed = time.perf_counter() - self._start
        head = f"{self._stage:<22}"
        if finished:
            rows = f"{self._rows:,} rows " if self._rows else ""
            return f"{head} done  {rows}in {elapsed:.1f} s"
        if not self._rows:
            return f"{head} ..."
        if not self._n_rows:  # files do not say
            return f"{head} {self._rows:,} rows, {elapsed:.0f} s"
        if self._rows > self._n_rows:
            return f"{head} pass {-(-self._rows // max(self._n_rows, 1))}, {elapsed:.0f} s"
        done = self._rows / max(self._n_rows, 1)
        bar = "#" * round(20 * done)
        return (
            f"{head} [{bar:<20}] {self._rows:,} of {self._n_rows:,} rows, "
            f"{elapsed * (1 - done) / done:.0f} s left"
        )
