"""The score bootstrap: information matrix and scores at the maximum."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import pinvh
from scipy.sparse import csr_array
from scipy.special import softmax

from halfseen.data.arrays import Array, Mask
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block, Rows
from halfseen.data.sampling import sample_shuffled
from halfseen.data.sums import Sums
from halfseen.distributions.emission import Emission, FreeParameters, posterior, with_pseudo_row
from halfseen.latent import forward_backward
from halfseen.latent.forward_backward import filtered_states, smoothed

P = TypeVar("P")
NO_CURVATURE = 1e-8
"""Of the largest eigenvalue: every softmax has a direction in which nothing moves."""
NOTHING_KNOWN = 20.0
"""Standard deviation of the log-odds of a probability of which there are no rows."""


@dataclass(frozen=True, eq=False)
class ScoreSums(Sums):
    """Scores by bin, and the curvature of the log-likelihood.

    With u the slope of the complete-data log-likelihood of a row and B its curvature, Louis (1982):
    the row's slope is ``E[u | x]`` and its curvature ``E[B | x] - cov[u | x]``.
    """

    slope: Array  # (g, p)
    curvature: Array  # (p, p)  of minus the log-likelihood

    @classmethod
    def at(
        cls, parameters: Any, emission: Emission[Any], bins: Bins
    ) -> Callable[[Block], "ScoreSums"]:
        free = emission.free(parameters)

        def summarise(block: Block) -> ScoreSums:
            shares = posterior(block, emission, parameters).responsibilities
            return cls(*_score(block, shares, parameters.weights, free, bins))

        return summarise

    def influence(self, probabilities: NDArray[np.intp]) -> Array:
        """How far each bin moves the maximum, were it to count once more; (g, p).

        What the rows say nothing about stays where it is.
        """
        # In units in which all bend alike: rounding must not pass over features of large numbers.
        bend = np.sqrt(np.abs(np.diag(self.curvature)))
        unit = np.divide(1.0, bend, out=np.zeros_like(bend), where=bend > 0)
        scaled = unit[:, None] * self.curvature * unit
        return influence(self.slope, scaled, unit, probabilities)


def influence(
    slope: Array, curvature: Array, unit: Array, probabilities: NDArray[np.intp]
) -> Array:
    """How far each bin moves the maximum: Newton's step along its ``slope``; (g, p).

    ``curvature`` is in ``unit`` (p,) of the numbers, zero of those of which rows tell nothing. The
    sum of squares over bins is the sandwich estimate of the variance. A probability near zero or
    one is seldom seen to vary, however little is known of it, so that its variance is at least
    that of the information matrix. How much more than independent rows the bins vary is allowed
    for in that, too: the design effect, over all probabilities.
    """
    inverse = pinvh(curvature, rtol=NO_CURVATURE)
    found: Array = (slope * unit) @ inverse * unit
    known = probabilities[unit[probabilities] > 0]
    if not len(known):
        return found
    information = np.diag(curvature)[known] / unit[known] ** 2
    design_effect = np.square(slope[:, known]).sum() / information.sum()
    sandwich = np.square(found[:, known]).sum(axis=0)
    least = design_effect * np.diag(inverse)[known] * unit[known] ** 2
    variance = np.clip(np.maximum(sandwich, least), 0.0, NOTHING_KNOWN**2)
    ratio = np.divide(variance, sandwich, out=np.ones_like(least), where=sandwich > 0)
    found[:, known] *= np.sqrt(ratio)
    return found


def _score(
    block: Block, shares: Array, weights: Array, free: FreeParameters[Any], bins: Bins
) -> tuple[Array, Array]:
    n, k, p = len(block), len(weights), free.size
    apart = np.eye(k) - weights  # slopes of log π_k along the coordinates of π
    slope = np.zeros((n, p))
    slope[:, :k] = shares @ apart
    given = np.zeros((p, p))  # Σ E[u u' - B | x]
    n_rows = block.weighed(np.ones(n)).sum()
    given[:k, :k] -= n_rows * (np.diag(weights) - np.outer(weights, weights))
    for component in range(k):
        share, weight = shares[:, component], block.weighed(shares[:, component])
        where, u, bend = free.row_scores(block, component)
        slope[:, where] += share[:, None] * u
        given[np.ix_(where, where)] += (u.T * weight) @ u - bend(weight)
        total = weight @ u
        given[:k, :k] += weight.sum() * np.outer(apart[component], apart[component])
        given[:k, where] += np.outer(apart[component], total)
        given[where, :k] += np.outer(total, apart[component])
    weighed = block.weighed(slope)
    belongs = csr_array((np.ones(n), (bins.of(block), np.arange(n))), shape=(bins.n, n))
    return np.asarray(belongs @ weighed), slope.T @ weighed - given


def replicated(
    rows: Rows, parameters: P, emission: Emission[P], bins: Bins, multipliers: Array
) -> list[P]:
    """The maxima of the likelihood of replicates, a Newton step from that of the rows.

    The score bootstrap: replicate b counts bin g ``1 + multipliers[b, g]`` times. The steps are
    taken from probabilities with a pseudo-row more, as there is no slope at zero. Rows are gone
    over once, however many replicates there are.
    """
    origin = emission.origin(parameters)
    inside = emission.free(parameters).away_from_edges(rows.accumulate(FeatureSums.of))
    centred = emission.moved(inside, -origin)
    sums = rows.recentred(origin).accumulate(ScoreSums.at(centred, emission, bins))
    free = emission.free(centred)
    steps = multipliers @ sums.influence(free.probabilities)
    return [emission.moved(free.moved(step), origin) for step in steps]


NEAR = 0.01
"""Of a standard error: how far slopes are compared to see how they bend."""
MAX_FIRST_ROWS = 5000
"""Rows of the sample on which this is tested before all rows are gone over."""
NO_MAXIMUM = -1e-2
"""Where slopes bend upwards like that, some rows say too little: what states hardly differ in."""


@dataclass(frozen=True, eq=False)
class FreeChain:
    """Free parameters of a chain: log weights, those of its columns, and log transitions.

    π and every row of A are a softmax, so that moving all their logarithms alike moves nothing.
    """

    start: Any
    columns: Any  # the free numbers of a mixture, the first k of which are not its own

    @classmethod
    def of(cls, parameters: Any, emission: Any) -> "FreeChain":
        return cls(parameters, emission.free(parameters))

    @property
    def size(self) -> int:
        return int(self.columns.size + len(self.start.start) ** 2)

    @property
    def probabilities(self) -> NDArray[np.intp]:
        k, n = len(self.start.start), self.columns.size
        places: NDArray[np.intp] = np.r_[:k, self.columns.probabilities, n : self.size]
        return places

    def away_from_edges(self, seen: FeatureSums, n_sequences: int) -> Any:
        start = self.start
        n_steps = (seen.n_rows + seen.n_empty - n_sequences) * start.weights
        return replace(
            self.columns.away_from_edges(seen),
            start=with_pseudo_row(start.start, np.array(n_sequences)),
            transition=with_pseudo_row(start.transition.T, n_steps).T,
        )

    def moved(self, step: Array) -> Any:
        """The chain a ``step`` (size,) away; its weights stay as they are."""
        k, n = len(self.start.start), self.columns.size
        return replace(
            self.columns.moved(step[:n]),
            weights=self.start.weights,
            start=softmax(np.log(self.start.start) + step[:k]),
            transition=softmax(np.log(self.start.transition) + step[n:].reshape(k, k), axis=1),
        )

    def slopes(self, block: Block, law: Any, emission: Any) -> tuple[Array, Array]:
        """Expected slopes of each row's part of the likelihood (n, size), and shares (n, k).

        By Fisher's identity these are, over a sequence, the slope of its log-likelihood.
        """
        parameters, k, n = self.start, len(self.start.start), self.columns.size
        shares = law.posterior(block, emission, parameters).responsibilities
        ahead = filtered_states(block, emission, parameters)
        slope = np.zeros((len(block), self.size))
        begins = forward_backward.begins_of(block.sequence, len(block))[:-1]
        slope[begins, :k] = shares[begins] - parameters.start
        later = np.setdiff1d(np.arange(len(block)), begins, assume_unique=True)
        before, transition = ahead[later - 1], parameters.transition
        ratio = shares[later] / np.maximum(before @ transition, 1e-300)
        moves = before[:, :, None] * transition * ratio[:, None, :]
        own = moves - moves.sum(axis=2, keepdims=True) * transition
        slope[later, n:] = own.reshape(len(later), k * k)
        for component in range(k):
            where, score, _ = self.columns.row_scores(block, component)
            slope[:, where] += shares[:, component, None] * score
        return slope, shares

    def total(self, block: Block, emission: Any) -> Array:
        """The slope of the log-likelihood of all rows, and the states' shares; (size + k,)."""
        parameters, k, n = self.start, len(self.start.start), self.columns.size
        _, shares, first, moves = smoothed(block, emission, parameters)
        weighed = block.weighed(shares)
        slope = np.zeros(self.size)
        slope[:k] = first - first.sum() * parameters.start
        slope[n:] = (moves - moves.sum(axis=1, keepdims=True) * parameters.transition).ravel()
        for component in range(k):
            where, score, _ = self.columns.row_scores(block, component)
            slope[where] += weighed[:, component] @ score
        return np.concatenate([slope, weighed.sum(axis=0)])


