"""Cells of a table in memory as words, whichever objects they are, and the codes of words."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from decimal import Decimal
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from halfseen.data.arrays import Array
from halfseen.io.cells.cardinality import MAX_EXACT_INTEGER, DistinctCount, RowNumbering
from halfseen.io.cells.cell_sums import MAX_EXAMPLES, WITH_NUMBERS, CellSums, labels_if_few
from halfseen.io.cells.missing_values import COUNTED_CODES, LIKELY_CODES, MissingCodes
from halfseen.io.cells.number_formats import (
    ANSWERS,
    BELOW,
    DATES,
    EUROPEAN,
    PLAIN,
    SEPARATORS,
    TRUE,
    TRUTH_WORDS,
    TRUTHS,
    WITH_DECIMAL_COMMAS,
    WITH_THOUSANDS,
    NumberFormat,
    strip_symbols,
    symbols_in,
)

UNSEEN_CODE = -1.0
"""The code of a word that is none of the labels."""
BOOLEAN_LABELS = ("False", "True")
_TRUTH_OF = {word: word.lower().capitalize() for word in ("true", "TRUE", "false", "FALSE")}
_TRUTH_OF |= {"0": "False", "1": "True"}
_NO_VALUES = ("NAType", "NaTType")  # of pandas, which is not loaded to find out
_POSSIBLE_FIRST_CHARACTERS = frozenset("+-.,0123456789iItTfFyYnNjJmMaAsSoOdD$€£¥₹UEGC(<>≤≥−–‒")
"""With which a word begins that can be a number, however dressed, a truth or a date."""


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
    if cell is None or type(cell).__name__ in _NO_VALUES:
        return True
    return isinstance(cell, float | np.floating) and bool(cell != cell)


def _other(kind: type) -> str | None:
    """What a cell of a type is, if it is neither text nor a number nor a truth."""
    if issubclass(kind, str | bool | np.bool_ | Real | Decimal | type(None)):
        return None
    if kind.__name__ in _NO_VALUES:
        return None
    if issubclass(kind, date | time | timedelta | np.datetime64 | np.timedelta64):
        return "dates or times"
    return f"values of type {kind.__name__}"


def _truths_among_numbers(cells: Sequence[Any], kinds: set[type]) -> bool:
    """Whether truths are numbers: others than 0 and 1 are beside them, and no text.

    So has NumPy them, where the same cells are a list.
    """
    if not kinds & {bool, np.bool_} or any(issubclass(kind, str) for kind in kinds):
        return False
    return any(
        isinstance(c, Real | Decimal) and not is_missing(c) and float(c) not in (0.0, 1.0)
        for c in cells
    )


class _CodeLookup(dict[Any, int]):
    """Which of the different words a cell holds; new ones are taken up when they are first met."""

    def __init__(self, gaps: MissingCodes):
        self.words: dict[str, int] = {}
        self.marked: dict[str, int] = {}
        self.gap_words = frozenset(gaps.words)

    def __missing__(self, cell: Any) -> int:
        word = text_of(cell, self.gap_words)
        if word is None:  # and no key: every NaN would be a new one
            if isinstance(cell, str) and cell.strip() in COUNTED_CODES:
                self.marked[cell.strip()] = self.marked.get(cell.strip(), 0) + 1
            return -1
        place = self[cell] = self.words.setdefault(word, len(self.words))
        return place


@dataclass(frozen=True, eq=False)
class FactorizedColumn:
    """The different words of a column, in the order in which they come, and where each is."""

    words: tuple[str, ...]
    places: np.ndarray[Any, Any]  # (n,)  number of a cell's word, -1 in the gaps
    other: str | None = None  # what some cells are, if neither text nor numbers nor truths
    long: int = 0  # cells that are whole numbers of more digits than floats have
    marked: Mapping[str, int] = field(default_factory=dict)  # words for gaps that are counted

    @classmethod
    def of(cls, cells: Sequence[Any], gaps: MissingCodes) -> Self:
        """The words of cells."""
        kinds, known = set(map(type, cells)), _CodeLookup(gaps)
        if _truths_among_numbers(cells, kinds):
            cells = [int(c) if isinstance(c, bool | np.bool_) else c for c in cells]
            kinds -= {bool, np.bool_}
        others = sorted(found for kind in kinds if (found := _other(kind)) is not None)
        long = _n_long(cells) if int in kinds else 0
        if others or bool in kinds or np.bool_ in kinds:
            # Truths equal 0 and 1, and are other words; of others nobody knows what they equal.
            cells = [text_of(cell, known.gap_words) for cell in cells]
        places = np.fromiter((known[cell] for cell in cells), np.int64, len(cells))
        return cls(tuple(known.words), places, others[0] if others else None, long, known.marked)

    @property
    def counts(self) -> np.ndarray[Any, Any]:
        """How often each word is there."""
        return np.bincount(self.places[self.places >= 0], minlength=len(self.words))

    def mapped(self, value: Callable[[str], float]) -> Array:
        """A number for each cell by its word, NaN in the gaps."""
        values: Array = np.array([*map(value, self.words), np.nan])[self.places]
        return values

    def floats(self, writing: NumberFormat) -> Array:
        """The numbers that the words are written for."""
        if writing in TRUE:
            true = re.compile(TRUE[writing]).match
            return self.mapped(lambda word: float(true(word) is not None))
        return self.mapped(partial(_value, *SEPARATORS[writing]))

    @property
    def sums(self) -> CellSums:
        """How the cells look."""
        counts, known = self.counts, int((self.places >= 0).sum())
        candidates = [
            i for i, word in enumerate(self.words) if word[:1] in _POSSIBLE_FIRST_CHARACTERS
        ]
        numbers = {i: strip_symbols(self.words[i]) for i in candidates}
        suspects = {
            word: int(counts[i])
            for i, word in enumerate(self.words)
            if word.lower() in LIKELY_CODES
        }

        def fitting(pattern: str) -> int:
            fits = re.compile(pattern, re.ASCII).match
            return int(sum(counts[i] for i in candidates if fits(self.words[i])))

        def reading(pattern: str) -> int:
            fits = re.compile(pattern, re.ASCII).match
            return int(sum(counts[i] for i, word in numbers.items() if fits(word)))

        thousands = reading(WITH_THOUSANDS)
        sums = CellSums(
            n_rows=len(self.places),
            known=known,
            plain=reading(PLAIN),
            thousands=thousands,
            decimal_commas=reading(WITH_DECIMAL_COMMAS),
            european=reading(EUROPEAN),
            answers=fitting(ANSWERS),
            dress=self._dress(numbers),
            suspects=suspects,
            marked=self.marked,
            truths=fitting(TRUTHS),
            truth_words=fitting(TRUTH_WORDS),
            dates=fitting(DATES),
            as_they_stand=False,
            categories=labels_if_few(self.words),
            run=RowNumbering(len(self.places), unbroken=False),
            typed=False,
            distinct=DistinctCount(whole=False),
            long=self.long,
        )
        whole = thousands == sums.n_values and (thousands or not known)
        return self._of_numbers(sums) if whole else self._odd(sums)

    def _dress(self, numbers: dict[int, str]) -> dict[str, int]:
        """What numbers are dressed in, and how many of them."""
        fits, found = re.compile(WITH_NUMBERS, re.ASCII).match, dict[str, int]()
        counts = self.counts
        for i, number in numbers.items():
            for dress in symbols_in(self.words[i]) if fits(number) else ():
                found[dress] = found.get(dress, 0) + int(counts[i])
        return found

    def _of_numbers(self, sums: CellSums) -> CellSums:
        values = self.floats(NumberFormat.THOUSANDS)
        return replace(sums, run=RowNumbering.of(values), distinct=DistinctCount.of(values))

    def _odd(self, sums: CellSums) -> CellSums:
        """With the first few words that are no numbers."""
        fits, counts = re.compile(WITH_THOUSANDS, re.ASCII).match, self.counts
        odd = [
            i
            for i, word in enumerate(self.words)
            if not fits(strip_symbols(word)) and word.lower() not in LIKELY_CODES
        ]
        first = int(np.argmax(np.isin(self.places, odd))) if odd else None
        named = {self.words[i]: int(counts[i]) for i in odd[:MAX_EXAMPLES]}
        return replace(sums, odd=named, first_odd=first)


def _value(thousands: str, decimal: str, word: str) -> float:
    """The number that a word stands for; NaN if it can only stand for a gap."""
    if word.lower() in LIKELY_CODES:
        return np.nan
    number = strip_symbols(word)
    number = number.replace(thousands, "") if thousands else number
    value = float(number.replace(decimal, ".") if decimal else number)
    return value / 2 if BELOW in symbols_in(word) else value


def _n_long(cells: Sequence[Any]) -> int:
    return sum(isinstance(cell, int) and abs(cell) >= MAX_EXACT_INTEGER for cell in cells)


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
