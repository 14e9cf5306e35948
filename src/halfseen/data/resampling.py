"""Independent bins of rows, for the bootstrap."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows
from halfseen.data.sequences import lengths_of

MOST_BINS = 200
"""Enough that a standard deviation over bins is known to 5 %."""
ENOUGH_SEQUENCES = 20
"""To tell from them alone how far sequences differ."""
SHORTEST_RUN = 10
"""Rows of one sequence that are taken together where there are fewer."""


@dataclass(frozen=True, eq=False)
class Bins:
    """The bin of each row, for the bootstrap.

    Rows are scattered over the bins, so that bins are alike however the table is sorted, and
    whatever repeats in it. Rows that depend on each other, such as those of one patient, are given
    as groups, and a group is never divided.
    """

    n: int
    labels: NDArray[np.intp] | None = None  # (n_rows,)  None scatters rows

    @classmethod
    def of_rows(cls, n_rows: int) -> Self:
        """Bins of independent rows: one row each in small tables."""
        return cls(MOST_BINS) if n_rows > MOST_BINS else cls(max(n_rows, 1), np.arange(n_rows))

    @classmethod
    def of_groups(cls, groups: Any) -> Self:
        """Bins of whole groups, from the label of each row."""
        _, labels = np.unique(np.asarray(groups), return_inverse=True)
        n = min(MOST_BINS, int(labels.max(initial=0)) + 1)
        return cls(n, labels.reshape(-1) % n)

    @classmethod
    def of_sequences(cls, sequence: NDArray[np.int64]) -> Self:
        """Bins of whole sequences; few long sequences are cut into runs."""
        lengths = lengths_of(sequence)
        most = max(-(-len(sequence) // MOST_BINS), SHORTEST_RUN)
        if len(lengths) >= ENOUGH_SEQUENCES:
            most = int(lengths.max())
        begins = np.repeat(np.cumsum(lengths) - lengths, lengths)
        run = (np.arange(len(sequence)) - begins) // most
        changes = (np.diff(begins, prepend=-1) != 0) | (np.diff(run, prepend=-1) != 0)
        return cls.of_groups(np.cumsum(changes))

    def of(self, block: Block) -> NDArray[np.intp]:
        """The bins of a block's rows; (n,)."""
        numbers = block.start + np.arange(len(block))
        if self.labels is not None:
            return self.labels[numbers]
        return (keys_of(numbers) % np.uint64(self.n)).astype(np.intp)

    def parts(self, block: Block) -> Iterator[tuple[int, Block]]:
        """The rows of a block, bin by bin."""
        labels = self.of(block)
        order = np.argsort(labels, kind="stable")
        present, first = np.unique(labels[order], return_index=True)
        ends = np.append(first, len(order))[1:]
        for bin_, start, end in zip(present, first, ends, strict=True):
            yield int(bin_), block.rows(order[start:end])


def reweighted(rows: Rows, bins: Bins, weights: Array) -> Rows:
    """Rows weighted by the ``weights`` (g,) of their bins; weight zero leaves a row out."""

    def reweigh(block: Block) -> Block:
        by_row = weights[bins.of(block)]
        present = np.flatnonzero(by_row > 0)
        if len(present) < len(by_row):
            block, by_row = block.rows(present), by_row[present]
        return block if (by_row == 1).all() else block.with_weights(block.weighed(by_row))

    return rows.map(reweigh, acts_on="rows")


Keys = NDArray[np.uint64]


def keys_of(numbers: NDArray[np.integer[Any]]) -> Keys:
    """The mixing of SplitMix64 (Steele, Lea and Flood 2014), which no step in the numbers shows."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def share_of_keys(share: Any) -> Keys:
    """The key below which a ``share`` of rows lies; all rows if it is one or more."""
    most = float(2**64 - 2**11)  # the last double below 2**64
    limit: Keys = np.asarray(np.minimum(np.asarray(share) * 2.0**64, most)).astype(np.uint64)
    return np.where(np.asarray(share) >= 1, np.uint64(2**64 - 1), limit)
