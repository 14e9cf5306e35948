"""What stands for a gap in a file: one set of words, whichever way the file is read."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.data.messages import parameter

STANDARD_CODES = (
    *("", "NA", "na", "N/A", "n/a", "NULL", "null", "None", "<NA>", "NaN", "nan", "NAN"),
    *("#N/A", "#N/A N/A", "#NA", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    *("?", "."),  # as UCI's tables, SAS and Stata write gaps
)
REPORTED_CODES = ("?", ".")
"""Usual words that not everybody knows, so that they are told of where they stand for gaps."""

NONE = "None"
"""What Python writes for a gap, and people for there being none: a column tells which."""
COUNTED_CODES = (*REPORTED_CODES, NONE)
"""Words for gaps that are told apart from empty cells."""

LIKELY_CODES = frozenset(
    (
        *("-", "--", "---", "*", "**", "..", "...", "…", "unknown", "unk", "missing", "blank"),
        *("not available", "not known", "not done", "not recorded", "not measured", "pending"),
        *("n.a.", "n.a", "n.d.", "nd", "nk", "nr", "undefined", "tbd"),
        *("(null)", "(blank)", "(missing)", "\\n", "nat", "na."),
        *("#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"),  # of spreadsheets
    )
)
"""Words, in small letters, that stand for a gap where all else in a column is numbers."""


@dataclass(frozen=True)
class MissingCodes:
    """Words and numbers that stand for missing values.

    Some stand for a gap in one column only, such as ``0`` in that of insulin. Beside them stands
    what else is said of how the cells that are none are written.
    """

    missing_values: tuple[str, ...] = ()
    by_column: tuple[tuple[str, str], ...] = ()  # name of the column, and the cell
    decimal: str | None = None  # what stands before decimals; None: it is found out
    dates: bool = False  # whether dates are numbers, so that it matters how they are written
    with_none: tuple[str, ...] = ()  # columns in which None is a word like others
    none: bool = False  # whether it is one here

    def of(self, column: str) -> "MissingCodes":
        """The codes of one column.

        >>> MissingCodes(("-999",), (("insulin", "0"),)).of("insulin").missing_values
        ('-999', '0')
        """
        own = tuple(cell for name, cell in self.by_column if name == column.strip())
        return replace(
            self,
            missing_values=(*self.missing_values, *own),
            by_column=(),
            none=column.strip() in self.with_none,
        )

    @property
    def words(self) -> tuple[str, ...]:
        """Cells of text that are gaps."""
        usual = (word for word in STANDARD_CODES if not (self.none and word == NONE))
        return (*usual, *self.missing_values)

    @property
    def codes(self) -> list[float]:
        """Numbers that are gaps, however they are written.

        >>> MissingCodes(("unknown", "-999")).codes
        [-999.0]
        """
        return [number for text in self.missing_values if (number := _number(text)) is not None]

    def opened(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The values with NaN in place of codes; copied only if there are any."""
        codes = self.codes
        return np.where(np.isin(values, codes), np.nan, values) if codes else values


def column_of(given: str) -> str | None:
    """The column of a code for missing values; None if it applies to all.

    >>> column_of("insulin:0"), column_of("-999"), column_of("24:00")
    ('insulin', None, None)
    """
    column, mark, cell = given.rpartition(":")
    own = mark and column.strip() and cell.strip() and _number(column.split(":")[0]) is None
    return column.strip() if own else None


def missing_codes_among(given: Sequence[str], names: Collection[str]) -> MissingCodes:
    """The codes for missing values in a table with these columns.

    >>> found = missing_codes_among(["-999", "insulin:0", "24:00"], ["insulin", "glucose"])
    >>> found.missing_values, found.by_column
    (('-999', '24:00'), (('insulin', '0'),))
    """
    known, everywhere, own = set(names), [], []
    for text in given:
        column, mark, cell = text.rpartition(":")
        if mark and column.strip() in known:
            own.append((column.strip(), cell.strip()))
        elif mark and column.strip() and cell.strip() and _number(column.split(":")[0]) is None:
            raise DataError(
                parameter("missing_values")
                + f" names '{column}', which the table does not have. It has "
                f"{quoted(list(names), most=12)}."
            )
        else:
            everywhere.append(text)
    return MissingCodes(tuple(everywhere), tuple(own))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
