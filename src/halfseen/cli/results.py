"""Results as files, whole or not at all."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from halfseen.cli.table import Table, check_known
from halfseen.store.atomic import write_whole


def check_kind(out: Path) -> None:
    """Refuse a file of a kind that is not written."""
    if _ending(out) is None:
        raise ValueError(
            f"{out.name} is of no kind that is written. End it in {', '.join(WRITERS)}."
        )


def write_table(out: Path, columns: dict[str, Any], *, force: bool) -> None:
    """Columns as a file of the kind that its name says."""
    import pyarrow as pa

    ending = _ending(out)
    sink = pa.BufferOutputStream()
    WRITERS[str(ending)](pa.table(columns), sink)
    write_whole(out, sink.getvalue().to_pybytes(), overwrite=force)


def kept_columns(table: Table, keep: Sequence[str], model_columns: Sequence[str]) -> dict[str, Any]:
    """Columns of the file that are written beside the result."""
    if not keep:
        return {}
    if table.frame is None:
        raise ValueError(f"The columns of {table.file} have no names. Leave --keep out.")
    known = table.frame.column_names
    everything = list(keep) == ["*"]
    check_known([] if everything else keep, known, table.file, "--keep")
    names = [n for n in (known if everything else keep) if n not in model_columns]
    return {name: table.frame[name] for name in names}


def _ending(out: Path) -> str | None:
    return next((end for end in WRITERS if out.name.lower().endswith(end)), None)


def _delimited(delimiter: str, compression: str | None) -> Callable[[Any, Any], None]:
    def write(table: Any, sink: Any) -> None:
        import pyarrow as pa
        from pyarrow import csv

        options = csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
        if compression is None:
            csv.write_csv(table, sink, options)
            return
        with pa.CompressedOutputStream(sink, compression) as packed:
            csv.write_csv(table, packed, options)

    return write


def _parquet(table: Any, sink: Any) -> None:
    from pyarrow import parquet

    parquet.write_table(table, sink)


def _feather(table: Any, sink: Any) -> None:
    from pyarrow import feather

    feather.write_feather(table, sink)


WRITERS: dict[str, Callable[[Any, Any], None]] = {
    ".csv": _delimited(",", None),
    ".tsv": _delimited("\t", None),
    ".csv.gz": _delimited(",", "gzip"),
    ".tsv.gz": _delimited("\t", "gzip"),
    ".parquet": _parquet,
    ".feather": _feather,
    ".arrow": _feather,
}
