"""Rows as if they were shuffled: a number for each that no order of the table shows in."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]


def keys_of(numbers: NDArray[np.integer[Any]]) -> Keys:
    """The mixing of SplitMix64 (Steele, Lea and Flood 2014), which no step in the numbers shows."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def share_of_keys(share: Any) -> Keys:
    """The key that so great a ``share`` of rows are at or below, all if it is one or more."""
    most = float(2**64 - 2**11)  # the last double below 2**64
    limit: Keys = np.asarray(np.minimum(np.asarray(share) * 2.0**64, most)).astype(np.uint64)
    return np.where(np.asarray(share) >= 1, np.uint64(2**64 - 1), limit)
