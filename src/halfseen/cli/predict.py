"""``halfseen predict``: what the model says of each row."""

from pathlib import Path
from typing import Annotated

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
from halfseen.explain.portrait import portrait_of


def predict(
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
    r"""Say to which group each row belongs and how probably, or how much of each topic it holds.

    Groups and topics have the numbers of 'fit' and 'report': 1 is the most common. Rows stay in
    their order.

    \b
    For example:
      halfseen predict patients.halfseen patients.csv --out groups.csv --keep id
      halfseen predict words.halfseen words.mtx --out topics.parquet
    """
    check_writable(out, force)
    check_kind(out)
    voice = Voice(as_json)
    learned = load(model)
    given = fitting(learned, data, listed(missing_values))
    columns = kept_columns(given.table, listed(keep), ())
    view = portrait_of(learned)
    with voice.listening():
        hidden = over_rows(voice, f"Finding {view.nouns}", given, learned._hidden)
    found, sentence = view.predicted(hidden)
    clash = sorted(set(found) & set(columns))
    if clash:
        raise ValueError(f"--keep names '{clash[0]}', which is a column of the result. Rename it.")
    write_table(out, columns | found, force=force)
    voice.note(sentence)
    voice.say(f"Table: {out}")
    voice.finish(table=str(out), n_rows=given.table.n_rows, columns=[*columns, *found])
