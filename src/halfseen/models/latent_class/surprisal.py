"""How unlikely each cell of a table is, in the container that the table came in."""

from typing import Any

import numpy as np

from halfseen.estimators.fitted_rows import new_rows
from halfseen.method.learned import whole
from halfseen.rows.gathered import gathered
from halfseen.structures.one_class.mixed.each_cell import surprisal
from halfseen.tables.column_order import in_fitted_order, in_order_of
from halfseen.tables.containers import as_frame, table_like
from halfseen.tables.door import is_elsewhere


def surprisals(estimator: Any, X: Any) -> Any:
    """Of each cell of ``X`` (n, d): data frames come back as such, anything else as an array."""
    fitted = estimator.fitted
    rows = new_rows(estimator, X).select(fitted.kept)
    emission, parameters = fitted.model.emission, fitted.parameters
    found = gathered(rows, lambda block: surprisal(block, emission, parameters))
    values = whole(found, fitted.kept, np.nan)
    if is_elsewhere(X) or as_frame(X) is None:
        return values
    return in_order_of(X, table_like(in_fitted_order(estimator, X), values))
