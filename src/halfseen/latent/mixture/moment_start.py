"""Where components of mixed columns are by the moments of distinct columns."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.progress import Stages
from halfseen.data.rows import Block, Rows
from halfseen.data.sampling import sample_weighted
from halfseen.distributions import negative_binomial
from halfseen.distributions.column_kinds import of_counts, of_levels, of_numbers
from halfseen.distributions.column_summary import Facts
from halfseen.distributions.mixed_parameters import MixedParameters
from halfseen.inference.model import Start
from halfseen.inference.plan import Plan, Routes
from halfseen.moments.missing_patterns import JointGaps
from halfseen.moments.product_mixture.encoding import Item
from halfseen.moments.product_mixture.mixture_start import ItemStart, item_start
from halfseen.moments.robust_statistics import Recorded, recorded
from halfseen.moments.whitening import Signal

NARROWEST, WIDEST = 0.05, 2.0
"""Of a column's variance, and how wide components begin."""
MOST_ROWS = 100_000
"""Whose moments tell where to begin: what more of them would add, all rows add by likelihood."""
RAREST = 0.1
"""Of a value's share in the table, that every component begins with."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """What components are described by: numbers and their squares, which level, which count.

    Numbers are in units of each column's spread about its middle, so that squares lose no digits.
    """

    facts: Facts
    seen: Recorded  # of the continuous columns
    owner: NDArray[np.int64]  # (s,)

    @classmethod
    def of(cls, facts: Facts, seen: Recorded) -> "Statistics":
        """Three of a number (its square, and whether it is the spike), two of a count."""
        each = np.where(of_numbers(facts.kinds), 3, 2)
        n_levels = np.isfinite(facts.level_values).sum(axis=0)
        each = np.where(of_levels(facts.kinds), n_levels, each)
        return cls(facts, seen, np.repeat(np.arange(len(each)), each))

    def __call__(self, block: Block) -> Array:
        """Of the rows of a block, zero in the gaps; (n, s)."""
        out, at = np.zeros((len(block), len(self.owner))), 0
        number = iter(range(len(self.seen.middle)))
        for d, n in zip(*np.unique(self.owner, return_counts=True), strict=True):
            x, there = block.values[:, d], block.observed[:, d]
            out[:, at : at + n] = self._column(int(d), x, number) * there[:, None]
            at += n
        return out

    def _column(self, d: int, x: Array, number: Any) -> Array:
        facts = self.facts
        if of_levels(facts.kinds)[d]:
            values = facts.level_values[:, d]
            return np.asarray(x[:, None] == values[np.isfinite(values)], dtype=float)
        if of_counts(facts.kinds)[d]:
            usual = np.minimum(x, facts.most_counts[d])
            return np.column_stack([usual, usual**2])
        i = next(number)
        spike = x == self.seen.spike[i]
        z = np.where(spike, 0.0, (x - self.seen.middle[i]) / self.seen.spread[i])
        return np.column_stack([z, z**2, spike])


def items_of(facts: Facts, seen: Recorded) -> list[Item]:
    """How the moments see the columns."""
    number, found = iter(range(len(seen.middle))), []
    for d in range(len(facts.kinds)):
        if of_levels(facts.kinds)[d]:
            values = facts.level_values[:, d]
            found.append(Item("levels", levels=tuple(values[np.isfinite(values)])))
        elif of_counts(facts.kinds)[d]:
            found.append(Item("count", *_middle_of_roots(facts.histograms[d])))
        else:
            i = next(number)
            found.append(Item("number", seen.middle[i], seen.spread[i], seen.spike[i]))
    return found


def _middle_of_roots(shares: Array) -> tuple[float, float]:
    """The mean and the spread of the square roots of counts, from the counts' shares."""
    roots = np.sqrt(np.arange(len(shares)) + 0.375)
    mean = float(shares @ roots)
    return mean, float(np.sqrt(max(float(shares @ (roots - mean) ** 2), 1e-12)))


