"""Which kind each column of a table is, and which labels it has, by how its cells look."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

from halfseen.rows.errors import DataError, DroppedFeatureWarning, warn
from halfseen.tables.cells.dates import DateOrder
from halfseen.tables.cells.distinct import FEWEST_VALUES
from halfseen.tables.cells.gap_words import NONE
from halfseen.tables.cells.sums import MOST_CATEGORIES, MOST_LABELS, MOSTLY, CellSums
from halfseen.tables.cells.words import FALSE_AND_TRUE, in_order
from halfseen.tables.cells.writing import Writing
from halfseen.tables.coding import LEFT_OUT, OF_NUMBERS, Coding
from halfseen.tables.identifiers import (
    FEWEST_THINGS,
    NEARLY_UNIQUE,
    NUMBERS_ROWS,
    OF_SEVERAL_ROWS,
    identifies,
    named_as_identifier,
)
from halfseen.tables.kinds import (
    HOLDS_DATES,
    SEVERAL_WRITINGS,
    Column,
    Fate,
    Kind,
    Reason,
    holding,
    how_read,
    left_aside,
    marked_told,
    not_quite_numbers,
    short,
)

NEARLY_ALL_DIFFERENT = Reason(
    "nearly all of its texts are different, as names and notes are",
    "nearly all of their texts are different, as names and notes are",
)
MANY_TEXTS = Reason(
    f"it holds more than {MOST_CATEGORIES} different texts; to use up to {MOST_LABELS:,} of them, "
    "declare it in kinds",
    f"they hold more than {MOST_CATEGORIES} different texts each; to use up to {MOST_LABELS:,} of "
    "them, declare them in kinds",
)
TOO_MANY_TEXTS = holding(f"more than {MOST_LABELS:,} different texts")
NUMBERS_AND_TEXT = holding("numbers in some of the files or batches, and text in others")
NEARLY_ALL = 0.9
"""Different texts by all of a column, from which on they are names: each tells of hardly a row."""
OR_CATEGORIES = ", and if it is one of several categories, declare the column in kinds"


class Coded(NamedTuple):
    """What becomes of a column for models that take words."""

    fate: Fate
    labels: tuple[str, ...] = ()  # none if it holds numbers, or is not used
    writing: Writing = Writing.PLAIN  # of numbers
    dates: DateOrder | None = None  # of dates that are numbers


@dataclass(frozen=True, eq=False)
class Seen:
    """What was seen of a column in all rows."""

    cells: CellSums
    other: str | None = None  # what it holds, if neither numbers nor text
    numbers_rows: bool = False  # each file of several, or all rows

    def __add__(self, more: "Seen") -> "Seen":
        cells = self.cells + more.cells
        return Seen(cells, self.other or more.other, cells.run.numbers_rows)


def coded(
    name: str, seen: Seen, declared: str | None = None, *, named: bool = True, quoting: bool = False
) -> Coded:
    """What becomes of a column: its declared kind, or one that its cells suggest.

    Columns that tell rows apart are known by their names, if the table is ``named``. Cells of text
    may be names of people: they are quoted only by ``quoting``, or if many rows share them.
    """
    cells = seen.cells
    if declared in LEFT_OUT:
        return Coded(Fate(cast("Kind", declared), False))
    if seen.other is not None:
        _check_codable(name, declared, seen.other)
        return Coded(Fate("ignored", False, holding(seen.other)))
    numbers = cells.writing not in (None, Writing.ANSWERS) and not _truths(cells)
    if not cells.category and numbers:
        return _number(name, seen, declared, named)
    if declared in OF_NUMBERS:
        _refuse(name, declared, "truths" if _truths(cells) else "text")
    if _truths(cells) and not cells.category:
        return Coded(Fate(cast("Kind", declared or "binary"), True), FALSE_AND_TRUE)
    reason = None if declared else _no_categories(name, cells, named, quoting)
    if reason is not None:
        told = _shown(reason, cells) if quoting else reason
        return Coded(Fate("identifier" if reason in _IDENTIFYING else "ignored", False, told))
    return _categories(name, cells, declared)


def _truths(cells: CellSums) -> bool:
    return cells.truth_words > 0 and cells.truths == cells.known


def _number(name: str, seen: Seen, declared: str | None, named: bool) -> Coded:
    cells, writing = seen.cells, seen.cells.writing or Writing.PLAIN
    reason = None
    if named and declared is None:
        reason = NUMBERS_ROWS if seen.numbers_rows else identifies(name, cells)
    if reason is not None:
        return Coded(Fate("identifier", False, reason))
    return Coded(Fate(cast("Kind", declared or "number"), True, how_read(cells)), (), writing)


def _no_categories(name: str, cells: CellSums, named: bool, quoting: bool) -> Reason | None:
    """Why words are not taken for categories; None if they are."""
    words, known = cells.categories, cells.known
    if cells.dates and cells.dates == cells.n_values:
        return HOLDS_DATES
    if not cells.category:
        if cells.odd and cells.amounts and cells.thousands > MOSTLY * known:
            return not_quite_numbers(cells, quoting, OR_CATEGORIES)
        if not cells.odd and cells.amounts and cells.n_values:
            return SEVERAL_WRITINGS
    if words is None:
        return NUMBERS_AND_TEXT if cells.unworded else TOO_MANY_TEXTS
    different = known >= FEWEST_VALUES and len(words) >= NEARLY_ALL * known
    if named and named_as_identifier(name) and len(words) >= FEWEST_THINGS:
        return NEARLY_UNIQUE if different else OF_SEVERAL_ROWS
    if different:
        return NEARLY_ALL_DIFFERENT
    return MANY_TEXTS if len(words) > MOST_CATEGORIES else None


def _shown(reason: Reason, cells: CellSums) -> Reason:
    """A reason with some of the cells that it is about."""
    words = ", ".join(repr(short(word)) for word in cells.odd)
    same = any(word in reason.alone for word in cells.odd) or not words
    return reason if same else Reason(f"{reason.alone} (such as {words})", reason.alike)


_IDENTIFYING = (NEARLY_UNIQUE, OF_SEVERAL_ROWS, NEARLY_ALL_DIFFERENT)


def _categories(name: str, cells: CellSums, declared: str | None) -> Coded:
    words = cells.categories
    if words is None:
        why = NUMBERS_AND_TEXT if cells.unworded else TOO_MANY_TEXTS
        raise DataError(
            f"'{name}' is declared '{declared}', but {why.alone}. Declare it 'ignored', or give it "
            "fewer categories, all as text."
        )
    if declared == "binary" and len(words) > 2:
        raise DataError(
            f"'{name}' is declared 'binary', but it holds {len(words)} different texts. Declare "
            "it 'categorical' or 'ordinal'."
        )
    words |= {NONE} if cells.none_is_a_word else set()
    labels = in_order(words)
    if cells.order is not None:
        labels = tuple(word for word in cells.order if word in words)
    kind = "binary" if len(labels) == 2 else "categorical"
    found = declared or ("ordinal" if cells.order is not None else kind)
    told = marked_told(cells)
    return Coded(Fate(cast("Kind", found), True, told), labels)


def _check_codable(name: str, declared: str | None, other: str) -> None:
    if declared is not None:
        _refuse(name, declared, other)


def _refuse(name: str, declared: str | None, what: str) -> None:
    remedy = "'categorical' or 'ordinal'" if what in ("text", "truths") else "'ignored'"
    raise DataError(
        f"'{name}' is declared '{declared}', but it holds {what}. Declare it {remedy}, or leave it "
        "out of kinds."
    )


def coding_of(names: Iterable[str], found: Mapping[str, Coded]) -> Coding:
    """The coding of some of the columns, in order."""
    names = tuple(names)
    columns = [found[name].fate.column(name) for name in names]
    return Coding(
        names,
        tuple(column.kind for column in columns),
        tuple(found[name].labels for name in names),
        tuple(column.sentence or "" for column in columns),
    )


def warn_of_left_aside(columns: Iterable[Column]) -> None:
    """Say which columns are not used, and why."""
    aside = left_aside(columns)
    if aside:
        warn(" ".join(aside), DroppedFeatureWarning)
