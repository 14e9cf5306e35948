"""``halfseen bench``: halfseen beside every peer, in one run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.bench import cases, page, peers, runner
from benchmarks.bench.case import Case
from benchmarks.bench.results import Results, Row
from benchmarks.bench.verdicts import CLOCKS


def bench(
    cases_asked: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Which; all if none.")
    ] = None,
    quick: Annotated[bool, typer.Option(help="Small tables only: minutes, not hours.")] = False,
    peers_asked: Annotated[
        str | None, typer.Option("--peers", help="Of whom, names with commas between; all if none.")
    ] = None,
    only: Annotated[
        str, typer.Option(help="Only tables whose title holds this, as '10,000 × 10'.")
    ] = "",
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
    if names:
        for name, case in cases.CASES.items():
            typer.echo(f"{name:<14} {case.asks}")
        return
    chosen = [_case(name) for name in cases_asked or cases.CASES]
    of_whom = tuple(filter(None, (peers_asked or "").split(",")))
    _check(of_whom, clock)
    seconds = limit or (60.0 if quick else 600.0)
    asked = runner.Asked(quick, of_whom, only, threads, seconds, clock, again)
    _measure(chosen, asked, out)
    print(f"Page: {out}")


def _measure(chosen: Sequence[Case], asked: runner.Asked, out: Path) -> None:
    """Measure what is not there yet, and write the page anew after each case."""
    command = f"halfseen bench --threads {asked.threads} --clock {asked.clock}"
    results = Results.at(out.with_suffix(".json"), command, asked.threads)
    for case in chosen:
        for task in runner.tasks([case], asked):
            if asked.again or not runner.is_done(task, results):
                row = runner.run(task, results, asked)
                print(f"{case.name}: {task.setting.title}: {task.name}: {_told(row)}", flush=True)
        page.write(results, cases.CASES, asked.clock, out)


def _case(name: str) -> Case:
    if name not in cases.CASES:
        raise ValueError(f"No case is called {name}. Use {', '.join(cases.CASES)}.")
    return cases.CASES[name]


def _check(asked: tuple[str, ...], clock: str) -> None:
    for name in asked:
        if name not in peers.PEERS:
            raise ValueError(f"No peer is called {name}. Use {', '.join(peers.PEERS)}.")
    if clock not in CLOCKS:
        raise ValueError(f"No clock is called {clock}. Use {' or '.join(CLOCKS)}.")


def _told(row: Row) -> str:
    if "errors" not in row:
        return str(row.get("absent") or row.get("stopped") or row.get("failed"))
    errors = ", ".join(f"{name} {error:.5g}" for name, error in row["errors"].items())
    return f"{errors}; {row['seconds']:.3g} s, {row['processor']:.3g} s of the processor"
