"""Rows in partitions, summed by whatever workers Dask has.

A pass over the rows is one task a partition and a tree of additions. The tree's shape and order
depend on the partitions only, never on which worker is done first, so that a fit gives the same
numbers on one worker and on a hundred, and when a worker dies and Dask runs its tasks again. Tasks
change nothing that they are given: that they may be run twice is what Dask's retries rest on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar
from uuid import uuid4

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.engines.memory import Told
from halfseen.rows.engines.workers.computing import computed, persisted
from halfseen.rows.engines.workers.partitions import Partition, Pass, Step, View, stepped, summed
from halfseen.rows.engines.workers.tree import tree
from halfseen.rows.errors import DataError
from halfseen.rows.rows import Block, S
from halfseen.rows.sequences import Sequences

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ClusterRows:
    """Partitions of a table. Only sums of all of them come to the client."""

    partitions: tuple[Partition, ...]
    view: View
    names: tuple[str, ...]
    sparse: bool = False
    advance: Told = None
    sequenced: bool = False

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return sum(partition.n_rows for partition in self.partitions)

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features."""
        names = tuple(name for name, keep in zip(self.names, features, strict=True) if keep)
        return replace(self, view=self.view.select(features), names=names)

    def recentred(self, origin: Array) -> Self:
        """The same rows measured from ``origin`` (d,)."""
        return replace(self, view=self.view.recentred(origin))

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
        """The sum of ``summarise(block)`` over all blocks of rows."""
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
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""
        return CarriedThere(self, begin, [None] * len(self.partitions))

    def _total(self, summarise: Callable[[Block], S], token: str) -> Any:
        nothing: Sequence[tuple[Any, ...]] = [()] * len(self.partitions)
        return tree(self.tasks(summed, Pass(self.view, summarise), nothing, token), token)

    def tasks(
        self, function: Callable[..., Any], shared: Any, own: Sequence[tuple[Any, ...]], token: str
    ) -> list[Any]:
        """A Delayed call for each partition, with what all share and what is its own."""
        from dask import delayed

        call = delayed(function, traverse=False)
        # Once in the graph, and so once on each worker, however many tasks it runs.
        once = delayed(shared, name=f"halfseen-pass-{token}", traverse=False)
        return [
            call(p.content, p.label, p.first, once, *more, dask_key_name=f"halfseen-{token}-{i}")
            for i, (p, more) in enumerate(zip(self.partitions, own, strict=True))
        ]

    def result(self, total: Any) -> Any:
        """What all partitions came to, when they have."""
        value = computed(total, self.contents)
        if self.advance is not None:
            self.advance(self.n_rows)
        return value

    @property
    def contents(self) -> list[tuple[str, Any]]:
        """Partitions by what errors call them."""
        return [(p.label, p.content) for p in self.partitions]


@dataclass(eq=False)
class CarriedThere(Generic[T]):
    """Kept by Dask where the partitions are summed.

    What a worker that dies has kept is made again from the beginning, by the same steps.
    """

    rows: ClusterRows
    begin: Callable[[Block], T]
    kept: list[Any]  # of each partition: Delayed, a list of what is beside its blocks

    def accumulate(self, step: Callable[[Block, T], tuple[S, T]]) -> S:
        """The sum over all blocks of what a step says; the next step gets what it left."""
        rows, token = self.rows, uuid4().hex
        shared, own = Step(rows.view, self.begin, step), [(kept,) for kept in self.kept]
        pairs = rows.tasks(stepped, shared, own, token)
        total = tree([pair[0] for pair in pairs], token)
        total, *self.kept = persisted([total, *(pair[1] for pair in pairs)], rows.contents)
        sums: S = rows.result(total)
        return sums
