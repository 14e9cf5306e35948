"""Checks of counts, and outlier limits of counts.

Limits rest on no means of all rows: one typing error moves those as far as it likes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import nbinom

from halfseen.data.arrays import Array, Mask
from halfseen.data.compiled import njit
from halfseen.data.counts import Indices, Nonzeros
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import features, quoted
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import JOINED, KeyedSums
from halfseen.latent.loadings import (
    FactorisedPosterior,
    LoadingPrior,
    factorised_posterior,
    loading_means,
    variance_along,
)
from halfseen.moments.survey import Survey

MOST_COUNTED = 2.0**50
"""Of larger ones sums and halves are no whole numbers any more."""


def poisson(random: Any, rates: Array) -> Array:
    """Draw Poisson counts; above 2⁵⁰ return the rates.

    These vary by less than a millionth of a percent, and generators refuse them.
    """
    counts: Array = random.poisson(np.minimum(rates, MOST_COUNTED)).astype(float)
    return np.where(rates > MOST_COUNTED, np.floor(rates), counts)


def check_counts(seen: Survey) -> None:
    """Refuse counts that are negative, fractional or too large to be exact."""
    negative = np.flatnonzero(seen.sums.minimum < 0)
    if len(negative):
        raise DataError(
            f"Negative values in data: {quoted(seen.names, negative)} should hold counts. "
            "Use NaN, not a negative number, for a count that is missing."
        )
    fractional = np.flatnonzero(~seen.sums.whole)
    if len(fractional):
        raise DataError(
            f"{features(seen.names, fractional)} should hold counts, but some values are not whole "
            "numbers. Use raw counts, not rates or proportions, or GaussianMixture for "
            "measurements."
        )

    large = np.flatnonzero((seen.sums.maximum > MOST_COUNTED) & (seen.sums.count > 0))
    if len(large):
        worst = large[np.argmax(seen.sums.maximum[large])]
        raise DataError(
            f"{features(seen.names, large)} should hold counts, but '{seen.names[worst]}' holds "
            f"{seen.sums.maximum[worst]:.6g}, more than can be counted ({MOST_COUNTED:.2g}). Use "
            "NaN for a count that is missing, or GaussianMixture for measurements."
        )


TAIL_SHARE = 0.02
"""The share of counts above zero that the end of a tail is read off."""
MIN_TAIL_COUNTS = 5.0
"""At least so many counts are in it, if half of all are."""
WIDER_TAIL = 5.0
"""The tail is followed from the place that so many times as many counts reach."""
POISSON_DEVIATIONS = 2.0
"""Standard deviations of a Poisson count by which limits are above what tails say."""
EXPECTED_FALSE_ALARMS = 0.01
"""Counts of a whole table that may be beyond the limits by chance, if tails are as they look."""
TYPICAL_EXPOSURE = 0.5
"""Rows that show at least so much of what the average row shows say how long rows are."""


def tail_limits(tails: "CountTails", n_tails: int) -> Array:
    """The limit of unusual counts of each feature, from an extrapolated tail; (d,).

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
        share = np.clip(MIN_TAIL_COUNTS / counted, TAIL_SHARE, 0.5)
        wider = np.minimum(WIDER_TAIL * share, 1.0)
        near, far = tails.reached_by(wider), tails.reached_by(share)
        end = np.log(np.maximum(counted * n_tails / EXPECTED_FALSE_ALARMS, 1 / share))
        depth, nearer = -np.log(share), -np.log(wider)
        straight = far + (far - near) / (depth - nearer) * (end - depth)
        power = np.log(far / near) / np.log(depth / nearer)
        stretched = np.where(nearer > 0, far * (end / depth) ** power, straight)
        beyond = np.maximum(straight, np.sqrt(straight * stretched)) - far
        limits = far + beyond * (1 + 1 / np.sqrt(share * counted))
        limits += POISSON_DEVIATIONS * np.sqrt(limits)
    return np.where(counted > 0, limits, np.inf)


class OutlyingCounts(NamedTuple):
    """Counts and rows of a block that are beyond the limits."""

    row: Indices  # (m,)      of counts in rows that are not long themselves
    feature: Indices  # (m,)
    long: Mask  # (n,)        rows