@dataclass(frozen=True, eq=False)
class ChainSlopes(Sums):
    """Scores by bin, and responsibilities."""

    slope: Array  # (g, p)
    share: Array  # (g, k)
    square: Array  # (p,)  Σ of squared slopes of rows

    @classmethod
    def at(
        cls, parameters: Any, emission: Any, law: Any, bins: Bins
    ) -> Callable[[Block], "ChainSlopes"]:
        free = FreeChain.of(parameters, emission)

        def summarise(block: Block) -> ChainSlopes:
            slope, shares = free.slopes(block, law, emission)
            n = len(block)
            belongs = csr_array((np.ones(n), (bins.of(block), np.arange(n))), shape=(bins.n, n))
            square = block.weighed(slope**2).sum(axis=0)
            of_slopes, of_shares = (
                np.asarray(belongs @ block.weighed(part)) for part in (slope, shares)
            )
            return cls(of_slopes, of_shares, square)

        return summarise

    def size(self, probabilities: NDArray[np.intp], part: float = 1.0) -> Array:
        """One over the standard errors of the numbers, if the model is right; (p,).

        Rows hardly pull at a probability near its edge: there a standard error is about one, or
        more if these rows are only a ``part`` of all.
        """
        size = np.sqrt(self.square)
        known = probabilities[size[probabilities] > 0]
        size[known] = np.maximum(size[known], np.sqrt(part))
        return size


