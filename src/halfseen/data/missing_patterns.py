"""Patterns of missing values: which there are, and how many rows have each."""

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.rows import Block
from halfseen.data.sums import JOINED, KeyedSums


@dataclass(frozen=True, eq=False)
class PatternSums(KeyedSums):
    """Patterns of observed features, with the number of rows of each."""

    codes: NDArray[np.uint8] = field(metadata=JOINED)  # (u, ⌈d / 8⌉)
    count: Labels = field(metadata=JOINED)  # (u,)
    first: Labels = field(metadata=JOINED)  # (u,)  number of the first row

    @classmethod
    def of(cls, block: Block) -> Self:
        """The patterns of one block of rows, each of which counts once."""
        n_rows = len(block)
        rows = block.start + np.arange(n_rows)
        ones = np.ones(n_rows, np.int64)
        return cls(block.n_features, 0, block.masks(), ones, rows).merged()

    def __len__(self) -> int:
        return len(self.codes)

    def merged(self) -> Self:
        whole = np.ascontiguousarray(self.codes).view(f"V{max(self.codes.shape[1], 1)}").reshape(-1)
        _, place, inverse = np.unique(whole, return_index=True, return_inverse=True)
        count, first = np.zeros(len(place), np.int64), np.full(len(place), np.iinfo(np.int64).max)
        np.add.at(count, inverse, self.count)
        np.minimum.at(first, inverse, self.first)
        order = np.lexsort((first, -count))
        codes = self.codes[place[order]]
        return type(self)(self.n_features, len(codes), codes, count[order], first[order])

    @property
    def masks(self) -> Mask:
        """Which features are observed in each pattern; (u, d)."""
        return self.first_masks(len(self.codes))

    def first_masks(self, most: int) -> Mask:
        """The masks of the first patterns, at most that many."""
        bits = np.unpackbits(self.codes[:most], axis=1, count=self.n_features)
        return bits.astype(bool)

    @property
    def filled(self) -> Mask:
        """Whether patterns have any observed feature; (u,)."""
        return np.asarray(self.codes.any(axis=1))

    @property
    def whole(self) -> Mask:
        """Whether patterns have all features observed; (u,)."""
        everything = np.packbits(np.ones(self.n_features, bool))
        return np.asarray((self.codes == everything).all(axis=1))


FEWEST_CELLS = 20
"""Known cells of a column: fewer do not measure how well it is filled."""
CANDIDATES = 5
"""Rows of which the one whose own gaps fit best imitates a pattern. With 20 of them the few
complete rows of a table, which often are not like the others, are tested again and again: what is
printed was less near to the truth in two hospital tables (``benchmarks.printed_accuracy``)."""


class ImitatedGaps(NamedTuple):
    """Rows in which known cells are hidden for a test, which cells, and their weights.

    A test is drawn for a column ``j``, by the gaps of a row that misses ``j``. For all columns that
    are hidden with it, ``weight`` makes up for how likely its pattern was drawn: weighted cells of
    a column are hidden as they are in rows that miss that column, all of which count alike.
    """

    row: NDArray[np.intp]  # (t,)
    hidden: Mask  # (t, d)
    weight: Array  # (t,)

    @property
    def n_cells(self) -> NDArray[np.intp]:
        """The number of different hidden cells of each column; (d,)."""
        return np.array([len(np.unique(self.row[own])) for own in self.hidden.T], dtype=np.intp)


def measurable(known: Mask) -> Mask:
    """Columns with gaps and enough ``known`` (n, d) cells; (d,)."""
    count = known.sum(axis=0)
    return np.asarray((count < len(known)) & (count >= FEWEST_CELLS))


def imitated_gaps(known: Mask, n_tests: int, random: np.random.Generator) -> ImitatedGaps:
    """Hide ``known`` (n, d) cells in patterns of other rows; about ``n_tests`` tests.

    As many tests are drawn for each column. Their pattern is that of a row that misses the column,
    and a row that knows it gets this pattern: of some rows the one with fewest gaps elsewhere.
    """
    n, d = known.shape
    gaps, columns = ~known, np.flatnonzero(measurable(known))
    if not len(columns):
        return ImitatedGaps(np.empty(0, dtype=np.intp), np.empty((0, d), bool), np.empty(0))
    each = -(-n_tests // len(columns))
    donors, rows = [], []
    for j in columns:
        donor = random.choice(np.flatnonzero(gaps[:, j]), each)
        some = random.choice(np.flatnonzero(known[:, j]), (each, min(CANDIDATES, n)))
        more = (gaps[some] & known[donor][:, None]).sum(axis=2)  # (each, candidates)
        rows.append(some[np.arange(each), more.argmin(axis=1)])
        donors.append(donor)
    row, pattern = np.concatenate(rows), gaps[np.concatenate(donors)]
    chance = pattern[:, columns] @ (1 / gaps[:, columns].sum(axis=0))
    return ImitatedGaps(row, pattern & known[row], 1 / chance)


def missing_with(known: Mask, column: int, share: float = 0.5) -> NDArray[np.intp]:
    """Columns that are often missing together with a column, most often first.

    Columns that are never ``known`` (n, d) are left out.
    """
    beside = (~known[~known[:, column]]).mean(axis=0) * known.any(axis=0)
    beside[column] = 0.0
    order = np.argsort(-beside, kind="stable")
    return np.asarray(order[beside[order] >= share])
