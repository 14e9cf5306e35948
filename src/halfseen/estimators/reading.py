"""Read a table to learn from, and set the estimator's attributes from it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.messages import setting
from halfseen.data.rows import Rows
from halfseen.federated.rounds import take_names as take_names_of_sums
from halfseen.federated.sums import Stream
from halfseen.io.coded_tables import read_new
from halfseen.io.coding import Coding, numeric_coding, takes_kinds
from halfseen.io.containers import as_frame
from halfseen.io.sequences import Sequenced
from halfseen.io.source import InSequences, open_table, source_of
from halfseen.io.sparse_matrix import ObservedBlocks, check_no_blocks, is_sparse_file, read_sparse
from halfseen.io.studies import KeptTables
from halfseen.io.table import Reading, Table
from halfseen.io.validation import (
    check_sample_weight,
    column_names,
    feature_names,
    read_more,
    read_new_table,
    read_table,
    reorder_as_fitted,
)
from halfseen.moments import symmetric_tensors
from halfseen.moments.moment_sums import MomentSums
from halfseen.moments.survey import Survey, check_sizes, survey


def opened(
    estimator: Any,
    X: Any,
    sample_weight: Any = None,
    observed: ObservedBlocks | None = None,
    vocabulary: Any = None,
) -> Table:
    """Open the table to learn from."""
    table = open_table(X, Reading.of(estimator), sample_weight, observed, vocabulary)
    take_names(estimator, len(table.rows.names), table.names)
    if table.named_by_words:  # so that tables without names are known to have these columns
        estimator._words_given = True
    if table.coding is not None:
        estimator.coding_ = table.coding
    estimator.tables_ = table.tables
    return table


def take_names(estimator: Any, n_features: int, names: tuple[str, ...] | None) -> None:
    """Set the feature names of an estimator from a table."""
    for name in ("feature_names_in_", "_words_given"):  # of an earlier fit
        vars(estimator).pop(name, None)
    estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def same_rows(
    estimator: Any, X: Any, sample_weight: Any = None, observed: ObservedBlocks | None = None
) -> Rows:
    """The rows of ``X``, whatever the estimator could be fitted to, with the fitted features."""
    return rows_and_tables(estimator, X, sample_weight, observed)[0]


def rows_and_tables(
    estimator: Any, X: Any, sample_weight: Any = None, observed: ObservedBlocks | None = None
) -> tuple[Rows, KeptTables]:
    """The same, and which tables the rows are of, if there are several."""
    check_is_fitted(estimator)
    coding = getattr(estimator, "coding_", None) or _numbers_by_name(estimator)
    ordered = _in_order(estimator, _numbered(estimator, as_in_fit(estimator, X)))
    table = open_table(ordered, Reading.of(estimator, coding), sample_weight, observed)
    fitted, given = feature_names(estimator), table.rows.names
    if len(given) != len(fitted) or (given != fitted and table.names is not None):
        raise ValueError(
            f"X has other columns than the model was learned from ({len(given)}, not "
            f"{len(fitted)}, or other names). Give the same X."
        )
    moved = table.rows.place is not None  # to where sequences have them
    return table.rows, (None if moved else table.tables) or KeptTables.none()


def as_in_fit(estimator: Any, X: Any) -> Any:
    """Several tables as the fit has made them comparable, with its columns in its order."""
    files = source_of(X).files
    studies = None if files is None else files.studies
    if studies is None:
        return X
    kept = getattr(estimator, "tables_", None) or KeptTables.none()
    names, done = getattr(estimator, "feature_names_in_", None), studies.preprocessing
    columns = studies.columns
    if names is not None and done is None:
        columns = [str(name) for name in names]
    return replace(studies, kept=kept, columns=columns, drop=())


def _numbers_by_name(estimator: Any) -> Coding | None:
    """The columns of a model of numbers, which files have by name, whatever few rows look like."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else numeric_coding(tuple(map(str, names)), {})


def _numbered(estimator: Any, X: Any) -> Any:
    """A sparse matrix in a file, without words for a model that knows columns by their numbers."""
    files = source_of(X).files
    named = hasattr(estimator, "feature_names_in_")
    if named or files is None or not is_sparse_file(files.single):
        return X
    return replace(files, vocabulary=()) if files.vocabulary is None else files


