"""How likely each category of each column is, given what is observed in a row."""

from functools import partial
from typing import Any

import numpy as np

from halfseen.estimators.fitted_rows import new_rows
from halfseen.rows.arrays import Array
from halfseen.rows.gathered import gathered
from halfseen.rows.rows import Block
from halfseen.structures.one_class.mixed.tables import chances_of


def chances(model: Any, X: Any) -> dict[str, Array]:
    """For each column of few values, by name: probabilities of its categories; (n, l).

    Cells that are observed have theirs with certainty.
    """
    fitted = model.fitted
    parameters, rows = fitted.parameters, new_rows(model, X).select(fitted.kept)
    hidden = gathered(rows, lambda block: fitted.model.hidden(block, parameters))
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
