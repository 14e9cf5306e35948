"""Where in a text file the table stands: after which lines, between which signs, under which names.

Exports begin with titles, comments or the units of columns, and may have no line of names. What is
found is told, and can be given instead.
"""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple

from halfseen.data.messages import setting

DELIMITERS = ",;\t|"
SPACES = " "
"""Cells that are apart by spaces, of which there may be several."""
COMMENTS = ("#", "%", "//")
CHARACTERS_READ, MIN_LINES_READ = 1 << 16, 4
"""Signs and lines of the beginning of a file, by which it is judged."""
MAX_PREAMBLE_LINES = 50
"""Lines before a table."""
MIN_TABLE_LINES = 2
"""Lines that a table must have before others are taken for what comes before it."""
MIN_REGULAR_FRACTION = 0.9
"""Of lines with as many cells as most, if spaces are to be what cells are apart by."""
MIN_NUMERIC_FRACTION = 0.5
"""Of cells that are numbers, likewise: texts have spaces too."""
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
EMPTY = frozenset({"", "NA", "NaN", "nan", "?", ".", "-", "null", "NULL"})


@dataclass(frozen=True)
class ReadOptions:
    """The user's options for reading a file."""

    header: bool | None = None  # whether there is a line of names; None: it is found out
    skip: int | None = None  # lines before the table
    encoding: str | None = None
    table: str | None = None  # which one, of several: a sheet, a data frame, a name in a database


class Dialect(NamedTuple):
    """Where the table stands in a file, and its delimiter."""

    delimiter: str
    squeezed: bool = False  # whether several spaces are as good as one
    skip: int = 0  # lines before that of names, or before the first row if names are given
    names: tuple[str, ...] | None = None  # None: the next line holds them
    units: bool = False  # whether a line of units follows the names
    comments: bool = False  # whether there are comments, which may stand between rows too
    notes: tuple[str, ...] = ()  # what is told, to go on after the name of the file


class _Block(NamedTuple):
    """Lines from ``start`` on, split into cells."""

    delimiter: str
    start: int
    width: int
    cells: list[list[str]]


def detect_dialect(lines: list[str], usual: str, given: ReadOptions) -> Dialect:
    """The dialect of a file that begins with these lines.

    >>> detect_dialect(["Ward 3", "", "age;pulse", "61;80", "40;72"], ",", ReadOptions())[:4]
    (';', False, 2, None)
    >>> detect_dialect(["5.1,3.5,setosa", "4.9,3.0,setosa"], ",", ReadOptions()).names
    ('column 1', 'column 2', 'column 3')
    """
    skip, said = given.skip or 0, _separator(lines)
    if said is not None and given.skip is None:
        skip = 1
    rest = lines[skip:]
    asked = said or usual
    block = _best_block(rest, asked, given.skip is not None, only=said)
    squeezed = block.delimiter == SPACES and _irregular_spacing(rest[block.start :])
    frame = Dialect(block.delimiter, squeezed, skip + block.start, comments=_commented_on(lines))
    return _named(frame, block, rest, given)


def _commented_on(lines: list[str]) -> bool:
    """Whether a file has comment lines."""
    return any(line.startswith(COMMENTS) for line in lines) and not any(
        "\ufffd" in x for x in lines
    )


def detect_sheet_layout(rows: list[list[str]], given: ReadOptions) -> Dialect:
    """Where the table stands in a sheet."""
    skip = given.skip or 0
    block = _block_of(rows[skip:], "", given.skip is not None)
    return _named(Dialect("", skip=skip + block.start), block, [], given)


def _named(frame: Dialect, block: _Block, rest: list[str], given: ReadOptions) -> Dialect:
    if given.header is False or (given.header is None and _lacks_names(block)):
        names = _names_in_comment(rest, block)
        if names is not None:
            return frame._replace(names=names, notes=_preamble_note(block.start - 1))
        names = tuple(f"column {number + 1}" for number in range(block.width))
        numbered = () if given.header is False else (_numbered_note(names),)
        return frame._replace(names=names, notes=(*_preamble_note(block.start), *numbered))
    if _lacks_name_of_first_column(block):
        names = ("row names", *_line(block, 0))
        return frame._replace(skip=frame.skip + 1, names=names, notes=_preamble_note(block.start))
    if given.header is None and _has_units(block):
        units = f"has units or remarks in line {frame.skip + 2}, which was left out"
        return frame._replace(units=True, notes=(*_preamble_note(block.start), units))
    return frame._replace(notes=_preamble_note(block.start))


def _preamble_note(n_lines: int) -> tuple[str, ...]:
    if not n_lines:
        return ()
    lines, were = ("1 line", "was") if n_lines == 1 else (f"{n_lines} lines", "were")
    return (f"begins with {lines} before its table, which {were} left out",)