@dataclass(frozen=True, eq=False)
class Curvature:
    """How slopes change about the maximum, each free number in units of its rows' slopes."""

    curvature: Array  # (p, p)  one on the diagonal, if the model is right
    occupied: Array  # (k, p)   change of the states' shares
    known: Mask  # (p,)          numbers of which rows tell anything that can be computed


def curvature_at(parameters: Any, emission: Any, law: Any, rows: Rows, n_rows: float) -> Curvature:
    """Curvature by central differences along each free parameter.

    Numbers of which these rows, of ``n_rows``, tell nothing are as if the model were right.
    """
    free = FreeChain.of(parameters, emission)
    here: ChainSlopes = rows.accumulate(ChainSlopes.at(parameters, emission, law, Bins(1)))

    def total(step: Array) -> Array:
        there = FreeChain.of(free.moved(step), emission)
        found: Array = rows.accumulate(lambda block: there.total(block, emission))
        return found

    n_here = here.share.sum()
    size = here.size(free.probabilities, n_here / n_rows)
    curvature, occupied = np.eye(free.size), np.zeros((here.share.shape[1], free.size))
    for i in np.flatnonzero(size > 0):
        way = np.zeros(free.size)
        way[i] = NEAR / size[i]
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            change = (total(-way) - total(way)) / 2
        curvature[:, i] = change[: free.size] / NEAR
        occupied[:, i] = -change[free.size :] / (way[i] * n_here)
    # A standard error away from what rows hardly tell of there may be no numbers.
    known = (size > 0) & np.isfinite(curvature).all(axis=0) & np.isfinite(occupied).all(axis=0)
    unit = np.divide(1.0, size, out=np.ones_like(size), where=known)
    scaled = np.where(known[:, None] & known, unit[:, None] * curvature, np.eye(free.size))
    return Curvature((scaled + scaled.T) / 2, np.where(known, occupied, 0.0), known)


def _n_sequences(block: Block) -> int:
    return len(forward_backward.begins_of(block.sequence, len(block))) - 1


def replicated_chain(
    rows: Rows, parameters: Any, emission: Any, law: Any, bins: Bins, multipliers: Array
) -> list[Any]:
    """The maxima of the likelihood of replicates, a Newton step from that of the rows.

    The score bootstrap: replicate b counts bin g ``1 + multipliers[b, g]`` times. The steps are
    taken from probabilities with a pseudo-row more, as there is no slope at zero. How slopes bend
    takes two passes for each free number, and is seen on some of the sequences if there are many.
    """
    origin = emission.origin(parameters)
    seen, n_sequences = rows.accumulate(FeatureSums.of), rows.accumulate(_n_sequences)
    inside = FreeChain.of(parameters, emission).away_from_edges(seen, n_sequences)
    centred = emission.moved(inside, -origin)
    ready = rows.recentred(origin)
    free = FreeChain.of(centred, emission)
    here: ChainSlopes = ready.accumulate(ChainSlopes.at(centred, emission, law, bins))
    few = (
        ready if rows.accumulate(len) <= MAX_FIRST_ROWS else sample_shuffled(ready, MAX_FIRST_ROWS)
    )
    bend = curvature_at(centred, emission, law, few, here.share.sum())
    if few is not ready and np.linalg.eigvalsh(bend.curvature)[0] < NO_MAXIMUM:
        bend = curvature_at(centred, emission, law, ready, here.share.sum())
    size = here.size(free.probabilities)
    unit = np.divide(1.0, size, out=np.zeros_like(size), where=(size > 0) & bend.known)
    steps = multipliers @ influence(here.slope, bend.curvature, unit, free.probabilities)
    counted = (1 + multipliers) @ here.share
    weights = counted / counted.sum(axis=1, keepdims=True) + steps @ bend.occupied.T
    weights = np.clip(weights, 1e-10, None)
    weights /= weights.sum(axis=1, keepdims=True)
    return [
        emission.moved(replace(free.moved(step), weights=own), origin)
        for step, own in zip(steps, weights, strict=True)
    ]
