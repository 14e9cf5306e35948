"""What is compared: data, who takes part, and how far off each is.

A case is declared and run by somebody else (:mod:`benchmarks.bench.runner`), so that everybody has
the same rows, the same threads and the same judge.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Errors = dict[str, float]
"""By name; less is better."""
OURS = "halfseen"


@dataclass(frozen=True)
class Setting:
    """One table of a case: a row for everybody who takes part."""

    title: str
    values: Mapping[str, Any]
    quick: bool = False
    """Whether ``--quick`` runs it."""


def _as_it_is(data: Any) -> Any:
    return data


@dataclass(frozen=True)
class Entrant:
    """One way to do what a case asks for."""

    peer: str
    """Whose it is, by the name in :data:`benchmarks.bench.peers.PEERS`."""
    call: Callable[[Any, int], Any]
    """Of what is prepared, and the number of threads: what is timed."""
    words: str = ""
    """How it is called: what a reader should know of its settings."""
    prepare: Callable[[Any], Any] = _as_it_is
    """What it needs the data to look like; not timed."""


@dataclass(frozen=True)
class Case:
    """A question, and everybody who answers it."""

    name: str
    asks: str
    draw: Callable[..., Any]
    """Data, from the values of a setting."""
    settings: tuple[Setting, ...]
    entrants: Mapping[str, Entrant]
    """By name; ours is ``"halfseen"``."""
    judge: Callable[[Any, Any], Errors]
    """How far off what an entrant gave is, from the data and that."""
    metric: str
    """The error that decides."""
    close: float
    """Errors that differ by no more than this are equal."""
    relative: bool = False
    """Whether that is a share of the error."""
    along: str | None = None
    """What time grows with, of the values of settings, if that is drawn."""
    warm: Mapping[str, Any] | None = None
    """A small table that everybody has seen before the clock starts; none if that is the point."""
    why: str = ""
    """Where we lose, and why, for the page."""
    more: tuple[str, ...] = field(default=())
    """Other errors that the page shows."""

    def setting(self, title: str) -> Setting:
        """By its title."""
        return next(one for one in self.settings if one.title == title)
