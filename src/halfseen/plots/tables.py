"""Tables as plots need them: through the door that ``fit`` takes."""

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from halfseen.data.arrays import Mask
from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.data.rows import Rows, gathered
from halfseen.io.open_table import open_rows
from halfseen.io.validation import non_numeric_names


class AnyTable(BaseEstimator):  # type: ignore[misc]
    """Asks nothing of a table, and hears what its columns are called."""

    n_jobs, verbose = None, 0

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


def opened(X: Any) -> Rows:
    """The rows of anything that ``fit`` takes."""
    try:
        rows, _ = open_rows(AnyTable(), X, None)
    except (TypeError, ValueError) as error:
        names = non_numeric_names(X)
        if not names:
            raise
        raise DataError(
            f"{quoted(names, range(len(names)))} cannot be drawn as numbers. Leave out columns of "
            "text and dates, or code them as numbers."
        ) from error
    return rows


def observed_cells(rows: Rows) -> Mask:
    """Which cells hold something; (n, d)."""
    observed: Mask = gathered(rows, lambda block: block.observed)
    return observed
