"""Surprisal of cells, probabilities of categories, and dependence of columns."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, gathered
from halfseen.distributions.categorical import chances_of
from halfseen.distributions.cell_densities import surprisal
from halfseen.distributions.mixed_parameters import MixedParameters
from halfseen.estimators.reading import new_rows
from halfseen.inference.fit import Fitted
from halfseen.inference.parameters import whole
from halfseen.io.containers import as_frame, table_like
from halfseen.io.source import source_of
from halfseen.io.validation import reorder_as_fitted, reorder_like
from halfseen.latent.mutual_information import of_pairs


def surprisals(estimator: Any, X: Any) -> Any:
    """Surprisal of each cell of ``X`` (n, d), as a data frame if ``X`` is one."""
    fitted = estimator.fitted
    rows = new_rows(estimator, X).select(fitted.kept)
    emission, parameters = fitted.model.emission, fitted.parameters
    found = gathered(rows, lambda block: surprisal(block, emission, parameters))
    values = whole(found, fitted.kept, np.nan)
    if source_of(X).out_of_memory or as_frame(X) is None:
        return values
    return reorder_like(X, table_like(reorder_as_fitted(estimator, X), values))


def category_probabilities(model: Any, X: Any) -> dict[str, Array]:
    """Probabilities of categories, by column; (n, l) each.

    Cells that are observed have theirs with certainty.
    """
    fitted = model.fitted
    parameters, rows = fitted.parameters, new_rows(model, X).select(fitted.kept)
    hidden = gathered(rows, lambda block: fitted.model.expected_latent(block, parameters))
    names = np.array(fitted.names, dtype=object)[fitted.kept]
    found = {}
    for d in np.flatnonzero(parameters.of_levels):
        values = parameters.level_values[:, d]
        own = gathered(rows, partial(_observed, d=int(d)))
        known = np.isin(own, values[np.isfinite(values)])
        certain = own == values[np.isfinite(values)]
        found[str(names[d])] = np.where(known, certain, chances_of(parameters, hidden, int(d)))
    return found


def _observed(block: Block, d: int) -> Array:
    """A column of a block, NaN in the gaps; (n, 1)."""
    return np.where(block.observed[:, d], block.values[:, d], np.nan)[:, None]


MAX_PRINTED_PAIRS = 10
ROUNDING_ERROR = 1e-9


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

    def strongest(self, n: int = MAX_PRINTED_PAIRS) -> list[tuple[str, str, float]]:
        """The pairs with the largest mutual information, in nats."""
        first, second = np.triu_indices(len(self.names), 1)
        nats = np.nan_to_num(self.values[first, second])
        order = [p for p in np.argsort(-nats, kind="stable")[:n] if nats[p] > ROUNDING_ERROR]
        return [(self.names[first[p]], self.names[second[p]], float(nats[p])) for p in order]

    def __str__(self) -> str:
        lines = [f"{nats:.3f} nats  {a} and {b}" for a, b, nats in self.strongest()]
        return "\n".join(lines or ["No column tells anything of another."])


def dependence(fitted: Fitted[MixedParameters]) -> Dependence:
    """The dependence of all columns under a model."""
    lines = whole(of_pairs(fitted.parameters), fitted.kept, np.nan)
    return Dependence(fitted.own_names, whole(lines.T, fitted.kept, np.nan).T)
