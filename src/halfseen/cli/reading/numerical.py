"""Numbers that cannot be reckoned with are the table's fault, and a column is to blame."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from halfseen.cli.options import as_option
from halfseen.data.arrays import Array
from halfseen.data.errors import DataError, UnreckonableError
from halfseen.data.formatting import quoted
from halfseen.moments.survey import strangest


class Ends(NamedTuple):
    """Columns, and their lowest and highest values."""

    names: Sequence[str]
    low: Array  # (d,)
    high: Array  # (d,)


@contextmanager
def reckoning(file: str, seen: Callable[[], Ends]) -> Iterator[None]:
    """A failure of arithmetic is told with the file, the column that stands out, and a remedy."""
    try:
        yield
    except UnreckonableError as error:
        gaps = "--missing-values and the number as it is written there, or " if error.filled else ""
        raise DataError(
            f"{file}: {error} On the command line use {gaps}--drop {as_option(error.columns)}."
        ) from error
    except (np.linalg.LinAlgError, ArithmeticError) as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        names, low, high = seen()
        worst = strangest(low, high)
        raise DataError(
            f"The numbers of {file} cannot be reckoned with ({reason}). Of its columns "
            f"{quoted(names, [worst])} stands out, with values from {low[worst]:g} to "
            f"{high[worst]:g}. Write it in a unit in which its values are neither huge nor tiny, "
            f"put it on a log scale with --log, or use --drop {as_option([names[worst]])}."
        ) from error
