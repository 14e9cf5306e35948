"""``halfseen impute``: a table without gaps."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from halfseen import load
from halfseen.cli.fitted import fitting
from halfseen.cli.options import (
    Data,
    Force,
    Json,
    Keep,
    MissingValues,
    ModelFile,
    check_writable,
    listed,
)
from halfseen.cli.progress import over_rows
from halfseen.cli.results import check_kind, kept_columns, write_table
from halfseen.cli.voice import Voice


def impute(
    model: ModelFile,
    data: Data,
    out: Annotated[
        Path, typer.Option(help="Where to write: .csv, .tsv (.gz), .parquet, .feather.")
    ],
    keep: Keep = None,
    missing_values: MissingValues = "",
    force: Force = False,
    as_json: Json = False,
) -> None:
    r"""Fill the gaps of a table by what the model expects given the rest of the row.

    Known values and the order of rows stay as they are. A column on a log scale is filled with its
    geometric mean.

    \b
    For example:
      halfseen impute patients.halfseen patients.csv --out filled.csv --keep id
      halfseen impute patients.halfseen new.parquet --out filled.parquet --keep '*'
    """
    check_writable(out, force)
    check_kind(out)
    voice = Voice(as_json)
    learned = load(model)
    given = fitting(learned, data, listed(missing_values))
    columns = kept_columns(given.table, listed(keep), given.table.names)
    known = given.table.dense()
    with voice.listening():
        filled = over_rows(voice, "Filling gaps", given, lambda rows: learned.impute(_dense(rows)))
    values = np.where(np.isnan(known), given.in_units(filled), known)
    gaps = int(np.isnan(known).sum())
    left = int(np.isnan(values).sum())
    columns |= dict(zip(given.table.names, values.T, strict=True))
    write_table(out, _as_in_file(columns, given.table.frame), force=force)
    voice.note(f"{gaps - left:,} gaps in {given.table.n_rows:,} rows were filled.")
    if left:
        voice.note(f"{left:,} gaps stay, in columns that the model never saw a value of.")
    voice.say(f"Table: {out}")
    voice.finish(
        table=str(out), n_rows=given.table.n_rows, n_filled=gaps - left, columns=list(columns)
    )


def _dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else rows


def _as_in_file(columns: dict[str, Any], frame: Any) -> dict[str, Any]:
    """The columns in the order of the file."""
    if frame is None:
        return columns
    return {name: columns[name] for name in frame.column_names if name in columns}