def by_items(model: Any, winsorised: Rows, plan: Plan, routes: Routes, stages: Stages) -> Start:
    """Read a mixture of mixed columns off the moments of distinct columns."""
    facts: Facts = model.emission.looked_through
    with stages("moments of items"):
        if plan.refine:
            winsorised = sample_weighted(winsorised, MOST_ROWS)
        seen = recorded_of(model, winsorised, plan, facts)
        statistics = Statistics.of(facts, seen)
        found = item_start(
            winsorised,
            items_of(facts, seen),
            statistics,
            statistics.owner,
            plan.n_components,
            weighting(plan),
            plan.decompose,
        )
    parameters = model.emission.em_start(read(found, statistics, model.emission.informative))
    return Start(
        found=model.emission.shown(parameters),
        used=np.ones(len(facts.kinds), dtype=bool),
        weights=found.item_weights,
        gaps=JointGaps(found.counts, found.n_rows),
        spectrum=found.spectrum,
        n_kept=len(found.weights) - 1,
        decomposition=found.decomposition,  # type: ignore[arg-type]
        route="items",
        reason="columns are independent given the component, so that distinct ones meet",
        n_unseen=found.n_unseen,
    )


def recorded_of(model: Any, winsorised: Rows, plan: Plan, facts: Facts) -> Recorded:
    """How continuous columns are recorded."""
    numbers = of_numbers(facts.kinds)
    known: Recorded | None = model.emission.normal.seen
    if known is None or not numbers.any():
        return recorded(winsorised.select(numbers), plan.kept.sums.select(numbers))
    return known


def weighting(plan: Plan) -> Callable[[Array], Array]:
    """The plan's rule; columns that moments are not to be taken of weigh nothing."""

    def weights(fraction: Array) -> Array:
        nothing = np.empty((len(fraction), 0))
        no_signal = Signal(np.eye(len(fraction)), np.ones_like(fraction), nothing, fraction)
        found: Array = plan.weighting(fraction, no_signal) * plan.used
        return found

    return weights


def read(found: ItemStart, statistics: Statistics, informative: bool) -> MixedParameters:
    """Parameters that have the statistics found, as far as there are such."""
    facts, seen = statistics.facts, statistics.seen
    k, d = len(found.weights), len(facts.kinds)
    centres, variances, spikes, rates, shapes = np.full((5, k, d), np.nan)
    shares = np.full((len(facts.level_values), k, d), np.nan)
    number = iter(range(len(seen.middle)))
    for column in range(d):
        own = found.statistics[:, statistics.owner == column]
        if of_levels(facts.kinds)[column]:
            pooled = facts.histograms[column]
            some = np.maximum(own, RAREST * pooled)
            shares[: len(pooled), :, column] = (some / some.sum(axis=1, keepdims=True)).T
        elif of_counts(facts.kinds)[column]:
            rates[:, column], shapes[:, column] = _rate_and_shape(own, facts.histograms[column])
        else:
            i = next(number)
            mean, square, spike = own.T
            beside = np.clip(1 - spike, 0.05, 1.0)
            middle = mean / beside
            spread = np.clip(square / beside - middle**2, NARROWEST, WIDEST)
            centres[:, column] = seen.middle[i] + middle * seen.spread[i]
            variances[:, column] = spread * seen.spread[i] ** 2
            if not np.isnan(seen.spike[i]):
                spikes[:, column] = np.clip(spike, 0.02, 0.98)
    chance = np.where(informative & (facts.observed < 1), facts.observed, np.nan)
    nothing = np.full(d, np.nan)
    return MixedParameters(
        weights=found.weights,
        means=centres,
        variances=variances,
        centres=centres,
        spike_shares=spikes,
        outlier_share=0.0,
        middle=nothing,
        spread=nothing,
        spike=nothing,
        other=nothing,
        rates=rates,
        count_shapes=shapes,
        most_counts=facts.most_counts,
        level_shares=shares,
        level_values=facts.level_values,
        presence=np.tile(chance, (k, 1)),
        kinds=facts.kinds,
    )


def _rate_and_shape(own: Array, pooled: Array) -> tuple[Array, Array]:
    """Of counts with such means and squares (k, 2)."""
    overall = float(pooled @ np.arange(len(pooled)))
    rate = np.clip(own[:, 0], 0.05 * overall, max(len(pooled) - 1.0, 0.1))
    more = np.maximum(own[:, 1] - rate**2 - rate, 1e-6)
    most = negative_binomial.MOST_SHAPE
    return rate, np.clip(rate**2 / more, 10 * negative_binomial.LEAST_SHAPE, most)
