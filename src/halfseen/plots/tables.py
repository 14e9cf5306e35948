"""Tables and features as plots need them."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from halfseen.rows.arrays import Array
from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted
from halfseen.tables.arrays_and_frames import not_numbers
from halfseen.tables.columns import column_names as named


def as_numbers(X: Any) -> Array:
    """An array or a data frame as floats (n, d), NaN in the gaps."""
    try:
        table: Array = check_array(X, dtype=np.float64, ensure_all_finite=False)
    except (TypeError, ValueError) as error:
        names = not_numbers(X)
        if not names:
            raise
        raise DataError(
            f"{quoted(names, range(len(names)))} cannot be drawn as numbers. Leave out columns of "
            "text and dates, or code them as numbers."
        ) from error
    return table


def column_names(X: Any, n_features: int) -> list[str]:
    """The names of the columns, or their numbers where they have none."""
    return [str(name) for name in named(X) or range(n_features)]
