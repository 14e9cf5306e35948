"""Counts, and totals of rows, that are beyond what the others allow.

Nothing here rests on means of all rows: one typing error moves them as far as it likes.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.count_tails import CountTails
from halfseen.rows.engines.changed import ChangedRows
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.nonzeros import Indices
from halfseen.rows.rows import Block, Rows

TAIL = 0.02
"""The share of counts above zero that the end of a tail is read off."""
FEWEST = 5.0
"""At least so many counts are in it, if half of all are."""
WIDER = 5.0
"""The tail is followed from the place that so many times as many counts reach."""
POISSON = 2.0
"""Standard deviations of a Poisson count by which limits are above what tails say."""
CHANCE = 0.01
"""Counts of a whole table that may be beyond the limits by chance, if tails are as they look."""
TYPICAL = 0.5
"""Rows that show at least so much of what the average row shows say how long rows are."""


def tail_limits(tails: CountTails, n_tails: int) -> Array:
    """What no count of each feature should reach, if its tail goes on as it begins; (d,).

    Counts of gamma rates have tails that are, far out, exponential: a straight line in the
    logarithm of the share that reach a value. With shapes below one the line is not yet straight
    at the end of what can be seen, and a stretched exponential through the same two quantiles goes
    too far; the geometric mean of both is a little above what gammas of any shape from 0.05 on
    reach. It is stretched by the standard error of a slope that so few counts tell, and by
    standard deviations of a Poisson count, which matter where all counts are small. None of it is
    moved by what the largest 2 % of the counts are.
    """
    counted = tails.totals()
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.clip(FEWEST / counted, TAIL, 0.5)
        wider = np.minimum(WIDER * share, 1.0)
        near, far = tails.reached_by(wider), tails.reached_by(share)
        end = np.log(np.maximum(counted * n_tails / CHANCE, 1 / share))
        depth, nearer = -np.log(share), -np.log(wider)
        straight = far + (far - near) / (depth - nearer) * (end - depth)
        power = np.log(far / near) / np.log(depth / nearer)
        stretched = np.where(nearer > 0, far * (end / depth) ** power, straight)
        beyond = np.maximum(straight, np.sqrt(straight * stretched)) - far
        limits = far + beyond * (1 + 1 / np.sqrt(share * counted))
        limits += POISSON * np.sqrt(limits)
    return np.where(counted > 0, limits, np.inf)


class Odd(NamedTuple):
    """Which of a block's counts and rows are beyond the limits."""

    row: Indices  # (m,)      of counts in rows that are not long themselves
    feature: Indices  # (m,)
    long: Mask  # (n,)        rows


@dataclass(frozen=True, eq=False)
class UsualCounts:
    """The limits of what is usual in a table."""

    most: Array  # (d,)    the largest count of each feature
    longest: float  # the largest total of a row without its largest count, which may be wild
    all_usual: bool  # nothing in the table is beyond them

    def odd(self, block: Block) -> Odd:
        """What is beyond them; what a long row counts is not wild."""
        counts = block.nonzeros()
        long = counts.totals_but_largest() > self.longest
        wild = (counts.counts > self.most[counts.features]) & ~long[counts.rows]
        return Odd(counts.rows[wild], counts.features[wild], long)

    def calm(self, block: Block) -> Block:
        """The same rows with wild counts as gaps, and long rows as if nothing was observed."""
        odd = self.odd(block)
        if odd.long.any():
            block = block.emptied(odd.long)
        return block.without(odd.row, odd.feature) if len(odd.row) else block

    def tally(self, block: Block) -> Array:
        """How many counts of each feature, and at last how many rows, are beyond them; (d + 1,)."""
        odd = self.odd(block)
        wild = np.bincount(odd.feature, minlength=len(self.most))
        return np.append(wild, np.count_nonzero(odd.long)).astype(float)

    def calmed(self, rows: Rows) -> Rows:
        """The table without what is beyond them; the rows themselves if nothing is."""
        return rows if self.all_usual else ChangedRows.of(rows, self.calm)


def usual_counts(rows: Rows, sums: FeatureSums) -> UsualCounts:
    """The limits of a table's counts and rows; two passes."""
    tails = rows.accumulate(CountTails.of)
    most = tail_limits(tails, tails.n_features)
    means = tails.sums_below(most) / np.maximum(sums.count, np.finfo(float).tiny)
    means = means / max(means.sum(), np.finfo(float).tiny)
    typical = TYPICAL * float(means @ sums.observed_fraction)
    lengths = rows.accumulate(CountTails.of_rows(Lengths(means, typical)))
    longest = float(tail_limits(lengths, 1)[0])
    all_usual = lengths.largest()[1] <= longest and (sums.maximum <= most).all()
    return UsualCounts(most, longest, bool(all_usual))


@dataclass(frozen=True, eq=False)
class Lengths:
    """How long rows are: as they would be without gaps, where much is seen, and as they are."""

    share: Array  # (d,)  of each feature in what is counted
    typical: float

    def __call__(self, block: Block) -> Array:
        """Both for each row; (n, 2)."""
        as_is = block.nonzeros().totals_but_largest()
        seen = block.presence().onto(self.share[:, None])[:, 0]
        much = seen >= max(self.typical, np.finfo(float).tiny)
        whole = np.divide(as_is, seen, out=np.full(len(as_is), np.nan), where=much)
        return np.column_stack([whole, as_is])
