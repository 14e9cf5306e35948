"""Learning from rows that come in batches and are seen only once."""

from collections.abc import Callable
from typing import Any

import numpy as np

from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.messages import setting
from halfseen.estimators.reading import take_names as keep_names
from halfseen.federated.rounds import take_names
from halfseen.federated.sums import Stream
from halfseen.io.validation import check_sample_weight, feature_names, read_more, read_table
from halfseen.moments import symmetric_tensors
from halfseen.moments.moment_sums import MomentSums
from halfseen.moments.survey import Survey, check_sizes, survey

MOST_BYTES = 2e9


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
        return _taken_up(estimator, X) if before is None else before + X
    if before is None:
        table, names = read_table(X, type(estimator).__name__)
        keep_names(estimator, table.shape[1], names)
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


def _taken_up(estimator: Any, stream: Stream) -> Stream:
    """A stream as the first that an estimator sees: its features are the stream's."""
    take_names(estimator, stream)
    return stream


def _check_size(n_features: int) -> None:
    size = 8.0 * symmetric_tensors.size(2 * n_features)
    if size > MOST_BYTES:
        raise DataError(
            f"partial_fit keeps sums over all triples of {n_features} features, {size / 1e9:.1f} "
            f"GB, more than {MOST_BYTES / 1e9:g}. Use fewer features, or give fit() batches that "
            "can be read again, such as files or a list of arrays."
        )