@dataclass(frozen=True, eq=False)
class CountLimits:
    """Outlier limits of counts and of row totals."""

    most: Array  # (d,)    the largest count of each feature
    longest: float  # the largest total of a row without its largest count, which may be wild
    all_usual: bool  # nothing in the table is beyond them

    def odd(self, block: Block) -> OutlyingCounts:
        """Counts and rows beyond the limits."""
        counts = block.nonzeros()
        long = counts.totals_but_largest() > self.longest
        wild = (counts.counts > self.most[counts.features]) & ~long[counts.rows]
        return OutlyingCounts(counts.rows[wild], counts.features[wild], long)

    def mask(self, block: Block) -> Block:
        """The same rows with outlying counts as gaps, and outlying rows as empty."""
        odd = self.odd(block)
        if odd.long.any():
            block = block.emptied(odd.long)
        return block.without(odd.row, odd.feature) if len(odd.row) else block

    def tally(self, block: Block) -> Array:
        """The number of outlying counts of each feature, then of rows; (d + 1,)."""
        odd = self.odd(block)
        wild = np.bincount(odd.feature, minlength=len(self.most))
        return np.append(wild, np.count_nonzero(odd.long)).astype(float)

    def masked(self, rows: Rows) -> Rows:
        """The table without outlying counts; the rows themselves if there are none."""
        return rows if self.all_usual else rows.map(self.mask)


def count_limits(rows: Rows, sums: FeatureSums) -> CountLimits:
    """The limits of a table's counts and rows; two passes."""
    tails = rows.accumulate(CountTails.of)
    most = tail_limits(tails, tails.n_features)
    means = tails.sums_below(most) / np.maximum(sums.count, np.finfo(float).tiny)
    means = means / max(means.sum(), np.finfo(float).tiny)
    typical = TYPICAL_EXPOSURE * float(means @ sums.observed_fraction)
    lengths = rows.accumulate(CountTails.of_rows(RowTotals(means, typical)))
    longest = float(tail_limits(lengths, 1)[0])
    all_usual = lengths.largest()[1] <= longest and (sums.maximum <= most).all()
    return CountLimits(most, longest, bool(all_usual))


@dataclass(frozen=True, eq=False)
class RowTotals:
    """Row totals as observed, and as expected without gaps."""

    share: Array  # (d,)  of each feature in what is counted
    typical: float

    def __call__(self, block: Block) -> Array:
        as_is = block.nonzeros().totals_but_largest()
        seen = block.presence().onto(self.share[:, None])[:, 0]
        much = seen >= max(self.typical, np.finfo(float).tiny)
        whole = np.divide(as_is, seen, out=np.full(len(as_is), np.nan), where=much)
        return np.column_stack([whole, as_is])


# Rows that are unlike all that topics were learned from, and counts unlike their rows.

VARIANCE_FACTOR = 2.0
"""Factorised posteriors are too sure of loadings that topics trade: their variances count twice."""
RARE_ROW = 1e-4
"""A row of this probability is as likely to be an error as not, as in mixtures."""
IMPOSSIBLE_COUNT = 1e-6
"""A count of this probability given its row, its being one of many allowed for, is an error."""


def outlier_score(block: Block, law: LoadingPrior) -> Array:
    """How unusual each row is under the model, from 0 to 1; (n,).

    A half where one row of the model in ten thousand has a count as far above what the row's other
    counts say, in any of its features, or is as long.
    """
    chance, _ = _least_likely(block, law)
    either = np.minimum(2 * np.minimum(chance, _tail_of_length(block, law)), 1.0)
    score: Array = RARE_ROW / (RARE_ROW + either)
    return score


def without_impossible_counts(block: Block, law: LoadingPrior) -> Block:
    """The same rows with counts that are impossible given their row as gaps."""
    chance, feature = _least_likely(block, law)
    row = np.flatnonzero(chance < IMPOSSIBLE_COUNT)
    return block.without(row, feature[row]) if len(row) else block