def _numbered_note(names: tuple[str, ...]) -> str:
    called = f"'{names[0]}'" if len(names) == 1 else f"'{names[0]}' to '{names[-1]}'"
    return (
        f"has no line of names, so columns are called {called}; if its first line holds names, "
        "use " + setting(header=True)
    )


def _separator(lines: Sequence[str]) -> str | None:
    """The delimiter in a first line "sep=;"."""
    said = SEPARATOR_LINE.fullmatch(lines[0]) if lines else None
    return None if said is None else said[1]


def _best_block(lines: list[str], usual: str, placed: bool, only: str | None) -> _Block:
    """The table split by the delimiter that gives the earliest and widest table."""
    every = [only] if only else list(dict.fromkeys(usual + DELIMITERS))
    blocks = [_block(lines, delimiter, placed) for delimiter in every]
    best = min(blocks, key=lambda block: (block.width < 2, block.start, -block.width))
    if best.width < 2 and only is None:
        spaced = _block(lines, SPACES, placed)
        rows = spaced.cells[1:]
        alike = sum(len(row) == spaced.width for row in rows)
        # Under a title of one word stand texts, and not cells; and so do where most are words.
        before = lines[: spaced.start]
        titled = any(line.strip() and not line.startswith(COMMENTS) for line in before)
        even = rows and spaced.width > 1 and alike >= MIN_REGULAR_FRACTION * len(rows)
        if even and not titled and _numeric_fraction(rows) >= MIN_NUMERIC_FRACTION:
            return spaced
    return best


def _numeric_fraction(rows: list[list[str]]) -> float:
    cells = [cell for row in rows for cell in row]
    return sum(cell in EMPTY or bool(NUMBER.fullmatch(cell)) for cell in cells) / max(len(cells), 1)


def _block(lines: list[str], delimiter: str, placed: bool) -> _Block:
    return _block_of([_cells(line, delimiter) for line in _logical_lines(lines)], delimiter, placed)


def _block_of(rows: list[list[str]], delimiter: str, placed: bool) -> _Block:
    widths = Counter(len(row) for row in rows if any(row))
    if not widths:
        return _Block(delimiter, 0, 1, rows)
    width = max(widths, key=lambda w: (widths[w], w))
    enough = widths[width] >= MIN_TABLE_LINES and width > 1
    start = 0 if placed or not enough else _first_line(rows, width)
    while start < len(rows) - 1 and not any(rows[start]):  # empty lines are no names
        start += 1
    return _Block(delimiter, start, width, [row for row in rows[start:] if any(row)])


def _logical_lines(lines: list[str]) -> list[str]:
    """Lines with quoted line breaks joined; empty lines keep their number the same."""
    whole: list[str] = []
    after = 0
    for line in lines:
        if whole and whole[-1 - after].count('"') % 2:
            whole[-1 - after] += "\n" + line
            whole.append("")
            after += 1
        else:
            whole.append(line)
            after = 0
    return whole


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == SPACES:
        line = line.strip()
    try:
        rows = list(csv.reader([line], delimiter=delimiter, skipinitialspace=delimiter == SPACES))
    except csv.Error:
        return [line]
    return [cell.strip() for cell in rows[0]] if rows else []


def _first_line(rows: list[list[str]], width: int) -> int:
    """The number of lines before the table: titles, comments, empty lines."""
    after = _after_empty_line(rows, width)
    for place, row in enumerate(rows[:MAX_PREAMBLE_LINES]):
        if place < after:
            continue
        known = sum(map(bool, row))
        comment = bool(row) and row[0].startswith(COMMENTS)
        title = width >= 3 and known <= 1
        # A line of one cell less may name all columns but that of the rows' names.
        fits = len(row) == width or (
            len(row) == width - 1 and _first_column_names_rows(rows[place:], width)
        )
        if fits and known and not comment and not title:
            return place
        if not (known < width or comment):
            return 0  # too many cells: no title, and for the reader to refuse
    return after


def _after_empty_line(rows: list[list[str]], width: int) -> int:
    """The start of the table after an empty line; 0 if it does not begin there.

    Before it only words may stand, and no line as full as those of the table: where one is, the
    table has begun and the empty line is a row of gaps, unless names and numbers follow it.
    """
    for place, row in enumerate(rows[:MAX_PREAMBLE_LINES]):
        if any(map(_numeric, row)):
            return 0
        if not any(row):
            full = any(sum(map(bool, line)) >= width for line in rows[:place])
            return place + 1 if place and (not full or _names_first(rows[place + 1 :])) else 0
    return 0


def _names_first(rows: list[list[str]]) -> bool:
    return len(rows) > 1 and not any(map(_numeric, rows[0])) and any(map(_numeric, rows[1]))


def _line(block: _Block, place: int) -> list[str]:
    return block.cells[place] if place < len(block.cells) else []


