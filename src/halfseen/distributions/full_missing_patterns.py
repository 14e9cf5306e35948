"""Rows sorted by which of their cells are there: what costs much is done once for all alike."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.block import Block

Places = NDArray[np.int64]


class ByGaps(NamedTuple):
    """Rows of a block, those with the same gaps one after the other."""

    order: Places  # (n,)  which row of the block each is
    values: Array  # (n, d)  row by row in memory, zero in the gaps
    weights: Array  # (n,)
    starts: Places  # (u + 1,)  where rows of the next pattern begin
    columns: Places  # (u, d)  of each pattern: columns that are there, and then those that are not
    n_there: Places  # (u,)  how many are

    @classmethod
    def of(cls, block: Block) -> "ByGaps":
        """The rows of a block, sorted once if the block is kept for many passes."""
        return block.kept_for(cls, _sorted)

    def back(self, per_row: Array) -> Array:
        """What is said of each row (n, ...), in the order of the block."""
        out = np.empty_like(per_row)
        out[self.order] = per_row
        return out


def _sorted(block: Block) -> ByGaps:
    observed = np.ascontiguousarray(block.observed)
    codes = np.packbits(observed, axis=1)
    width = max(codes.shape[1], 1)
    whole = np.zeros((len(codes), width), np.uint8)
    whole[:, : codes.shape[1]] = codes
    names, inverse = np.unique(whole.view(f"V{width}").reshape(-1), return_inverse=True)
    order = np.argsort(inverse.reshape(-1), kind="stable")
    starts = np.concatenate(
        [[0], np.cumsum(np.bincount(inverse.reshape(-1), minlength=len(names)))]
    )
    masks = observed[order[starts[:-1]]] if len(names) else observed[:0]
    weights = np.ones(len(block)) if block.weights is None else block.weights
    return ByGaps(
        order,
        np.ascontiguousarray(block.values[order]),
        np.ascontiguousarray(weights[order], dtype=float),
        starts.astype(np.int64),
        np.argsort(~masks, axis=1, kind="stable").astype(np.int64),
        masks.sum(axis=1).astype(np.int64),
    )
