"""Some rows of a table at a time with their gaps filled, as columns to write."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.cli.reading.fills import Fills
from halfseen.cli.reading.fitting import Chunk, Fitting
from halfseen.data.arrays import Array, Mask
from halfseen.io.cells.dates import as_dates
from halfseen.io.cells.number_formats import is_text
from halfseen.io.sparse_file import SparseSource

Columns = dict[str, Any]
"""Columns by name, as Arrow has them."""


@dataclass
class Filled:
    """Fills gaps, and counts them."""

    fills: Fills
    given: Fitting
    draws: int | None = None
    std: bool = False
    possible: bool = True
    seed: Any = 0
    n_chunks: int = 0
    n_rows: int = 0
    n_gaps: Any = 0  # (d,)  by column
    n_left: int = 0

    def of(self, chunk: Chunk) -> list[Columns]:
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
        for place, name in enumerate(self.given.source.names):
            if name in chunk.words:
                gaps[:, place] = np.asarray(chunk.given.column(place).is_null())
        return gaps

    def _tables(self, chunk: Chunk) -> Iterator[Columns]:
        if self.draws is not None:
            # A generator of its own for each chunk, or all chunks would have the same draws.
            random = np.random.default_rng([self.seed, self.n_chunks])
            seed = int(random.integers(2**31))
            for table in self.fills.drawn(chunk.asked, self.draws, seed):
                yield self._written(chunk, table)
            return
        if not self.std:
            yield self._written(chunk, self.fills.expected(chunk.asked))
            return
        filled, spread = self.fills.expected_and_spread(chunk.asked)
        yield self._written(chunk, filled)
        # Values of a range vary no more than by half of it, however long a logarithm's tail is.
        low, high = self.given.in_units(self.fills.ends, possible=False)
        numbers, spread = self._numbers(chunk, filled), np.asarray(spread)
        own = np.minimum(self.given.spread_in_units(numbers, spread), (high - low) / 2)
        known = np.where(np.isnan(chunk.values), own, 0.0)
        names = self.given.source.names
        yield {
            name: _none(chunk) if name in chunk.words else _cells(column)
            for name, column in zip(names, known.T, strict=True)
        }

    def _written(self, chunk: Chunk, filled: Any) -> Columns:
        """What was known as it is in the file, and what was filled in its own units."""
        own = self.given.in_units(self._numbers(chunk, filled), possible=self.possible)
        numbers = self.given.as_in_tables(
            np.where(np.isnan(chunk.values), own, chunk.values), self.n_rows
        )
        return {
            name: self._words(chunk, filled, place)
            if name in chunk.words
            else self._as_written(numbers[:, place], place)
            for place, name in enumerate(self.given.source.names)
        }

    def _as_written(self, column: Array, place: int) -> Any:
        """Numbers, or the dates that they stand for."""
        source = self.given.source
        files = () if isinstance(source, SparseSource) else source.files
        own = (file.written.get(source.names[place]) for file in files)
        dates = next((one.dates for one in own if one is not None), None)
        return _cells(column) if dates is None else as_dates(column, dates.origin)

    def _words(self, chunk: Chunk, filled: Any, place: int) -> Any:
        from pyarrow import compute

        known = chunk.words[self.given.source.names[place]]
        new, gaps = filled.column(place), chunk.given.column(place).is_null()
        # Cells of text were trimmed on their way to the model.
        return compute.if_else(gaps, new, known.cast(new.type)) if is_text(known.type) else new

    def _numbers(self, chunk: Chunk, filled: Any) -> Array:
        """What was filled as floats (n, d), NaN in columns of words."""
        if not chunk.words:
            return np.asarray(filled)
        table = np.full(chunk.values.shape, np.nan)
        for place, name in enumerate(self.given.source.names):
            if name not in chunk.words:
                table[:, place] = filled.column(place)
        return table


def _cells(column: Array) -> Any:
    """Numbers, and nothing where there is none."""
    import pyarrow as pa

    return pa.array(column, from_pandas=True)


def _none(chunk: Chunk) -> Any:
    import pyarrow as pa

    return pa.nulls(chunk.n_rows, pa.float64())
