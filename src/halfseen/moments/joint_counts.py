"""Numbers of rows in which two or three columns are observed together.

Without weights masks are packed: one machine word holds 64 rows of a feature's mask, so ``N_ijk``
costs one AND and one population count for every 64 rows, far less than a matrix product over masks
turned into floats.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.compiled import njit
from halfseen.data.rows import Block
from halfseen.moments.symmetric_tensors import third_products

Words = NDArray[np.uint64]


def pack(observed: Mask) -> Words:
    """A mask (n, d) as bits in words (d, ⌈n / 64⌉), padded with unobserved rows."""
    n_rows, n_features = observed.shape
    padded = np.zeros((n_features, -(-n_rows // 64) * 8), dtype=np.uint8)
    padded[:, : -(-n_rows // 8)] = np.packbits(observed.T, axis=1)
    return padded.view(np.uint64)


def pairs_in_masks(observed: Mask) -> Array:
    """``N_ij``: the number of rows with features i and j observed; (d, d)."""
    return _pair_counts(pack(observed))


def triples_in_masks(observed: Mask) -> Array:
    """``N_ijk`` for i ≤ j ≤ k, packed as :mod:`halfseen.moments.symmetric_tensors` says."""
    return _triple_counts(pack(observed))


@intrinsic
def _popcount(typing: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@njit(cache=True, nogil=True)
def _pair_counts(words: Words) -> Array:  # pragma: no cover - compiled
    n_features, n_words = words.shape
    counts = np.zeros((n_features, n_features), dtype=np.float64)
    for i in range(n_features):
        for j in range(i, n_features):
            total = np.uint64(0)
            for word in range(n_words):
                total += _popcount(words[i, word] & words[j, word])  # type: ignore[call-arg]
            counts[i, j] = counts[j, i] = total
    return counts


@njit(cache=True, nogil=True)
def _triple_counts(words: Words) -> Array:  # pragma: no cover - compiled
    n_features, n_words = words.shape
    counts = np.zeros(n_features * (n_features + 1) * (n_features + 2) // 6, dtype=np.float64)
    both = np.empty(n_words, dtype=np.uint64)
    position = 0
    for j in range(n_features):
        for i in range(j + 1):
            for word in range(n_words):
                both[word] = words[i, word] & words[j, word]
            for k in range(j, n_features):
                total = np.uint64(0)
                for word in range(n_words):
                    total += _popcount(both[word] & words[k, word])  # type: ignore[call-arg]
                counts[position] = total
                position += 1
    return counts


def pair_counts(block: Block) -> Array:
    """``N_ij``; (d, d)."""
    if block.weights is None:
        return pairs_in_masks(block.observed)
    mask = block.observed.astype(float)
    return mask.T @ block.weighed(mask)


def triple_counts(block: Block) -> Array:
    """``N_ijk`` for i ≤ j ≤ k, packed as :mod:`halfseen.moments.symmetric_tensors` says."""
    if block.weights is None:
        return triples_in_masks(block.observed)
    return third_products(block.observed.astype(float), block.weights)
