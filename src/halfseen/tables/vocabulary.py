"""What the columns of a table of counts are called: words in a file of their own, or beside it.

A sparse matrix in a file has no room for names, so they lie elsewhere: in a text file of one word a
line, or as an array in the same ``.npz``. What lies beside a matrix is taken for its vocabulary by
its name (:func:`beside`) and only if it has as many lines as the matrix has columns.
"""

import gzip
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halfseen.rows.errors import DataError
from halfseen.tables.formats.encoding import encoding_of

WORDS = ("vocab", "vocabulary", "terms", "words", "feature_names")
"""What vocabularies are called, in names of files and of arrays."""
MATRICES = (".mtx.gz", ".mtx", ".npz")
MOST_BYTES = 1 << 30
"""Of a file that lies beside a matrix: a larger one is no list of words."""
Given = str | Path | Sequence[str] | None
"""A file of words, words, or nothing, which looks for them beside the matrix."""


class Vocabulary(NamedTuple):
    """Names of columns, and what is to be said of them."""

    words: tuple[str, ...] | None
    notes: tuple[str, ...] = ()


def vocabulary_of(matrix: Path, n_columns: int, given: Given) -> Vocabulary:
    """What the columns of a matrix in a file are called: as given, or as is found beside it.

    No words at all (``()``) says that columns go by their numbers.
    """
    if given is None:
        return _found(matrix, n_columns)
    if isinstance(given, str | Path):
        words = checked(lines_of(Path(given)), n_columns, Path(given).name)
        return Vocabulary(words, (_told(n_columns, Path(given).name),))
    return Vocabulary(checked(given, n_columns) if len(given) else None)


def checked(words: Any, n_columns: int, name: str = "vocabulary") -> tuple[str, ...]:
    """Words as names of so many columns; refused if they cannot be.

    They may also be what scikit-learn's ``CountVectorizer`` keeps: each with its column.

    >>> checked({"night": 1, "day": 0}, 2)
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


def lines_of(file: Path) -> list[str]:
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


def beside(matrix: Path) -> list[Path]:
    """Files that may hold the words of a matrix, the likeliest first.

    For ``ap.mtx.gz`` these are ``ap.vocab``, ``ap_vocab.txt``, ``ap-vocabulary.txt``,
    ``ap_terms.txt``, ``ap.words`` and the like and, without the name of the matrix, ``vocab.txt``,
    ``vocabulary.txt``, ``terms.txt``, ``words.txt`` and ``feature_names.txt``.
    """
    ending = next((end for end in MATRICES if matrix.name.endswith(end)), matrix.suffix)
    stem = matrix.name[: len(matrix.name) - len(ending)]
    own = [f"{stem}{sep}{word}" for word in WORDS for sep in "._-"]
    names = [f"{name}{end}" for name in own for end in ("", ".txt")]
    names += [f"{word}.txt" for word in WORDS] + [f"vocab.{stem}.txt"]
    return [matrix.with_name(name) for name in names]


def _found(matrix: Path, n_columns: int) -> Vocabulary:
    """The first that has as many words as there are columns."""
    within = _array_within(matrix) if matrix.suffix == ".npz" else None
    if within is not None and len(within[1]) == n_columns:
        return _taken(within[1], f"the array '{within[0]}' in it", n_columns)
    for file in beside(matrix):
        if not file.is_file() or file.stat().st_size > MOST_BYTES:
            continue
        try:
            words = lines_of(file)
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
    """Why words cannot name columns; empty if they can."""
    first: dict[str, int] = {}
    for number, word in enumerate(words, 1):
        if not word.strip():
            return f"has no word at place {number:,}"
        if word in first:
            return f"has '{word}' twice, at places {first[word]:,} and {number:,}"
        first[word] = number
    return ""


def _array_within(matrix: Path) -> tuple[str, list[str]] | None:
    """The first array of words in an archive, by the names that such have."""
    try:
        with zipfile.ZipFile(matrix) as archive:
            for name in WORDS:
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
