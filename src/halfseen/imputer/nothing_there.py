"""Gaps that seem to mean that there is nothing: they go with a zero in another column.

The quality of a fireplace is empty where there are 0 fireplaces, and nowhere else. That is no value
that somebody failed to write down, and what fills it is made up.
"""

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array, Mask

NEARLY_ALL = 0.95
"""Of the gaps go with zeros, of the zeros with gaps, and of other values with none."""
FEWEST = 10
"""Zeros, and other values beside them: fewer are chance."""


def zero_beside(table: Array, numbers: Mask) -> NDArray[np.intp]:
    """For each column the one whose zeros its gaps go with, -1 if there is none; (d,).

    Of a table (n, d), in which only ``numbers`` (d,) have a zero that means none.
    """
    gaps = np.isnan(table).T.astype(float)
    zeros = (table == 0) & numbers
    others = ~np.isnan(table) & ~zeros
    both = gaps @ zeros  # (d, d)  gaps of one column and zeros of another
    agreeing = np.minimum.reduce(
        [
            both / np.maximum(gaps.sum(axis=1), 1)[:, None],
            both / np.maximum(zeros.sum(axis=0), 1),
            1 - gaps @ others / np.maximum(others.sum(axis=0), 1),
        ]
    )
    agreeing[:, (zeros.sum(axis=0) < FEWEST) | (others.sum(axis=0) < FEWEST)] = 0.0
    best = agreeing.argmax(axis=1) if agreeing.size else np.zeros(len(agreeing), dtype=np.intp)
    found = agreeing[np.arange(len(best)), best] >= NEARLY_ALL
    return np.where(found, best, -1)
