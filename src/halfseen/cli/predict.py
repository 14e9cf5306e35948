"""``halfseen predict``: posterior probabilities or loadings of each row."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from halfseen import load
from halfseen.cli.console import Console
from halfseen.cli.input_files import files_of, local_paths
from halfseen.cli.new_table import ColumnReader, kept_names, open_new_table
from halfseen.cli.options import (
    WITH_MODEL,
    Data,
    Keep,
    ModelFile,
    OutputOptions,
    TableOptions,
    parse_names,
)
from halfseen.cli.output_files import check_table_format, check_writable, table_file
from halfseen.report.registry import portrait_of

UNUSUAL = "unusual"
LIKELY = 0.5
"""Probability from which a row counts as unlike all that the model was learned from."""


def predict(
    model: ModelFile,
    data: Data,
    out: Annotated[
        Path, typer.Option(help="Where to write: .csv, .tsv (.gz), .parquet, .feather.")
    ],
    *,
    keep: Keep = None,
    table: Annotated[TableOptions, WITH_MODEL],
    output: OutputOptions,
) -> None:
    r"""Say to which group each row belongs and how probably, or how much of each topic it holds.

    Groups and topics have the numbers of 'fit' and 'report': 1 is the most common. Rows stay in
    their order. The column 'unusual' says, from 0 to 1, how unlike all that was learned a row is.

    \b
    For example:
      halfseen predict patients.halfseen patients.csv --out groups.csv --keep id
      halfseen predict words.halfseen words.mtx --out topics.parquet
    """
    files = files_of(data, table)
    inputs = [model, *local_paths(files), *([table.vocabulary] if table.vocabulary else [])]
    check_writable(out, output.force, *inputs)
    check_table_format(out)
    console = Console(output.as_json)
    fitted = load(model)
    new = open_new_table(fitted, files)
    view = portrait_of(fitted)
    kept = kept_names(new, parse_names(keep), ())
    columns = [*view.predicted(np.empty((0, view.k))), UNUSUAL]
    clash = sorted(set(columns) & set(kept))
    if clash:
        raise ValueError(f"--keep names '{clash[0]}', which is a column of the result. Rename it.")
    reader = ColumnReader(new.source, kept)
    found, n_unusual = view.tallied(np.empty((0, view.k))), 0
    how = {"force": output.force, "for_spreadsheets": output.for_spreadsheets}
    with console.warnings_as_cautions(), new.reading(), table_file(out, **how) as write:
        for chunk in new.chunks(console, f"Finding {view.nouns}"):
            hidden = fitted.hidden(chunk.X, **chunk.options)
            unusual = fitted.unusual(chunk.X, **chunk.options)
            write(reader.read(chunk.n_rows) | view.predicted(hidden) | {UNUSUAL: unusual})
            found, n_unusual = found + view.tallied(hidden), n_unusual + np.sum(unusual > LIKELY)
    console.note(view.summed_up(found))
    if n_unusual:
        rows = "1 row is" if n_unusual == 1 else f"{n_unusual:,} rows are"
        console.note(
            f"{rows} unlike all that the model was learned from (column '{UNUSUAL}' above "
            f"{LIKELY:g}): what is said of {'it' if n_unusual == 1 else 'them'} may mean little."
        )
    console.say(f"Table: {out}")
    console.finish(
        table=str(out),
        n_rows=int(found[0]),
        n_unusual=int(n_unusual),
        columns=[*kept, *columns],
    )