def _least_likely(block: Block, law: LoadingPrior) -> tuple[Array, Indices]:
    """The probability and feature of each row's least likely count; (n,) each.

    A count is judged without itself, which would take as many passes as there are features. Two
    are: the one that is furthest above what its row says, and the one that is furthest above what
    all rows say, which may have drawn its row's loadings to itself. The probability is that of any
    count of the row being as unlikely.
    """
    counts = block.nonzeros()
    n_seen = block.presence().onto(np.ones((block.n_features, 1)))[:, 0]
    least, feature = np.ones(len(block)), np.zeros(len(block), dtype=np.int64)
    usual = loading_means(law) @ law.topics  # (d,)
    spread = np.sqrt(usual + variance_along(law, law.topics.T)) + np.finfo(float).tiny
    of_row = _predicted(factorised_posterior(block, law), law, counts.rows, counts)
    for above in (
        (counts.counts - of_row[0]) / np.sqrt(of_row[1]),
        ((counts.counts - usual[counts.features]) / spread[counts.features]),
    ):
        place = _furthest(counts, above)
        row, chosen = (
            counts.rows[place],
            counts._replace(features=counts.features[place], counts=counts.counts[place]),
        )
        rest = factorised_posterior(block.without(row, chosen.features), law)
        mean, variance = _predicted(rest, law, row, chosen)
        chance = np.minimum(n_seen[row] * _tail(chosen.counts, mean, variance), 1.0)
        lower = chance < least[row]
        least[row[lower]], feature[row[lower]] = chance[lower], chosen.features[lower]
    return least, feature


def _furthest(counts: Nonzeros, above: Array) -> Indices:
    order = np.lexsort((above, counts.rows))
    last = counts.starts[1:][np.diff(counts.starts) > 0] - 1
    return order[last]


def _predicted(
    posterior: FactorisedPosterior,
    law: LoadingPrior,
    row: Indices,
    counts: Nonzeros,
) -> tuple[Array, Array]:
    """Means and variances of ``counts``, each in its ``row``, given the loadings; (m,) each."""
    shares = law.topics.T[counts.features]  # (m, k)
    mean = np.einsum("mk,mk->m", shares, posterior.mean[row]) + np.finfo(float).tiny
    of_loadings = (posterior.mean / posterior.rates)[row]
    return mean, mean + VARIANCE_FACTOR * np.einsum("mk,mk->m", shares**2, of_loadings)


def _tail_of_length(block: Block, law: LoadingPrior) -> Array:
    """The probability that what is observed in a row has as large a total; (n,)."""
    seen = block.presence().onto(law.topics.T)  # (n, k)
    mean = seen @ loading_means(law) + np.finfo(float).tiny
    return _tail(block.nonzeros().totals(), mean, mean + variance_along(law, seen))


def _tail(count: Array, mean: Array, variance: Array) -> Array:
    """P(x ≥ count) of negative binomial counts of such means and variances; (m,)."""
    mean = np.maximum(mean, 1e-12)
    shape = mean**2 / np.maximum(variance - mean, 1e-12 * mean)
    return np.asarray(nbinom.sf(count - 1, shape, shape / (shape + mean)))


# How large the counts of each feature are: a sketch that merges, and that keeps no zeros.


EXACT = 32
"""Counts up to here are kept as they are."""
PER_DOUBLING = 8
"""Larger ones by size, which are 9 % apart."""
N_SIZES = 512


@njit(cache=True, nogil=True)
def size_of(count: float) -> int:  # pragma: no cover - compiled
    """The number of the size of a count; sizes are 1, 2, ..., 32 and then steps of 9 %."""
    if count < EXACT:
        return int(count)
    return min(int(EXACT + PER_DOUBLING * math.log2(count / EXACT) + 1e-9), N_SIZES - 1)


def lower_edge(size: NDArray[np.integer[Any]]) -> Array:
    """The least count of each size."""
    larger = EXACT * 2.0 ** ((size - EXACT) / PER_DOUBLING)
    return np.where(size < EXACT, size, larger)


