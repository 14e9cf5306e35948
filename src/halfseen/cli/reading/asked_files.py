"""Which files a command is to read, and what is said of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from glob import has_magic
from pathlib import Path
from shlex import quote
from typing import Any

from halfseen.cli.options import as_option
from halfseen.io.files import OF_CELLS, STANDARD_INPUT, Files, is_address
from halfseen.io.studies import Studies, together

OPTIONS = {
    "encoding": "--encoding",
    "skip": "--skip",
    "table": "--table",
    "decimal": "--decimal",
}


def asked_files(
    data: Sequence[str],
    missing: Sequence[str] = (),
    *,
    rename: Sequence[str] | None = None,
    unit: Sequence[str] | None = None,
    on: str | None = None,
    adjust: str | None = None,
    **said: Any,
) -> Files:
    """Files by their names, patterns, connection strings, or ``-``, as a command is given them.

    Several are tables that are put together.
    """
    for path in data:
        elsewhere = path == STANDARD_INPUT or is_address(path) or has_magic(path)
        if not elsewhere and not Path(path).exists():
            raise ValueError(f"{path} does not exist. Check its name and folder.")
    paths = [path if is_address(path) else Path(path) for path in data]
    asked = rename or unit or on or adjust
    if not asked and (len(paths) == 1 or _without_names(paths, said)):
        one = paths[0] if len(paths) == 1 else paths
        return Files(one, missing_values=tuple(missing), **said)
    tables = [Files(path, **said) for path in paths]
    called = together(*tables).called
    studies = together(
        *tables,
        rename=_renaming(rename or (), called),
        units=_in_units(unit or (), called),
        on=on,
        adjust=adjust,
    )
    of_cells = {name: said[name] for name in OF_CELLS if name in said}
    return replace(studies, missing_values=tuple(missing), **of_cells)


def _without_names(paths: Sequence[str | Path], said: Mapping[str, Any]) -> bool:
    """Whether files are parts of one table, as their columns have no names to be united by."""
    arrays = all(str(path).lower().endswith((".npy", ".npz")) for path in paths)
    return arrays or said.get("text") is not None or said.get("vocabulary") is not None


def _renaming(given: Sequence[str], called: tuple[str, ...]) -> dict[str, Any]:
    """What ``--rename`` says."""
    found: dict[str, Any] = {}
    for text in given:
        where, column, new = _said("--rename", text, called, "hr=pulse")
        if where is None:
            found[column] = new
        else:
            found.setdefault(where, {})[column] = new
    return found


def _in_units(given: Sequence[str], called: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """What ``--unit`` says."""
    found: dict[str, dict[str, Any]] = {}
    for text in given:
        where, column, by = _said("--unit", text, called, "b.csv:glucose=18.016")
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


def _said(
    option: str, text: str, called: tuple[str, ...], example: str
) -> tuple[str | None, str, str]:
    """The table, if one is named, the column, and what is said of it."""
    before, mark, after = text.partition("=")
    if not (mark and before.strip() and after.strip()):
        raise ValueError(f"{option} must be like {example}. Got {text!r} instead.")
    where = next((name for name in called if before.startswith(f"{name}:")), None)
    column = before if where is None else before[len(where) + 1 :]
    return where, column.strip(), after.strip()


def written(files: Files) -> list[Path]:
    """Those that are files, which are not to be written over."""
    names = (str(path) for path in files.paths)
    return [Path(name) for name in names if name != STANDARD_INPUT and not is_address(name)]


def as_arguments(files: Files, *, learning: bool = False) -> str:
    """What to write on the command line to have the same files read in the same way.

    What a model keeps has to be said only for ``learning`` one.

    >>> as_arguments(Files("my table.xlsx", table="Ward 3", header=False))
    "'my table.xlsx' --table 'Ward 3' --no-header"
    """
    words = [quote(str(path)) for path in files.paths]
    said: Any = files.tables[0] if isinstance(files, Studies) else files
    for name, option in OPTIONS.items():
        value = getattr(said, name)
        words += [] if value is None else [f"{option} {quote(str(value))}"]
    if said.header is not None:
        words.append("--header" if said.header else "--no-header")
    if files.dates and learning:
        words.append(f"--dates {quote(files.dates)}")
    if files.absent_as_zero and learning:
        zero = ["*"] if isinstance(files.absent_as_zero, bool) else files.absent_as_zero
        words.append(f"--absent-as-zero {as_option(list(map(str, zero)))}")
    if isinstance(said.vocabulary, str | Path):
        words.append(f"--vocabulary {quote(str(said.vocabulary))}")
    if isinstance(files, Studies):
        words += _of_tables(files)
    return " ".join(words)


def _of_tables(studies: Studies) -> list[str]:
    """Options that say how tables are put together."""
    words = []
    for table, names in studies.rename.items():
        where = f"{table}:" if table else ""
        words += [f"--rename {quote(f'{where}{old}={new}')}" for old, new in names.items()]
    for table, units in studies.units.items():
        for column, (factor, shift) in units.items():
            more = f",{shift:.15g}" if shift else ""
            words.append(f"--unit {quote(f'{table}:{column}={factor:.15g}{more}')}")
    return words if studies.on is None else [*words, f"--on {quote(studies.on)}"]
