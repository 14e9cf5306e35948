"""``halfseen reproduce``: the paper's figures again, and a verdict on each of its claims."""

from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from benchmarks.reproduce import data_folder, page, running, store
from benchmarks.reproduce.figures import FIGURES


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIGURE]...", help=f"Of {', '.join(FIGURES)}; all if none."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Runs of each point; each figure's own if not given.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that measure at once.")] = 2,
    quick: Annotated[bool, typer.Option(help="Fewer runs and rows: minutes, not an hour.")] = False,
    out: Annotated[
        Path, typer.Option(help="Where reproduction.md and the folder reproduction go.")
    ] = Path(),
    force: Annotated[
        bool, typer.Option(help="Replace results of other settings or versions.")
    ] = False,
) -> None:
    """Measure the paper's figures again, beside ours, and judge its claims.

    What was measured is kept as it comes in: the same command goes on where it was stopped.
    """
    try:
        _reproduce(figures or list(FIGURES), runs, jobs, quick, out, force)
    except store.ResultsError as refusal:
        typer.echo(str(refusal), err=True)
        raise typer.Exit(2) from None


def _reproduce(
    names: list[str], runs: int | None, jobs: int, quick: bool, out: Path, force: bool
) -> None:
    pictures = _pictures()
    unknown = [name for name in names if name not in FIGURES]
    if unknown:
        typer.echo(f"No figure is called {unknown[0]}. Use {', '.join(FIGURES)}.", err=True)
        raise typer.Exit(2)
    page.check_is_ours(out / page.NAME)
    page.gather(out, without=names)  # refuses now what the page could not be written from
    work = [
        (_results(name, quick, out, force), runs or FIGURES[name].plan(quick).runs)
        for name in dict.fromkeys(names)
    ]
    for file in dict.fromkeys(file for r, _ in work for file in running.absent_files(r)):
        typer.echo(f"Left out what needs it: {data_folder.how_to_get(file)}", err=True)
    todo = [running.ready(results, number, out) for results, number in work]
    columns = (TextColumn("{task.description:<16}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        bars = [
            progress.add_task(r.figure.name, total=len(tasks))
            for (r, _), tasks in zip(work, todo, strict=True)
        ]
        for (results, number), bar in zip(work, bars, strict=True):
            running.measure(results, number, jobs, out, partial(progress.advance, bar))
            if results.any_complete():
                pictures.draw(results, out)
    _tell(page.write(out))


def _results(name: str, quick: bool, out: Path, force: bool) -> store.Results:
    """What there is already or, if that is something else and may be replaced, nothing yet."""
    figure = FIGURES[name]
    nothing = store.Results.none_yet(figure, quick)
    try:
        results = store.take_up(figure, quick, out)
    except store.ResultsError:
        if not force:
            raise
        return nothing
    return nothing if force and results.versions != nothing.versions else results


def _pictures() -> ModuleType:
    """The module that draws, or what it needs."""
    try:
        return import_module("benchmarks.reproduce.pictures")
    except ModuleNotFoundError as missing:
        if missing.name != "matplotlib":
            raise
        typer.echo(
            "Pictures need matplotlib, which is not installed. "
            "Install it with: pip install 'halfseen[plots]'",
            err=True,
        )
        raise typer.Exit(2) from None


def _tell(path: Path) -> None:
    table = Table("claim of the paper", "verdict")
    for claim, verdict in page.verdicts(page.gather(path.parent)):
        table.add_row(claim, verdict)
    Console().print(table)
    typer.echo(f"Page: {path.resolve()}")
