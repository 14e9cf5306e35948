"""A learned model as people are shown it: in the table's own units, most common first."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array, Mask


@dataclass(frozen=True, eq=False)
class Shown:
    """Groups of a mixture, or topics, numbered from 1 by how common they are."""

    kind: str  # "group" or "topic"
    names: tuple[str, ...]
    order: NDArray[np.intp]  # (k,)  the model's own numbers of the components
    shares: Array  # (k,)  of the rows, or of all that is counted
    centres: Array  # (k, d)  means in own units, or shares of the topic
    average: Array  # (d,)  the same for all rows together
    scores: Array  # (k, d)  deviations from the average in standard ones, or log2 of ratios to it
    geometric: Mask  # (d,)  features whose averages are geometric means

    @property
    def k(self) -> int:
        """How many components there are."""
        return len(self.shares)

    def called(self, component: int) -> str:
        """What the model's own component of a number is called on the page."""
        return f"{self.kind} {int(np.flatnonzero(self.order == component)[0]) + 1}"
