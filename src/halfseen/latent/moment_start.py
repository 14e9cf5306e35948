"""Start of mixtures of mixed columns from moments of distinct columns."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.progress import Stages
from halfseen.data.rows import Block, Rows
from halfseen.data.sampling import sample_weighted
from halfseen.distributions.column_kinds import kind_of, those
from halfseen.distributions.column_summary import ColumnSummary
from halfseen.distributions.mixed_parameters import MixedParameters
from halfseen.inference.model import Start
from halfseen.inference.plan import FitPlan, Routes
from halfseen.moments.missing_patterns import JointGaps
from halfseen.moments.product_mixture.encoding import Item
from halfseen.moments.product_mixture.mixture_start import ItemStart, item_start
from halfseen.moments.robust_statistics import RobustSummary, robust_summary
from halfseen.moments.whitening import Signal

F = TypeVar("F")
MAX_MOMENT_ROWS = 100_000
"""Rows of which moments tell where EM starts: what more would add, EM adds on all rows."""


class Statistics:
    """The statistics that describe components: of each column what its kind needs.

    Of numbers those are in units of the column's spread about its middle, so that squares lose no
    digits.
    """

    def __init__(self, facts: ColumnSummary, seen: RobustSummary):
        self.facts = facts
        self.columns = facts.columns(seen)  # of which the continuous ones were ``seen``
        none = np.empty(0)
        each = [
            kind_of(kind).statistics_of(column, none).shape[1]
            for kind, column in zip(facts.kinds, self.columns, strict=True)
        ]
        self.owner = np.repeat(np.arange(len(each)), each)  # (s,)  the column of each

    def __call__(self, block: Block) -> Array:
        """Statistics of the rows of a block, zero in the gaps; (n, s)."""
        found = [
            kind_of(self.facts.kinds[d]).statistics_of(column, block.values[:, d])
            * block.observed[:, d, None]
            for d, column in enumerate(self.columns)
        ]
        return np.hstack(found) if found else np.zeros((len(block), 0))

    @property
    def items(self) -> list[Item]:
        pairs = zip(self.facts.kinds, self.columns, strict=True)
        return [kind_of(kind).item(column) for kind, column in pairs]


def by_items(model: Any, winsorised: Rows, plan: FitPlan, routes: Routes, stages: Stages) -> Start:
    """Read a mixture of mixed columns off the moments of distinct columns."""
    with stages("moments of items"):
        found, statistics = from_distinct_columns(model, winsorised, plan, item_start)
    parameters = read(found, statistics, model.emission.informative)
    why = "columns are independent given the component, so that distinct ones meet"
    return start_of(model, parameters, found, "items", why)


def from_distinct_columns(
    model: Any, winsorised: Rows, plan: FitPlan, find: Callable[..., F]
) -> tuple[F, "Statistics"]:
    """What ``find`` reads off the moments of distinct columns, and the statistics it is told in."""
    facts: ColumnSummary = model.emission.looked_through
    if plan.refine:
        winsorised = sample_weighted(winsorised, MAX_MOMENT_ROWS)
    statistics = Statistics(facts, recorded_columns(model, winsorised, plan, facts))
    items, owner, k = statistics.items, statistics.owner, plan.n_components
    found = find(winsorised, items, statistics, owner, k, weighting(plan), plan.decompose)
    return found, statistics


def start_of(model: Any, parameters: Any, found: ItemStart, route: str, reason: str) -> Start:
    """The start of EM at the parameters that were read off the moments."""
    return Start(
        found=model.emission.shown(model.emission.em_start(parameters)),
        used=np.ones(len(parameters.kinds), dtype=bool),
        weights=found.item_weights,
        gaps=JointGaps(found.counts, found.n_rows),
        spectrum=found.spectrum,
        n_kept=len(found.weights) - 1,
        decomposition=found.decomposition,  # type: ignore[arg-type]
        route=route,
        reason=reason,
        n_unseen=found.n_unseen,
    )


def recorded_columns(
    model: Any, winsorised: Rows, plan: FitPlan, facts: ColumnSummary
) -> RobustSummary:
    """How continuous columns are recorded: middle, spread, spike."""
    numbers = those(facts.kinds, "normal")
    known: RobustSummary | None = model.emission.normal.seen
    if known is None or not numbers.any():
        return robust_summary(winsorised.select(numbers), plan.kept.sums.select(numbers))
    return known


def weighting(plan: FitPlan) -> Callable[[Array], Array]:
    """The weights of features; columns that moments are not taken of weigh nothing."""

    def weights(fraction: Array) -> Array:
        nothing = np.empty((len(fraction), 0))
        no_signal = Signal(np.eye(len(fraction)), np.ones_like(fraction), nothing, fraction)
        found: Array = plan.weighting(fraction, no_signal) * plan.used
        return found

    return weights


def read(found: ItemStart, statistics: Statistics, informative: bool) -> MixedParameters:
    """Parameters with the statistics found, clipped to possible values."""
    facts = statistics.facts
    k, d = len(found.weights), len(facts.kinds)
    names = ("means", "centres", "variances", "spike_shares", "rates", "count_shapes")
    every = {name: np.full((k, d), np.nan) for name in names}
    every["level_shares"] = np.full((len(facts.level_values), k, d), np.nan)
    for column, about in enumerate(statistics.columns):
        own = found.statistics[:, statistics.owner == column]
        for name, value in kind_of(facts.kinds[column]).start_values(about, own).items():
            whole = every[name][..., column]
            whole[: len(value)] = value
    chance = np.where(informative & (facts.observed < 1), facts.observed, np.nan)
    nothing = np.full(d, np.nan)
    return MixedParameters(
        weights=found.weights,
        **every,
        outlier_share=0.0,
        middle=nothing,
        spread=nothing,
        spike=nothing,
        other=nothing,
        most_counts=facts.most_counts,
        level_values=facts.level_values,
        presence=np.tile(chance, (k, 1)),
        kinds=facts.kinds,
    )
