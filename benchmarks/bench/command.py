"""What ``halfseen bench`` runs."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.bench import cases, page, peers, runner
from benchmarks.bench.case import Case
from benchmarks.bench.results import Results, Row
from benchmarks.bench.verdicts import CLOCKS


def run(
    names: Sequence[str],
    quick: bool,
    peers_asked: tuple[str, ...],
    only: str,
    threads: int,
    limit: float,
    clock: str,
    out: Path,
    again: bool,
) -> None:
    """Measure what is not there yet, and write the page anew after each case."""
    chosen = [_case(name) for name in names or cases.CASES]
    _check(peers_asked, clock)
    asked = runner.Asked(quick, peers_asked, only, threads, limit, clock, again)
    command = f"halfseen bench --threads {threads} --clock {clock}"
    results = Results.at(out.with_suffix(".json"), command, threads)
    for case in chosen:
        for task in runner.tasks([case], asked):
            if again or not runner.is_done(task, results):
                row = runner.run(task, results, asked)
                print(f"{case.name}: {task.setting.title}: {task.name}: {_told(row)}", flush=True)
        page.write(results, cases.CASES, clock, out)
    print(f"Page: {out}")


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
