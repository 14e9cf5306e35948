"""A column of text as counts of its words, by scikit-learn's CountVectorizer."""

import gzip
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from halfseen.data.arrays import Mask
from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.io.formats.csv_dialect import encoding_of

WORD = r"(?u)\b[^\W\d_]{2,}\b"
"""Two letters or more, of any alphabet, and no digits."""
LARGE_TABLE_ROWS, MIN_ROWS, MIN_ROWS_OF_LARGE = 500, 2, 5
"""A word is to be in two rows, or in five where there are so many."""
MAX_ROW_FRACTION = 0.5
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
        return self.min_rows or (MIN_ROWS if n_rows < LARGE_TABLE_ROWS else MIN_ROWS_OF_LARGE)

    def counted(self, texts: list[str | None], words: tuple[str, ...] | None) -> "WordCounts":
        """The words of texts: those that are asked for, or all that are in enough rows."""
        from sklearn.feature_extraction.text import CountVectorizer

        known = np.array([text is not None for text in texts], bool)
        given = ["" if text is None else text for text in texts]
        settings: dict[str, Any] = {"token_pattern": WORD, "dtype": np.float64}
        if self.stop_words == "english":
            settings["stop_words"] = "english"
        if words is not None:
            vectoriser = CountVectorizer(vocabulary=list(words), **settings)
            return WordCounts(csr_array(vectoriser.transform(given)), words, known)
        n_rows = int(known.sum())
        fewest, most = self.fewest(n_rows), int(MAX_ROW_FRACTION * n_rows)
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
        return WordCounts(csr_array(counts), tuple(vectoriser.get_feature_names_out()), known)

    def told(self, found: "WordCounts") -> str:
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
class WordCounts:
    """Counts of words in texts."""

    counts: Any  # (n, d), compressed rows
    words: tuple[str, ...]
    known: Mask  # (n,)  whether there is a text


def check_column(name: str, column: str, known: tuple[str, ...]) -> None:
    """Refuse a column of text that a file does not have."""
    if column not in known:
        raise DataError(
            f"{name} has no column '{column}' of text. It has {quoted(known, most=12)}."
        )


VOCABULARY_NAMES = ("vocab", "vocabulary", "terms", "words", "feature_names")
"""What vocabularies are called, in names of files and of arrays."""
MATRICES = (".mtx.gz", ".mtx", ".npz")
MAX_VOCABULARY_BYTES = 1 << 30
"""Of a file that lies beside a matrix: a larger one is no list of words."""
VocabularyInput = str | Path | Sequence[str] | None
"""A file of words, words, or nothing, which looks for them beside the matrix."""


class Vocabulary(NamedTuple):
    """Names of columns, and what is to be said of them."""

    words: tuple[str, ...] | None
    notes: tuple[str, ...] = ()


def vocabulary_of(matrix: Path, n_columns: int, given: VocabularyInput) -> Vocabulary:
    """What the columns of a matrix in a file are called: as given, or as is found beside it.

    No words at all (``()``) says that columns go by their numbers.
    """
    if given is None:
        return _found(matrix, n_columns)
    if isinstance(given, str | Path):
        words = check_vocabulary(read_words(Path(given)), n_columns, Path(given).name)
        return Vocabulary(words, (_told(n_columns, Path(given).name),))
    return Vocabulary(check_vocabulary(given, n_columns) if len(given) else None)


def check_vocabulary(words: Any, n_columns: int, name: str = "vocabulary") -> tuple[str, ...]:
    """Words as names of so many columns; refused if they cannot be.

    They may also be what scikit-learn's ``CountVectorizer`` keeps: each with its column.

    >>> check_vocabulary({"night": 1, "day": 0}, 2)
    ('day', 'night')
    """
    if isinstance(words, Mapping):
        words = sorted(words, key=lambda word: words[word])
    named = tuple(map(str, words))
    if len(named) != n_columns:
        raise DataError(
            f"{name} has {len(named):,} words, and the table has {n_columns:,} columns. Give one "
            "word a column, in the order of the columns."
        )
    fault = _fault(named)
    if fault:
        raise DataError(f"{name} {fault}. Give each column a word of its own.")
    return named