def _in_order(estimator: Any, X: Any) -> Any:
    if not isinstance(X, Sequenced):
        return reorder_as_fitted(estimator, X)
    return replace(X, table=_ordered_beside(estimator, X))


def _ordered_beside(estimator: Any, given: Sequenced) -> Any:
    """A table with its columns in the order of the fit, beside those that say what rows are of."""
    frame = None if source_of(given).out_of_memory else as_frame(given.table)
    if frame is None:
        return given.table
    bare = InSequences(replace(given, single=None)).bare()
    names = column_names(reorder_as_fitted(estimator, bare))
    return frame.select([*names, *given.keys]).to_native()


def new_rows(estimator: Any, X: Any, observed: ObservedBlocks | None = None) -> Rows:
    """The rows of ``X`` to say something of, with values that the model can have."""
    check_is_fitted(estimator)
    if isinstance(X, Sequenced):
        sequences = InSequences(X)
        return sequences.arranged(new_rows(estimator, sequences.bare()))
    source = source_of(X)
    if not source.in_memory:
        files = source.files
        rows = same_rows(estimator, X if files is None else replace(files, dask=False))
    elif source.sparse and get_tags(estimator).input_tags.sparse:
        rows = read_sparse(estimator, X, reset=False, observed=observed)
    else:
        check_no_blocks(observed)
        read = read_new if takes_kinds(estimator) else read_new_table
        return checked_rows(estimator, read(estimator, X))
    estimator._model().check(survey(rows, 1.0))
    return rows


def checked_rows(estimator: Any, table: np.ndarray[Any, Any]) -> MemoryRows:
    """The rows of a table (n, d) with values that the model can have."""
    rows = MemoryRows(table, feature_names(estimator))
    estimator._model().check(survey(rows, 1.0))
    return rows


MOST_BYTES = 2e9
"""Of the sums over triples of features that batches leave behind."""


def streams(estimator: Any) -> bool:
    """Whether the estimator can learn from rows that are seen only once."""
    if estimator.method == "partial":
        raise AttributeError(
            setting(method="partial")
            + " goes over rows again to recover incomplete features, and those of a stream are "
            "gone. Use " + setting(method="weighted") + "."
        )
    if estimator.moments == "adjusted":
        raise AttributeError(
            setting(moments="adjusted")
            + " goes over rows again, and those of a stream are gone. Use "
            + setting(moments="available")
            + "."
        )
    reason = estimator._model().abilities.not_streamed
    if reason:
        raise AttributeError(reason)
    return True


def with_batch(
    estimator: Any, X: Any, sample_weight: Any, check: Callable[[Survey], None]
) -> Stream:
    """The estimator's stream with the rows of another batch, or with another stream."""
    before: Stream | None = getattr(estimator, "stream_", None)
    if isinstance(X, Stream):
        if before is not None:
            return before + X
        take_names_of_sums(estimator, X)  # the features of the estimator are the stream's
        return X
    if before is None:
        table, names = read_table(X, type(estimator).__name__)
        take_names(estimator, table.shape[1], names)
    else:
        table = read_more(estimator, X)
    _check_size(table.shape[1])
    weights = check_sample_weight(type(estimator).__name__, sample_weight, len(table))
    rows = MemoryRows(table, feature_names(estimator), weights)
    seen = survey(rows, 1.0)
    check_sizes(seen, seen.sums.count > 0)  # a column may vary in later batches only
    check(seen)
    if before is None:
        mean = rows.accumulate(FeatureSums.of).mean
        before = Stream(rows.names, MomentSums.none(np.nan_to_num(mean)))
    return before + Stream(rows.names, rows.accumulate(MomentSums.about(before.sums.origin)))


def _check_size(n_features: int) -> None:
    size = 8.0 * symmetric_tensors.size(2 * n_features)
    if size > MOST_BYTES:
        raise DataError(
            f"partial_fit keeps sums over all triples of {n_features} features, {size / 1e9:.1f} "
            f"GB, more than {MOST_BYTES / 1e9:g}. Use fewer features, or give fit() batches that "
            "can be read again, such as files or a list of arrays."
        )
