"""Input files of a command: options to ``Files``, and ``Files`` back to options."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from glob import has_magic
from pathlib import Path
from shlex import quote
from typing import Any

from halfseen.cli.options import (
    TableOptions,
    format_names,
    parse_every_or_names,
    parse_names,
)
from halfseen.data.formatting import quoted
from halfseen.io.files import CELL_OPTIONS, STANDARD_INPUT, Files, is_address
from halfseen.io.open_files import names_in
from halfseen.io.open_source import open_source
from halfseen.io.sparse_matrix import is_sparse_file
from halfseen.io.studies import together
from halfseen.io.text import Text

PARAMETERS_OF_FILES = ("dates", "decimal", "encoding", "header", "skip", "table", "vocabulary")
"""Options that are parameters of ``Files`` under the same name."""
REPEATED = ("encoding", "skip", "table", "decimal")
"""Options without which the files would be read in another way, by the name of the parameter."""


def files_of(data: Sequence[str], table: TableOptions, adjust: str | None = None) -> Files:
    """Files from names, patterns, connection strings or ``-``.

    Several are tables that are put together.
    """
    for path in data:
        elsewhere = path == STANDARD_INPUT or is_address(path) or has_magic(path)
        if not elsewhere and not Path(path).exists():
            raise ValueError(f"{path} does not exist. Check its name and folder.")
    paths = [path if is_address(path) else Path(path) for path in data]
    missing_values = tuple(parse_names(table.missing_values))
    reading: dict[str, Any] = {name: getattr(table, name) for name in PARAMETERS_OF_FILES}
    reading["absent_as_zero"] = parse_every_or_names(table.absent_as_zero)
    if table.text is not None:
        reading["text"] = Text(table.text, table.stop_words.value, table.min_rows)
    combined = table.rename or table.unit or table.on or adjust
    # Files of arrays or of text to count are parts of one table: no names unite their columns.
    arrays = all(str(path).lower().endswith((".npy", ".npz")) for path in paths)
    one_table = len(paths) == 1 or arrays or table.text is not None or table.vocabulary is not None
    if not combined and one_table:
        one = paths[0] if len(paths) == 1 else paths
        return Files(one, missing_values=missing_values, **reading)
    tables = [Files(path, **reading) for path in paths]
    called = together(*tables).called
    studies = together(
        *tables,
        rename=_parsed_renames(table.rename or (), called),
        units=_parsed_units(table.unit or (), called),
        on=table.on,
        adjust=adjust,
    )
    of_cells = {name: reading[name] for name in CELL_OPTIONS}
    return replace(studies, missing_values=missing_values, **of_cells)


def _parsed_renames(given: Sequence[str], called: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in given:
        where, column, new = _parsed_equation("--rename", text, called, "hr=pulse")
        if where is None:
            found[column] = new
        else:
            found.setdefault(where, {})[column] = new
    return found


def _parsed_units(given: Sequence[str], called: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for text in given:
        where, column, by = _parsed_equation("--unit", text, called, "b.csv:glucose=18.016")
        try:
            numbers = tuple(float(one) for one in by.split(","))
        except ValueError:
            numbers = ()
        if where is None or len(numbers) not in (1, 2):
            raise ValueError(
                f"--unit must say of a column of a table what to multiply it by: "
                f"b.csv:glucose=18.016. Got {text!r} instead."
            )
        found.setdefault(where, {})[column] = (*numbers, 0.0)[:2]
    return found


def _parsed_equation(
    option: str, text: str, called: tuple[str, ...], example: str
) -> tuple[str | None, str, str]:
    """The table, if named, the column, and its value."""
    before, mark, after = text.partition("=")
    if not (mark and before.strip() and after.strip()):
        raise ValueError(f"{option} must be like {example}. Got {text!r} instead.")
    where = next((name for name in called if before.startswith(f"{name}:")), None)
    column = before if where is None else before[len(where) + 1 :]
    return where, column.strip(), after.strip()


def local_paths(files: Files) -> list[Path]:
    """The local input files, which must not be overwritten."""
    names = (str(path) for path in files.paths)
    return [Path(name) for name in names if name != STANDARD_INPUT and not is_address(name)]


def as_arguments(files: Files, *, learning: bool = False) -> str:
    """Command-line arguments that read the same files in the same way.

    What a model keeps has to be repeated only for ``learning`` one.

    >>> as_arguments(Files("my table.xlsx", table="Ward 3", header=False))
    "'my table.xlsx' --table 'Ward 3' --no-header"
    """
    words = [quote(str(path)) for path in files.paths]
    one: Any = files if files.studies is None else files.studies.tables[0]
    for name in REPEATED:
        value = getattr(one, name)
        words += [] if value is None else [f"--{name} {quote(str(value))}"]
    if one.header is not None:
        words.append("--header" if one.header else "--no-header")
    if files.dates and learning:
        words.append(f"--dates {quote(files.dates)}")
    if files.absent_as_zero and learning:
        zero = ["*"] if isinstance(files.absent_as_zero, bool) else files.absent_as_zero
        words.append(f"--absent-as-zero {format_names(list(map(str, zero)))}")
    if isinstance(one.vocabulary, str | Path):
        words.append(f"--vocabulary {quote(str(one.vocabulary))}")
    studies = files.studies
    if studies is None:
        return " ".join(words)
    for table, names in studies.rename.items():
        where = f"{table}:" if table else ""
        words += [f"--rename {quote(f'{where}{old}={new}')}" for old, new in names.items()]
    for table, units in studies.units.items():
        for column, (factor, shift) in units.items():
            more = f",{shift:.15g}" if shift else ""
            words.append(f"--unit {quote(f'{table}:{column}={factor:.15g}{more}')}")
    return " ".join(words if studies.on is None else [*words, f"--on {quote(studies.on)}"])


def all_names(files: Files) -> tuple[str, ...]:
    """All columns of the files."""
    return open_source(files).all_names if is_sparse_file(files.single) else names_in(files)


def check_known(names: Sequence[str], known: Sequence[str], file: str, option: str) -> None:
    """Refuse unknown column names."""
    every = set(known)
    unknown = [name for name in names if name not in every]
    if unknown:
        close = get_close_matches(unknown[0], known, n=1)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        raise ValueError(
            f"{option} names {quoted(unknown)}, but {file} has {quoted(known, most=12)}.{hint}"
        )


def check_columns(files: Files, **names: Sequence[str]) -> None:
    """Refuse column names of an option that the files do not have."""
    if any(names.values()):
        known = all_names(files)
        for option, given in names.items():
            check_known(given, known, files.name, f"--{option}")


def check_named(named: bool, file: str, option: str) -> None:
    """Refuse column names for files without names."""
    if not named:
        raise ValueError(f"The columns of {file} have no names. Leave {option} out.")
