"""Opening files: which they are, which columns they have, and how each is written."""

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path

from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted
from halfseen.tables.cells.gap_words import Gaps
from halfseen.tables.cells.sums import CellSums
from halfseen.tables.file_source import FileSource, OneFile, Stamp, stamp_of
from halfseen.tables.files import Files
from halfseen.tables.formats import FORMATS
from halfseen.tables.formats.format import Format, Look, Written
from halfseen.tables.identifiers import NUMBERS_ROWS, identifies
from halfseen.tables.kinds import Column, Fate, Reason, fate_of, told
from halfseen.tables.sparse_file import MARKETS

MOST_NAMED = 12
"""Columns of one reason in a warning."""
MOST_LOOKS = 64
_LOOKS: OrderedDict[tuple[Format, Path, Stamp, Gaps], Look] = OrderedDict()
"""What was seen in the files that were opened last: commands open the same one several times."""


def open_files(given: Files) -> FileSource:
    """The rows of a file, or of all files of one kind in a folder."""
    _check(given)
    paths, format = _files_of(Path(given.path))
    try:
        files = tuple(OneFile(path, stamp_of(path), format.header(path)) for path in paths)
        return _opened(given, files, format)
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "Reading files needs pyarrow. Install it with: pip install 'halfseen[io]'"
        ) from missing


def names_in(path: Path) -> tuple[str, ...]:
    """All columns of a file, or of the first file in a folder."""
    paths, format = _files_of(path)
    return format.header(paths[0]).names


def _opened(given: Files, files: tuple[OneFile, ...], format: Format) -> FileSource:
    first = files[0]
    asked = _asked(given, first)
    for file in files:
        _check_columns(file, asked)
        if given.columns is None:
            _check_same(file, first, (*asked, *map(str, given.drop)))
    gaps = Gaps(tuple(given.missing_values))
    looks = [_look(format, file, asked, gaps) for file in files]
    stored = [{field.name: field.stored for field in file.header.fields} for file in files]
    seen = {
        name: [_cells(of, look, name) for of, look in zip(stored, looks, strict=True)]
        for name in asked
    }
    others = _others(files)
    fates = {
        name: _fate(others.get(name), name, seen[name], given, first.header.named) for name in asked
    }
    if _chosen(given):
        _check_numbers(first.path, fates)
    used = tuple(name for name, fate in fates.items() if fate.used)
    if not used:
        raise DataError(
            f"No column of numbers is left in {Path(given.path).name}. Give a table that holds "
            "some."
        )
    return FileSource(
        files=tuple(f._replace(n_rows=k.n_rows) for f, k in zip(files, looks, strict=True)),
        format=format,
        names=used,
        # Some of many columns without names are known by their numbers.
        named=first.header.named or used != first.header.names,
        written=tuple(_written(_total(seen[name])) for name in used),
        gaps=gaps,
        columns=tuple(fate.column(name) for name, fate in fates.items()),
    )


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
    if not given.memory > 0:
        raise ValueError(
            f"The 'memory' of Files must be a number of MB above zero. Got {given.memory!r} "
            "instead."
        )


def _files_of(path: Path) -> tuple[tuple[Path, ...], Format]:
    """The files, sorted by name, and what they all are."""
    if not path.exists():
        raise DataError(f"{path} does not exist.")
    if not path.is_dir() and _ending(path) is None:
        raise ValueError(
            f"{path.name} is of no kind that is known. Files end in "
            f"{', '.join([*FORMATS, *MARKETS])}."
        )
    listed = sorted(filter(_is_visible, path.iterdir())) if path.is_dir() else [path]
    kinds = {file: ending for file in listed if (ending := _ending(file))}
    if not kinds:
        raise DataError(f"{path} holds no file that ends in {', '.join(FORMATS)}.")
    endings = sorted(set(kinds.values()))
    if len(endings) > 1:
        raise DataError(
            f"{path} holds files of several kinds ({', '.join(endings)}). Keep those of one table "
            "in a folder of their own."
        )
    return tuple(kinds), FORMATS[endings[0]]


