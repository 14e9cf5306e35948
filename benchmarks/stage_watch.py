"""Hearing which stage the fits of this process are in."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

from halfseen.data.progress import Stages

WITH_ROWS = (
    "features",
    "pairs of features",
    "triples of features",
    "incomplete features",
    "polishing",
)
"""The stages that go over the rows."""


@contextmanager
def watched(hear: Callable[[str], None]) -> Iterator[None]:
    """``hear(stage)`` at the start of each stage, ``hear("")`` at its end."""
    run = Stages.__call__

    @contextmanager
    def heard(self: Stages, stage: str) -> Iterator[None]:
        hear(stage)
        try:
            with run(self, stage):
                yield
        finally:
            hear("")

    with mock.patch.object(Stages, "__call__", heard):
        yield
