"""The kinds of the columns of a table, as models of mixed columns would take them."""

from typing import NamedTuple

import numpy as np

from halfseen.cli.reading.command_table import Surveyed
from halfseen.diagnostics.missingness import COMPLETE_ABOVE
from halfseen.distributions.column_kinds import kind_named, kind_of
from halfseen.distributions.column_summary import facts_of
from halfseen.io.coding import COLUMN_KINDS
from halfseen.moments.survey import survey_of


class ColumnKind(NamedTuple):
    """What a column is."""

    kind: str
    n_values: int | None  # that it has, if they are few
    worded: bool  # whether those are words
    n_single: int = 0  # of them that a single row holds

    @property
    def measured(self) -> bool:
        """Whether it is continuous."""
        return kind_named(self.kind).normal

    @property
    def told(self) -> str:
        """In a word, with how many values there are.

        >>> ColumnKind("categorical", 5, True).told, ColumnKind("continuous", None, False).told
        ('categorical, 5', 'continuous')
        """
        few = self.n_values is not None and self.n_values > 2
        return f"{self.kind}, {self.n_values}" if few else self.kind


def column_kinds(seen: Surveyed) -> dict[str, ColumnKind]:
    """What each column is: as declared, or as its values look; up to three passes over the rows."""
    coding, rows = seen.table.coding, seen.table.rows()
    if coding is None:
        return {}
    pairs = zip(coding.names, coding.kinds, strict=True)
    declared = {name: kind for name, kind in pairs if kind in COLUMN_KINDS}
    facts = facts_of(rows, survey_of(rows.names, seen.features, COMPLETE_ABOVE), declared)
    n_values = np.isfinite(facts.level_values).sum(axis=0)
    found = {}
    for d, name in enumerate(rows.names):
        rows_each = np.rint(facts.histograms[d] * seen.features.count[d])
        found[name] = ColumnKind(
            kind_of(facts.kinds[d]).word,
            int(n_values[d]) or None,
            bool(coding.labels[d]),
            int(np.sum(rows_each == 1)),
        )
    return found


def summed_up(kinds: list[str]) -> str:
    """How many columns are of each kind, most common first.

    >>> summed_up(["categorical", "continuous", "categorical"])
    '2 categorical, 1 continuous'
    """
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{count} {kind}" for kind, count in ranked)
