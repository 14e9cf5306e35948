"""``halfseen predict``: what the model says of each row."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from halfseen import load
from halfseen.cli.options import (
    Data,
    Decimal,
    Encoding,
    Force,
    ForSpreadsheets,
    Header,
    Json,
    Keep,
    MissingValues,
    ModelFile,
    On,
    Rename,
    Skip,
    Table,
    Unit,
    Vocabulary,
    check_writable,
    listed,
)
from halfseen.cli.progress import over_rows
from halfseen.cli.reading.asked_files import asked_files, written
from halfseen.cli.reading.beside import Beside
from halfseen.cli.reading.fitting import fitting
from halfseen.cli.reading.kept_columns import kept_names
from halfseen.cli.results import check_kind, table_file
from halfseen.cli.voice import Voice
from halfseen.report.registry import portrait_of

UNUSUAL = "unusual"
HALF = 0.5


def predict(
    model: ModelFile,
    data: Data,
    out: Annotated[
        Path, typer.Option(help="Where to write: .csv, .tsv (.gz), .parquet, .feather.")
    ],
    keep: Keep = None,
    missing_values: MissingValues = "",
    decimal: Decimal = None,
    encoding: Encoding = None,
    header: Header = None,
    skip: Skip = None,
    table: Table = None,
    rename: Rename = None,
    unit: Unit = None,
    on: On = None,
    vocabulary: Vocabulary = None,
    for_spreadsheets: ForSpreadsheets = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    r"""Say to which group each row belongs and how probably, or how much of each topic it holds.

    Groups and topics have the numbers of 'fit' and 'report': 1 is the most common. Rows stay in
    their order. The column 'unusual' says, from 0 to 1, how unlike all that was learned a row is.

    \b
    For example:
      halfseen predict patients.halfseen patients.csv --out groups.csv --keep id
      halfseen predict words.halfseen words.mtx --out topics.parquet
    """
    files = asked_files(
        *(data, listed(missing_values)),
        rename=rename,
        unit=unit,
        on=on,
        decimal=decimal,
        encoding=encoding,
        header=header,
        skip=skip,
        table=table,
        vocabulary=vocabulary,
    )
    check_writable(out, force, model, *written(files), *([vocabulary] if vocabulary else []))
    check_kind(out)
    voice = Voice(as_json)
    learned = load(model)
    given = fitting(learned, files)
    view = portrait_of(learned)
    kept = kept_names(given, listed(keep), ())
    columns = [*view.predicted(np.empty((0, view.k))), UNUSUAL]
    clash = sorted(set(columns) & set(kept))
    if clash:
        raise ValueError(f"--keep names '{clash[0]}', which is a column of the result. Rename it.")
    beside = Beside(given.source, kept)
    found, n_unusual = view.tallied(np.empty((0, view.k))), 0
    with (
        voice.listening(),
        given.reckoning(),
        given.unseen_told(),
        table_file(out, force=force, for_spreadsheets=for_spreadsheets) as write,
    ):
        for chunk in over_rows(voice, f"Finding {view.nouns}", given):
            hidden = learned.hidden(chunk.asked, **chunk.options)
            unusual = learned.unusual(chunk.asked, **chunk.options)
            write(beside.take(chunk.n_rows) | view.predicted(hidden) | {UNUSUAL: unusual})
            found, n_unusual = found + view.tallied(hidden), n_unusual + np.sum(unusual > HALF)
    voice.note(view.summed_up(found))
    if n_unusual:
        rows = "1 row is" if n_unusual == 1 else f"{n_unusual:,} rows are"
        voice.note(
            f"{rows} unlike all that the model was learned from (column '{UNUSUAL}' above "
            f"{HALF:g}): what is said of {'it' if n_unusual == 1 else 'them'} may mean little."
        )
    voice.say(f"Table: {out}")
    voice.finish(
        table=str(out),
        n_rows=int(found[0]),
        n_unusual=int(n_unusual),
        columns=[*kept, *columns],
    )
