"""One thing that speaks against taking a model at its word."""

from enum import Enum, IntEnum
from typing import NamedTuple, Self


class Subject(Enum):
    """What a concern is about: it is told where that is."""

    COMPONENTS = "components"
    GAPS = "gaps"
    COLUMNS = "columns"
    VALUES = "values"
    TABLES = "tables"


class Gravity(IntEnum):
    """What a reader should do about a concern."""

    KNOW = 1
    """It is allowed for, or touches little."""
    CARE = 2
    """Numbers may be off."""
    DOUBT = 3
    """The components themselves may be others, or none."""


class _Said(NamedTuple):
    kind: str
    sentence: str


class Concern(_Said):
    """What is wrong, and what to do about it: a pair of a kind and a sentence.

    Beside the pair it has what it is ``about``, and how grave it is.
    """

    about: Subject
    gravity: Gravity

    def __new__(
        cls,
        kind: str,
        sentence: str,
        about: Subject = Subject.COMPONENTS,
        gravity: Gravity = Gravity.DOUBT,
    ) -> Self:
        """A pair with more beside it."""
        made = super().__new__(cls, kind, sentence)
        made.about, made.gravity = about, gravity
        return made

    def __str__(self) -> str:
        return self.sentence
