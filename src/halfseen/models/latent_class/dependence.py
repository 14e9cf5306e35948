"""How much columns tell of each other."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.method.fit import Fitted
from halfseen.method.learned import whole
from halfseen.rows.arrays import Array
from halfseen.structures.one_class.mixed.information import of_pairs
from halfseen.structures.one_class.mixed.parameters import MixedParameters

MOST_SAID = 10
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Dependence:
    """Mutual information of every pair of columns, in nats.

    ``np.asarray`` gives the numbers alone, and ``print`` the strongest pairs.

    Attributes
    ----------
    names : tuple of str
        The columns.
    values : ndarray of shape (d, d)
        What knowing one column tells of the other; NaN on the diagonal, and for columns that the
        model does not use.
    """

    names: tuple[str, ...]
    values: Array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        values = self.values if dtype is None else self.values.astype(dtype)
        return values.copy() if copy else values

    def strongest(self, n: int = MOST_SAID) -> list[tuple[str, str, float]]:
        """The pairs that tell most of each other, and how many nats."""
        first, second = np.triu_indices(len(self.names), 1)
        nats = np.nan_to_num(self.values[first, second])
        order = [p for p in np.argsort(-nats, kind="stable")[:n] if nats[p] > ROUNDING]
        return [(self.names[first[p]], self.names[second[p]], float(nats[p])) for p in order]

    def __str__(self) -> str:
        lines = [f"{nats:.3f} nats  {a} and {b}" for a, b, nats in self.strongest()]
        return "\n".join(lines or ["No column tells anything of another."])


def dependence(fitted: Fitted[MixedParameters]) -> Dependence:
    """Of all columns under a model."""
    lines = whole(of_pairs(fitted.parameters), fitted.kept, np.nan)
    return Dependence(fitted.own_names, whole(lines.T, fitted.kept, np.nan).T)
