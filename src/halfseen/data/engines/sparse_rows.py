"""Rows of a sparse matrix of counts: a zero is observed, a gap is not."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from halfseen.data.arrays import Array, Mask
from halfseen.data.block import Block, made_once
from halfseen.data.counts import Nonzeros, RepeatedCells
from halfseen.data.engines.memory import BLOCK_ENTRIES, FEWEST_ROWS, PreparedRows, Told, sum_over
from halfseen.data.engines.sparse_products import (
    SparseEntries,
    Stored,
    arrays_of,
    none_between,
    ranges,
    row_numbers,
    rows_between,
    where,
    with_data,
)
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.products import Entries
from halfseen.data.rows import Rows, S

MAX_BLOCK_ROWS = 8192
"""Rows of a block of many features: enough that its sums (d, m) are small beside it."""
N_BLOCKS, MIN_BLOCK_ROWS = 16, 256
"""Fewer rows are cut into so many blocks of at least so many rows, for threads to share."""
NARROW = 512
"""Features up to which blocks are cut like those of an array: small enough to be filled in."""


class SparseBlock(Block):
    """Some rows of a sparse table; dense arrays are made on first use."""

    def __init__(
        self,
        stored: csr_array,
        gaps: csr_array,
        column_block: NDArray[np.intp],
        row_observed: Mask,
        weights: Array | None = None,
        start: int = 0,
    ):
        parts = {
            "stored": stored,  # (n, d)          what was counted
            "gaps": gaps,  # (n, d)              one where a count of an observed block is missing
            "column_block": column_block,  # (d,)
            "row_observed": row_observed,  # (n, b)
            "weights": weights,
            "start": start,
        }
        self.__dict__.update(parts)

    stored: csr_array
    gaps: csr_array
    column_block: NDArray[np.intp]
    row_observed: Mask

    def __len__(self) -> int:
        return len(self.row_observed)

    @property
    def n_features(self) -> int:
        return len(self.column_block)

    @made_once
    def values(self) -> Array:
        """The counts, zero where not observed; (n, d)."""
        return self.stored.toarray().astype(float)

    @made_once
    def observed(self) -> Mask:
        """Whether each entry is observed; (n, d)."""
        observed: Mask = self.row_observed[:, self.column_block]
        observed[row_numbers(self.gaps), self.gaps.indices] = False
        return observed

    def deviations(self, origin: Array) -> Entries:
        return self._entries(-origin, arrays_of(self.stored))

    def presence(self) -> Entries:
        starts, features, values = arrays_of(self.stored)
        nothing = np.zeros_like(starts), features[:0], values[:0]
        return self._entries(np.ones(len(self.column_block)), nothing)

    def _entries(self, level: Array, stored: Stored) -> SparseEntries:
        gaps = arrays_of(self.gaps)
        return SparseEntries(level, stored, gaps, self.column_block, self.row_observed)

    def present(self, features: NDArray[np.intp]) -> Mask:
        observed: Mask = self.row_observed[:, self.column_block[features]]
        place = np.full(len(self.column_block), -1)
        place[features] = np.arange(len(features))
        column = place[self.gaps.indices]
        asked = column >= 0
        observed[row_numbers(self.gaps)[asked], column[asked]] = False
        return observed

    def nonzeros(self) -> Nonzeros:
        above = self.stored.data > 0
        kept = self.stored if above.all() else where(self.stored, above)
        starts, features, counts = arrays_of(kept)
        return Nonzeros(starts.astype(np.int64), features.astype(np.int64), counts.astype(float))

    def feature_sums(self) -> FeatureSums:
        d = len(self.column_block)
        _, features, values = arrays_of(self.stored)
        seen = self.row_observed @ np.bincount(self.column_block, minlength=self._n_blocks)
        filled = seen > np.diff(self.gaps.indptr)
        ones = np.ones((len(self), 1))
        n_observed = self.presence().back(ones)[:, 0]
        minimum, maximum, n_stored, whole = ranges(features, values, d)
        has_zero = n_observed > n_stored
        minimum = np.where(has_zero, np.minimum(minimum, 0), minimum)
        maximum = np.where(has_zero, np.maximum(maximum, 0), maximum)
        two_valued = none_between(features, values, minimum, maximum)
        two_valued &= ~(has_zero & (minimum < 0) & (maximum > 0))
        count = self.presence().back(self.weighed(ones))[:, 0]
        return FeatureSums(
            n_rows=float(self.weighed(filled.astype(float)).sum()),
            n_empty=int(np.count_nonzero(~filled)),
            count=count,
            total=self.deviations(np.zeros(d)).back(self.weighed(ones))[:, 0],
            minimum=minimum,
            maximum=maximum,
            whole=whole,
            two_valued=two_valued,
            n_lowest=self._holding(minimum, count),
            n_highest=self._holding(maximum, count),
        )

    def _holding(self, value: Array, count: Array) -> Array:
        """How many of ``count`` (d,) observed entries equal ``value`` (d,), by weight; (d,)."""
        d, (_, features, values) = self.n_features, arrays_of(self.stored)
        weight = self.row_weights()[row_numbers(self.stored)]
        zeros = count - np.bincount(features, weight, minlength=d)  # that are not stored
        same = values == value[features]
        stored = np.bincount(features[same], weight[same], minlength=d)
        return np.where(value == 0, zeros, 0.0) + stored

    def repeated_cells(self) -> RepeatedCells:
        """What is stored, and of each feature the zeros that are not."""
        d, (_, features, values) = self.n_features, arrays_of(self.stored)
        n_observed = self.presence().back(np.ones((len(self), 1)))[:, 0]
        n_zeros = np.rint(n_observed) - np.bincount(features, minlength=d)
        zero = np.flatnonzero(n_zeros > 0)
        return RepeatedCells(
            np.concatenate([features, zero]).astype(np.intp),
            np.concatenate([values, np.zeros(len(zero))]).astype(float),
            np.concatenate([np.ones(len(values)), n_zeros[zero]]),
        )

    def masks(self) -> NDArray[np.uint8]:
        kinds, which = np.unique(self.row_observed, axis=0, return_inverse=True)
        codes = np.packbits(kinds[:, self.column_block], axis=1)[which.reshape(-1)]
        bit = (128 >> self.gaps.indices % 8).astype(np.uint8)
        np.bitwise_and.at(codes, (row_numbers(self.gaps), self.gaps.indices // 8), ~bit)
        return codes

    def along_presence(self, origin: Array) -> tuple[Array, Array, Array]:
        """Counts, sums and squares of feature i over the rows that hold feature j; (d, d) each.

        A row holds what it has blocks for, less its gaps: all products are of what is stored.
        """
        block, gaps = self.column_block, self.gaps
        has = self.row_observed.astype(float)
        counts = self.row_weights()
        weighed = csr_array(gaps.multiply(counts[:, None]))

        def over_holders(values: Array) -> Array:
            """Sums of values (stored,) of each feature over the rows that hold each other one."""
            own = with_data(self.stored, values * counts[row_numbers(self.stored)])
            return np.asarray((own.T @ has)[:, block] - (own.T @ gaps).toarray())

        lacking = np.asarray(weighed.T @ has)[:, block]
        both = (has.T @ (has * counts[:, None]))[np.ix_(block, block)]
        count: Array = both - lacking - lacking.T + (weighed.T @ gaps).toarray()
        total = over_holders(self.stored.data.astype(float))
        square = over_holders(self.stored.data.astype(float) ** 2)
        level = origin[:, None]
        return (
            count,
            total - level * count,
            square - 2 * level * total + level**2 * count,
        )

    @property
    def _n_blocks(self) -> int:
        return int(self.row_observed.shape[1])

    def select(self, features: Mask) -> "SparseBlock":
        return SparseBlock(
            self.stored[:, features],
            self.gaps[:, features],
            self.column_block[features],
            self.row_observed,
            self.weights,
            self.start,
        )

    def rows(self, chosen: NDArray[np.intp]) -> "SparseBlock":
        return SparseBlock(
            self.stored[chosen],
            self.gaps[chosen],
            self.column_block,
            self.row_observed[chosen],
            None if self.weights is None else self.weights[chosen],
            self.start,
        )

    def divided(self, by: Array) -> "SparseBlock":
        values = self.stored.data / by[row_numbers(self.stored)]
        return self._with(with_data(self.stored, values), self.gaps, self.row_observed)

    def without(self, row: NDArray[np.intp], feature: NDArray[np.intp]) -> "SparseBlock":
        hidden = self.row_observed[row, self.column_block[feature]]  # others are gaps already
        row, feature = row[hidden], feature[hidden]
        stored, gaps = self._codes(self.stored), self._codes(self.gaps)
        codes = row * self.n_features + feature
        left = where(self.stored, ~np.isin(stored, codes))
        new = np.union1d(gaps, codes)
        starts = np.searchsorted(new, np.arange(len(self) + 1) * self.n_features)
        more = csr_array((np.ones(len(new)), new % self.n_features, starts), shape=self.gaps.shape)
        return self._with(left, more, self.row_observed)

    def emptied(self, chosen: Mask) -> "SparseBlock":
        stored = where(self.stored, ~chosen[row_numbers(self.stored)])
        gaps = where(self.gaps, ~chosen[row_numbers(self.gaps)])
        return self._with(stored, gaps, self.row_observed & ~chosen[:, None])

    def clipped(self, low: Array, high: Array) -> "Block":
        if (low > 0).any() or (high < 0).any():  # zeros would not stay zeros
            return super().clipped(low, high)
        features = self.stored.indices
        values = np.clip(self.stored.data, low[features], high[features])
        return self._with(with_data(self.stored, values), self.gaps, self.row_observed)

    def _codes(self, entries: csr_array) -> NDArray[np.intp]:
        """One number for each entry, from its row and feature."""
        return row_numbers(entries) * self.n_features + entries.indices

    def _with(self, stored: csr_array, gaps: csr_array, row_observed: Mask) -> "SparseBlock":
        return SparseBlock(stored, gaps, self.column_block, row_observed, self.weights, self.start)

    def with_weights(self, weights: Array) -> "SparseBlock":
        return SparseBlock(
            self.stored, self.gaps, self.column_block, self.row_observed, weights, self.start
        )


@dataclass(frozen=True, eq=False)
class SparseRows(Rows):
    """Rows of a sparse matrix, summed block by block in threads."""

    stored: csr_array
    gaps: csr_array
    column_block: NDArray[np.intp]  # (d,)
    row_observed: Mask  # (n, b)
    names: tuple[str, ...]
    weights: Array | None = None
    n_threads: int = 1
    advance: Told = None
    first: int = 0  # which row of a larger table is the first

    @property
    def sparse(self) -> bool:
        return True

    @classmethod
    def of(
        cls,
        matrix: Any,
        names: tuple[str, ...],
        column_block: NDArray[np.intp] | None = None,
        row_observed: Mask | None = None,
        **more: Any,
    ) -> Self:
        """The rows of a SciPy CSR matrix in which stored NaNs are gaps.

        ``column_block`` (d,) and ``row_observed`` (n, b) say which blocks of columns a row has.
        """
        n, d = matrix.shape
        if column_block is None or row_observed is None:
            column_block, row_observed = np.zeros(d, dtype=np.intp), np.ones((n, 1), dtype=bool)
        stored = csr_array(matrix)
        missing = np.isnan(stored.data)
        gaps = where(stored, missing)
        if missing.any():
            stored = where(stored, ~missing)
        gaps = with_data(gaps, np.ones(gaps.nnz))
        return cls(stored, gaps, column_block, row_observed, names, **more)

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features; copies, unless that is all of them."""
        if features.all():
            return self
        return replace(
            self,
            stored=self.stored[:, features],
            gaps=self.gaps[:, features],
            column_block=self.column_block[features],
            names=tuple(name for name, keep in zip(self.names, features, strict=True) if keep),
        )

    def recentred(self, origin: Array) -> PreparedRows:
        """The same rows measured from ``origin`` (d,), filled in."""
        blocks = [block.recentred(origin) for block in self.blocks()]
        return PreparedRows(tuple(blocks), self.names, self.n_threads, self.advance)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        return sum_over(self.blocks(), summarise, self.n_threads, self.advance)

    def blocks(self) -> Iterator[SparseBlock]:
        """The rows in order, a block at a time; one empty block if there are none."""
        n, d = len(self.row_observed), max(len(self.names), 1)
        wide = min(max(n // N_BLOCKS, MIN_BLOCK_ROWS), MAX_BLOCK_ROWS)
        step = max(BLOCK_ENTRIES // d, FEWEST_ROWS) if d <= NARROW else wide
        for start in range(0, max(n, 1), step):
            stop = min(start + step, n)
            yield SparseBlock(
                rows_between(self.stored, start, stop),
                rows_between(self.gaps, start, stop),
                self.column_block,
                self.row_observed[start:stop],
                None if self.weights is None else self.weights[start:stop],
                self.first + start,
            )