def _first_column_names_rows(rows: list[list[str]], width: int) -> bool:
    below = [row for row in rows[1:] if len(row) == width]
    first = [row[0] for row in below]
    named = width > 2 and all(rows[0]) and not any(map(_numeric, rows[0]))
    values = len(below) > 1 and any(map(_numeric, below[0][1:]))
    return named and values and len(set(first)) == len(first)


def _lacks_name_of_first_column(block: _Block) -> bool:
    """Whether the header lacks the first column, as R's write.table writes it."""
    return len(_line(block, 0)) == block.width - 1 and _first_column_names_rows(
        block.cells, block.width
    )


def _numeric(cell: str) -> bool:
    return bool(NUMBER.fullmatch(cell))


def _columns_of_numbers(rows: list[list[str]], width: int) -> list[int]:
    whole = [row for row in rows if len(row) == width]
    found = []
    for place in range(width):
        known = [row[place] for row in whole if row[place] not in EMPTY]
        if known and all(map(_numeric, known)):
            found.append(place)
    return found


def _lacks_names(block: _Block) -> bool:
    """Whether the first line is data."""
    head, rest = _line(block, 0), block.cells[1:]
    numbers = _columns_of_numbers(rest, block.width)
    if len(head) != block.width or not numbers:
        return False
    if not all(_numeric(head[place]) or head[place] in EMPTY - {""} for place in numbers):
        return False
    names = [head[place] for place in numbers]
    if not any(map(_numeric, names)):
        return False
    return not _consecutive(names)


def _consecutive(names: list[str]) -> bool:
    """Whether names are consecutive whole numbers, such as years."""
    if not all(name.isdecimal() for name in names):
        return False
    values = list(map(int, names))
    return len(values) > 1 and values == list(range(values[0], values[0] + len(values)))


def _names_in_comment(lines: list[str], block: _Block) -> tuple[str, ...] | None:
    """Column names in the last comment before the table."""
    before = lines[block.start - 1] if block.start and lines else ""
    mark = next((mark for mark in COMMENTS if before.startswith(mark)), None)
    if mark is None:
        return None
    names = _cells(before.lstrip(mark[0]).strip(), block.delimiter)
    fit = len(names) == block.width and all(names) and len(set(names)) == len(names)
    return tuple(names) if fit and not any(map(_numeric, names)) else None


def _has_units(block: _Block) -> bool:
    """Whether the second line holds units."""
    second, rest = _line(block, 1), block.cells[2:]
    numbers = _columns_of_numbers(rest, block.width)
    if len(second) != block.width or len(rest) < MIN_TABLE_LINES or len(numbers) < MIN_TABLE_LINES:
        return False
    over = [second[place] for place in numbers]
    worded = [cell for cell in over if cell not in EMPTY]
    return len(worded) >= MIN_TABLE_LINES and not any(map(_numeric, over))


def _irregular_spacing(lines: list[str]) -> bool:
    return any(line != line.strip() or "  " in line or "\t" in line for line in lines if line)


UTF_8, UTF_16, WINDOWS, LATIN_1 = "utf-8", "utf-16", "cp1252", "latin-1"
NAMES = {UTF_16: "UTF-16", WINDOWS: "Windows-1252 (Latin-1)", LATIN_1: "Latin-1"}
"""What people call those that are told of."""
CHUNK = 1 << 20
UNDEFINED = bytes([0x81, 0x8D, 0x8F, 0x90, 0x9D])
"""Bytes that Windows-1252 does not have."""


def encoding_of(file: Path, opener: Any) -> str:
    """The encoding of a file, found by its bytes; a file that does not change is read once."""
    status = file.stat()
    return _encoding_of(file, opener, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _encoding_of(file: Path, opener: Any, size: int, changed: int) -> str:
    with opener(file, "rb") as stream:
        return detect_encoding(stream)


def detect_encoding(stream: IO[bytes]) -> str:
    """The encoding of what a stream holds."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    chunk = stream.read(CHUNK)
    if chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return UTF_16
    if b"\0" in chunk:
        return UTF_8  # no text at all, which its reader will say
    while chunk:
        # What is all ASCII needs no decoding, unless a sign is open from before.
        if not chunk.isascii() or decoder.getstate()[0]:
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                return _single_bytes(chunk, stream)
        chunk = stream.read(CHUNK)
    return WINDOWS if decoder.getstate()[0] else UTF_8


def _single_bytes(chunk: bytes, stream: IO[bytes]) -> str:
    while chunk:
        if any(byte in chunk for byte in UNDEFINED):
            return LATIN_1
        chunk = stream.read(CHUNK)
    return WINDOWS


def encoding_message(name: str, encoding: str) -> str | None:
    """A note on the encoding; empty for UTF-8."""
    if encoding == UTF_8:
        return None
    return (
        f"{name} is not UTF-8 and was read as {NAMES[encoding]}. If names look wrong, save the "
        "file as UTF-8."
    )
