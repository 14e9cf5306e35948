"""A column of text as counts of its words, by scikit-learn's CountVectorizer."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from halfseen.rows.arrays import Mask
from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted

WORD = r"(?u)\b[^\W\d_]{2,}\b"
"""Two letters or more, of any alphabet, and no digits."""
MANY_ROWS, FEWEST, FEWEST_OF_MANY = 500, 2, 5
"""A word is to be in two rows, or in five where there are so many."""
COMMON = 0.5
STOP_WORDS = ("english", "none")


@dataclass(frozen=True)
class Text:
    """How a column of text becomes counts of words: one column of the table a word.

    A model that was fitted to text keeps this as ``text_``, in its file too, so that new files are
    read in the same way, by the same words.

    Attributes
    ----------
    column : str
        The column that holds text, a row a text. A row without text is missing.
    stop_words : {"english", "none"}, default="english"
        Leave out scikit-learn's list of common English words, or nothing.
    min_rows : int, default=0
        A word is in at least so many rows; 0 asks for 5, and for 2 if there are fewer than 500
        rows. Words in more than half of the rows are left out too.
    """

    column: str
    stop_words: str = "english"
    min_rows: int = 0

    def __post_init__(self) -> None:
        if self.stop_words not in STOP_WORDS:
            raise ValueError(
                f"stop_words must be one of {', '.join(STOP_WORDS)}. Got {self.stop_words!r} "
                "instead."
            )
        if self.min_rows < 0:
            raise ValueError(f"min_rows must be at least 0. Got {self.min_rows!r} instead.")

    def fewest(self, n_rows: int) -> int:
        """Rows that a word must be in."""
        return self.min_rows or (FEWEST if n_rows < MANY_ROWS else FEWEST_OF_MANY)

    def counted(self, texts: list[str | None], words: tuple[str, ...] | None) -> "Counted":
        """The words of texts: those that are asked for, or all that are in enough rows."""
        from sklearn.feature_extraction.text import CountVectorizer

        known = np.array([text is not None for text in texts], bool)
        given = ["" if text is None else text for text in texts]
        settings: dict[str, Any] = {"token_pattern": WORD, "dtype": np.float64}
        if self.stop_words == "english":
            settings["stop_words"] = "english"
        if words is not None:
            vectoriser = CountVectorizer(vocabulary=list(words), **settings)
            return Counted(csr_array(vectoriser.transform(given)), words, known)
        n_rows = int(known.sum())
        fewest, most = self.fewest(n_rows), int(COMMON * n_rows)
        if most < fewest:
            raise DataError(
                f"'{self.column}' holds text in {n_rows} rows, and words are to be in {fewest} at "
                "least and in half of them at most. Give more rows."
            )
        vectoriser = CountVectorizer(min_df=fewest, max_df=most, **settings)
        try:
            counts = vectoriser.fit_transform(given)
        except ValueError as error:
            raise DataError(
                f"'{self.column}' holds no words that are in {fewest} rows or more, and in half of "
                "them at most. Check that it is the column of text, or ask for fewer rows a word."
            ) from error
        return Counted(csr_array(counts), tuple(vectoriser.get_feature_names_out()), known)

    def told(self, found: "Counted") -> str:
        """What was done, in a sentence."""
        n_rows = int(found.known.sum())
        without = "English stop words, " if self.stop_words == "english" else ""
        gaps = len(found.known) - n_rows
        missing = f" {gaps:,} rows without text are missing." if gaps else ""
        return (
            f"'{self.column}' was counted by words: {len(found.words):,} in {n_rows:,} texts, "
            f"without {without}words in fewer than {self.fewest(n_rows)} of them, and words in "
            f"more than half.{missing}"
        )


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts of words in texts."""

    counts: Any  # (n, d), compressed rows
    words: tuple[str, ...]
    known: Mask  # (n,)  whether there is a text


def check_column(name: str, column: str, known: tuple[str, ...]) -> None:
    """Refuse a column of text that a file does not have."""
    if column not in known:
        raise DataError(
            f"{name} has no column '{column}' of text. It has "
            f"{quoted(known, range(len(known)), most=12)}."
        )
