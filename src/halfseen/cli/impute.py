"""``halfseen impute``: a table without gaps."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from halfseen import load
from halfseen.cli.options import (
    Data,
    Force,
    ForSpreadsheets,
    Json,
    Keep,
    MissingValues,
    ModelFile,
    check_writable,
    listed,
)
from halfseen.cli.progress import over_rows
from halfseen.cli.reading.beside import Beside
from halfseen.cli.reading.filled_chunks import Filled
from halfseen.cli.reading.fitting import fitting
from halfseen.cli.reading.kept_columns import kept_names
from halfseen.cli.results import beside, check_kind, table_file
from halfseen.cli.voice import Voice


def impute(
    model: ModelFile,
    data: Data,
    out: Annotated[
        Path, typer.Option(help="Where to write: .csv, .tsv (.gz), .parquet, .feather.")
    ],
    keep: Keep = None,
    expected: Annotated[
        bool,
        typer.Option(
            "--expected",
            help="Fill with averages as they are, such as 0.3 children, rather than with values "
            "that a column can have.",
        ),
    ] = False,
    draws: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Write so many tables, filled by lot, for multiple imputation: filled.1.csv, "
            "filled.2.csv and so on for --out filled.csv.",
        ),
    ] = None,
    std: Annotated[
        bool,
        typer.Option(
            "--std",
            help="Write a second table, filled.std.csv for --out filled.csv: how far off each "
            "filled value may be, as a standard deviation; 0 where a value is known, and nothing "
            "for columns of words.",
        ),
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Makes --draws repeatable.")] = None,
    missing_values: MissingValues = "",
    for_spreadsheets: ForSpreadsheets = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    r"""Fill the gaps of a table by what the model expects given the rest of the row.

    Known values and the order of rows stay as they are. Nothing is filled in beyond the values that
    a column held when the model was fitted, and columns of whole numbers, or of few values, get
    such (--expected for averages); columns of words get the likeliest. A column on a log scale is
    filled with its geometric mean.

    \b
    For example:
      halfseen impute patients.halfseen patients.csv --out filled.csv --keep id
      halfseen impute patients.halfseen new.parquet --out filled.parquet --keep '*' --std
      halfseen impute patients.halfseen patients.csv --out filled.csv --draws 20 --seed 1
    """
    check_kind(out)
    outs = _outs(out, draws, std)
    for path in outs:
        check_writable(path, force, model, data)
    voice = Voice(as_json)
    learned = load(model)
    given = fitting(learned, data, listed(missing_values))
    names = given.source.names
    kept = kept_names(given, listed(keep), names)
    wanted = {*kept, *names}
    order = [name for name in given.source.all_names if name in wanted]
    others, filled = Beside(given.source, kept), Filled(learned, given, draws, std, not expected)
    filled.seed = np.random.SeedSequence(seed).entropy
    with voice.listening(), given.reckoning(), given.unseen_told(), ExitStack() as files:
        writers = [
            files.enter_context(table_file(path, force=force, for_spreadsheets=for_spreadsheets))
            for path in outs
        ]
        for chunk in over_rows(voice, "Filling gaps", given, dense=True):
            taken = others.take(chunk.n_rows)
            for write, own in zip(writers, filled.of(chunk), strict=True):
                columns = taken | own
                write({name: columns[name] for name in order})
    voice.note(f"{filled.n_gaps - filled.n_left:,} gaps in {filled.n_rows:,} rows were filled.")
    if filled.n_left:
        voice.note(f"{filled.n_left:,} gaps stay, in columns that the model never saw a value of.")
    _tell(voice, outs, std)
    voice.finish(
        table=str(outs[0]),
        tables=[str(path) for path in (outs if draws else outs[:1])],
        standard_deviations=str(outs[1]) if std else None,
        n_rows=filled.n_rows,
        n_filled=filled.n_gaps - filled.n_left,
        columns=order,
    )


def _outs(out: Path, draws: int | None, std: bool) -> list[Path]:
    """All files that are written."""
    if draws is not None and draws < 1:
        raise ValueError(f"--draws must be a whole number of at least 1. Got {draws} instead.")
    if draws is not None and std:
        raise ValueError(
            "--std goes with averages: how far apart draws are tells how sure they are. Leave out "
            "--std or --draws."
        )
    if draws is not None:
        return [beside(out, str(number + 1)) for number in range(draws)]
    return [out, beside(out, "std")] if std else [out]


def _tell(voice: Voice, outs: Sequence[Path], std: bool) -> None:
    if std:
        voice.say(f"Table: {outs[0]}")
        voice.say(f"Standard deviations: {outs[1]}")
    elif len(outs) > 1:
        voice.say(f"Tables: {outs[0]} to {outs[-1]}")
    else:
        voice.say(f"Table: {outs[0]}")
