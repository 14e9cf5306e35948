"""How many rows hold two features, or three: by weight, if rows have weights."""

from halfseen.moments.gaps import bitmasks
from halfseen.moments.thirds.packed import third_products
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block


def pair_counts(block: Block) -> Array:
    """``N_ij``; (d, d)."""
    if block.weights is None:
        return bitmasks.pair_counts(block.observed)
    mask = block.observed.astype(float)
    return mask.T @ block.weighed(mask)


def triple_counts(block: Block) -> Array:
    """``N_ijk`` for i ≤ j ≤ k, packed as :mod:`halfseen.moments.thirds.packed` says."""
    if block.weights is None:
        return bitmasks.triple_counts(block.observed)
    return third_products(block.observed.astype(float), block.weights)
