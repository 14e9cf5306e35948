"""Opening files: which they are, which columns they have, and how each is written."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa

from halfseen.data.arrays import Array
from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.data.messages import parameter, setting
from halfseen.io.cells.cell_sums import CellSums
from halfseen.io.cells.dates import Dates, day_of
from halfseen.io.cells.missing_values import NONE, MissingCodes, column_of, missing_codes_among
from halfseen.io.cells.number_formats import NumberFormat, is_text, trim_and_null
from halfseen.io.coding import UNUSED_KINDS, Coding, holds_words
from halfseen.io.columns import (
    ABSENT_AS_ZERO,
    EITHER_ORDER,
    ColumnUse,
    Kind,
    column_use,
    days_since,
    holds,
    join_reasons,
)
from halfseen.io.combine import combine_evidence, join_by_key, open_studies, table_spans
from halfseen.io.file_source import ROWS_A_BATCH, FileSource, FileStamp, TableFile
from halfseen.io.files import Files, FileTable, all_column_names, open_file_table
from halfseen.io.formats.format import ColumnFormat, FileEvidence, Format
from halfseen.io.kind_inference import (
    NUMBERS_ROWS,
    ColumnEvidence,
    InferredColumn,
    coding_of,
    identifier_reason,
    infer_column,
)

Kinds = Callable[[Sequence[str]], dict[str, str]]
"""The kinds that columns are declared to be, of those that the files have."""

CHOOSE_COLUMNS = parameter("columns", "Files(path, columns=...)")
MAX_CACHED_LOOKS = 64
_LOOKS: OrderedDict[tuple[Format, Path, FileStamp, MissingCodes], FileEvidence] = OrderedDict()
"""What was seen in the files that were opened last: commands open the same one several times."""


def open_files(
    given: Files, kinds: Kinds | None = None, coding: Coding | None = None
) -> FileSource:
    """The rows of a file, of all files of one kind in a folder, or of several tables together.

    With ``kinds``, which says what columns are declared to be, words become codes; with a
    ``coding`` that is known already they become its codes.
    """
    _check(given)
    return _opened(given, _tables(given), kinds, coding)


def open_raw(given: Files) -> FileSource:
    """The files without conversion of any column to numbers."""
    files = tuple(file for table in _tables(given) for file in table.files)
    return FileSource(files, (), True, MissingCodes(tuple(given.missing_values)))


def names_in(given: Files) -> tuple[str, ...]:
    """The names of all columns of the files."""
    return tuple(dict.fromkeys(name for table in _tables(given) for name in table.names))


def _tables(given: Files) -> tuple[FileTable, ...]:
    return (open_file_table(given),) if given.studies is None else open_studies(given.studies)


def _opened(
    given: Files, tables: tuple[FileTable, ...], kinds: Kinds | None, coding: Coding | None
) -> FileSource:
    named = all(table.named for table in tables)
    asked = _asked_columns(given, tables)
    for table in tables:
        _check_table(given, table, asked)
    if coding is not None:
        asked = _fitted_columns(given, tables, asked, coding)
    missing_codes_among(
        given.gap_codes, all_column_names(tables)
    )  # which refuses what no table has
    zero = _absent_as_zero(given, tables, asked)
    seen = [_seen(table, asked, given) for table in tables]
    what = {
        name: combine_evidence([one.columns[name] for one in seen if name in one.columns])
        for name in asked
    }
    columns = _columns(what, given, named, all_column_names(tables), kinds, coding)
    columns = {name: _with_note_on_zeros(one, name in zero) for name, one in columns.items()}
    file = tables[0].files[0].path.name if tables[0].only else given.name
    if not isinstance(given.absent_as_zero, bool):
        _check_numbers(file, columns, zero)
    if _columns_were_chosen(given) or coding is not None:
        worded = kinds is not None or (coding is not None and bool(coding.worded.any()))
        _check_usable(file, columns, words=worded)
    used = tuple(name for name, one in columns.items() if one.use.used or coding is not None)
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
        columns=tuple(one.use.column(name) for name, one in columns.items()),
        coding=found,
        maybe_new=() if coding is None else _maybe_new(columns, what),
        tables=() if given.studies is None else table_spans(given.studies, files),
    )
    studies = given.studies
    return source if studies is None or not studies.on else join_by_key(studies, source)


class _TableSeen(NamedTuple):
    files: tuple[TableFile, ...]  # with as many rows as were seen
    gaps: MissingCodes
    columns: dict[str, ColumnEvidence]


def _seen(table: FileTable, asked: tuple[str, ...], given: Files) -> _TableSeen:
    own, codes = tuple(name for name in asked if name in set(table.names)), given.gap_codes
    known = (code for code in codes if table.only or column_of(code) in (None, *table.names))
    gaps = replace(
        missing_codes_among((*table.gap_codes, *known), table.names),
        decimal=given.decimal,
        dates=given.dates is not None,
    )
    looks = [_look(file, own, gaps) for file in table.files]
    stored = [{field.name: field.stored for field in file.header.fields} for file in table.files]
    cells = {
        name: [_cells(of, look, name) for of, look in zip(stored, looks, strict=True)]
        for name in own
    }
    others = _other_contents(table.files, gaps.dates)
    seen = {
        name: ColumnEvidence(_total(some), others.get(name), _number_rows(some))
        for name, some in cells.items()
    }
    files = tuple(f._replace(n_rows=k.n_rows) for f, k in zip(table.files, looks, strict=True))
    return _TableSeen(files, gaps, _with_decimal_commas(seen))


def _read_as(
    seen: _TableSeen,
    used: tuple[str, ...],
    columns: dict[str, InferredColumn],
    zero: frozenset[str],
    origin: str | None,
) -> tuple[TableFile, ...]:
    """The files of a table, with the format of each used column."""
    own = {
        name: _column_format(columns[name], seen.columns[name].cells, name in zero, origin)
        for name in used
        if name in seen.columns
    }
    gaps = replace(seen.gaps, with_none=tuple(n for n in used if NONE in columns[n].labels))
    return tuple(file._replace(written=own, gaps=gaps) for file in seen.files)


def _with_decimal_commas(seen: dict[str, ColumnEvidence]) -> dict[str, ColumnEvidence]:
    """Columns such as 1,234 and 5,678 have decimal commas where other columns have them."""
    decimal = (NumberFormat.DECIMAL_COMMAS, NumberFormat.DOTS_AND_COMMAS)
    if not any(one.cells.writing in decimal for one in seen.values()):
        return seen
    return {
        name: replace(one, cells=replace(one.cells, thousands=one.cells.plain))
        if one.cells.either_comma
        else one
        for name, one in seen.items()
    }


def _columns(
    seen: dict[str, ColumnEvidence],
    given: Files,
    named: bool,
    names: tuple[str, ...],
    kinds: Kinds | None,
    coding: Coding | None,
) -> dict[str, InferredColumn]:
    if coding is not None:
        return _as_in_fit(coding, seen, given)
    named = named and not _columns_were_chosen(given)
    if kinds is None:
        return {name: _number_or_unused(name, one, given, named) for name, one in seen.items()}
    declared = kinds(names)
    return {
        name: _dated(one, given, declared.get(name))
        or infer_column(name, one, declared.get(name), named=named, quoting=given.show_text)
        for name, one in seen.items()
    }


def _dated(
    seen: ColumnEvidence, given: Files, declared: str | None = None
) -> InferredColumn | None:
    orders = seen.cells.orders
    if given.dates is None or not orders or declared in UNUSED_KINDS or holds_words(declared or ""):
        return None
    if len(orders) > 1:
        return InferredColumn(ColumnUse("ignored", False, EITHER_ORDER))
    kind = cast("Kind", declared or "continuous")
    return InferredColumn(
        ColumnUse(kind, True, days_since(given.dates, seen.cells)), dates=next(iter(orders))
    )


def _with_note_on_zeros(one: InferredColumn, zero: bool) -> InferredColumn:
    if not (zero and one.use.used and not one.labels):
        return one
    return one._replace(use=one.use._replace(reason=join_reasons(one.use.reason, ABSENT_AS_ZERO)))


def _check_numbers(file: str, columns: dict[str, InferredColumn], zero: frozenset[str]) -> None:
    wrong = [name for name in columns if name in zero and columns[name].labels]
    if wrong:
        raise DataError(
            parameter("absent_as_zero") + f" names {quoted(wrong)} of {file}, which "
            f"{'holds' if len(wrong) == 1 else 'hold'} words: a gap among them is no zero. Leave "
            "it out there."
        )


def _number_or_unused(name: str, seen: ColumnEvidence, given: Files, named: bool) -> InferredColumn:
    dated = _dated(seen, given)
    if dated is not None:
        return dated
    if seen.other:
        return InferredColumn(ColumnUse("ignored", False, holds(seen.other)))
    numbers = None
    if named:
        numbers = NUMBERS_ROWS if seen.numbers_rows else identifier_reason(name, seen.cells)
    use = column_use(seen.cells, numbers, given.show_text)
    return InferredColumn(use, writing=seen.cells.writing or NumberFormat.PLAIN)


def _as_in_fit(
    coding: Coding, seen: dict[str, ColumnEvidence], given: Files
) -> dict[str, InferredColumn]:
    """The columns with the types of the fit."""
    found = {}
    for name, kind, labels in zip(seen, coding.kinds, coding.labels, strict=True):
        one = seen[name]
        use = ColumnUse(cast("Kind", kind), kind not in UNUSED_KINDS)
        dated = _dated(one, given) if use.used and not labels else None
        if dated is not None:
            found[name] = dated
            continue
        if use.used and not labels and one.other:
            use = ColumnUse("ignored", False, holds(one.other))
        elif use.used and not labels and one.cells.writing is None and one.cells.n_values:
            use = column_use(one.cells, None)  # words, and not only such as stand for gaps
        found[name] = InferredColumn(use, labels, one.cells.writing or NumberFormat.PLAIN)
    return found


def _maybe_new(
    columns: dict[str, InferredColumn], seen: dict[str, ColumnEvidence]
) -> tuple[str, ...]:
    """Columns that may hold unseen words."""
    words = {name: seen[name].cells.categories for name, one in columns.items() if one.labels}
    return tuple(
        name for name, some in words.items() if some is None or not some <= {*columns[name].labels}
    )


def _fitted_columns(
    given: Files, tables: tuple[FileTable, ...], asked: tuple[str, ...], coding: Coding
) -> tuple[str, ...]:
    """The columns of the fit; others are refused."""
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


def _columns_were_chosen(given: Files) -> bool:
    return given.columns is not None or given.preprocessing is not None


_LISTS = {
    "columns": "a list of names",
    "drop": "a list of names",
    "missing_values": "a list of cells",
    "absent_as_zero": "a list of names, or True for all columns",
}
"""What of Files is a list, for whoever gives one name alone."""


def _check(given: Files) -> None:
    for name, what in _LISTS.items():
        value = getattr(given, name)
        if isinstance(value, str):
            raise ValueError(
                f"The '{name}' of Files must be {what}. Got {value!r} instead: write [{value!r}]."
            )
    if given.decimal not in (None, ",", "."):
        raise ValueError(
            setting(decimal=given.decimal) + " is neither ',' nor '.'. Give one of them."
        )
    if given.dates is not None:
        day_of(given.dates)  # which refuses what is no day
    if not given.memory > 0:
        raise ValueError(
            f"The 'memory' of Files must be a number of MB above zero. Got {given.memory!r} "
            "instead."
        )


def _asked_columns(given: Files, tables: tuple[FileTable, ...]) -> tuple[str, ...]:
    if given.columns is None and given.preprocessing is not None:
        return given.preprocessing.columns
    dropped = _dropped(given, tables)
    if given.columns is None:
        aside = {*dropped, *(name for table in tables for name in table.files[0].header.aside)}
        return tuple(
            name for name in all_column_names(tables) if name not in {*aside, *_keys(given)}
        )
    names = tuple(name for name in map(str, given.columns) if name not in dropped)
    twice = _repeated(names)
    if twice:
        raise ValueError(f"The 'columns' of Files name {quoted(twice)} twice. Name each once.")
    if given.preprocessing is not None and given.preprocessing.columns != names:
        raise ValueError("The 'columns' of Files must be those of its 'preprocessing'.")
    return names


def _absent_as_zero(
    given: Files, tables: tuple[FileTable, ...], asked: tuple[str, ...]
) -> frozenset[str]:
    if isinstance(given.absent_as_zero, bool):
        return frozenset(asked if given.absent_as_zero else ())
    named, known = frozenset(map(str, given.absent_as_zero)), all_column_names(tables)
    unknown = sorted(named - set(known))
    if unknown:
        raise DataError(
            parameter("absent_as_zero")
            + f" names {quoted(unknown)}, which {given.name} does not have. It has "
            f"{quoted(known, most=12)}."
        )
    return named


def _dropped(given: Files, tables: tuple[FileTable, ...]) -> set[str]:
    known = all_column_names(tables)
    dropped = set(map(str, given.drop))
    unknown = sorted(dropped - set(known))
    if unknown:
        raise DataError(
            f"{tables[0].files[0].path.name if tables[0].only else given.name} has no column "
            f"{quoted(unknown)} to drop. It has {quoted(known)}."
        )
    return dropped


def _keys(given: Files) -> tuple[str, ...]:
    return (given.studies.on,) if given.studies is not None and given.studies.on else ()


def _check_table(given: Files, table: FileTable, asked: tuple[str, ...]) -> None:
    own = asked if table.only else tuple(name for name in asked if name in set(table.names))
    if not own and not table.only:
        return  # a table of nothing but gaps, to a model that is asked about it
    for file in table.files:
        check_columns(file, own)
        if given.columns is None:
            _check_same(file, table.files[0], (*own, *map(str, given.drop), *_keys(given)))


def check_columns(file: TableFile, names: tuple[str, ...]) -> None:
    """Whether the file has the columns, each once."""
    if not names:
        raise DataError(f"{file.path.name} has no columns to learn from. Give a table with some.")
    known = file.header.names
    unknown = sorted(set(names) - set(known), key=names.index)
    if unknown:
        raise DataError(
            f"{file.path.name} has no column {quoted(unknown)}. It has {quoted(known)}."
        )
    twice = [name for name in _repeated(known) if name in set(names)]
    if twice:
        raise DataError(
            f"{file.path.name} has several columns named {quoted(twice)}. Give each its own name."
        )


def _check_same(file: TableFile, first: TableFile, names: tuple[str, ...]) -> None:
    known = {*names, *file.header.aside}
    new = [name for name in file.header.names if name not in known]
    if new:
        raise DataError(
            f"{file.path.name} has other columns than {first.path.name}: {quoted(new)}. Files of "
            "one table need the same columns, or a choice with " + CHOOSE_COLUMNS + "."
        )


def _look(file: TableFile, names: tuple[str, ...], gaps: MissingCodes) -> FileEvidence:
    """Evidence from a file, cached until the file changes."""
    wanted, format = set(names), file.format
    stored = tuple(
        field.stored
        for field in file.header.fields
        if field.name in wanted and (field.other is None or (field.dated and gaps.dates))
    )
    if file.stamp is None:  # in memory, which is not to be kept for it
        return format.look(file.path, file.header, stored, gaps)
    key = (format, file.path.absolute(), file.stamp, gaps)
    known = _LOOKS.pop(key, FileEvidence(None, {}))
    new = tuple(name for name in stored if name not in known.cells)
    if new:
        found = format.look(file.path, file.header, new, gaps)
        n_rows = known.n_rows if found.n_rows is None else found.n_rows
        known = FileEvidence(n_rows, known.cells | found.cells)
    _LOOKS[key] = known
    while len(_LOOKS) > MAX_CACHED_LOOKS:
        _LOOKS.popitem(last=False)
    return known


def _cells(stored: Mapping[str, str], look: FileEvidence, name: str) -> CellSums:
    return look.cells.get(stored[name], CellSums())


def _other_contents(files: tuple[TableFile, ...], dates: bool) -> dict[str, str]:
    """The content of columns that hold neither numbers nor text, by name.

    With ``dates`` days are numbers.
    """
    fields = (field for file in reversed(files) for field in file.header.fields)
    others = (field for field in fields if not (field.dated and dates))
    return {field.name: field.other for field in others if field.other is not None}


def _total(cells: list[CellSums]) -> CellSums:
    return sum(cells[1:], start=cells[0])


def _number_rows(cells: list[CellSums]) -> bool:
    with_rows = [sums.run for sums in cells if sums.n_rows]
    return bool(with_rows) and (
        all(run.numbers_rows for run in with_rows) or _total(cells).run.numbers_rows
    )


def _check_usable(file: str, columns: dict[str, InferredColumn], *, words: bool) -> None:
    wrong = [name for name, one in columns.items() if not one.use.used and one.use.reason]
    if not wrong:
        return
    why = columns[wrong[0]].use.reason
    reason = "" if why is None else why.alone
    if len(wrong) > 1:
        reason = f"of '{wrong[0]}', " + reason
    raise DataError(
        f"Column{'s' * (len(wrong) > 1)} {quoted(wrong)} of {file} cannot be read as "
        f"numbers{' or categories' * words}: "
        + reason
        + ". Leave out columns of text and dates with "
        + CHOOSE_COLUMNS
        + ", or code them as numbers."
    )


def _column_format(
    one: InferredColumn, cells: CellSums, zero: bool, origin: str | None
) -> ColumnFormat:
    if one.labels or not one.use.used:
        return ColumnFormat("", as_they_stand=False, labels=one.labels)
    dates = None
    if one.dates is not None and origin is not None:
        dates = Dates(one.dates, day_of(origin))
    stands = cells.as_they_stand and dates is None
    writing = cells.writing or NumberFormat.PLAIN
    return ColumnFormat("", writing, stands, dates=dates, absent_as_zero=zero)


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def table_with_labels(files: Files, coding: Coding, table: Array) -> Any:
    """The columns of a fit as an Arrow table with words.

    Words are as the files have them, null where they stand for gaps.
    """
    own = non_numeric_names(coding)
    source = open_files(files, coding=coding)
    batches = map(pa.table, source.batches(own, ROWS_A_BATCH)) if own else ()
    words = pa.concat_tables(batches, promote_options="permissive") if own else None
    cells = {} if words is None else {name: words.column(name) for name in own}
    return numbers_and_labels(coding.names, table, cells, source.gaps)


def non_numeric_names(coding: Coding) -> list[str]:
    """Columns that are not returned as numbers."""
    return [coding.names[place] for place in np.flatnonzero(coding.worded | coding.left_out)]


def numbers_and_labels(
    names: Sequence[str], table: Array, words: Mapping[str, Any], gaps: MissingCodes
) -> Any:
    """An Arrow table of ``table`` (n, d), with columns of ``words``."""
    columns = [
        without_gap_words(words[name], gaps.of(name))
        if name in words
        else np.ascontiguousarray(values)
        for name, values in zip(names, table.T, strict=True)
    ]
    return pa.table(columns, names=list(names))


def without_gap_words(cells: Any, gaps: MissingCodes) -> Any:
    """An Arrow column that is null where text stands for a gap."""
    return trim_and_null(cells, gaps) if is_text(cells.type) else cells
