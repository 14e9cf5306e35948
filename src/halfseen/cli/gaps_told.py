"""Where gaps were filled, how many, and how well that can be done."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfseen.cli.reading.filled_chunks import Filled
from halfseen.cli.voice import Voice
from halfseen.rows.arrays import Array
from halfseen.rows.naming import quoted
from halfseen.rows.percentages import percent

RARE = 0.2
"""Share of rows in which a column is known, below which its fills are mostly guesses."""
HARDLY = 0.05
"""Share that the others tell of a column, below which its fills are all alike."""
MOST_TOLD = 40


def counted(n_gaps: int, n_rows: int) -> str:
    """How many gaps were filled.

    >>> counted(1, 1_200)
    '1 gap in 1,200 rows was filled.'
    """
    gaps = "1 gap" if n_gaps == 1 else f"{n_gaps:,} gaps"
    rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
    return f"{gaps} in {rows} {'was' if n_gaps == 1 else 'were'} filled."


@dataclass(frozen=True, eq=False)
class Gaps:
    """Columns that had gaps."""

    names: tuple[str, ...]
    count: Array  # (d,)
    n_rows: int
    explained: Array | None  # (d,)  how much the others tell of each, from 0 to 1
    zeros: tuple[str, ...]  # (d,)   the column whose zeros its gaps go with; empty if there is none

    @classmethod
    def of(
        cls, names: Sequence[str], filled: Filled, explained: Array | None, zero_beside: Any
    ) -> Self:
        """Of a table that was filled; those with most gaps first."""
        count = np.asarray(filled.n_gaps)
        order = np.argsort(-count, kind="stable")
        order = order[count[order] > 0]
        own = None if explained is None else explained[order]
        beside = np.full(len(count), -1) if zero_beside is None else zero_beside
        zeros = tuple(names[beside[j]] if beside[j] >= 0 else "" for j in order)
        return cls(tuple(names[j] for j in order), count[order], filled.n_rows, own, zeros)

    @property
    def as_dicts(self) -> dict[str, dict[str, Any]]:
        """By name, for machines."""
        told = np.full(len(self.names), np.nan) if self.explained is None else self.explained
        pairs = zip(self.names, self.count, told, strict=True)
        return {name: {"gaps": int(n), "explained": share} for name, n, share in pairs}

    def tell(self, voice: Voice) -> None:
        """A table, and what to be careful about."""
        if self.explained is None or not np.isfinite(self.explained).any():
            return
        rows = [
            (name, f"{int(n):,}", "" if np.isnan(share) else percent(share))
            for name, n, share in zip(self.names, self.count, self.explained, strict=True)
        ]
        title = (
            "Columns with gaps, and how much of each the others tell (of variance, or of "
            "uncertainty, on rows held out):"
        )
        voice.table(title, ["column", "gaps", "told"], rows[:MOST_TOLD])
        if len(rows) > MOST_TOLD:
            voice.say(f"{len(rows) - MOST_TOLD} more have fewer gaps.")
        for sentence in self._cautions(self.explained):
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
