"""What became of each column of a table, and why: nothing is left out in silence."""

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import quoted
from halfseen.data.messages import joined, remedy, setting
from halfseen.io.cells.cell_sums import MAJORITY, MAX_CATEGORIES, CellSums
from halfseen.io.cells.missing_values import REPORTED_CODES
from halfseen.io.cells.number_formats import ABOVE, BELOW, MONEY, PARENTHESES, PERCENT, NumberFormat
from halfseen.io.coding import UNUSED_KINDS, Coding

MIN_ROWS_TO_QUOTE = 10
"""Rows that hold a word, from which on it is taken to be a code and not somebody's name."""

MAX_COLUMNS_NAMED = 12
"""Columns of one reason in a warning."""

Kind = Literal[
    "number", "continuous", "count", "categorical", "ordinal", "binary", "identifier", "ignored"
]


class Column(NamedTuple):
    """A column of a table, and what was done to it."""

    name: str
    kind: Kind
    used: bool  # as numbers, by a model
    sentence: str | None = None  # if anything is to be said of it
    alike: str | None = None  # the same of it and others, if it may be said of several at once


class Reason(NamedTuple):
    """A reason in words, for one column and for several."""

    alone: str
    alike: str


def holds(what: str) -> Reason:
    """The reason why a column with other content is not used."""
    return Reason(f"it holds {what}", f"they hold {what}")


HOLDS_DATES = holds("dates or times")
SEVERAL_WRITINGS = holds("numbers in several writings")


class ColumnUse(NamedTuple):
    """How a column of a file is used."""

    kind: Kind
    used: bool
    reason: Reason | None = None

    def column(self, name: str) -> Column:
        """The column with this name, and its sentence."""
        if self.reason is None:
            return Column(name, self.kind, self.used)
        alone, alike = self.reason
        told = f"'{name}': " + alone + "." if self.used else _ignored(name, alone)
        return Column(name, self.kind, self.used, told, alike)


def column_use(cells: CellSums, identifies: Reason | None, show_text: bool = False) -> ColumnUse:
    """How a column with such cells is used; ``identifies`` is the reason of an identifier.

    Cells of text may be names of people: they are quoted only if ``show_text`` says so.
    """
    if identifies is not None:
        return ColumnUse("identifier", False, identifies)
    if cells.writing is not None:
        worded = cells.writing in (NumberFormat.TRUTHS, NumberFormat.ANSWERS) or cells.truth_words
        return ColumnUse("categorical" if worded else "continuous", True, reading_notes(cells))
    if cells.dates and cells.dates == cells.n_values:
        return ColumnUse("ignored", False, HOLDS_DATES)
    few = cells.categories is not None and len(cells.categories) <= MAX_CATEGORIES
    return ColumnUse("categorical" if few else "ignored", False, _text_reason(cells, show_text))


def reading_notes(cells: CellSums) -> Reason | None:
    """Notes on numbers that are not plain; None if they are."""
    notes = [] if cells.writing is None or cells.writing.note is None else [cells.writing.note]
    if cells.writing not in (None, NumberFormat.ANSWERS):
        notes += [*_symbol_notes(cells), *_gap_notes(cells.suspects)]
    notes += _gap_notes(_reported_codes(cells))
    if not notes:
        return None
    return _all_of(Reason(*note) for note in notes)


def days_since(origin: str, cells: CellSums) -> Reason:
    """The note on dates that became numbers."""
    read = "dates were read as days since"
    told = Reason(f"its {read} {origin}", f"their {read} {origin}")
    for note in (*_gap_notes(cells.suspects), *_gap_notes(_reported_codes(cells))):
        told = join_reasons(told, Reason(*note))
    return told


EITHER_ORDER = Reason(
    "its dates may begin with the day or with the month; write them as 2020-12-31",
    "their dates may begin with the day or with the month; write them as 2020-12-31",
)
ABSENT_AS_ZERO = Reason("its gaps were read as 0", "their gaps were read as 0")


def join_reasons(one: Reason | None, other: Reason) -> Reason:
    """Two notes on a column as one."""
    if one is None:
        return other
    return _all_of((one, other))


def _all_of(reasons: Iterable[Reason]) -> Reason:
    alone, alike = zip(*reasons, strict=True)
    return Reason(joined("; ", alone), joined("; ", alike))


_NONE = "None was taken for a category, as gaps are empty cells; else use " + setting(
    missing_values=["None"]
)
NONE_IS_A_WORD = Reason(_NONE, _NONE)


def _reported_codes(cells: CellSums) -> dict[str, int]:
    return {word: count for word, count in cells.marked.items() if word in REPORTED_CODES}


def missing_notes(cells: CellSums) -> Reason | None:
    """Notes on words that stand for gaps; None without any."""
    notes = [Reason(*note) for note in _gap_notes(_reported_codes(cells))]
    notes += [NONE_IS_A_WORD] * cells.none_is_a_word
    return _all_of(notes) if notes else None


def _symbol_notes(cells: CellSums) -> Iterator[tuple[str, str]]:
    symbols = cells.symbols
    if PERCENT in symbols:
        yield ("percent signs were left out, so that 12% is 12",) * 2
    for sign in MONEY:
        if sign in symbols:
            yield (f"{sign} was left out",) * 2
    for mark, (given, read_as) in _VALUE_NOTES.items():
        if mark in symbols:
            alone = (
                "1 value {} was" if symbols[mark] == 1 else f"{symbols[mark]:,} values {{}} were"
            )
            yield f"{alone.format(given)} {read_as}", f"values {given} were {read_as}"


