"""Tables as plots need them: through the door that ``fit`` takes."""

from typing import Any

from halfseen.data.arrays import Mask
from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.data.rows import Rows, gathered
from halfseen.io.source import open_table
from halfseen.io.table import Reading
from halfseen.io.validation import non_numeric_names


def opened(X: Any) -> Rows:
    """The rows of anything that ``fit`` takes."""
    try:
        return open_table(X, Reading(takes_sparse=True)).rows
    except (TypeError, ValueError) as error:
        names = non_numeric_names(X)
        if not names:
            raise
        raise DataError(
            f"{quoted(names)} cannot be drawn as numbers. Leave out columns of "
            "text and dates, or code them as numbers."
        ) from error


def observed_cells(rows: Rows) -> Mask:
    """Which cells hold something; (n, d)."""
    observed: Mask = gathered(rows, lambda block: block.observed)
    return observed
