"""``halfseen report``: write a page that explains a model."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from halfseen import load
from halfseen.cli.console import Console
from halfseen.cli.input_files import files_of, local_paths
from halfseen.cli.new_table import open_new_table, read_labels
from halfseen.cli.options import (
    WITH_MODEL,
    Data,
    Groups,
    ModelFile,
    Outcomes,
    OutputOptions,
    PageFormat,
    TableOptions,
    Without,
    parse_names,
)
from halfseen.cli.output_files import check_writable, named_after
from halfseen.data.formatting import quoted
from halfseen.diagnostics.topics import USUAL_RELEVANCE
from halfseen.report.registry import portrait_of


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """Options of the page."""

    out: Annotated[
        Path | None,
        typer.Option(
            help="Where the page is written: report.html. What ends in .json or .md holds the "
            "same for programs. Without it, here, named after the model."
        ),
    ] = None
    format: Annotated[
        PageFormat | None,
        typer.Option(
            help="A page for people (html), or what it says for programs (json, by a published "
            "schema) or as Markdown (md). Without it, what --out ends in."
        ),
    ] = None
    title: Annotated[str | None, typer.Option(help="The heading of the page.")] = None
    include_rows: Annotated[
        bool, typer.Option("--include-rows", help="Show some rows of the table on the page.")
    ] = False
    least_rows: Annotated[
        int, typer.Option(min=1, help="Averages that fewer rows stand behind are not shown.")
    ] = 10
    relevance: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Topics are shown by words that are likely and telling: 1 goes by their shares "
            "alone, 0 by how much more there is of them than elsewhere.",
        ),
    ] = USUAL_RELEVANCE


def report(
    model: ModelFile,
    data: Data,
    *,
    page: PageOptions,
    groups: Groups = None,
    outcome: Outcomes = None,
    table: Annotated[TableOptions, WITH_MODEL],
    output: Annotated[OutputOptions, Without("for_spreadsheets")],
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
    ending = ".html" if page.format is None else f".{page.format.value}"
    out = page.out or named_after(str(model), ending)
    files = files_of(data, table)
    inputs = [model, *local_paths(files), *([table.vocabulary] if table.vocabulary else [])]
    check_writable(out, output.force, *inputs)
    console = Console(output.as_json)
    fitted = load(model)
    new = open_new_table(fitted, files)
    view, name = portrait_of(fitted), files.name
    known = set(new.source.names)
    others = [name for name in new.source.all_names if name not in known]
    listed = quoted(others, most=12) if others else ""
    with console.warnings_as_cautions(), new.naming_columns():
        fitted.report(
            new.X,
            out,
            format=None if page.format is None else page.format.value,
            title=page.title or f"{view.k} {view.noun if view.k == 1 else view.nouns} in {name}",
            notes=(f"Not part of the model: {listed}.",) if others else (),
            include_rows=page.include_rows,
            least_rows=page.least_rows,
            overwrite=output.force,
            relevance=page.relevance,
            groups=read_labels(new.source, name, groups),
            outcome={
                column: read_labels(new.source, name, column, "--outcome")
                for column in parse_names(outcome)
            },
        )
    console.say(f"Report: {out.resolve()}")
    console.finish(report=str(out), bytes=out.stat().st_size)
