"""The kinds of columns, as numbers that parameters hold, and what is done to each."""

from enum import IntEnum

import numpy as np

from halfseen.data.arrays import Array, Mask


class Kind(IntEnum):
    """How the values of a column arise from a component."""

    CONTINUOUS = 0
    COUNT = 1
    CATEGORICAL = 2
    ORDINAL = 3
    BINARY = 4

    @property
    def word(self) -> str:
        """As people write it."""
        return self.name.lower()


WORDS = {kind.word: kind for kind in Kind}
_CONTINUOUS, _COUNT, _CATEGORICAL = (float(k) for k in (0, 1, 2))  # which compare fast


def of_levels(kinds: Array) -> Mask:
    """Columns that hold one of a few values, each with a probability of its own; (d,)."""
    return np.asarray(kinds >= _CATEGORICAL)


def of_counts(kinds: Array) -> Mask:
    """Columns that count; (d,)."""
    return np.asarray(kinds == _COUNT)


def of_numbers(kinds: Array) -> Mask:
    """Columns that are normal within a component; (d,)."""
    return np.asarray(kinds == _CONTINUOUS)
