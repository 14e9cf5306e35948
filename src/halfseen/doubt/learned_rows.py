"""The rows of a table for an estimator that is fitted already."""

from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from halfseen.moments.survey import Survey, survey
from halfseen.rows.rows import Rows
from halfseen.tables.arrays_and_frames import feature_names
from halfseen.tables.columns import in_fitted_order
from halfseen.tables.door import open_rows
from halfseen.tables.observed_blocks import ObservedBlocks


def open_again(
    estimator: Any, X: Any, sample_weight: Any = None, observed: ObservedBlocks | None = None
) -> tuple[Rows, Survey]:
    """The rows of ``X``, whatever the estimator could be fitted to, and a look at its features."""
    check_is_fitted(estimator)
    reader = clone(estimator)  # reading a table sets names, and the estimator has its own
    rows, _ = open_rows(reader, in_fitted_order(estimator, X), sample_weight, observed)
    fitted, given = feature_names(estimator), feature_names(reader)
    unnamed = not hasattr(reader, "feature_names_in_")
    if len(given) != len(fitted) or (given != fitted and not unnamed):
        raise ValueError(
            f"X has other columns than the model was learned from ({len(given)}, not "
            f"{len(fitted)}, or other names). Give the same X."
        )
    return rows, survey(rows, estimator.complete_above)