def read_words(file: Path) -> list[str]:
    """The words of a file, one a line; spaces about them, and lines after the last, are left."""
    opener: Any = gzip.open if file.suffix == ".gz" else open
    try:
        encoding = encoding_of(file, opener)
        with opener(file, "rt", encoding=encoding) as stream:
            lines = [line.strip() for line in stream]
    except (OSError, EOFError, UnicodeError) as error:
        raise DataError(
            f"{file} cannot be read as a vocabulary: {error}. Give a text file of one word a line."
        ) from error
    while lines and not lines[-1]:
        lines.pop()
    return [line.lstrip("\ufeff") for line in lines]


def vocabulary_candidates(matrix: Path) -> list[Path]:
    """Files that may hold the words of a matrix, the likeliest first.

    For ``ap.mtx.gz`` these are ``ap.vocab``, ``ap_vocab.txt``, ``ap-vocabulary.txt``,
    ``ap_terms.txt``, ``ap.words`` and the like and, without the name of the matrix, ``vocab.txt``,
    ``vocabulary.txt``, ``terms.txt``, ``words.txt`` and ``feature_names.txt``.
    """
    ending = next((end for end in MATRICES if matrix.name.endswith(end)), matrix.suffix)
    stem = matrix.name[: len(matrix.name) - len(ending)]
    own = [f"{stem}{sep}{word}" for word in VOCABULARY_NAMES for sep in "._-"]
    names = [f"{name}{end}" for name in own for end in ("", ".txt")]
    names += [f"{word}.txt" for word in VOCABULARY_NAMES] + [f"vocab.{stem}.txt"]
    return [matrix.with_name(name) for name in names]


def _found(matrix: Path, n_columns: int) -> Vocabulary:
    within = _array_within(matrix) if matrix.suffix == ".npz" else None
    if within is not None and len(within[1]) == n_columns:
        return _taken(within[1], f"the array '{within[0]}' in it", n_columns)
    for file in vocabulary_candidates(matrix):
        if not file.is_file() or file.stat().st_size > MAX_VOCABULARY_BYTES:
            continue
        try:
            words = read_words(file)
        except DataError:
            continue
        if len(words) == n_columns:
            return _taken(words, f"{file.name}, beside it", n_columns)
    return Vocabulary(None)


def _taken(words: list[str], where: str, n_columns: int) -> Vocabulary:
    fault = _fault(words)
    if fault:
        return Vocabulary(None, (f"Columns are not named by {where}: it {fault}.",))
    return Vocabulary(tuple(words), (_told(n_columns, where),))


def _told(n_columns: int, where: str) -> str:
    return f"Its {n_columns:,} columns are named by {where}."


def _fault(words: Sequence[str]) -> str:
    first: dict[str, int] = {}
    for number, word in enumerate(words, 1):
        if not word.strip():
            return f"has no word at place {number:,}"
        if word in first:
            return f"has '{word}' twice, at places {first[word]:,} and {number:,}"
        first[word] = number
    return ""


def _array_within(matrix: Path) -> tuple[str, list[str]] | None:
    """The first array of words in an archive, among the usual names of vocabularies."""
    try:
        with zipfile.ZipFile(matrix) as archive:
            for name in VOCABULARY_NAMES:
                if f"{name}.npy" in archive.namelist():
                    array = np.lib.format.read_array(
                        io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False
                    )
                    if array.ndim == 1 and array.dtype.kind in "US":
                        return name, [_text(word) for word in array.tolist()]
    # Damaged bytes raise whatever they do, and whoever reads the matrix says where they are.
    except Exception:
        return None
    return None


def _text(word: Any) -> str:
    text = word.decode("utf-8", "replace") if isinstance(word, bytes) else str(word)
    return text.strip()
