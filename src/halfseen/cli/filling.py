"""Gaps filled some rows at a time, by a model or by an imputer, as columns to write."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from halfseen.cli.new_table import Chunk, NewTable
from halfseen.data.arrays import Array, Mask
from halfseen.imputation.accuracy import FillAccuracy
from halfseen.io.cells.dates import as_dates
from halfseen.io.cells.number_formats import is_text
from halfseen.io.sparse_matrix import SparseSource

Columns = dict[str, Any]
"""Arrow columns by name."""


@dataclass(frozen=True, eq=False)
class ModelFiller:
    """Fills gaps by what a model of rows expects given the rest of the row."""

    estimator: Any
    possible: bool = True  # whether fills are values that a column can have, rather than averages

    accuracy: FillAccuracy | None = None
    """How well each column is filled, if that was measured on rows held out."""
    zero_beside: Any = None
    """For each column the one whose zeros its gaps go with (d,), if that was looked for."""

    def fill(self, X: Any, *, return_std: bool = False) -> Any:
        """The rows without gaps, and how far off each value may be."""
        return self.estimator.impute(X, return_std=return_std, possible=self.possible)

    def draw(self, X: Any, number: int, seed: int) -> list[Any]:
        """Several tables that are filled at random."""
        self.estimator.random_state = seed
        return list(self.estimator.impute(X, draws=number, possible=self.possible))

    @property
    def ranges(self) -> Array:
        """The lowest and the highest value that each column gets; (2, d)."""
        return np.asarray(self.estimator.value_ranges_)


class ImputerFiller(ModelFiller):
    """Fills gaps by an imputer, which was told what is possible when it was made."""

    def fill(self, X: Any, *, return_std: bool = False) -> Any:
        """The rows without gaps, and how far off each value may be."""
        return self.estimator.transform(X, return_std=return_std)

    def draw(self, X: Any, number: int, seed: int) -> list[Any]:
        """Several tables that are filled at random."""
        self.estimator.random_state = seed
        return list(self.estimator.draw(X, number))

    @property
    def ranges(self) -> Array:
        """The lowest and the highest value that each column gets; (2, d)."""
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
        """Some rows without gaps, in their own units, for each table that is written."""
        tables = list(self._tables(chunk))
        self.n_chunks += 1
        self.n_rows += chunk.n_rows
        self.n_gaps = self.n_gaps + self._gaps(chunk).sum(axis=0)
        self.n_left += sum(column.null_count for column in tables[0].values())
        return tables

    @property
    def n_filled(self) -> int:
        """How many gaps are none any more."""
        return int(np.sum(self.n_gaps)) - self.n_left

    def _gaps(self, chunk: Chunk) -> Mask:
        """Cells that hold nothing, rather than a word that the model does not know; (n, d)."""
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
        """What was filled as floats (n, d), NaN in columns of words."""
        if not chunk.words:
            return np.asarray(filled)
        table = np.full(chunk.values.shape, np.nan)
        for place, name in enumerate(self.table.source.names):
            if name not in chunk.words:
                table[:, place] = filled.column(place)
        return table
