"""Opening files: which they are, which columns they have, and how each is written."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted
from halfseen.tables.cells.dates import Dates, day_of
from halfseen.tables.cells.gap_words import NONE, Gaps, column_of, gaps_among
from halfseen.tables.cells.sums import CellSums
from halfseen.tables.cells.writing import Writing
from halfseen.tables.coding import LEFT_OUT, OF_NUMBERS, Coding
from halfseen.tables.file_source import FileSource, OneFile, Stamp
from halfseen.tables.files import Files
from halfseen.tables.formats.format import Format, Look, Written
from halfseen.tables.found_coding import Coded, Seen, coded, coding_of
from halfseen.tables.identifiers import NUMBERS_ROWS, identifies
from halfseen.tables.joined import joined
from halfseen.tables.kinds import (
    ABSENT_AS_ZERO,
    EITHER_ORDER,
    Fate,
    Kind,
    both,
    days_since,
    fate_of,
    holding,
)
from halfseen.tables.one_table import OneTable, names_of, table_of
from halfseen.tables.studies import Studies
from halfseen.tables.united import spans, tables_of, united

Kinds = Callable[[Sequence[str]], dict[str, str]]
"""The kinds that columns are declared to be, of those that the files have."""

MOST_LOOKS = 64
_LOOKS: OrderedDict[tuple[Format, Path, Stamp, Gaps], Look] = OrderedDict()
"""What was seen in the files that were opened last: commands open the same one several times."""


def open_files(
    given: Files, kinds: Kinds | None = None, coding: Coding | None = None
) -> FileSource:
    """The rows of a file, of all files of one kind in a folder, or of several tables together.

    With ``kinds``, which says what columns are declared to be, words become codes; with a
    ``coding`` that is known already they become its codes.
    """
    _check(given)
    try:
        return _opened(given, _tables(given), kinds, coding)
    except ModuleNotFoundError as missing:
        if "pip install" in str(missing):
            raise
        raise ModuleNotFoundError(
            "Reading files needs pyarrow. Install it with: pip install 'halfseen[io]'"
        ) from missing


def as_they_are(given: Files) -> FileSource:
    """The files with no column read as numbers, for whoever asks for cells as they are."""
    files = tuple(file for table in _tables(given) for file in table.files)
    return FileSource(files, (), True, Gaps(tuple(given.missing_values)))


def names_in(given: Files) -> tuple[str, ...]:
    """All columns of a file, or of the first of several; of several tables, those of any."""
    return tuple(dict.fromkeys(name for table in _tables(given) for name in table.names))


def _tables(given: Files) -> tuple[OneTable, ...]:
    """The tables that are given, and the files of each."""
    return tables_of(given) if isinstance(given, Studies) else (table_of(given),)


def _opened(
    given: Files, tables: tuple[OneTable, ...], kinds: Kinds | None, coding: Coding | None
) -> FileSource:
    named = all(table.named for table in tables)
    asked = _asked(given, tables)
    for table in tables:
        _check_table(given, table, asked)
    if coding is not None:
        asked = _fitted(given, tables, asked, coding)
    gaps_among(given.gap_codes, names_of(tables))  # which refuses what no table has
    zero = _absent_as_zero(given, tables, asked)
    seen = [_seen(table, asked, given) for table in tables]
    what = {
        name: united([one.columns[name] for one in seen if name in one.columns]) for name in asked
    }
    columns = _columns(what, given, named, names_of(tables), kinds, coding)
    columns = {name: _told_of_zeros(one, name in zero) for name, one in columns.items()}
    file = tables[0].files[0].path.name if tables[0].only else given.name
    if not isinstance(given.absent_as_zero, bool):
        _check_numbers(file, columns, zero)
    if _chosen(given) or coding is not None:
        worded = kinds is not None or (coding is not None and bool(coding.worded.any()))
        _check_usable(file, columns, words=worded)
    used = tuple(name for name, one in columns.items() if one.fate.used or coding is not None)
    if not used:
        held = "numbers" if kinds is None else "numbers or categories"
        raise DataError(
            f"No column of {held} is left in {given.name}. Give a table that holds some."
        )
    found = coding_of(used, columns) if coding is None and kinds is not None else coding
    files = [_read_as(one, used, columns, zero, given.dates) for one in seen]
    source = FileSource(
        files=tuple(file for some in files for file in some),
        names=used,
        # Some of many columns without names are known by their numbers.
        named=named or used != tables[0].names,
        gaps=files[0][0].gaps,
        columns=tuple(one.fate.column(name) for name, one in columns.items()),
        coding=found,
        maybe_new=() if coding is None else _maybe_new(columns, what),
        tables=spans(given, files) if isinstance(given, Studies) else (),
    )
    return joined(given, source) if isinstance(given, Studies) and given.on else source


class _TableSeen(NamedTuple):
    """What was seen of a table."""

    files: tuple[OneFile, ...]  # with as many rows as were seen
    gaps: Gaps
    columns: dict[str, Seen]


def _seen(table: OneTable, asked: tuple[str, ...], given: Files) -> _TableSeen:
    own, codes = tuple(name for name in asked if name in set(table.names)), given.gap_codes
    known = (code for code in codes if table.only or column_of(code) in (None, *table.names))
    gaps = replace(
        gaps_among((*table.gap_codes, *known), table.names),
        decimal=given.decimal,
        dates=given.dates is not None,
    )
    looks = [_look(file, own, gaps) for file in table.files]
    stored = [{field.name: field.stored for field in file.header.fields} for file in table.files]
    cells = {
        name: [_cells(of, look, name) for of, look in zip(stored, looks, strict=True)]
        for name in own
    }
    others = _others(table.files, gaps.dates)
    seen = {
        name: Seen(_total(some), others.get(name), _number_rows(some))
        for name, some in cells.items()
    }
    files = tuple(f._replace(n_rows=k.n_rows) for f, k in zip(table.files, looks, strict=True))
    return _TableSeen(files, gaps, _with_the_commas_of_others(seen))


def _read_as(
    seen: _TableSeen,
    used: tuple[str, ...],
    columns: dict[str, Coded],
    zero: frozenset[str],
    origin: str | None,
) -> tuple[OneFile, ...]:
    """The files of a table, with how each column that is used is written in them."""
    own = {
        name: _written(columns[name], seen.columns[name].cells, name in zero, origin)
        for name in used
        if name in seen.columns
    }
    gaps = replace(seen.gaps, with_none=tuple(n for n in used if NONE in columns[n].labels))
    return tuple(file._replace(written=own, gaps=gaps) for file in seen.files)


def _with_the_commas_of_others(seen: dict[str, Seen]) -> dict[str, Seen]:
    """Columns such as 1,234 and 5,678 have decimal commas where other columns have them."""
    decimal = (Writing.DECIMAL_COMMAS, Writing.DOTS_AND_COMMAS)
    if not any(one.cells.writing in decimal for one in seen.values()):
        return seen
    return {
        name: replace(one, cells=replace(one.cells, thousands=one.cells.plain))
        if one.cells.either_comma
        else one
        for name, one in seen.items()
    }


def _columns(
    seen: dict[str, Seen],
    given: Files,
    named: bool,
    names: tuple[str, ...],
    kinds: Kinds | None,
    coding: Coding | None,
) -> dict[str, Coded]:
    """What becomes of each column."""
    if coding is not None:
        return _by(coding, seen, given)
    named = named and not _chosen(given)
    if kinds is None:
        return {name: _plain(name, one, given, named) for name, one in seen.items()}
    declared = kinds(names)
    return {
        name: _dated(one, given, declared.get(name))
        or coded(name, one, declared.get(name), named=named, quoting=given.show_text)
        for name, one in seen.items()
    }


def _dated(seen: Seen, given: Files, declared: str | None = None) -> Coded | None:
    """What becomes of a column of dates, where they are to be numbers; None if it is none."""
    orders = seen.cells.orders
    if given.dates is None or not orders or declared not in (None, *OF_NUMBERS):
        return None
    if len(orders) > 1:
        return Coded(Fate("ignored", False, EITHER_ORDER))
    kind = cast("Kind", declared or "continuous")
    return Coded(Fate(kind, True, days_since(given.dates, seen.cells)), dates=next(iter(orders)))


def _told_of_zeros(one: Coded, zero: bool) -> Coded:
    """A column of numbers with what is told of its gaps, if they are zeros."""
    if not (zero and one.fate.used and not one.labels):
        return one
    return one._replace(fate=one.fate._replace(reason=both(one.fate.reason, ABSENT_AS_ZERO)))


def _check_numbers(file: str, columns: dict[str, Coded], zero: frozenset[str]) -> None:
    """Refuse zeros for gaps where there are words."""
    wrong = [name for name in columns if name in zero and columns[name].labels]
    if wrong:
        raise DataError(
            f"absent_as_zero names {_listed(wrong)} of {file}, which "
            f"{'holds' if len(wrong) == 1 else 'hold'} words: a gap among them is no zero. Leave "
            "it out there."
        )


def _plain(name: str, seen: Seen, given: Files, named: bool) -> Coded:
    """What becomes of a column for models that take numbers only."""
    dated = _dated(seen, given)
    if dated is not None:
        return dated
    if seen.other:
        return Coded(Fate("ignored", False, holding(seen.other)))
    numbers = None
    if named:
        numbers = NUMBERS_ROWS if seen.numbers_rows else identifies(name, seen.cells)
    fate = fate_of(seen.cells, numbers, given.show_text)
    return Coded(fate, writing=seen.cells.writing or Writing.PLAIN)


def _by(coding: Coding, seen: dict[str, Seen], given: Files) -> dict[str, Coded]:
    """The columns by what they were in a fit; numbers must be numbers still."""
    found = {}
    for name, kind, labels in zip(seen, coding.kinds, coding.labels, strict=True):
        one = seen[name]
        fate = Fate(cast("Kind", kind), kind not in LEFT_OUT)
        dated = _dated(one, given) if fate.used and not labels else None
        if dated is not None:
            found[name] = dated
            continue
        if fate.used and not labels and one.other:
            fate = Fate("ignored", False, holding(one.other))
        elif fate.used and not labels and one.cells.writing is None and one.cells.n_values:
            fate = fate_of(one.cells, None)  # words, and not only such as stand for gaps
        found[name] = Coded(fate, labels, one.cells.writing or Writing.PLAIN)
    return found


def _maybe_new(columns: dict[str, Coded], seen: dict[str, Seen]) -> tuple[str, ...]:
    """Columns whose cells the look did not show to be labels, one and all."""
    words = {name: seen[name].cells.categories for name, one in columns.items() if one.labels}
    return tuple(
        name for name, some in words.items() if some is None or not some <= {*columns[name].labels}
    )


def _fitted(
    given: Files, tables: tuple[OneTable, ...], asked: tuple[str, ...], coding: Coding
) -> tuple[str, ...]:
    """The columns that a model was fitted to; those that were asked for must be them."""
    if given.columns is None and given.preprocessing is None:
        for table in tables:
            for file in table.files if table.only else ():
                check_columns(file, coding.names)
        return coding.names
    if len(asked) != len(coding.names) or (given.preprocessing is None and asked != coding.names):
        raise ValueError(
            f"X has other columns than the model was learned from ({len(asked)}, not "
            f"{len(coding.names)}, or other names). Give the same X."
        )
    return asked


def _chosen(given: Files) -> bool:
    """Whether the columns were asked for, and so must hold numbers."""
    return given.columns is not None or given.preprocessing is not None


def _check(given: Files) -> None:
    if isinstance(given.columns, str):
        raise ValueError(
            f"The 'columns' of Files must be a list of names. Got {given.columns!r} instead: write "
            f"[{given.columns!r}]."
        )
    if isinstance(given.drop, str):
        raise ValueError(
            f"The 'drop' of Files must be a list of names. Got {given.drop!r} instead: write "
            f"[{given.drop!r}]."
        )
    if isinstance(given.missing_values, str):
        raise ValueError(
            "The 'missing_values' of Files must be a list of cells. Got "
            f"{given.missing_values!r} instead: write [{given.missing_values!r}]."
        )
    if isinstance(given.absent_as_zero, str):
        raise ValueError(
            "The 'absent_as_zero' of Files must be a list of names, or True for all columns. Got "
            f"{given.absent_as_zero!r} instead: write [{given.absent_as_zero!r}]."
        )
    if given.decimal not in (None, ",", "."):
        raise ValueError(f"decimal={given.decimal!r} is neither ',' nor '.'. Give one of them.")
    if given.dates is not None:
        day_of(given.dates)  # which refuses what is no day
    if not given.memory > 0:
        raise ValueError(
            f"The 'memory' of Files must be a number of MB above zero. Got {given.memory!r} "
            "instead."
        )


def _asked(given: Files, tables: tuple[OneTable, ...]) -> tuple[str, ...]:
    """The columns that are asked for, or all."""
    if given.columns is None and given.preprocessing is not None:
        return given.preprocessing.columns
    dropped = _dropped(given, tables)
    if given.columns is None:
        aside = {*dropped, *(name for table in tables for name in table.files[0].header.aside)}
        return tuple(name for name in names_of(tables) if name not in {*aside, *_keys(given)})
    names = tuple(name for name in map(str, given.columns) if name not in dropped)
    twice = _repeated(names)
    if twice:
        raise ValueError(f"The 'columns' of Files name {_listed(twice)} twice. Name each once.")
    if given.preprocessing is not None and given.preprocessing.columns != names:
        raise ValueError("The 'columns' of Files must be those of its 'preprocessing'.")
    return names


def _absent_as_zero(
    given: Files, tables: tuple[OneTable, ...], asked: tuple[str, ...]
) -> frozenset[str]:
    """The columns in which a gap means nought, which some table must have."""
    if isinstance(given.absent_as_zero, bool):
        return frozenset(asked if given.absent_as_zero else ())
    named, known = frozenset(map(str, given.absent_as_zero)), names_of(tables)
    unknown = sorted(named - set(known))
    if unknown:
        raise DataError(
            f"absent_as_zero names {_listed(unknown)}, which {given.name} does not have. It has "
            f"{quoted(known, range(len(known)), 12)}."
        )
    return named


def _dropped(given: Files, tables: tuple[OneTable, ...]) -> set[str]:
    """The columns that nobody wants to see, which the files must have."""
    known = names_of(tables)
    dropped = set(map(str, given.drop))
    unknown = sorted(dropped - set(known))
    if unknown:
        raise DataError(
            f"{tables[0].files[0].path.name if tables[0].only else given.name} has no column "
            f"{_listed(unknown)} to drop. It has {_listed(known)}."
        )
    return dropped


def _keys(given: Files) -> tuple[str, ...]:
    """The column by which rows are joined, which is no feature."""
    return (given.on,) if isinstance(given, Studies) and given.on else ()


def _check_table(given: Files, table: OneTable, asked: tuple[str, ...]) -> None:
    """Whether all files of a table have its columns, each once."""
    own = asked if table.only else tuple(name for name in asked if name in set(table.names))
    if not own and not table.only:
        return  # a table of nothing but gaps, to a model that is asked about it
    for file in table.files:
        check_columns(file, own)
        if given.columns is None:
            _check_same(file, table.files[0], (*own, *map(str, given.drop), *_keys(given)))


def check_columns(file: OneFile, names: tuple[str, ...]) -> None:
    """Whether the file has the columns, each once."""
    if not names:
        raise DataError(f"{file.path.name} has no columns to learn from. Give a table with some.")
    known = file.header.names
    unknown = sorted(set(names) - set(known), key=names.index)
    if unknown:
        raise DataError(
            f"{file.path.name} has no column {_listed(unknown)}. It has {_listed(known)}."
        )
    twice = [name for name in _repeated(known) if name in set(names)]
    if twice:
        raise DataError(
            f"{file.path.name} has several columns named {_listed(twice)}. Give each its own name."
        )


def _check_same(file: OneFile, first: OneFile, names: tuple[str, ...]) -> None:
    """Whether the file has no columns that the first one lacks."""
    known = {*names, *file.header.aside}
    new = [name for name in file.header.names if name not in known]
    if new:
        raise DataError(
            f"{file.path.name} has other columns than {first.path.name}: {_listed(new)}. Files of "
            "one table need the same columns, or a choice with Files(path, columns=...)."
        )


def _look(file: OneFile, names: tuple[str, ...], gaps: Gaps) -> Look:
    """A look through a file, once for all that is asked of it as long as it does not change."""
    wanted, format = set(names), file.format
    stored = tuple(
        field.stored
        for field in file.header.fields
        if field.name in wanted and (field.other is None or (field.dated and gaps.dates))
    )
    if file.stamp is None:  # in memory, which is not to be kept for it
        return format.look(file.path, file.header, stored, gaps)
    key = (format, file.path.absolute(), file.stamp, gaps)
    known = _LOOKS.pop(key, Look(None, {}))
    new = tuple(name for name in stored if name not in known.cells)
    if new:
        found = format.look(file.path, file.header, new, gaps)
        n_rows = known.n_rows if found.n_rows is None else found.n_rows
        known = Look(n_rows, known.cells | found.cells)
    _LOOKS[key] = known
    while len(_LOOKS) > MOST_LOOKS:
        _LOOKS.popitem(last=False)
    return known


def _cells(stored: Mapping[str, str], look: Look, name: str) -> CellSums:
    return look.cells.get(stored[name], CellSums())


def _others(files: tuple[OneFile, ...], dates: bool) -> dict[str, str]:
    """What columns hold, by name, that hold neither numbers nor text; the first file decides.

    With ``dates`` days are numbers.
    """
    fields = (field for file in reversed(files) for field in file.header.fields)
    others = (field for field in fields if not (field.dated and dates))
    return {field.name: field.other for field in others if field.other is not None}


def _total(cells: list[CellSums]) -> CellSums:
    return sum(cells[1:], start=cells[0])


def _number_rows(cells: list[CellSums]) -> bool:
    """Whether a column numbers the rows: of each file, or of all as one."""
    with_rows = [sums.run for sums in cells if sums.n_rows]
    return bool(with_rows) and (
        all(run.numbers_rows for run in with_rows) or _total(cells).run.numbers_rows
    )


def _check_usable(file: str, columns: dict[str, Coded], *, words: bool) -> None:
    """Refuse columns that were asked for and hold nothing that can be used."""
    wrong = [name for name, one in columns.items() if not one.fate.used and one.fate.reason]
    if not wrong:
        return
    why = columns[wrong[0]].fate.reason
    reason = "" if why is None else why.alone
    if len(wrong) > 1:
        reason = f"of '{wrong[0]}', {reason}"
    raise DataError(
        f"Column{'s' * (len(wrong) > 1)} {_listed(wrong)} of {file} cannot be read as "
        f"numbers{' or categories' * words}: {reason}. Leave out columns of text and dates with "
        "Files(path, columns=...), or code them as numbers."
    )


def _written(one: Coded, cells: CellSums, zero: bool, origin: str | None) -> Written:
    if one.labels or not one.fate.used:
        return Written("", as_they_stand=False, labels=one.labels)
    dates = None
    if one.dates is not None and origin is not None:
        dates = Dates(one.dates, day_of(origin))
    stands = cells.as_they_stand and dates is None
    writing = cells.writing or Writing.PLAIN
    return Written("", writing, stands, dates=dates, absent_as_zero=zero)


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def _listed(names: Sequence[str]) -> str:
    return quoted(names, range(len(names)))