_VALUE_NOTES = {
    PARENTHESES: ("in parentheses", "read as negative"),
    BELOW: ("given as below a limit (<)", "read as half of it"),
    ABOVE: ("given as above a limit (>)", "read as the limit"),
}


def _gap_notes(words: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    for word, count in words.items():
        cells_told = "1 cell" if count == 1 else f"{count:,} cells"
        yield f"'{word}' was read as a gap, in {cells_told}", f"'{word}' was read as a gap"


def _text_reason(cells: CellSums, show_text: bool) -> Reason:
    if cells.odd and cells.amounts and cells.thousands > MAJORITY * cells.known:
        return not_quite_numbers(cells, show_text)
    if not cells.odd and cells.amounts:
        return SEVERAL_WRITINGS
    shown = f", such as {_quoted(cells.odd)}" if show_text else ""
    return Reason(f"it holds text{shown}", "they hold text")


def not_quite_numbers(cells: CellSums, show_text: bool, more: str = "") -> Reason:
    """Why a column that is mostly numeric is not used as numbers."""
    words = [word for word, often in cells.odd.items() if show_text or often >= MIN_ROWS_TO_QUOTE]
    what = "other cells"
    use = remedy("name a gap", "name it in missing_values (show_text=True shows it)")
    if len(words) == len(cells.odd):
        what, use = _quoted(words), "use " + setting(missing_values=words)
    advice = "if that stands for a gap, " + use + more
    return Reason(
        f"{cells.thousands:,} of its {cells.known:,} values are numbers, but it holds {what} too, "
        f"first in row {(cells.first_odd or 0) + 1:,}; " + advice,
        f"most of their values are numbers, but they hold {what} too; " + advice,
    )


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(repr(shorten(word)) for word in words)


def shorten(text: str) -> str:
    """Text shortened for a quotation."""
    return text if len(text) <= 24 else f"{text[:23]}…"


def _ignored(name: str, reason: str) -> str:
    return f"Column '{name}' was ignored: " + reason + "."


def mark_constant(
    columns: Iterable[Column],
    names: tuple[str, ...],
    sums: FeatureSums,
    worded: Collection[str] = (),
) -> tuple[Column, ...]:
    """The columns with constant ones marked as unused.

    ``sums`` are those of the used columns, which have these ``names``; of the ``worded`` ones they
    are of codes.
    """
    seen: Mapping[str, int] = {name: place for place, name in enumerate(names)}
    return tuple(
        _varying(column, seen[column.name], sums, column.name in worded)
        if column.used and column.name in seen
        else column
        for column in columns
    )


def _varying(column: Column, place: int, sums: FeatureSums, worded: bool) -> Column:
    low, high = float(sums.minimum[place]), float(sums.maximum[place])
    if not sums.count[place]:
        return _constant(column, "it has no values", "they have no values")
    if low == high:
        said = f"it is {'the same' if worded else f'{low:g}'} wherever it is known"
        return _constant(column, said, "each has only one value")
    if column.kind == "continuous" and sums.whole[place] and low >= 0:
        return column._replace(kind="count")
    return column


def _constant(column: Column, alone: str, alike: str) -> Column:
    return column._replace(used=False, sentence=_ignored(column.name, alone), alike=alike)


def column_messages(columns: Iterable[Column], most: int = sys.maxsize) -> list[str]:
    """One sentence for each reason, unused columns first.

    Of many columns with the same reason only the first ``most`` are named.

    >>> text = [ColumnUse("ignored", False, Reason("it holds text", "they hold text")).column(n)
    ...         for n in "abcd"]
    >>> column_messages(text[:1]), column_messages(text, most=2)  # doctest: +NORMALIZE_WHITESPACE
    (["Column 'a' was ignored: it holds text."],
     ["Columns 'a', 'b' and 2 more were ignored: they hold text."])
    """
    groups: dict[tuple[bool, str], list[Column]] = {}
    for column in columns:
        if column.sentence is not None:
            groups.setdefault((column.used, column.alike or column.sentence), []).append(column)
    unused_first = sorted(groups.items(), key=lambda item: item[0][0])
    return [_sentence_of_several(alike, members, most) for (_, alike), members in unused_first]


def _sentence_of_several(alike: str, members: list[Column], most: int) -> str:
    if len(members) == 1:
        return members[0].sentence or ""
    names = quoted([column.name for column in members], most=most)
    return (f"{names}: " if members[0].used else f"Columns {names} were ignored: ") + alike + "."


def unused_messages(columns: Iterable[Column]) -> list[str]:
    """One sentence for each reason why columns are not used."""
    return column_messages(
        (column for column in columns if not column.used), most=MAX_COLUMNS_NAMED
    )


DECLARED = "It is declared not to be used."


def as_coding(columns: Iterable[Column]) -> Coding:
    """What was done to columns, for a model to store."""
    every = tuple(columns)
    return Coding(
        tuple(one.name for one in every),
        tuple(one.kind if one.used or one.kind in UNUSED_KINDS else "ignored" for one in every),
        ((),) * len(every),
        tuple(one.sentence or ("" if one.used else DECLARED) for one in every),
    )
