"""Any cell as the word that a file would have for it, and the codes of words."""

import re
from collections.abc import Callable
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from halfseen.io.cells.cardinality import MAX_EXACT_INTEGER

UNSEEN_CODE = -1.0
"""The code of a word that is none of the labels."""
BOOLEAN_LABELS = ("False", "True")
_TRUTH_OF = {word: word.lower().capitalize() for word in ("true", "TRUE", "false", "FALSE")}
_TRUTH_OF |= {"0": "False", "1": "True"}
NO_VALUES = ("NAType", "NaTType")  # of pandas, which is not loaded to find out


def text_of(cell: Any, gap_words: frozenset[str]) -> str | None:
    """A cell as the word that a file would have for it; None if it is a gap.

    >>> [text_of(cell, frozenset({"NA"})) for cell in (" red", True, 2.0, 0.5, "NA", None)]
    ['red', 'True', '2', '0.5', None, None]
    """
    if isinstance(cell, str):
        word = cell.strip()
        return None if word in gap_words else word
    if is_missing(cell):
        return None
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell))
    if isinstance(cell, Integral):
        return str(int(cell))
    if isinstance(cell, Real | Decimal):
        number = float(cell)
        whole = abs(number) < MAX_EXACT_INTEGER and number == int(number)
        return str(int(number)) if whole else repr(number)
    return str(cell)


def is_missing(cell: Any) -> bool:
    """Whether a cell says itself that it holds nothing."""
    if cell is None or type(cell).__name__ in NO_VALUES:
        return True
    return isinstance(cell, float | np.floating) and bool(cell != cell)


def label_encoder(labels: tuple[str, ...]) -> Callable[[str], float]:
    """What gives the code of a word: the place of its label, or that of what is unseen.

    >>> code = label_encoder(("False", "True"))
    >>> code("TRUE"), code("0"), code("maybe")
    (1.0, 0.0, -1.0)
    """
    codes = {label: float(code) for code, label in enumerate(labels)}
    if labels == BOOLEAN_LABELS:
        codes |= {word: codes[truth] for word, truth in _TRUTH_OF.items()}
    return lambda word: codes.get(word, UNSEEN_CODE)


def boolean_label(word: str) -> str:
    """The word for false or true that a word stands for; itself if it stands for neither.

    >>> boolean_label("TRUE"), boolean_label("0"), boolean_label("maybe")
    ('True', 'False', 'maybe')
    """
    return _TRUTH_OF.get(word, word)


def sorted_labels(words: frozenset[str]) -> tuple[str, ...]:
    """Words as people sort them: by the number that they begin with, then the others by letter.

    >>> sorted_labels(frozenset({"10 Most", "2 Quite well", "1 Not at all"}))
    ('1 Not at all', '2 Quite well', '10 Most')
    >>> sorted_labels(frozenset({"b", "C", "a"}))
    ('C', 'a', 'b')
    """
    return tuple(sorted(words, key=_rank))


_LEADING = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)


def _rank(word: str) -> tuple[bool, float, str]:
    begins = _LEADING.match(word)
    return begins is None, float(begins.group()) if begins else 0.0, word
