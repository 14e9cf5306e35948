"""One thing that speaks against taking a model at its word."""

from typing import NamedTuple


class Concern(NamedTuple):
    """What is wrong, and what to do about it."""

    kind: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence
