"""A chapter of the page."""

from dataclasses import dataclass

from halfseen.explain.charts.drawing import Figure
from halfseen.explain.words import Told


@dataclass(frozen=True, eq=False)
class Section:
    """A chapter of the page."""

    anchor: str
    title: str
    sentences: list[str]
    figures: list[Figure]
    points: list[str]
    told: list[Told]
