"""Rows in partitions of Dask, summed by its workers.

A pass over the rows is one task a partition and a tree of additions. The tree's shape and order
depend on the partitions only, never on which worker is done first, so that a fit gives the same
numbers on one worker and on a hundred, and when a worker dies and Dask runs its tasks again. Tasks
change nothing that they are given: that they may be run twice is what Dask's retries rest on.
"""

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Generic, NamedTuple, Self, TypeVar
from uuid import uuid4

import numpy as np
from threadpoolctl import threadpool_limits

from halfseen.data.arrays import Mask
from halfseen.data.engines.memory import Told
from halfseen.data.errors import DataError
from halfseen.data.rows import Block, Rows, S
from halfseen.data.sequences import Sequences

Labelled = tuple[str, Any]
"""What an error calls a partition, and its content, in which something is Delayed."""


RETRIES = 2
"""How often a task that raised is tried again, for disks and networks that falter."""

R = TypeVar("R")


def computed(result: Any, contents: Sequence[Labelled]) -> Any:
    """The value of a Delayed object."""
    return _asked(lambda: result.compute(retries=RETRIES), contents)


def persisted(results: Sequence[Any], contents: Sequence[Labelled]) -> Any:
    """Delayed objects, stored by Dask on the workers that computed them."""
    from dask import persist

    return _asked(lambda: persist(*results, retries=RETRIES), contents)


@contextmanager
def naming(label: str) -> Iterator[None]:
    """Add the partition's name to errors on a worker."""
    try:
        yield
    except Exception as error:
        raise DataError(f"{label} fails whenever it is tried: {error}") from error


def _asked(ask: Callable[[], R], contents: Sequence[Labelled]) -> R:
    try:
        # BLAS in one thread, as in Dask's own workers, where this process is the worker.
        with threadpool_limits(1):
            return ask()
    except DataError:
        raise
    except Exception as error:
        raise _failure(error, contents) from error


def _failure(error: Exception, partitions: Sequence[Labelled]) -> Exception:
    """The error to raise for an error of Dask; it names the partition if that is known."""
    if type(error).__name__ == "KilledWorker":
        return _of_killed_workers(error, partitions)
    found = _failing(partitions)
    if found is None:
        return error
    (label, _), reason = found
    return DataError(
        f"{label} cannot be computed, however often it is tried: {type(reason).__name__}: "
        f"{reason}. Mend what Dask computes it from, or leave it out."
    )


def _of_killed_workers(error: Any, partitions: Sequence[Labelled]) -> Exception:
    key = str(error.task)
    ours = re.fullmatch(r"halfseen-[0-9a-f]{32}-(\d+)", key)
    if ours:
        own = [partitions[int(ours[1])][0]]
    else:
        own = [label for label, content in partitions if key in map(str, _keys(content))]
    label = own[0] if own else f"The task {key}"
    told = f"{label}, or one that was on the same workers,"
    if key.startswith("halfseen-pass-"):  # what all share, which was on the workers too
        told = "One of the partitions"
    return DataError(
        f"{told} ended every worker that it was given to, most likely because they ran out of "
        "memory. Make partitions smaller (rechunk, repartition, or smaller row groups), or give "
        "workers more memory."
    )


def _keys(content: Any) -> Any:
    from dask import delayed, optimize

    return optimize(delayed(_forgotten)(content))[0].__dask_graph__()


def _failing(partitions: Sequence[Labelled]) -> tuple[Labelled, Exception] | None:
    """The first partition that cannot be computed, by bisection; None if all can."""
    reason = _error_of(partitions)
    if reason is None:
        return None
    while len(partitions) > 1:
        middle = len(partitions) // 2
        first = _error_of(partitions[:middle])
        partitions = partitions[middle:] if first is None else partitions[:middle]
        reason = first or reason
    return partitions[0], _error_of(partitions) or reason


def _error_of(partitions: Sequence[Labelled]) -> Exception | None:
    import dask

    try:
        dask.compute(*(dask.delayed(_forgotten)(content) for _, content in partitions))
    except Exception as error:
        return error
    return None


def _forgotten(content: Any) -> None:
    """Drop partitions from errors, so that they are not sent."""


class Partition(NamedTuple):
    """Rows that exist only on the worker that sums them."""

    label: str  # what an error calls it
    first: int  # which row of the table is the first
    n_rows: int
    content: Any  # Delayed, or holding something Delayed

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + self.n_rows)


def partitioned(
    contents: Sequence[Labelled], lengths: Sequence[int | None], count: Callable[[Any], int]
) -> tuple[Partition, ...]:
    """Partitions with numbered rows; empty ones are left out, unless all are empty.

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
    """Which columns of a partition a pass uses, and its sequences."""

    read: Callable[[Any, int], Rows]  # a partition's content, and the number of its first row
    columns: Mask | None = None  # (all columns,)
    sequences: Sequences | None = None  # of rows that follow each other

    def select(self, features: Mask) -> Self:
        chosen = np.ones(len(features), bool) if self.columns is None else self.columns.copy()
        chosen[chosen] = features
        return replace(self, columns=chosen)

    def summed(self, content: Any, first: int, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over the blocks of a partition."""
        rows = self.read(content, first)
        if self.sequences is not None:
            rows = rows.in_sequences(self.sequences)
        if self.columns is not None:
            rows = rows.select(self.columns)
        return rows.accumulate(summarise)


