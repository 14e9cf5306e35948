"""Who is ahead in a row: by error, and where that is equal by time."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.bench.case import OURS, Case
from benchmarks.bench.results import Row

CLOCKS = {"wall": "seconds", "processor": "processor"}
WORDS = {
    "lost": "worse and slower",
    "error": "worse, though faster",
    "time": "as good, but slower",
    "dearer": "better, but slower",
    "won": "as good or better, and faster",
}
"""From the worst to the best."""
LOST = ("lost", "error", "time")


class Compared(NamedTuple):
    """A peer beside us on one table."""

    case: Case
    setting: str
    entrant: str
    verdict: str  # of WORDS
    ours: float
    theirs: float
    faster: float  # their time by ours


def compared(case: Case, figures: dict[str, dict[str, Row]], clock: str) -> Iterator[Compared]:
    """Every peer on every table on which both of us are."""
    for setting, rows in figures.items():
        own = rows.get(OURS, {})
        if "errors" not in own:
            continue
        for name, row in rows.items():
            if name != OURS and "errors" in row:
                ours, theirs = own["errors"][case.metric], row["errors"][case.metric]
                faster = row[CLOCKS[clock]] / max(own[CLOCKS[clock]], 1e-9)
                verdict = _verdict(case, ours, theirs, faster)
                yield Compared(case, setting, name, verdict, ours, theirs, faster)


def _verdict(case: Case, ours: float, theirs: float, faster: float) -> str:
    room = case.close * (abs(theirs) if case.relative else 1.0)
    if ours > theirs + room or np.isnan(ours):
        return "lost" if faster < 1 else "error"
    if faster >= 1:
        return "won"
    return "dearer" if ours < theirs - room else "time"


def worst_first(every: list[Compared]) -> list[Compared]:
    """Rows that we lose, the worst of them first."""
    order = list(WORDS)
    return sorted(every, key=lambda one: (order.index(one.verdict), one.faster))


class Growth(NamedTuple):
    """How time grows: the exponent of a power law through the measured times."""

    entrant: str
    along: str
    of: str  # what is the same in all of its tables
    exponent: float
    sizes: list[float]
    seconds: list[float]


def growth(case: Case, figures: dict[str, dict[str, Row]], what: str) -> Iterator[Growth]:
    """Of every entrant with three tables or more that differ in size alone."""
    if case.along is None:
        return
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for setting in case.settings:
        values: dict[str, Any] = dict(setting.values)
        size = values.pop(case.along)
        same = ", ".join(f"{key} {value}" for key, value in values.items())
        for name, row in figures.get(setting.title, {}).items():
            if row.get(what):
                found.setdefault((name, same), []).append((size, row[what]))
    for (name, same), points in found.items():
        if len(points) >= 3:
            sizes, seconds = map(list, zip(*sorted(points), strict=True))
            yield Growth(name, case.along, same, _slope(sizes, seconds), sizes, seconds)


def _slope(sizes: list[float], seconds: list[float]) -> float:
    """Of the larger half: small tables take what a call takes."""
    half = max(len(sizes) // 2, 1) if len(sizes) > 3 else 0
    return float(np.polyfit(np.log(sizes[half:]), np.log(seconds[half:]), 1)[0])
