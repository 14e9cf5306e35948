"""``halfseen impute``: a table without gaps."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from halfseen import load
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
from halfseen.cli.reading.fitting import Chunk, Fitting, fitting
from halfseen.cli.reading.kept_columns import Beside, kept_names
from halfseen.cli.results import check_kind, table_file
from halfseen.cli.voice import Voice
from halfseen.rows.arrays import Array


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
    names = given.source.names
    kept = kept_names(given, listed(keep), names)
    order = [name for name in given.source.all_names if name in {*kept, *names}]
    beside, filled = Beside(given.source, kept), Filled(learned, given)
    with voice.listening(), table_file(out, force=force) as write:
        for chunk in over_rows(voice, "Filling gaps", given, dense=True):
            values = filled.of(chunk)
            columns = beside.take(chunk.n_rows) | dict(zip(names, values.T, strict=True))
            write({name: columns[name] for name in order})
    voice.note(f"{filled.n_gaps - filled.n_left:,} gaps in {filled.n_rows:,} rows were filled.")
    if filled.n_left:
        voice.note(f"{filled.n_left:,} gaps stay, in columns that the model never saw a value of.")
    voice.say(f"Table: {out}")
    voice.finish(
        table=str(out),
        n_rows=filled.n_rows,
        n_filled=filled.n_gaps - filled.n_left,
        columns=order,
    )


@dataclass
class Filled:
    """Fills gaps, and counts them."""

    model: Any
    given: Fitting
    n_rows: int = 0
    n_gaps: int = 0
    n_left: int = 0

    def of(self, chunk: Chunk) -> Array:
        """Some rows without gaps, in their own units; (n, d)."""
        gaps = np.isnan(chunk.values)
        expected = self.given.in_units(np.asarray(self.model.impute(chunk.given)))
        values = np.where(gaps, expected, chunk.values)
        self.n_rows += chunk.n_rows
        self.n_gaps += int(gaps.sum())
        self.n_left += int(np.isnan(values).sum())
        return values
