"""The counts above zero of a block: all that kernels for topics have to visit.

An observed zero matters only through the rates of the features that were observed, which add up to
one number a row and topic, the exposure.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.core.arrays import Array
from halfseen.core.rows import Block

Indices = NDArray[np.int64]


class Nonzeros(NamedTuple):
    """Compressed rows: those of row n are at ``starts[n]`` to ``starts[n + 1]``."""

    starts: Indices  # (n + 1,)
    features: Indices  # (nnz,)
    counts: Array  # (nnz,)

    @classmethod
    def of(cls, block: Block) -> Self:
        """The observed counts above zero."""
        present = block.values > 0
        starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        return cls(starts, np.nonzero(present)[1], block.values[present])


def exposures(block: Block, topics: Array) -> Array:
    """``Σ_d a_kd`` over the features observed in each row, for topics (k, d); (n, k)."""
    return block.observed.astype(float) @ topics.T