def _is_visible(file: Path) -> bool:
    return not file.name.startswith((".", "_"))  # as PyArrow has it


def _ending(file: Path) -> str | None:
    return next((ending for ending in FORMATS if file.name.lower().endswith(ending)), None)


def _asked(given: Files, first: OneFile) -> tuple[str, ...]:
    """The columns that are asked for, or all."""
    if given.columns is None and given.preprocessing is not None:
        return given.preprocessing.columns
    dropped = _dropped(given, first)
    if given.columns is None:
        aside = {*first.header.aside, *dropped}
        return tuple(name for name in first.header.names if name not in aside)
    names = tuple(name for name in map(str, given.columns) if name not in dropped)
    twice = _repeated(names)
    if twice:
        raise ValueError(f"The 'columns' of Files name {_listed(twice)} twice. Name each once.")
    if given.preprocessing is not None and given.preprocessing.columns != names:
        raise ValueError("The 'columns' of Files must be those of its 'preprocessing'.")
    return names


def _dropped(given: Files, first: OneFile) -> set[str]:
    """The columns that nobody wants to see, which the files must have."""
    dropped, known = set(map(str, given.drop)), set(first.header.names)
    unknown = sorted(dropped - known)
    if unknown:
        raise DataError(
            f"{first.path.name} has no column {_listed(unknown)} to drop. It has "
            f"{_listed(first.header.names)}."
        )
    return dropped


def _check_columns(file: OneFile, names: tuple[str, ...]) -> None:
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


def _look(format: Format, file: OneFile, names: tuple[str, ...], gaps: Gaps) -> Look:
    """A look through a file, once for all that is asked of it as long as it does not change."""
    wanted = set(names)
    stored = tuple(f.stored for f in file.header.fields if f.name in wanted and f.other is None)
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


def _others(files: tuple[OneFile, ...]) -> dict[str, str]:
    """What columns hold, by name, that hold neither numbers nor text; the first file decides."""
    fields = (field for file in reversed(files) for field in file.header.fields)
    return {field.name: field.other for field in fields if field.other is not None}


def _total(cells: list[CellSums]) -> CellSums:
    return sum(cells[1:], start=cells[0])


def _fate(other: str | None, name: str, cells: list[CellSums], given: Files, named: bool) -> Fate:
    if other:
        return Fate("ignored", False, Reason(f"it holds {other}", f"they hold {other}"))
    if _chosen(given) or not named:
        return fate_of(_total(cells), None, given.show_text)
    numbers = NUMBERS_ROWS if _number_rows(cells) else identifies(name, _total(cells))
    return fate_of(_total(cells), numbers, given.show_text)


def _number_rows(cells: list[CellSums]) -> bool:
    """Whether a column numbers the rows: of each file, or of all as one."""
    with_rows = [sums.run for sums in cells if sums.n_rows]
    return bool(with_rows) and (
        all(run.numbers_rows for run in with_rows) or _total(cells).run.numbers_rows
    )


def _check_numbers(path: Path, fates: dict[str, Fate]) -> None:
    """Refuse columns that were asked for and hold no numbers."""
    wrong = [name for name, fate in fates.items() if not fate.used]
    if not wrong:
        return
    why = fates[wrong[0]].reason
    reason = "" if why is None else why.alone
    if len(wrong) > 1:
        reason = f"of '{wrong[0]}', {reason}"
    raise DataError(
        f"Column{'s' * (len(wrong) > 1)} {_listed(wrong)} of {path.name} cannot be read as "
        f"numbers: {reason}. Leave out columns of text and dates with Files(path, columns=...), or "
        "code them as numbers."
    )


def _written(cells: CellSums) -> Written:
    if cells.writing is None:
        raise AssertionError("a column that is used is written in one way")
    return Written("", cells.writing, cells.as_they_stand)


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def _listed(names: Sequence[str]) -> str:
    return quoted(names, range(len(names)))


def left_aside(columns: Sequence[Column]) -> list[str]:
    """What became of the columns that are not used, one sentence a reason."""
    return told((column for column in columns if not column.used), most=MOST_NAMED)
