"""Which kind each column of a table is, and which labels it has, by how its cells look."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

from halfseen.data.errors import DataError, DroppedFeatureWarning, warn
from halfseen.data.messages import joined, remedy
from halfseen.io.cells.cardinality import MIN_VALUES
from halfseen.io.cells.cell_sums import MAJORITY, MAX_CATEGORIES, MAX_LABELS, CellSums
from halfseen.io.cells.dates import DateOrder
from halfseen.io.cells.missing_values import NONE
from halfseen.io.cells.number_formats import NumberFormat
from halfseen.io.coding import BOOLEAN_LABELS, UNUSED_KINDS, Coding, holds_words, sorted_labels
from halfseen.io.columns import (
    HOLDS_DATES,
    SEVERAL_WRITINGS,
    Column,
    ColumnUse,
    Kind,
    Reason,
    holds,
    missing_notes,
    not_quite_numbers,
    reading_notes,
    shorten,
    unused_messages,
)

NAMES = {"id", "ids", "pid", "uid", "uuid", "guid", "rownames", "row.names", "row_names", "rowname"}
_SUBJECTS = (
    "patient|subject|record|case|user|customer|person|student|respondent|participant|sample|"
    "visit|encounter|stay|admission|hadm|icustay|row|client|member|account"
)
IDENTIFIER = re.compile(
    rf"unnamed: \d+|(.*[\s_.\-])?(id|uid|uuid|guid)|(id|uid)[\s_.\-].*|({_SUBJECTS})id|index"
)
CAMEL = re.compile(r".*[a-z0-9]I[dD]")
YEAR = re.compile(r"(.*[\s_.\-])?(year|yr)([\s_.\-/].*)?")
MIN_IDENTIFIER_VALUES = 20
"""Fewer different values may be a code for kinds of things, which is for the user to judge."""

NUMBERS_ROWS = Reason("it numbers the rows", "they number the rows")
NEARLY_UNIQUE = Reason(
    "it has the name of an identifier, and nearly all of its values are different",
    "they have names of identifiers, and nearly all of their values are different",
)
OF_SEVERAL_ROWS = Reason(
    "it has the name of an identifier, of several rows each",
    "they have names of identifiers, of several rows each",
)
CLOSE_TOGETHER = Reason(
    "its values are all different and close together, as numbers of rows are",
    "their values are all different and close together, as numbers of rows are",
)

MORE_DIGITS = Reason(
    "its whole numbers have more digits than can be computed with, as only identifiers have",
    "their whole numbers have more digits than can be computed with, as only identifiers have",
)


def named_as_identifier(name: str) -> bool:
    """Whether a column has the name of an identifier.

    >>> [named_as_identifier(n) for n in ("id", "PID", "RecordID", "patient_id", "Unnamed: 0")]
    [True, True, True, True, True]
    >>> [named_as_identifier(n) for n in ("covid", "acid", "lipid", "SalePrice", "humid", "idle")]
    [False, False, False, False, False, False]
    """
    lowered = name.strip().lower()
    matches = IDENTIFIER.fullmatch(lowered) or CAMEL.fullmatch(name.strip())
    return lowered in NAMES or bool(matches)


def named_as_year(name: str) -> bool:
    """Whether a column has the name of a year.

    >>> [named_as_year(name) for name in ("year", "Year Built", "Garage Yr Blt", "yearly income")]
    [True, True, True, False]
    """
    return bool(YEAR.fullmatch(name.strip().lower()))


def identifier_reason(name: str, cells: CellSums) -> Reason | None:
    """Why a column is an identifier; None if it may be a measurement.

    Fractions are never taken for identifiers, and whole numbers only if their name says so, or if
    they are all different and leave hardly a number out, which amounts do not do.
    """
    values = cells.distinct
    if cells.writing is None or not values.whole:
        return None
    if cells.long > MAJORITY * cells.known:
        return MORE_DIGITS
    if named_as_identifier(name):
        if values.nearly_all_different:
            return NEARLY_UNIQUE
        if values.different >= MIN_IDENTIFIER_VALUES and name.strip().lower() != "index":
            return OF_SEVERAL_ROWS
    if values.nearly_all_different and values.close_together and not named_as_year(name):
        return CLOSE_TOGETHER
    return None


NEARLY_ALL_DIFFERENT = Reason(
    "nearly all of its texts are different, as names and notes are",
    "nearly all of their texts are different, as names and notes are",
)
IN_KINDS = remedy("declare", "in kinds")
MANY_TEXTS = Reason(
    f"it holds more than {MAX_CATEGORIES} different texts; to use up to {MAX_LABELS:,} of them, "
    "declare it " + IN_KINDS,
    f"they hold more than {MAX_CATEGORIES} different texts each; to use up to {MAX_LABELS:,} of "
    "them, declare them " + IN_KINDS,
)
TOO_MANY_TEXTS = holds(f"more than {MAX_LABELS:,} different texts")
NUMBERS_AND_TEXT = holds("numbers in some of the files or batches, and text in others")
UNIQUE_TEXT_FRACTION = 0.9
"""Different texts by all of a column, from which on they are names: each tells of hardly a row."""
OR_CATEGORIES = ", and if it is one of several categories, declare the column " + IN_KINDS


class InferredColumn(NamedTuple):
    """The inferred use of a column, for models of mixed columns."""

    use: ColumnUse
    labels: tuple[str, ...] = ()  # none if it holds numbers, or is not used
    writing: NumberFormat = NumberFormat.PLAIN  # of numbers
    dates: DateOrder | None = None  # of dates that are numbers


@dataclass(frozen=True, eq=False)
class ColumnEvidence:
    """Evidence of a column from all rows."""

    cells: CellSums
    other: str | None = None  # what it holds, if neither numbers nor text
    numbers_rows: bool = False  # each file of several, or all rows

    def __add__(self, more: "ColumnEvidence") -> "ColumnEvidence":
        cells = self.cells + more.cells
        return ColumnEvidence(cells, self.other or more.other, cells.run.numbers_rows)


def infer_column(
    name: str,
    seen: ColumnEvidence,
    declared: str | None = None,
    *,
    named: bool = True,
    quoting: bool = False,
) -> InferredColumn:
    """The use of a column: its declared kind, or the inferred one.

    Columns that tell rows apart are known by their names, if the table is ``named``. Cells of text
    may be names of people: they are quoted only by ``quoting``, or if many rows share them.
    """
    cells = seen.cells
    if declared in UNUSED_KINDS:
        return InferredColumn(ColumnUse(cast("Kind", declared), False))
    if seen.other is not None:
        _check_codable(name, declared, seen.other)
        return InferredColumn(ColumnUse("ignored", False, holds(seen.other)))
    numbers = cells.writing not in (None, NumberFormat.ANSWERS) and not _truths(cells)
    if not cells.category and numbers:
        return _number(name, seen, declared, named)
    if declared is not None and not holds_words(declared):
        _refuse(name, declared, "truths" if _truths(cells) else "text")
    if _truths(cells) and not cells.category:
        return InferredColumn(ColumnUse(cast("Kind", declared or "binary"), True), BOOLEAN_LABELS)
    reason = None if declared else _no_categories(name, cells, named, quoting)
    if reason is not None:
        told = _with_examples(reason, cells) if quoting else reason
        return InferredColumn(
            ColumnUse("identifier" if reason in _IDENTIFYING else "ignored", False, told)
        )
    return _categories(name, cells, declared)


def _truths(cells: CellSums) -> bool:
    return cells.truth_words > 0 and cells.truths == cells.known


def _number(name: str, seen: ColumnEvidence, declared: str | None, named: bool) -> InferredColumn:
    cells, writing = seen.cells, seen.cells.writing or NumberFormat.PLAIN
    reason = None
    if named and declared is None:
        reason = NUMBERS_ROWS if seen.numbers_rows else identifier_reason(name, cells)
    if reason is not None:
        return InferredColumn(ColumnUse("identifier", False, reason))
    return InferredColumn(
        ColumnUse(cast("Kind", declared or "number"), True, reading_notes(cells)), (), writing
    )


def _no_categories(name: str, cells: CellSums, named: bool, quoting: bool) -> Reason | None:
    words, known = cells.categories, cells.known
    if cells.dates and cells.dates == cells.n_values:
        return HOLDS_DATES
    if not cells.category:
        if cells.odd and cells.amounts and cells.thousands > MAJORITY * known:
            return not_quite_numbers(cells, quoting, OR_CATEGORIES)
        if not cells.odd and cells.amounts and cells.n_values:
            return SEVERAL_WRITINGS
    if words is None:
        return NUMBERS_AND_TEXT if cells.unworded else TOO_MANY_TEXTS
    different = known >= MIN_VALUES and len(words) >= UNIQUE_TEXT_FRACTION * known
    if named and named_as_identifier(name) and len(words) >= MIN_IDENTIFIER_VALUES:
        return NEARLY_UNIQUE if different else OF_SEVERAL_ROWS
    if different:
        return NEARLY_ALL_DIFFERENT
    return MANY_TEXTS if len(words) > MAX_CATEGORIES else None


def _with_examples(reason: Reason, cells: CellSums) -> Reason:
    words = ", ".join(repr(shorten(word)) for word in cells.odd)
    same = any(word in reason.alone for word in cells.odd) or not words
    return reason if same else Reason(reason.alone + f" (such as {words})", reason.alike)


_IDENTIFYING = (NEARLY_UNIQUE, OF_SEVERAL_ROWS, NEARLY_ALL_DIFFERENT)


def _categories(name: str, cells: CellSums, declared: str | None) -> InferredColumn:
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
    labels = sorted_labels(words)
    if cells.order is not None:
        labels = tuple(word for word in cells.order if word in words)
    kind = "binary" if len(labels) == 2 else "categorical"
    found = declared or ("ordinal" if cells.order is not None else kind)
    told = missing_notes(cells)
    return InferredColumn(ColumnUse(cast("Kind", found), True, told), labels)


def _check_codable(name: str, declared: str | None, other: str) -> None:
    if declared is not None:
        _refuse(name, declared, other)


def _refuse(name: str, declared: str | None, what: str) -> None:
    other = "'categorical' or 'ordinal'" if what in ("text", "truths") else "'ignored'"
    raise DataError(
        f"'{name}' is declared '{declared}', but it holds {what}. Declare it {other}, or "
        + remedy("do not declare", "leave it out of kinds")
        + "."
    )


def coding_of(names: Iterable[str], found: Mapping[str, InferredColumn]) -> Coding:
    """The coding of some of the columns, in order."""
    names = tuple(names)
    columns = [found[name].use.column(name) for name in names]
    return Coding(
        names,
        tuple(column.kind for column in columns),
        tuple(found[name].labels for name in names),
        tuple(column.sentence or "" for column in columns),
    )


def warn_unused_columns(columns: Iterable[Column]) -> None:
    """Warn of unused columns, with reasons."""
    aside = unused_messages(columns)
    if aside:
        warn(joined(" ", aside), DroppedFeatureWarning)
