"""``halfseen predict``: what the model says of each row."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from halfseen import load
from halfseen.cli.fitted import Fitting, fitting
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
from halfseen.explain.shown import Shown, shown
from halfseen.explain.words import percent


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
    view = shown(learned)
    with voice.listening():
        found, sentence = _SAY[view.kind](voice, learned, view, given)
    clash = sorted(set(found) & set(columns))
    if clash:
        raise ValueError(f"--keep names '{clash[0]}', which is a column of the result. Rename it.")
    write_table(out, columns | found, force=force)
    voice.note(sentence)
    voice.say(f"Table: {out}")
    voice.finish(table=str(out), n_rows=given.table.n_rows, columns=[*columns, *found])


def _groups(voice: Voice, model: Any, view: Shown, given: Fitting) -> tuple[dict[str, Any], str]:
    shares = over_rows(voice, "Finding groups", given, model.predict_proba)[:, view.order]
    group = shares.argmax(axis=1) + 1
    counts = np.bincount(group, minlength=view.k + 1)[1:]
    told = ", ".join(f"{count:,} in group {i}" for i, count in enumerate(counts, start=1))
    unsure = float((shares.max(axis=1) < 0.9).mean()) if len(shares) else 0.0
    columns = {f"probability_{i + 1}": shares[:, i] for i in range(view.k)}
    return (
        {"group": group, **columns},
        f"Of {len(group):,} rows {told}; {percent(unsure)} of them are less than 90% sure.",
    )


def _topics(voice: Voice, model: Any, view: Shown, given: Fitting) -> tuple[dict[str, Any], str]:
    loadings = over_rows(voice, "Finding topics", given, model.transform)[:, view.order]
    columns = {f"topic_{i + 1}": loadings[:, i] for i in range(view.k)}
    return columns, (
        f"Of {len(loadings):,} rows, the expected count of each of {view.k} topics in all columns."
    )


_SAY = {"group": _groups, "topic": _topics}
