"""What becomes of the classes of rows if they are learned in another way."""

from typing import NamedTuple, Self

import numpy as np

from halfseen.doubt.agreement import adjusted_rand
from halfseen.rows.arrays import Labels


class ChangedLabels(NamedTuple):
    """Two labellings of the same rows, beside each other."""

    agreement: float  # adjusted Rand index
    moved: float  # the share of rows that are not with most of those they were with

    @classmethod
    def of(cls, before: Labels, after: Labels) -> Self:
        """Of the labels (n,) of each row.

        >>> ChangedLabels.of(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 1])).moved
        0.25
        """
        table = np.zeros((int(before.max()) + 1, int(after.max()) + 1))
        np.add.at(table, (before, after), 1.0)
        return cls(adjusted_rand(table), float(1 - table.max(axis=1).sum() / table.sum()))
