"""Where gaps were filled, how many, and how well that can be done."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from halfseen.cli.reading.filled_chunks import Filled
from halfseen.cli.voice import Voice
from halfseen.data.arrays import Array
from halfseen.data.formatting import percent, quoted
from halfseen.imputation.accuracy import FillAccuracy

RARE = 0.2
"""Share of rows in which a column is known, below which its fills are mostly guesses."""
HARDLY = 0.05
"""Share that the others tell of a column beyond its mean, below which its fills are all alike."""
MOST_TOLD = 40
"""Columns that are listed."""


def counted(n_gaps: int, n_rows: int) -> str:
    """How many gaps were filled.

    >>> counted(1, 1_200)
    '1 gap in 1,200 rows was filled.'
    """
    gaps = "1 gap" if n_gaps == 1 else f"{n_gaps:,} gaps"
    rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
    return f"{gaps} in {rows} {'was' if n_gaps == 1 else 'were'} filled."


class Accuracy(NamedTuple):
    """How well a column is filled: known cells, hidden as others are missing, and filled again."""

    explained: float = np.nan  # how much the others tell of it, from 0 to 1
    variance: float = np.nan  # R² of fills of a number
    right: float = np.nan  # share of fills of a category that are right
    commonest: float = np.nan  # the same if the commonest one, the mode, were filled in
    n_cells: int = 0
    missing_with: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: FillAccuracy, column: int, names: Sequence[str]) -> Self:
        """Of a column, by its place."""
        return cls(
            float(found.explained[column]),
            float(found.variance[column]),
            float(found.right[column]),
            float(found.commonest[column]),
            int(found.n_cells[column]),
            tuple(names[j] for j in found.missing_with[column]),
        )

    @property
    def in_words(self) -> str:
        """What is measured, with its unit.

        >>> Accuracy(variance=0.12).in_words, Accuracy(right=0.7, commonest=0.51).in_words
        ('12% of variance', '70% right (mode 51%)')
        """
        if not np.isnan(self.variance):
            return f"{percent(max(self.variance, 0.0))} of variance"
        if np.isnan(self.right):
            return ""
        return f"{percent(self.right)} right (mode {percent(self.commonest)})"

    @property
    def as_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "explained": self.explained,
            "variance_explained": self.variance,
            "right": self.right,
            "right_if_all_alike": self.commonest,
            "n_tested": self.n_cells,
            "missing_with": list(self.missing_with),
        }


@dataclass(frozen=True, eq=False)
class Gaps:
    """Columns that had gaps."""

    names: tuple[str, ...]
    count: Array  # (d,)
    n_rows: int
    accuracy: tuple[Accuracy, ...]  # (d,)
    zeros: tuple[str, ...]  # (d,)   the column whose zeros its gaps go with; empty if there is none

    @classmethod
    def of(
        cls, names: Sequence[str], filled: Filled, found: FillAccuracy | None, zero_beside: Any
    ) -> Self:
        """Of a table that was filled; those with most gaps first."""
        count = np.asarray(filled.n_gaps)
        order = np.argsort(-count, kind="stable")
        order = order[count[order] > 0]
        each = tuple(Accuracy() if found is None else Accuracy.of(found, j, names) for j in order)
        beside = np.full(len(count), -1) if zero_beside is None else zero_beside
        zeros = tuple(names[beside[j]] if beside[j] >= 0 else "" for j in order)
        return cls(tuple(names[j] for j in order), count[order], filled.n_rows, each, zeros)

    @property
    def as_dicts(self) -> dict[str, dict[str, Any]]:
        """By name, for machines."""
        each = zip(self.names, self.count, self.accuracy, strict=True)
        return {name: {"gaps": int(n), **one.as_dict} for name, n, one in each}

    def tell(self, voice: Voice) -> None:
        """A table, and what to be careful about."""
        if not any(one.n_cells for one in self.accuracy):
            return
        rows = [
            (name, _named(one.missing_with), f"{int(n):,}", *_measured(one))
            for name, n, one in zip(self.names, self.count, self.accuracy, strict=True)
        ]
        title = (
            "Columns with gaps, and how well they are filled. Known cells were hidden together, as "
            "cells are missing together in this table, and filled by what other rows taught:"
        )
        head = ["column", "missing with", "gaps", "tested", "accuracy"]
        voice.table(title, head, rows[:MOST_TOLD], right=2)
        if len(rows) > MOST_TOLD:
            voice.say(f"{len(rows) - MOST_TOLD} more have fewer gaps.")
        for sentence in self._cautions(np.array([one.explained for one in self.accuracy])):
            voice.caution(sentence)

    def _cautions(self, explained: Array) -> Iterator[str]:
        none = [j for j, zero in enumerate(self.zeros) if zero]
        if none:
            each = dict.fromkeys(self.zeros[j] for j in none)
            own = {zero: [j for j in none if self.zeros[j] == zero] for zero in each}
            parts = [f"{quoted(self.names, js)} where '{zero}' is 0" for zero, js in own.items()]
            yield (
                "Some empty cells seem to mean that there is none, as they are nearly always and "
                f"nearly only found beside a zero: {'; '.join(parts)}. What stands there now is "
                "made up: write that there is none instead."
            )
        known = 1 - self.count / max(self.n_rows, 1)
        rare = np.setdiff1d(np.flatnonzero((known > 0) & (known < RARE)), none)
        if len(rare):
            yield (
                f"{quoted(self.names, rare)} {'is' if len(rare) == 1 else 'are'} known in fewer "
                f"than {RARE:.0%} of the rows, so that most of what stands there now is guessed. "
                "If an empty cell means that there is none, write that there instead."
            )
        hardly = np.setdiff1d(np.flatnonzero(explained < HARDLY), none)
        if len(hardly):
            yield (
                f"The other columns tell hardly anything of {quoted(self.names, hardly)}: gaps "
                "there get about the same value in every row. Use draws (--draws) for "
                "estimates, or leave such a column out of what you compute."
            )


def _named(names: Sequence[str]) -> str:
    """Two names, or one and how many more, so that a line stays a line."""
    return quoted(names, range(len(names)), 2 if len(names) == 2 else 1) if names else ""


def _measured(one: Accuracy) -> tuple[str, str]:
    """On how many cells, and how well they were filled; nothing if too few could be hidden."""
    return (f"{one.n_cells:,}" if one.n_cells else "", one.in_words)
