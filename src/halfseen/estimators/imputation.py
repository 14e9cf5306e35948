"""Filling gaps: expectations, how sure they are, or draws."""

from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from halfseen.estimators.fitted_rows import new_rows
from halfseen.method.fit import Fitted
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.gathered import gathered, whole_table
from halfseen.rows.rows import Block, Rows
from halfseen.tables.arrays_and_frames import read_new_table
from halfseen.tables.batches import is_batches
from halfseen.tables.column_order import in_fitted_order, in_order_of
from halfseen.tables.containers import arrow_table, filled_like, table_like
from halfseen.tables.door import is_elsewhere


def filled(estimator: Any, X: Any, *, return_std: bool, draws: Any, possible: bool) -> Any:
    """``X`` with its gaps filled, in the container it came in."""
    _check_draws(draws, return_std)
    if is_elsewhere(X):
        fill = partial(filled, estimator, return_std=return_std, draws=draws, possible=possible)
        return [fill(batch) for batch in X] if is_batches(X) else fill(_in_memory(estimator, X))
    fitted, rows, ordered = estimator.fitted, new_rows(estimator, X), in_fitted_order(estimator, X)
    table = read_new_table(estimator, X)
    allowed = fitted.possible.nearest if possible else fitted.possible.within

    def give(values: Array) -> Any:
        return in_order_of(X, filled_like(ordered, table, allowed(values)))

    if draws is not None:
        random = check_random_state(estimator.random_state)
        return [give(values) for values in _drawn(fitted, rows, int(draws), random)]
    mean, variance = _expected(fitted, rows)
    if not return_std:
        return give(mean)
    spread = np.where(np.isnan(table), np.sqrt(variance), 0.0)
    return give(mean), in_order_of(X, table_like(ordered, spread))


def _check_draws(draws: Any, return_std: bool) -> None:
    wrong = isinstance(draws, bool) or not isinstance(draws, Integral) or draws < 1
    if draws is not None and (return_std or wrong):
        raise ValueError(
            "draws must be an int of at least 1, without return_std: how far apart the draws "
            f"are tells how sure they are. Got draws={draws!r}, return_std={return_std!r}."
        )


def _in_memory(estimator: Any, X: Any) -> Any:
    """What is in files, as an Arrow table if the model's columns have names."""
    rows = new_rows(estimator, X)
    table = whole_table(rows)
    named = hasattr(estimator, "feature_names_in_")
    return arrow_table(rows.names, table) if named else table


def _expected(fitted: Fitted[Any], rows: Rows) -> tuple[Array, Array]:
    """Means and variances of all cells given what is observed in the row; (n, d) each."""

    def both(block: Block) -> Array:
        return np.hstack(fitted.model.cells(block, fitted.parameters))

    mean, variance = np.hsplit(gathered(rows.select(fitted.kept), both), 2)
    no_spread = np.where(np.isnan(fitted.constants), np.nan, 0.0)
    return (
        spread_out(mean, fitted.kept, fitted.constants),
        spread_out(variance, fitted.kept, no_spread),
    )


def _drawn(fitted: Fitted[Any], rows: Rows, number: int, random: Any) -> list[Array]:
    each = partial(gathered, rows.select(fitted.kept))
    tables = fitted.model.fill(each, fitted.parameters, number, random)
    return [spread_out(table, fitted.kept, fitted.constants) for table in tables]


def spread_out(kept_values: Array, kept: Mask, others: Array) -> Array:
    """Values (n, d) from those of the kept features (n, kept) and constants (d,) for the others."""
    values = np.tile(others, (len(kept_values), 1))
    values[:, kept] = kept_values
    return values
