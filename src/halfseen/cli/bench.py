"""``halfseen bench``: beside every peer, in one run.

Cases and peers are no part of what is installed: they are in the folder ``benchmarks`` of a
checkout, where this command looks for them.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

import halfseen

CASES = Path("benchmarks") / "bench" / "runner.py"


def bench(
    cases: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Which; all if none.")
    ] = None,
    quick: Annotated[bool, typer.Option(help="Small tables only: minutes, not hours.")] = False,
    peers: Annotated[
        str | None, typer.Option(help="Of whom, names with commas between; all if not given.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Only tables whose title holds this, as '10,000 × 10'.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="That everybody may use.")] = 2,
    limit: Annotated[
        float | None,
        typer.Option(min=1, help="Seconds for one peer and table: 600, or 60 with --quick."),
    ] = None,
    clock: Annotated[
        str, typer.Option(help="What decides: wall, or processor where others are at work.")
    ] = "wall",
    out: Annotated[Path, typer.Option(help="The page; figures go beside it.")] = Path("bench.html"),
    again: Annotated[bool, typer.Option(help="Measure what there is already, too.")] = False,
    names: Annotated[bool, typer.Option("--list", help="Say which cases there are.")] = False,
) -> None:
    r"""Measure halfseen beside every peer that is installed, and write a page.

    Each peer has a process of its own. What was measured is kept as it comes in: the same command
    goes on where it was stopped. It needs a checkout of the project, and for most peers
    pip install 'halfseen[bench]'.
    """
    held = _checkout()
    if names:
        for name, case in held.cases.CASES.items():
            typer.echo(f"{name:<14} {case.asks}")
        return
    asked = tuple(filter(None, (peers or "").split(",")))
    seconds = limit or (60.0 if quick else 600.0)
    held.run(cases or [], quick, asked, only or "", threads, seconds, clock, out, again)


def _checkout() -> Any:
    """The program that runs cases, where it is."""
    for folder in (Path.cwd(), Path(halfseen.__file__).parents[2]):
        if (folder / CASES).exists():
            sys.path.insert(0, str(folder))
            return import_module("benchmarks.bench.command")
    raise ValueError(
        "The cases of halfseen bench are not part of what pip installs. Get the sources of "
        f"halfseen {halfseen.__version__}, and call it in their folder, which holds 'benchmarks'."
    )
