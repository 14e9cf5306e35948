"""What a figure is: points to measure, and how to show them. All of it data."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.reproduce.gaps import Gaps


@dataclass(frozen=True)
class Point:
    """One place of a figure: the tables drawn for it, and the methods measured on each."""

    group: str  # the panel it is in or, where panels are methods, the line
    x: float
    n_rows: int
    source: str
    gaps: Gaps
    methods: tuple[str, ...]

    def as_data(self) -> dict[str, Any]:
        """The point as plain data."""
        gaps = {"pattern": type(self.gaps).__name__} | asdict(self.gaps)  # type: ignore[call-overload]
        return {**asdict(self), "gaps": gaps}


Measure = Callable[[Point, int], dict[str, float]]
"""From a point and a seed to what each method gives."""


@dataclass(frozen=True)
class Plan:
    """The points of a figure, and how often each is measured."""

    points: tuple[Point, ...]
    runs: int


@dataclass(frozen=True)
class Figure:
    """A figure of the paper."""

    name: str
    paper: str  # where in the paper
    title: str
    choices: str  # what was decided where the paper is silent
    measure: Measure
    layout: str
    x_label: str
    y_label: str
    full: Plan
    quick: Plan
    repeatable: bool = True  # seconds are not

    def plan(self, quick: bool) -> Plan:
        """What is measured."""
        return self.quick if quick else self.full