@dataclass(frozen=True, eq=False)
class CountTails(KeyedSums):
    """How often each feature has counts of each size, from one on."""

    code: NDArray[np.int64] = field(metadata=JOINED)  # (u,)  feature times N_SIZES, and size
    weight: Array = field(metadata=JOINED)  # (u,)  how often, by weight of the rows

    @classmethod
    def of(cls, block: Block) -> Self:
        """The counts of one block of rows."""
        counts, n_features = block.nonzeros(), block.n_features
        weight = block.row_weights()[counts.rows]
        return cls.sized(n_features, counts.features, counts.counts, weight)

    @classmethod
    def sized(
        cls, n_features: int, feature: NDArray[np.int64], counts: Array, weight: Array
    ) -> Self:
        """Counts (m,), each with its feature and its weight; what is below one is not kept."""
        ends = _ends(feature, counts, n_features)
        laid_out = np.zeros(ends[-1] if n_features else 0)
        _add_sizes(feature, counts, weight, ends, laid_out)
        place = np.flatnonzero(laid_out)
        where = np.searchsorted(ends, place, side="right")
        code = where * N_SIZES + place - np.append(0, ends)[where]
        return cls(n_features, len(code), code, laid_out[place])

    @classmethod
    def of_rows(cls, numbers: Callable[[Block], Array]) -> Callable[[Block], "CountTails"]:
        """The function that sketches ``numbers(block)`` (n, m) of rows; NaN is none."""

        def summarise(block: Block) -> CountTails:
            each = numbers(block)
            weight = np.repeat(block.row_weights(), each.shape[1])
            feature = np.tile(np.arange(each.shape[1]), len(each))
            return cls.sized(each.shape[1], feature, each.ravel(), weight)

        return summarise

    def __len__(self) -> int:
        return len(self.code)

    def merged(self) -> Self:
        """The same with every size of a feature only once, in order."""
        code, inverse = np.unique(self.code, return_inverse=True)
        weight = np.bincount(inverse, weights=self.weight, minlength=len(code)).astype(float)
        return type(self)(self.n_features, len(code), code, weight)

    def totals(self) -> Array:
        """How many counts of one or more each feature has, by weight; (d,)."""
        feature = self.code // N_SIZES
        sums: Array = np.bincount(feature, self.weight, minlength=self.n_features).astype(float)
        return sums

    def largest(self) -> Array:
        """What no count of each feature reaches; 0 if there is none; (d,)."""
        top = np.zeros(self.n_features)
        np.maximum.at(top, self.code // N_SIZES, lower_edge(self.code % N_SIZES + 1))
        return top

    def sums_below(self, limit: Array) -> Array:
        """The sum of the counts of each feature up to ``limit`` (d,), to within a size; (d,)."""
        feature, size = self.code // N_SIZES, self.code % N_SIZES
        middle = np.where(size < EXACT, size, (lower_edge(size) + lower_edge(size + 1)) / 2)
        counted = self.weight * middle * (middle <= limit[feature])
        sums: Array = np.bincount(feature, counted, minlength=self.n_features).astype(float)
        return sums

    def reached_by(self, share: Array) -> Array:
        """What so great a ``share`` (d,) of the counts above zero of each feature reach; (d,).

        Counts of one size are taken to be spread evenly over it, a count of 3 over 3 to 4, so that
        small counts have quantiles between whole numbers too. NaN where nothing is counted.
        """
        sketch = self.merged()
        below = np.concatenate([[0.0], np.cumsum(sketch.weight)])
        bounds = np.searchsorted(sketch.code, np.arange(self.n_features + 1) * N_SIZES)
        first, end = bounds[:-1], bounds[1:]
        reached = np.full(self.n_features, np.nan)
        some = end > first
        first, end = first[some], end[some]
        aim = below[end] - share[some] * (below[end] - below[first])
        place = np.clip(np.searchsorted(below, aim, side="right") - 1, first, end - 1)
        inside = np.clip((aim - below[place]) / sketch.weight[place], 0.0, 1.0)
        size = sketch.code[place] % N_SIZES
        low, high = lower_edge(size), lower_edge(size + 1)
        reached[some] = low + inside * (high - low)
        return reached


@njit(cache=True, nogil=True)
def _ends(
    feature: NDArray[np.int64], counts: Array, n_features: int
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Where the sizes of each feature end, if they lie one after the other; (d,)."""
    largest = np.zeros(n_features)
    for m in range(len(counts)):
        if counts[m] > largest[feature[m]]:
            largest[feature[m]] = counts[m]
    ends = np.zeros(n_features, dtype=np.int64)
    end = 0
    for d in range(n_features):
        if largest[d] >= 1:
            end += size_of(largest[d]) + 1
        ends[d] = end
    return ends


@njit(cache=True, nogil=True)
def _add_sizes(
    feature: NDArray[np.int64],
    counts: Array,
    weight: Array,
    ends: NDArray[np.int64],
    out: Array,
) -> None:  # pragma: no cover - compiled
    for m in range(len(counts)):
        if counts[m] >= 1:
            before = ends[feature[m] - 1] if feature[m] else 0
            out[before + size_of(counts[m])] += weight[m]
