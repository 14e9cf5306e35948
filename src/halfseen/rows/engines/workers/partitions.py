"""Partitions of a table, and what a worker does with one of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.engines.workers.computing import Labelled, computed, naming
from halfseen.rows.rows import Block, Rows, S
from halfseen.rows.sequences import Sequences


class Partition(NamedTuple):
    """Rows that exist only on the worker that sums them."""

    label: str  # what an error calls it
    first: int  # which row of the table is the first
    n_rows: int
    content: Any  # Delayed, or holding something Delayed

    @property
    def rows(self) -> slice:
        """Which rows of the table they are."""
        return slice(self.first, self.first + self.n_rows)


def partitioned(
    contents: Sequence[Labelled], lengths: Sequence[int | None], count: Callable[[Any], int]
) -> tuple[Partition, ...]:
    """Partitions with their rows numbered; those of no rows are left out, unless all are.

    Where the number of rows is not known it is counted, in one more pass over the data.
    """
    found = _counted(contents, lengths, count)
    firsts = np.cumsum([0, *found[:-1]]).tolist()
    every = [
        Partition(label, first, n_rows, content)
        for (label, content), first, n_rows in zip(contents, firsts, found, strict=True)
    ]
    return tuple(p for p in every if p.n_rows) or tuple(every[:1])


def _counted(
    contents: Sequence[Labelled], lengths: Sequence[int | None], count: Callable[[Any], int]
) -> list[int]:
    from dask import delayed

    unknown = [i for i, n_rows in enumerate(lengths) if n_rows is None]
    counts = delayed(list)([delayed(count, traverse=False)(contents[i][1]) for i in unknown])
    new = iter(computed(counts, [contents[i] for i in unknown]) if unknown else ())
    return [next(new) if n_rows is None else n_rows for n_rows in lengths]


@dataclass(frozen=True, eq=False)
class View:
    """How a pass sees a partition: which of its columns, and from where they are measured."""

    read: Callable[[Any, int], Rows]  # a partition's content, and the number of its first row
    columns: Mask | None = None  # (all columns,)
    origin: Array | None = None  # (d,)
    sequences: Sequences | None = None  # of rows that follow each other

    def select(self, features: Mask) -> Self:
        """The same with only some of the features."""
        chosen = np.ones(len(features), bool) if self.columns is None else self.columns.copy()
        chosen[chosen] = features
        origin = None if self.origin is None else self.origin[features]
        return replace(self, columns=chosen, origin=origin)

    def recentred(self, origin: Array) -> Self:
        """The same measured from ``origin`` (d,)."""
        return replace(self, origin=origin if self.origin is None else self.origin + origin)

    def summed(self, content: Any, first: int, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over the blocks of a partition."""
        rows: Any = self.read(content, first)
        if self.sequences is not None:
            rows = replace(rows, sequences=self.sequences)
        if self.columns is not None:
            rows = rows.select(self.columns)
        sums: S = rows.accumulate(lambda block: summarise(self._seen(block)))
        return sums

    def _seen(self, block: Block) -> Block:
        if self.origin is None:
            return block
        # Block by block: a copy of the partition would double the worker's memory.
        return block.recentred(self.origin)


class Pass(NamedTuple):
    """What is done with every partition in one pass."""

    view: View
    summarise: Callable[[Block], Any]


class Step(NamedTuple):
    """What is done with every partition, and with what is kept beside its blocks."""

    view: View
    begin: Callable[[Block], Any]
    step: Callable[[Block, Any], tuple[Any, Any]]


def summed(content: Any, label: str, first: int, task: Pass) -> Any:
    """The sum over a partition."""
    with naming(label):
        return task.view.summed(content, first, task.summarise)


def stepped(
    content: Any, label: str, first: int, task: Step, kept: list[Any] | None
) -> tuple[Any, list[Any]]:
    """The sum over a partition, and what is to be kept beside its blocks; ``kept`` stays as is."""
    left: list[Any] = []

    def summarise(block: Block) -> Any:
        before = task.begin(block) if kept is None else kept[len(left)]
        sums, after = task.step(block, before)
        left.append(after)
        return sums

    with naming(label):
        return task.view.summed(content, first, summarise), left
