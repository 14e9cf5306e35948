"""Rows in partitions, summed by whatever workers Dask has.

A pass over the rows is one task a partition and a tree of additions. The tree's shape and order
depend on the partitions only, never on which worker is done first, so that a fit gives the same
numbers on one worker and on a hundred, and when a worker dies and Dask runs its tasks again. Tasks
change nothing that they are given: that they may be run twice is what Dask's retries rest on.
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple, Self, TypeVar
from uuid import uuid4

import numpy as np
from threadpoolctl import threadpool_limits

from halfseen.core.arrays import Array, Mask
from halfseen.core.errors import DataError
from halfseen.core.rows import Block, Rows, S
from halfseen.engines.blocks import Told, nobody
from halfseen.engines.failing import Labelled, failure

FAN_IN = 8
"""Sums that are added by one task: a worker holds no more of them than this and one."""

RETRIES = 2
"""How often a task that raised is tried again, for disks and networks that falter."""

T = TypeVar("T")


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


@dataclass(frozen=True, eq=False)
class ClusterRows:
    """Partitions of a table. Only sums of all of them come to the client."""

    partitions: tuple[Partition, ...]
    read: Callable[[Any, int], Rows]  # a partition's content, and the number of its first row
    names: tuple[str, ...]
    sparse: bool = False
    advance: Told = field(default=nobody)
    columns: Mask | None = None  # (all features of the partitions,)
    origin: Array | None = None  # (d,)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return sum(partition.n_rows for partition in self.partitions)

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features."""
        chosen = np.ones(len(features), bool) if self.columns is None else self.columns.copy()
        chosen[chosen] = features
        names = tuple(name for name, keep in zip(self.names, features, strict=True) if keep)
        origin = None if self.origin is None else self.origin[features]
        return replace(self, columns=chosen, names=names, origin=origin)

    def recentred(self, origin: Array) -> Self:
        """The same rows measured from ``origin`` (d,)."""
        return replace(self, origin=origin if self.origin is None else self.origin + origin)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""
        return self.condensed(summarise, _as_it_is)

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of the sum over all blocks, on the worker that has it."""
        from dask import delayed

        token = uuid4().hex
        # Once in the graph, not once a task.
        shared = delayed(
            _Pass(self.read, self.columns, self.origin, summarise),
            name=f"halfseen-pass-{token}",
            traverse=False,
        )
        total = tree(self._leaves(shared, token), token)
        result: T = self._computed(
            delayed(finish, traverse=False)(total, dask_key_name=f"halfseen-finish-{token}")
        )
        self.advance(self.n_rows)
        return result

    def _leaves(self, shared: Any, token: str) -> list[Any]:
        from dask import delayed

        summed = delayed(_summed, traverse=False)
        return [
            summed(
                partition.content,
                partition.label,
                partition.first,
                shared,
                dask_key_name=f"halfseen-sums-{token}-{number}",
            )
            for number, partition in enumerate(self.partitions)
        ]

    def _computed(self, result: Any) -> Any:
        return computed(result, [(p.label, p.content) for p in self.partitions])


def computed(result: Any, contents: Sequence[Labelled]) -> Any:
    """What is Delayed, computed; an error names the partition that is to blame."""
    try:
        # BLAS in one thread, as in Dask's own workers, where this process is the worker.
        with threadpool_limits(1):
            return result.compute(retries=RETRIES)
    except DataError:
        raise
    except Exception as error:
        raise failure(error, contents) from error


def partitioned(
    contents: Sequence[Labelled],
    lengths: Sequence[int | None],
    count: Callable[[Any], int],
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
    if not unknown:
        return [n_rows for n_rows in lengths if n_rows is not None]
    counts = delayed(list)([delayed(count, traverse=False)(contents[i][1]) for i in unknown])
    new = dict(zip(unknown, computed(counts, [contents[i] for i in unknown]), strict=True))
    return [new[i] if n_rows is None else n_rows for i, n_rows in enumerate(lengths)]


def tree(leaves: Sequence[Any], token: str) -> Any:
    """Delayed sums added in a tree, neighbours first; one that is alone is that sum."""
    from dask import delayed

    add, level = delayed(added, traverse=False), 0
    while len(leaves) > 1:
        name = f"halfseen-add-{token}-{level}"
        leaves = [
            add(list(leaves[start : start + FAN_IN]), dask_key_name=f"{name}-{start}")
            for start in range(0, len(leaves), FAN_IN)
        ]
        level += 1
    return leaves[0]


def added(sums: Sequence[S]) -> S:
    """The sum of sums in order, all of which stay as they are."""
    first, *rest = sums
    if not rest:
        return first
    # A new object, and then in place where sums can: they may be large.
    return reduce(operator.iadd, rest[1:], first + rest[0])


@dataclass(frozen=True, eq=False)
class _Pass:
    """What is done with every partition in one pass."""

    read: Callable[[Any, int], Rows]
    columns: Mask | None
    origin: Array | None
    summarise: Callable[[Block], Any]

    def of(self, content: Any, first: int) -> Any:
        rows = self.read(content, first)
        if self.columns is not None:
            rows = rows.select(self.columns)
        return rows.accumulate(self.summarise if self.origin is None else self._recentred)

    def _recentred(self, block: Block) -> Any:
        # Block by block: a copy of the partition would double the worker's memory.
        values = block.about(self.origin)  # type: ignore[arg-type]
        return self.summarise(Block(values, block.observed, block.weights, block.start))


def _summed(content: Any, label: str, first: int, shared: _Pass) -> Any:
    try:
        return shared.of(content, first)
    except Exception as error:
        raise DataError(f"{label} fails whenever it is tried: {error}") from error


def _as_it_is(sums: T) -> T:
    return sums
