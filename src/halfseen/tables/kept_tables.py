"""What a model keeps of the tables it was learned from, where there were several."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.rows.arrays import Array, Mask


@dataclass(frozen=True, eq=False)
class KeptTables:
    """The tables that a model was learned from, where there were several.

    Attributes
    ----------
    names : tuple of str
        What the tables are called.
    n_rows : ndarray of shape (t,)
        Rows of each.
    columns : tuple of str
        The columns of all, in the order of the model.
    holds : ndarray of bool of shape (t, d)
        Which columns each table has.
    factor, shift : ndarray of shape (t, d)
        How a number of each table is made comparable: times the factor, and the shift more.
    """

    names: tuple[str, ...]
    n_rows: Array
    columns: tuple[str, ...]
    holds: Mask
    factor: Array
    shift: Array

    def __post_init__(self) -> None:
        shape = (len(self.names), len(self.columns))
        arrays = (self.holds, self.factor, self.shift)
        if self.n_rows.shape != shape[:1] or any(one.shape != shape for one in arrays):
            raise ValueError("its tables are not of as many rows and columns as they name")
        if self.holds.dtype != bool or not (self.factor > 0).all():
            raise ValueError("its tables have columns that cannot be adjusted")
        if not (np.isfinite(self.factor).all() and np.isfinite(self.shift).all()):
            raise ValueError("its tables have columns that cannot be adjusted")

    @classmethod
    def unadjusted(
        cls, names: tuple[str, ...], n_rows: Array, columns: tuple[str, ...], holds: Mask
    ) -> Self:
        """Tables whose numbers are as they are."""
        return cls(names, n_rows, columns, holds, np.ones(holds.shape), np.zeros(holds.shape))

    @classmethod
    def none(cls) -> Self:
        """No table that is known."""
        return cls.unadjusted((), np.zeros(0), (), np.zeros((0, 0), dtype=bool))

    @property
    def starts(self) -> Array:
        """Which row is the first of each table, and how many there are; (t + 1,)."""
        return np.concatenate([[0], np.cumsum(self.n_rows)])

    def undone(self, values: Array, first: int = 0) -> Array:
        """Comparable numbers (n, d) as their tables have them, from row ``first`` on."""
        rows = first + np.arange(len(values))
        table = np.searchsorted(self.starts[1:-1], rows, side="right")
        return np.asarray((values - self.shift[table]) / self.factor[table])

    @property
    def adjusted(self) -> bool:
        """Whether any number was moved."""
        return bool((self.factor != 1).any() or self.shift.any())
