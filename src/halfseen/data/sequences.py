"""Sequences of rows; a block never cuts a sequence."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sequences:
    """Where each sequence of rows ends, all of them lying one after the other.

    A sequence is known by the number of its first row. Where rows are not in the order in which
    they were given, or more than were, ``place`` says where those that were given are.
    """

    ends: Numbers  # (s,)  ascending: the number of the row after the last of each
    place: Numbers | None = None  # (n,)  of each row as given; None if they are as given

    @classmethod
    def of_lengths(cls, lengths: Any, place: Numbers | None = None) -> Self:
        """Sequences of so many rows each."""
        return cls(np.cumsum(np.asarray(lengths, dtype=np.int64)), place)

    @property
    def lengths(self) -> Numbers:
        """How many rows each has; (s,)."""
        return np.diff(self.ends, prepend=np.int64(0))

    def of(self, start: int, n: int) -> Numbers:
        """The sequences of ``n`` rows from row ``start`` on; (n,)."""
        firsts = self.ends - self.lengths
        which = np.searchsorted(self.ends, start + np.arange(n), side="right")
        return firsts[which]

    def cut(self, first: int, n: int, step: int) -> list[slice]:
        """Rows ``first`` to ``first + n`` in parts of about ``step`` that cut no sequence.

        They are numbered from ``first`` on.
        """
        ends = self.ends[(self.ends > first) & (self.ends <= first + n)] - first
        parts, start = [], 0
        while start < n:
            beyond = int(np.searchsorted(ends, start + step, side="right"))
            before = int(ends[beyond - 1]) if beyond else 0
            stop = before if before > start else int(ends[min(beyond, len(ends) - 1)])
            parts.append(slice(start, max(stop, start + 1)))
            start = parts[-1].stop
        return parts or [slice(0, 0)]


def part_of(sequence: Numbers | None, chosen: NDArray[np.intp]) -> Numbers | None:
    """The sequences of only some rows, by their place: one that loses rows within is cut there."""
    if sequence is None or len(chosen) == 0:
        return None if sequence is None else sequence[:0]
    step = np.r_[True, (np.diff(chosen) != 1) | (np.diff(sequence[chosen]) != 0)]
    first = np.searchsorted(sequence, sequence[chosen])  # numbers ascend
    numbers = sequence[chosen] + (chosen - first)  # of the rows themselves
    begins = np.flatnonzero(step)
    return np.asarray(np.repeat(numbers[begins], np.diff(np.r_[begins, len(chosen)])))


def lengths_of(sequence: Numbers) -> Numbers:
    """How many rows each sequence has, from those of all rows; (s,)."""
    begins = np.flatnonzero(np.diff(sequence, prepend=np.int64(-1)))
    return np.asarray(np.diff(np.r_[begins, len(sequence)]), dtype=np.int64)
