"""``halfseen report``: a page that explains a model."""

from pathlib import Path
from typing import Annotated

import typer

from halfseen import load
from halfseen.cli.choices import PageFormat
from halfseen.cli.options import (
    Data,
    Decimal,
    Encoding,
    Force,
    Groups,
    Header,
    Json,
    MissingValues,
    ModelFile,
    On,
    Outcomes,
    Rename,
    Skip,
    Table,
    Unit,
    Vocabulary,
    check_writable,
    listed,
    named_after,
)
from halfseen.cli.reading.asked_files import asked_files, written
from halfseen.cli.reading.fitting import Fitting, fitting
from halfseen.cli.reading.kept_columns import labels
from halfseen.cli.voice import Voice
from halfseen.data.formatting import quoted
from halfseen.diagnostics.topic_words import USUAL_RELEVANCE
from halfseen.report.registry import portrait_of


def report(
    model: ModelFile,
    data: Data,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where the page is written: report.html. What ends in .json or .md holds the "
            "same for programs. Without it, here, named after the model."
        ),
    ] = None,
    format: Annotated[
        PageFormat | None,
        typer.Option(
            help="A page for people (html), or what it says for programs (json, by a published "
            "schema) or as Markdown (md). Without it, what --out ends in."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="The heading of the page.")] = None,
    include_rows: Annotated[
        bool, typer.Option("--include-rows", help="Show some rows of the table on the page.")
    ] = False,
    least_rows: Annotated[
        int, typer.Option(min=1, help="Averages that fewer rows stand behind are not shown.")
    ] = 10,
    relevance: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Topics are shown by words that are likely and telling: 1 goes by their shares "
            "alone, 0 by how much more there is of them than elsewhere.",
        ),
    ] = USUAL_RELEVANCE,
    groups: Groups = None,
    outcome: Outcomes = None,
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
    force: Force = False,
    as_json: Json = False,
) -> None:
    r"""Write a page that explains a model: one HTML file that opens without a network.

    It says what was missing, what counted how much, what the groups or topics are, how sure we are
    and what to distrust. It holds no row of the table unless --include-rows is given, and no
    average of fewer rows than --least-rows.

    \b
    For example:
      halfseen report patients.halfseen patients.csv --out report.html
      halfseen report visits.halfseen visits.csv --groups patient --out report.html
      halfseen report patients.halfseen patients.csv --outcome death --out report.html
      halfseen report patients.halfseen patients.csv --out report.json
    """
    out = out or named_after(str(model), ".html" if format is None else f".{format.value}")
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
    voice = Voice(as_json)
    learned = load(model)
    given = fitting(learned, files)
    view = portrait_of(learned)
    heading = title or f"{view.k} {view.noun if view.k == 1 else view.nouns} in {given.file}"
    with voice.listening(), given.reckoning():
        learned.report(
            given.table,
            out,
            format=None if format is None else format.value,
            title=heading,
            notes=_left_out(given),
            include_rows=include_rows,
            least_rows=least_rows,
            overwrite=force,
            relevance=relevance,
            groups=labels(given.source, given.file, groups),
            outcome={
                name: labels(given.source, given.file, name, "--outcome")
                for name in listed(outcome)
            },
        )
    voice.say(f"Report: {out.resolve()}")
    voice.finish(report=str(out), bytes=out.stat().st_size)


def _left_out(given: Fitting) -> tuple[str, ...]:
    known = set(given.source.names)
    others = [name for name in given.source.all_names if name not in known]
    if not others:
        return ()
    return (f"Not part of the model: {quoted(others, range(len(others)), most=12)}.",)
