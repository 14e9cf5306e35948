"""What stands for a gap in a file: one set of words, whichever way the file is read."""

from dataclasses import dataclass
from typing import Any

import numpy as np

USUAL_WORDS = (
    *("", "NA", "na", "N/A", "n/a", "NULL", "null", "None", "<NA>", "NaN", "nan", "NAN"),
    *("#N/A", "#N/A N/A", "#NA", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    *("?", "."),  # as UCI's tables, SAS and Stata write gaps
)

SUSPECTED_WORDS = frozenset(
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
class Gaps:
    """The usual words, and what the user says stands for a gap, such as ``unknown`` or ``-999``."""

    missing_values: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Cells of text that are gaps."""
        return (*USUAL_WORDS, *self.missing_values)

    @property
    def codes(self) -> list[float]:
        """Numbers that are gaps, however they are written.

        >>> Gaps(("unknown", "-999")).codes
        [-999.0]
        """
        return [number for text in self.missing_values if (number := _number(text)) is not None]

    def opened(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The values with NaN in place of codes; a copy only if there are any."""
        codes = self.codes
        return np.where(np.isin(values, codes), np.nan, values) if codes else values


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
