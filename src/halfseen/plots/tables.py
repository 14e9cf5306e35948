"""Tables as plots need them: through the door that ``fit`` takes."""

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from halfseen.rows.arrays import Mask
from halfseen.rows.errors import DataError
from halfseen.rows.gathered import gathered
from halfseen.rows.naming import quoted
from halfseen.rows.rows import Rows
from halfseen.tables.arrays_and_frames import not_numbers
from halfseen.tables.door import open_rows


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
        names = not_numbers(X)
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
