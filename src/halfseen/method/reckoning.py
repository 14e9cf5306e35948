"""A failure of arithmetic is the table's fault, and is told with the column that stands out."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.errors import UnreckonableError


@contextmanager
def reckoning(seen: Survey) -> Iterator[None]:
    """Tell of a failure of arithmetic in a fit as of the data."""
    try:
        yield
    except (np.linalg.LinAlgError, ArithmeticError) as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        low, high = seen.sums.minimum, seen.sums.maximum
        worst = strangest(low, high)
        raise UnreckonableError(
            f"The numbers of the table cannot be reckoned with ({reason}). Of its columns "
            f"'{seen.names[worst]}' stands out, with values from {low[worst]:g} to "
            f"{high[worst]:g}. Write it in a unit in which its values are neither huge nor tiny, "
            "or leave it out.",
            [seen.names[worst]],
        ) from error


def strangest(low: Array, high: Array) -> int:
    """The column whose values are the hugest or the tiniest, in orders of magnitude; or the first.

    >>> strangest(np.array([0.0, -1e9, 1.0]), np.array([1.0, 1e200, 1.0 + 1e-12]))
    1
    """
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(low), np.abs(high))
        size, width = (np.abs(np.log10(np.maximum(x, 5e-324))) for x in (size, high - low))
    return int(np.argmax(np.where(np.isfinite(size + width), np.maximum(size, width), 0.0)))
