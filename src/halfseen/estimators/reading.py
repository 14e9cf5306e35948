"""Tables to learn from: the estimator takes their names, and how words became numbers."""

from typing import Any

import numpy as np

from halfseen.io.source import open_table
from halfseen.io.sparse_matrix import ObservedBlocks
from halfseen.io.table import Reading, Table


def opened(
    estimator: Any,
    X: Any,
    sample_weight: Any = None,
    observed: ObservedBlocks | None = None,
    vocabulary: Any = None,
) -> Table:
    """The table to learn from, wherever it is."""
    table = open_table(X, Reading.of(estimator), sample_weight, observed, vocabulary)
    take_names(estimator, len(table.rows.names), table.names)
    if table.named_by_words:  # so that tables without names are known to have these columns
        estimator._words_given = True
    if table.coding is not None:
        estimator.coding_ = table.coding
    estimator.tables_ = table.tables
    return table


def take_names(estimator: Any, n_features: int, names: tuple[str, ...] | None) -> None:
    """The features of an estimator are those of a table."""
    for name in ("feature_names_in_", "_words_given"):  # of an earlier fit
        vars(estimator).pop(name, None)
    estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
