"""Results as files, written some rows at a time, whole or not at all."""

import gzip
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from halfseen.cli.formulas import without_formulas
from halfseen.persistence.atomic import whole_file

Write = Callable[[dict[str, Any]], None]
"""Takes the next rows of all columns."""


def check_kind(out: Path) -> None:
    """Refuse a file of a kind that is not written."""
    if _ending(out) is None:
        raise ValueError(
            f"{out.name} is of no kind that is written. End it in {', '.join(WRITERS)}."
        )


def beside(out: Path, word: str) -> Path:
    """The same name with a word before its ending.

    >>> beside(Path("filled.csv.gz"), "std").name
    'filled.std.csv.gz'
    """
    name = out.name[: len(out.name) - len(str(_ending(out)))]
    return out.with_name(f"{name}.{word}{out.name[len(name) :]}")


@contextmanager
def table_file(out: Path, *, force: bool, for_spreadsheets: bool = False) -> Iterator[Write]:
    """A file of the kind that its name says, there when the body is done."""
    import pyarrow as pa

    harmless = for_spreadsheets and _ending(out) in DELIMITED
    opened = WRITERS[str(_ending(out))]
    with whole_file(out, overwrite=force) as file, ExitStack() as writing:
        writers: list[Any] = []

        def write(columns: dict[str, Any]) -> None:
            table = without_formulas(pa.table(columns)) if harmless else pa.table(columns)
            if not writers:
                writers.append(writing.enter_context(opened(file, table.schema)))
            writers[0].write_table(table.cast(writers[0].schema))

        yield write


def _ending(out: Path) -> str | None:
    return next((end for end in WRITERS if out.name.lower().endswith(end)), None)


class _Writer:
    """A writer of Arrow's that knows its schema."""

    def __init__(self, writer: Any, schema: Any):
        self.write_table = writer.write_table
        self.schema = schema


def _delimited(delimiter: str, compressed: bool) -> Any:
    @contextmanager
    def opened(file: Any, schema: Any) -> Iterator[_Writer]:
        from pyarrow import csv

        options = csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
        with ExitStack() as stack:
            if compressed:
                file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb"))
            writer = stack.enter_context(csv.CSVWriter(file, schema, write_options=options))
            yield _Writer(writer, schema)

    return opened


@contextmanager
def _parquet(file: Any, schema: Any) -> Iterator[_Writer]:
    from pyarrow import parquet

    with parquet.ParquetWriter(file, schema) as writer:
        yield _Writer(writer, schema)


@contextmanager
def _feather(file: Any, schema: Any) -> Iterator[_Writer]:
    import pyarrow as pa

    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_file(file, schema, options=options) as writer:
        yield _Writer(writer, schema)


DELIMITED: dict[str, Any] = {
    ".csv": _delimited(",", False),
    ".tsv": _delimited("\t", False),
    ".csv.gz": _delimited(",", True),
    ".tsv.gz": _delimited("\t", True),
}
WRITERS: dict[str, Any] = {
    **DELIMITED,
    ".parquet": _parquet,
    ".feather": _feather,
    ".arrow": _feather,
}
