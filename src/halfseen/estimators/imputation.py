"""Impute with a fitted model: expected values, their uncertainty, or draws."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.utils import check_random_state

from halfseen.data.arrays import Array, Mask
from halfseen.data.rows import Block, Rows, gathered, in_given_order, whole_table
from halfseen.estimators.reading import checked_rows, new_rows, rows_and_tables
from halfseen.inference.fit import Fitted
from halfseen.io.coded_tables import CodedTable, encode_new_table
from halfseen.io.coding import Coding, takes_kinds, warn_unseen_categories
from halfseen.io.containers import arrow_table, fill_like, table_like, with_filled
from halfseen.io.files import Files
from halfseen.io.open_files import table_with_labels
from halfseen.io.sequences import Keys, Sequenced
from halfseen.io.source import InSequences, source_of
from halfseen.io.validation import (
    arrow_batch_as_table,
    read_new_table,
    reorder_as_fitted,
    reorder_like,
)


def filled(estimator: Any, X: Any, *, return_std: bool, draws: Any, possible: bool) -> Any:
    """``X`` with its gaps filled, in its container type."""
    _check_draws(draws, return_std)
    if isinstance(X, Sequenced):
        return _filled_sequences(estimator, X, return_std, draws, possible)
    fill = partial(_fill, estimator, return_std=return_std, draws=draws, possible=possible)
    source = source_of(X)
    if source.files is not None:
        # What is unseen was said when it was read.
        return _in_own_units(estimator, source.files, fill(_in_memory(estimator, source.files))[0])
    if source.several:
        each = list(map(fill, source.tables()))
        done, counts = [result for result, _ in each], sum(unseen for _, unseen in each)
    else:
        done, counts = fill(X)
    if takes_kinds(estimator):
        warn_unseen_categories(estimator.coding_, np.asarray(counts))
    return done


def _in_own_units(estimator: Any, X: Files, filled: Any) -> Any:
    """Fills of several adjusted tables, in the units of each table."""
    if X.studies is None:
        return filled
    rows, tables = rows_and_tables(estimator, X)
    if not tables.adjusted:
        return filled
    if isinstance(filled, list | tuple):
        return type(filled)(_in_own_units(estimator, X, one) for one in filled)
    moved = ((tables.factor != 1) | (tables.shift != 0)).any(axis=0)
    values = whole_table(rows)
    for place in np.flatnonzero(moved):
        name = rows.names[place]
        values[:, place] = np.asarray(filled.column(name), dtype=float)
    own = tables.undone(values)
    for place in np.flatnonzero(moved):
        name = rows.names[place]
        filled = filled.set_column(filled.column_names.index(name), name, [own[:, place]])
    return filled


def _filled_sequences(
    estimator: Any, given: Sequenced, return_std: bool, draws: Any, possible: bool
) -> Any:
    """Fills of sequences; key columns stay beside them."""
    source = InSequences(given)
    if source.table.several:
        raise ValueError(
            "Sequences may go on from one batch to the next, so that batches are not filled one by "
            "one. Join them to one table."
        )
    table = source.bare()
    if source.table.files is not None:
        whole = _in_memory(estimator, table)
        if given.keys:
            whole = _beside(whole, source.keys, given)
        given = replace(given, table=whole)
        table = InSequences(given).bare()
    done, counts = _fill(
        estimator, table, return_std=return_std, draws=draws, possible=possible, given=given
    )
    warn_unseen_categories(estimator.coding_, np.asarray(counts))
    if draws is not None:
        return [with_filled(given.table, one) for one in done]
    if return_std:
        return tuple(with_filled(given.table, one) for one in done)
    return with_filled(given.table, done)


def _beside(table: Any, keys: Keys, given: Sequenced) -> Any:
    """An Arrow table with key columns before the others."""
    named = zip(keys, (given.sequence, given.order), strict=True)
    first = {name: pa.array(values) for values, name in named if isinstance(name, str)}
    every = first | {name: table.column(name) for name in table.column_names}
    return pa.table(every)


def _fill(
    estimator: Any,
    X: Any,
    *,
    return_std: bool,
    draws: Any,
    possible: bool,
    given: Sequenced | None = None,
) -> tuple[Any, Array]:
    """The filled table, and the number of unseen categories by column."""
    X = arrow_batch_as_table(X)
    fitted, ordered = estimator.fitted, reorder_as_fitted(estimator, X)
    rows, (table, unseen) = _read(estimator, X)
    rows = rows if given is None else InSequences(given).arranged(rows)
    coding, allowed = _coding(estimator), _allowed(fitted, possible)

    def give(values: Array) -> Any:
        return reorder_like(X, fill_like(ordered, table, allowed(values), coding, unseen))

    counts: Array = unseen.sum(axis=0)
    if draws is not None:
        random = check_random_state(estimator.random_state)
        return [give(values) for values in _drawn(fitted, rows, int(draws), random)], counts
    mean, variance = _expected(fitted, rows)
    if not return_std:
        return give(mean), counts
    spread = np.where(np.isnan(table) & ~unseen, np.sqrt(variance), 0.0)
    return (give(mean), reorder_like(X, table_like(ordered, spread))), counts


def _read(estimator: Any, X: Any) -> tuple[Rows, CodedTable]:
    """The rows of a table in memory, and the table."""
    if not takes_kinds(estimator):
        rows, table = new_rows(estimator, X), read_new_table(estimator, X)
        return rows, CodedTable(table, np.zeros(table.shape, bool))
    made = encode_new_table(estimator, X)
    return checked_rows(estimator, made.values), made


def _coding(estimator: Any) -> Coding | None:
    return estimator.coding_ if takes_kinds(estimator) else None


def _allowed(fitted: Fitted[Any], possible: bool) -> Callable[[Array], Array]:
    return fitted.possible.nearest if possible else fitted.possible.within


def _check_draws(draws: Any, return_std: bool) -> None:
    wrong = isinstance(draws, bool) or not isinstance(draws, Integral) or draws < 1
    if draws is not None and (return_std or wrong):
        raise ValueError(
            "draws must be an int of at least 1, without return_std: how far apart the draws "
            f"are tells how sure they are. Got draws={draws!r}, return_std={return_std!r}."
        )


def _in_memory(estimator: Any, X: Files) -> Any:
    """What is in files, as an Arrow table if the model's columns have names."""
    rows, coding = new_rows(estimator, X), _coding(estimator)
    table = whole_table(rows)
    if coding is not None and (coding.worded | coding.left_out).any():
        return table_with_labels(X, coding, table)
    named = hasattr(estimator, "feature_names_in_")
    return arrow_table(rows.names, table) if named else table


def _expected(fitted: Fitted[Any], rows: Rows) -> tuple[Array, Array]:
    """Conditional means and variances of all cells; (n, d) each."""

    def both(block: Block) -> Array:
        return np.hstack(fitted.model.fills(block, fitted.parameters))

    part = rows.select(fitted.kept)
    mean, variance = np.hsplit(in_given_order(part, gathered(part, both)), 2)
    no_spread = np.where(np.isnan(fitted.constants), np.nan, 0.0)
    return (
        spread_out(mean, fitted.kept, fitted.constants),
        spread_out(variance, fitted.kept, no_spread),
    )


def _drawn(fitted: Fitted[Any], rows: Rows, number: int, random: Any) -> list[Array]:
    each = partial(gathered, rows.select(fitted.kept))
    tables = fitted.model.fill(each, fitted.parameters, number, random)
    given = (in_given_order(rows, table) for table in tables)
    return [spread_out(table, fitted.kept, fitted.constants) for table in given]


def spread_out(kept_values: Array, kept: Mask, others: Array) -> Array:
    """Values (n, d) from those of the kept features (n, kept) and constants (d,) for the others."""
    values = np.tile(others, (len(kept_values), 1))
    values[:, kept] = kept_values
    return values