class Pass(NamedTuple):
    """The computation on every partition in one pass."""

    view: View
    summarise: Callable[[Block], Any]


class Step(NamedTuple):
    """The computation on every partition and on the values kept beside its blocks."""

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
    """The sum over a partition, and the values to keep beside its blocks."""
    left: list[Any] = []

    def summarise(block: Block) -> Any:
        before = task.begin(block) if kept is None else kept[len(left)]
        sums, after = task.step(block, before)
        left.append(after)
        return sums

    with naming(label):
        return task.view.summed(content, first, summarise), left


FAN_IN = 8
"""Sums that are added by one task: a worker holds no more of them than this and one."""


def tree(leaves: Sequence[Any], token: str) -> Any:
    """Delayed sums added as a tree, neighbours first."""
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
    """The sum of sums in order; none of them is changed."""
    first, *rest = sums
    if not rest:
        return first
    # A new object, and then in place where sums can: they may be large.
    return reduce(operator.iadd, rest[1:], first + rest[0])


T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ClusterRows(Rows):
    """Partitions of a table; the client receives only their sums."""

    partitions: tuple[Partition, ...]
    view: View
    names: tuple[str, ...]
    sparse: bool = False
    advance: Told = None
    sequenced: bool = False

    @property
    def n_rows(self) -> int:
        return sum(partition.n_rows for partition in self.partitions)

    def select(self, features: Mask) -> Self:
        names = tuple(name for name, keep in zip(self.names, features, strict=True) if keep)
        return replace(self, view=self.view.select(features), names=names)

    def in_sequences(self, sequences: Sequences) -> Self:
        """The same rows, following each other; refused if a partition cuts a sequence."""
        for partition in self.partitions:
            last = partition.rows.stop
            if not np.isin(last, sequences.ends):
                first = sequences.of(last, 1)[0]
                raise DataError(
                    f"{partition.label} ends at row {last:,}, within the sequence of rows that "
                    f"begins at row {first:,}: sequences are not cut. Make partitions of whole "
                    "sequences (rechunk, repartition by the sequence's column, or files of whole "
                    "sequences)."
                )
        return replace(self, view=replace(self.view, sequences=sequences), sequenced=True)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        sums: S = self.result(self._total(summarise, uuid4().hex))
        return sums

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of the sum over all blocks, on the worker that has it."""
        from dask import delayed

        token = uuid4().hex
        total = self._total(summarise, token)
        last = delayed(finish, traverse=False)
        finished: T = self.result(last(total, dask_key_name=f"halfseen-finish-{token}"))
        return finished

    def carrying(self, begin: Callable[[Block], T]) -> "CarriedThere[T]":
        return CarriedThere(self, begin, [None] * len(self.partitions))

    def _total(self, summarise: Callable[[Block], S], token: str) -> Any:
        nothing: Sequence[tuple[Any, ...]] = [()] * len(self.partitions)
        return tree(self.tasks(summed, Pass(self.view, summarise), nothing, token), token)

    def tasks(
        self, function: Callable[..., Any], shared: Any, own: Sequence[tuple[Any, ...]], token: str
    ) -> list[Any]:
        """A Delayed call for each partition, with shared and own arguments."""
        from dask import delayed

        call = delayed(function, traverse=False)
        # Once in the graph, and so once on each worker, however many tasks it runs.
        once = delayed(shared, name=f"halfseen-pass-{token}", traverse=False)
        return [
            call(p.content, p.label, p.first, once, *more, dask_key_name=f"halfseen-{token}-{i}")
            for i, (p, more) in enumerate(zip(self.partitions, own, strict=True))
        ]

    def result(self, total: Any) -> Any:
        """The computed results of all partitions."""
        value = computed(total, self.contents)
        if self.advance is not None:
            self.advance(self.n_rows)
        return value

    @property
    def contents(self) -> list[tuple[str, Any]]:
        """Partitions by the names that errors use."""
        return [(p.label, p.content) for p in self.partitions]


@dataclass(eq=False)
class CarriedThere(Generic[T]):
    """Values kept by Dask on the workers that sum the partitions.

    What a worker that dies has kept is made again from the beginning, by the same steps.
    """

    rows: ClusterRows
    begin: Callable[[Block], T]
    kept: list[Any]  # of each partition: Delayed, a list of what is beside its blocks

    def accumulate(self, step: Callable[[Block, T], tuple[S, T]]) -> S:
        rows, token = self.rows, uuid4().hex
        shared, own = Step(rows.view, self.begin, step), [(kept,) for kept in self.kept]
        pairs = rows.tasks(stepped, shared, own, token)
        total = tree([pair[0] for pair in pairs], token)
        total, *self.kept = persisted([total, *(pair[1] for pair in pairs)], rows.contents)
        sums: S = rows.result(total)
        return sums
