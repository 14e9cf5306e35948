"""Fill gaps in batches of rows, by a model or an imputer, as columns to write."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import compute

from halfseen.cli.console import Console
from halfseen.cli.new_table import Chunk, NewTable
from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import percent, quoted
from halfseen.imputation.accuracy import FillAccuracy
from halfseen.io.cells.dates import as_dates
from halfseen.io.cells.number_formats import is_text
from halfseen.io.sparse_matrix import SparseSource

Columns = dict[str, Any]
"""Arrow columns by name."""
RARELY_KNOWN = 0.2
"""Share of rows in which a column is known, below which its fills are mostly guesses."""
HARDLY_EXPLAINED = 0.05
"""Share of a column that the others explain, below which its fills are all alike."""
MOST_COLUMNS = 40  # that are listed, so that the list fits on a screen or two


@dataclass(frozen=True, eq=False)
class ModelFiller:
    """Fills gaps by the conditional expectations of a model."""

    estimator: Any
    possible: bool = True  # whether fills are values that a column can have, rather than averages

    accuracy: FillAccuracy | None = None
    """How well each column is filled, if that was measured on rows held out."""
    zero_beside: Any = None
    """For each column the one whose zeros its gaps go with (d,), if that was looked for."""

    def fill(self, X: Any, *, return_std: bool = False) -> Any:
        """Filled rows, and standard deviations of the fills."""
        return self.estimator.impute(X, return_std=return_std, possible=self.possible)

    def draw(self, X: Any, number: int, seed: int) -> list[Any]:
        """Several randomly filled tables."""
        self.estimator.random_state = seed
        return list(self.estimator.impute(X, draws=number, possible=self.possible))

    @property
    def ranges(self) -> Array:
        """The lowest and highest fill of each column; (2, d)."""
        return np.asarray(self.estimator.value_ranges_)


class ImputerFiller(ModelFiller):
    """Fills gaps by an imputer."""

    def fill(self, X: Any, *, return_std: bool = False) -> Any:
        """Filled rows, and standard deviations of the fills."""
        return self.estimator.transform(X, return_std=return_std)

    def draw(self, X: Any, number: int, seed: int) -> list[Any]:
        """Several randomly filled tables."""
        self.estimator.random_state = seed
        return list(self.estimator.draw(X, number))

    @property
    def ranges(self) -> Array:
        """The lowest and highest fill of each column; (2, d)."""
        possible = self.estimator.learned_.possible
        return np.array([possible.low, possible.high])


@dataclass
class FilledTable:
    """Fills the gaps of a table, and counts them."""

    filler: ModelFiller
    table: NewTable
    draws: int | None = None
    std: bool = False
    seed: Any = 0
    n_chunks: int = 0
    n_rows: int = 0
    n_gaps: Any = 0  # (d,)  by column
    n_left: int = 0

    def fill(self, chunk: Chunk) -> list[Columns]:
        """Some filled rows in their own units, for each output table."""
        tables = list(self._tables(chunk))
        self.n_chunks += 1
        self.n_rows += chunk.n_rows
        self.n_gaps = self.n_gaps + self._gaps(chunk).sum(axis=0)
        self.n_left += sum(column.null_count for column in tables[0].values())
        return tables

    @property
    def n_filled(self) -> int:
        """The number of filled gaps."""
        return int(np.sum(self.n_gaps)) - self.n_left

    def _gaps(self, chunk: Chunk) -> Mask:
        """Empty cells, without words that the model does not know; (n, d)."""
        gaps: Mask = np.isnan(chunk.values)
        for place, name in enumerate(self.table.source.names):
            if name in chunk.words:
                gaps[:, place] = np.asarray(chunk.given.column(place).is_null())
        return gaps

    def _tables(self, chunk: Chunk) -> Iterator[Columns]:
        if self.draws is not None:
            # A generator of its own for each chunk, or all chunks would have the same draws.
            random = np.random.default_rng([self.seed, self.n_chunks])
            seed = int(random.integers(2**31))
            for table in self.filler.draw(chunk.X, self.draws, seed):
                yield self._written(chunk, table)
            return
        if not self.std:
            yield self._written(chunk, self.filler.fill(chunk.X))
            return
        filled, spread = self.filler.fill(chunk.X, return_std=True)
        yield self._written(chunk, filled)
        # Values of a range vary no more than by half of it, however long a logarithm's tail is.
        low, high = self.table.in_units(self.filler.ranges, possible=False)
        numbers, spread = self._numbers(chunk, filled), np.asarray(spread)
        own = np.minimum(self.table.spread_in_units(numbers, spread), (high - low) / 2)
        known = np.where(np.isnan(chunk.values), own, 0.0)
        no_spread = pa.nulls(chunk.n_rows, pa.float64())
        yield {
            name: no_spread if name in chunk.words else pa.array(column, from_pandas=True)
            for name, column in zip(self.table.source.names, known.T, strict=True)
        }

    def _written(self, chunk: Chunk, filled: Any) -> Columns:
        """What was known as it is in the file, and what was filled in its own units."""
        numbers = self._numbers(chunk, filled)
        own = self.table.in_units(numbers, possible=self.filler.possible)
        cells = np.where(np.isnan(chunk.values), own, chunk.values)
        cells = self.table.unharmonised(cells, self.n_rows)
        return {
            name: self._words(chunk, filled, place)
            if name in chunk.words
            else self._numbers_or_dates(cells[:, place], name)
            for place, name in enumerate(self.table.source.names)
        }

    def _numbers_or_dates(self, column: Array, name: str) -> Any:
        source = self.table.source
        files = () if isinstance(source, SparseSource) else source.files
        own = (file.written.get(name) for file in files)
        dates = next((one.dates for one in own if one is not None), None)
        if dates is not None:
            return as_dates(column, dates.origin)
        return pa.array(column, from_pandas=True)

    def _words(self, chunk: Chunk, filled: Any, place: int) -> Any:
        known = chunk.words[self.table.source.names[place]]
        new, gaps = filled.column(place), chunk.given.column(place).is_null()
        # Cells of text were trimmed on their way to the model.
        return compute.if_else(gaps, new, known.cast(new.type)) if is_text(known.type) else new

    def _numbers(self, chunk: Chunk, filled: Any) -> Array:
        """Fills as floats (n, d), NaN in columns of words."""
        if not chunk.words:
            return np.asarray(filled)
        table = np.full(chunk.values.shape, np.nan)
        for place, name in enumerate(self.table.source.names):
            if name not in chunk.words:
                table[:, place] = filled.column(place)
        return table


class ColumnAccuracy(NamedTuple):
    """The accuracy of the fills of one column."""

    explained: float = np.nan  # how much the others tell of it, from 0 to 1
    variance: float = np.nan  # R² of fills of a number
    right: float = np.nan  # share of fills of a category that are right
    commonest: float = np.nan  # the same if the commonest one, the mode, were filled in
    n_cells: int = 0
    missing_with: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The accuracy with its unit; empty if too few cells could be hidden.

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
    """Columns with gaps, those with most gaps first."""

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
        """Print a table, and warnings."""
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
    """Summarise the fills of each column."""
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
