"""Where gaps were filled, how many, and how well that can be done."""

from collections.abc import Sequence
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

    @classmethod
    def of(cls, names: Sequence[str], filled: Filled, explained: Array | None) -> Self:
        """Of a table that was filled; those with most gaps first."""
        count = np.asarray(filled.n_gaps)
        order = np.argsort(-count, kind="stable")
        order = order[count[order] > 0]
        own = None if explained is None else explained[order]
        return cls(tuple(names[j] for j in order), count[order], filled.n_rows, own)

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
        known = 1 - self.count / max(self.n_rows, 1)
        rare = np.flatnonzero((known > 0) & (known < RARE))
        if len(rare):
            voice.caution(
                f"{quoted(self.names, rare)} {'is' if len(rare) == 1 else 'are'} known in fewer "
                f"than {RARE:.0%} of the rows, so that most of what stands there now is guessed. "
                "If an empty cell means that there is none, write that there instead."
            )
