"""Write output files in batches; a file is written whole or not at all."""

import gzip
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import compute, csv, parquet

from halfseen.io.cells.number_formats import PLAIN, is_text
from halfseen.persistence.atomic import check_not_input, whole_file

Write = Callable[[dict[str, Any]], None]
"""Takes the next rows of all columns."""
COMPRESSED = {".gz", ".bz2", ".xz", ".zst", ".zip"}
FORMULA = r"^[=+\-@\t\r]"
"""How a cell begins that a spreadsheet would run: ``=cmd|...`` is as good as a program."""


def named_after(given: str, ending: str) -> Path:
    """The default output file of an input file.

    >>> named_after("data/ap.mtx.gz", ".halfseen").name
    'ap.halfseen'
    """
    named = Path(given)
    while named.suffix in COMPRESSED:
        named = named.with_suffix("")
    if given == "-" or "://" in given or set(given) & set("*?[") or not named.stem:
        raise ValueError(
            f"There is no file to name the result after. Give --out, such as m{ending}."
        )
    return Path(f"{named.stem}{ending}")


def with_suffix_word(out: Path, word: str) -> Path:
    """A file name with a word before its ending.

    >>> with_suffix_word(Path("filled.csv.gz"), "std").name
    'filled.std.csv.gz'
    """
    name = out.name[: len(out.name) - len(str(_ending(out)))]
    return out.with_name(f"{name}.{word}{out.name[len(name) :]}")


def check_writable(out: Path, force: bool, *inputs: Path) -> None:
    """Check before any work that output files can be written."""
    if out.is_dir():
        raise ValueError(f"{out} is a folder. Give the name of a file in it.")
    check_not_input(out, *inputs)
    if out.exists() and not force:
        raise ValueError(
            f"{out} is there already. Use --force to replace it, or another name for --out."
        )
    if not out.absolute().parent.is_dir():
        raise ValueError(f"The folder {out.absolute().parent} does not exist. Create it first.")


def check_table_format(out: Path) -> None:
    """Refuse unsupported output formats."""
    if _ending(out) is None:
        raise ValueError(
            f"{out.name} is of no kind that is written. End it in {', '.join(WRITERS)}."
        )


@contextmanager
def table_file(out: Path, *, force: bool, for_spreadsheets: bool = False) -> Iterator[Write]:
    """A table file that is written atomically."""
    ending = str(_ending(out))
    harmless = for_spreadsheets and ending in DELIMITED
    with whole_file(out, overwrite=force) as file, ExitStack() as stack:
        writers: list[Any] = []

        def write(columns: dict[str, Any]) -> None:
            table = without_formulas(pa.table(columns)) if harmless else pa.table(columns)
            if not writers:
                writers.append((WRITERS[ending](stack, file, table.schema), table.schema))
            writer, schema = writers[0]
            writer.write_table(table.cast(schema))

        yield write


def _ending(out: Path) -> str | None:
    return next((end for end in WRITERS if out.name.lower().endswith(end)), None)


def _delimited(
    stack: ExitStack, file: Any, schema: Any, *, delimiter: str, compressed: bool = False
) -> Any:
    options = csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
    if compressed:
        file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb"))
    return stack.enter_context(csv.CSVWriter(file, schema, write_options=options))


def _parquet(stack: ExitStack, file: Any, schema: Any) -> Any:
    return stack.enter_context(parquet.ParquetWriter(file, schema))


def _feather(stack: ExitStack, file: Any, schema: Any) -> Any:
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    return stack.enter_context(pa.ipc.new_file(file, schema, options=options))


DELIMITED: dict[str, Callable[[ExitStack, Any, Any], Any]] = {
    ".csv": partial(_delimited, delimiter=","),
    ".tsv": partial(_delimited, delimiter="\t"),
    ".csv.gz": partial(_delimited, delimiter=",", compressed=True),
    ".tsv.gz": partial(_delimited, delimiter="\t", compressed=True),
}
WRITERS = {**DELIMITED, ".parquet": _parquet, ".feather": _feather, ".arrow": _feather}


def without_formulas(table: Any) -> Any:
    """An Arrow table whose names and texts no spreadsheet runs as formulas.

    Numbers stay as they are, also such as are written as text.
    """
    names = [
        f"'{name}" if re.match(FORMULA, name) and not re.match(PLAIN, name) else name
        for name in table.column_names
    ]
    return type(table).from_arrays([_harmless(column) for column in table.columns], names=names)


def _harmless(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not is_text(column.type):
        return column
    column = column.cast(pa.string())
    formula = compute.match_substring_regex(column, FORMULA)
    number = compute.match_substring_regex(column, PLAIN)
    marked = compute.binary_join_element_wise("'", column, "")
    return compute.if_else(compute.and_not(formula, number), marked, column)
