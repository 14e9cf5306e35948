"""What is said of filled gaps: how many there were in each column, and how well they are filled."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from halfseen.cli.console import Console
from halfseen.cli.filling import FilledTable
from halfseen.data.arrays import Array
from halfseen.data.formatting import percent, quoted
from halfseen.imputation.accuracy import FillAccuracy

RARELY_KNOWN = 0.2
"""Share of rows in which a column is known, below which its fills are mostly guesses."""
HARDLY_EXPLAINED = 0.05
"""Share of a column that the others explain, below which its fills are all alike."""
MOST_COLUMNS = 40  # that are listed, so that the list fits on a screen or two


class ColumnAccuracy(NamedTuple):
    """How well a column is filled: known cells, hidden as others are missing, and filled again."""

    explained: float = np.nan  # how much the others tell of it, from 0 to 1
    variance: float = np.nan  # R² of fills of a number
    right: float = np.nan  # share of fills of a category that are right
    commonest: float = np.nan  # the same if the commonest one, the mode, were filled in
    n_cells: int = 0
    missing_with: tuple[str, ...] = ()

    def __str__(self) -> str:
        """What is measured, with its unit; nothing if too few cells could be hidden.

        >>> str(ColumnAccuracy(variance=0.12)), str(ColumnAccuracy(right=0.7, commonest=0.51))
        ('12% of variance', '70% right (mode 51%)')
        """
        if not np.isnan(self.variance):
            return f"{percent(max(self.variance, 0.0))} of variance"
        if np.isnan(self.right):
            return ""
        return f"{percent(self.right)} right (mode {percent(self.commonest)})"


@dataclass(frozen=True, eq=False)
class FillSummary:
    """Columns that had gaps, those with most gaps first."""

    names: tuple[str, ...]
    count: Array  # (d,)
    n_rows: int
    accuracy: tuple[ColumnAccuracy, ...]  # (d,)
    zeros: tuple[str, ...]  # (d,)   the column whose zeros its gaps go with; empty if there is none

    @property
    def as_dicts(self) -> dict[str, dict[str, Any]]:
        """The columns by name, for machines."""
        return {
            name: {
                "gaps": int(n),
                "explained": one.explained,
                "variance_explained": one.variance,
                "right": one.right,
                "right_if_all_alike": one.commonest,
                "n_tested": one.n_cells,
                "missing_with": list(one.missing_with),
            }
            for name, n, one in zip(self.names, self.count, self.accuracy, strict=True)
        }

    def show(self, console: Console) -> None:
        """Print a table, and what to be careful about."""
        if not any(one.n_cells for one in self.accuracy):
            return
        rows = [
            (
                name,
                _shortened(one.missing_with),
                f"{int(n):,}",
                f"{one.n_cells:,}" if one.n_cells else "",
                str(one),
            )
            for name, n, one in zip(self.names, self.count, self.accuracy, strict=True)
        ]
        title = (
            "Columns with gaps, and how well they are filled. Known cells were hidden together, as "
            "cells are missing together in this table, and filled by what other rows taught:"
        )
        head = ["column", "missing with", "gaps", "tested", "accuracy"]
        console.table(title, head, rows[:MOST_COLUMNS], right=2)
        if len(rows) > MOST_COLUMNS:
            console.say(f"{len(rows) - MOST_COLUMNS} more have fewer gaps.")
        for sentence in self._cautions(np.array([one.explained for one in self.accuracy])):
            console.caution(sentence)

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
        rare = np.setdiff1d(np.flatnonzero((known > 0) & (known < RARELY_KNOWN)), none)
        if len(rare):
            yield (
                f"{quoted(self.names, rare)} {'is' if len(rare) == 1 else 'are'} known in fewer "
                f"than {RARELY_KNOWN:.0%} of the rows, so that most of what stands there now is "
                "guessed. If an empty cell means that there is none, write that there instead."
            )
        hardly = np.setdiff1d(np.flatnonzero(explained < HARDLY_EXPLAINED), none)
        if len(hardly):
            yield (
                f"The other columns tell hardly anything of {quoted(self.names, hardly)}: gaps "
                "there get about the same value in every row. Use draws (--draws) for "
                "estimates, or leave such a column out of what you compute."
            )


def summarise_fills(filled: FilledTable) -> FillSummary:
    """The columns of a table that was filled."""
    names, count = filled.table.source.names, np.asarray(filled.n_gaps)
    order = np.argsort(-count, kind="stable")
    order = order[count[order] > 0]
    found, beside = filled.filler.accuracy, filled.filler.zero_beside
    beside = np.full(len(count), -1) if beside is None else beside
    return FillSummary(
        tuple(names[j] for j in order),
        count[order],
        filled.n_rows,
        tuple(_accuracy_of(found, j, names) for j in order),
        tuple(names[beside[j]] if beside[j] >= 0 else "" for j in order),
    )


def _accuracy_of(found: FillAccuracy | None, column: int, names: Sequence[str]) -> ColumnAccuracy:
    if found is None:
        return ColumnAccuracy()
    return ColumnAccuracy(
        float(found.explained[column]),
        float(found.variance[column]),
        float(found.right[column]),
        float(found.commonest[column]),
        int(found.n_cells[column]),
        tuple(names[j] for j in found.missing_with[column]),
    )


def _shortened(names: Sequence[str]) -> str:
    """Two names, or one and how many more, so that a line stays a line."""
    return quoted(names, most=2 if len(names) == 2 else 1) if names else ""
