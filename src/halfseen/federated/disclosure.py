"""Disclosure control: refuse sums of too few rows.

Sums over the rows that hold two columns, taken from those that hold one, are the sums of the rows
that hold it without the other. So it is not enough that sums are of many rows: whatever rows the
presence of two or three columns tells from the others has to be none of them, or many.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.messages import setting
from halfseen.data.rows import Block, Rows, side_by_side
from halfseen.federated.plan import Noise, Plan
from halfseen.moments import symmetric_tensors
from halfseen.moments.joint_counts import pair_counts, triple_counts
from halfseen.moments.moment_sums import MomentSums
from halfseen.moments.symmetric_tensors import Indices

ROUNDING = 1e-6
MOST_LEFT_OUT = 0.5
"""Of the rows of a place: where more would have to be, the plan does not suit it."""


class DisclosureError(DataError):
    """The requested sums rest on too few rows and are refused."""


class RowSubsets(NamedTuple):
    """Rows that hold some columns and not others: how many, for many choices of columns."""

    counts: Array  # (m,)
    members: Indices  # (m, p)
    pattern: str  # of p signs: 1 for columns that they hold, and 0 for those that they do not

    def few(self, least: int) -> Indices:
        """Which of the choices tell some rows, and fewer than so many."""
        few = (self.counts > ROUNDING) & (self.counts < least - ROUNDING)
        return np.flatnonzero(few)

    def words(self, which: int, names: tuple[str, ...]) -> str:
        """One choice of columns, in words."""
        each = list(zip(self.members[which], self.pattern, strict=True))
        held = [f"'{names[int(i)]}'" for i, here in each if here == "1"]
        not_held = [f"'{names[int(i)]}'" for i, here in each if here == "0"]
        without = f" without {' and '.join(not_held)}" if not_held else ""
        return f"{' and '.join(held)}{without}"

    def rows(self, which: int, observed: Mask) -> Mask:
        """Whether rows that hold what is ``observed`` (n, d) are those of one choice; (n,)."""
        wanted = np.array([sign == "1" for sign in self.pattern])
        same: Mask = (observed[:, self.members[which]] == wanted).all(axis=1)
        return same


def row_subsets(pairs: Array, triples: Array | None) -> Iterator[RowSubsets]:
    """Subsets of rows by up to three columns, from joint counts (d, d) and packed ones."""
    own, d = pairs.diagonal(), len(pairs)
    yield RowSubsets(own, np.arange(d)[:, None], "1")
    i, j = np.nonzero(~np.eye(d, dtype=bool))
    both = np.stack([i, j], axis=1)
    yield RowSubsets(pairs[i, j], both, "11")
    yield RowSubsets(own[i] - pairs[i, j], both, "10")
    if triples is None:
        return
    every = symmetric_tensors.triples(d)
    apart = (every[0] < every[1]) & (every[1] < every[2])
    i, j, k = (one[apart] for one in every)
    together_ = triples[apart]
    yield RowSubsets(together_, np.stack([i, j, k], axis=1), "111")
    for a, b, c in ((i, j, k), (i, k, j), (j, k, i)):
        members = np.stack([a, b, c], axis=1)
        yield RowSubsets(pairs[a, b] - together_, members, "110")
        yield RowSubsets(own[c] - pairs[a, c] - pairs[b, c] + together_, members, "001")


def check_disclosure(sums: MomentSums, plan: Plan) -> None:
    """Refuse sums of fewer rows than agreed on: of all, of some columns, or of one category."""
    least = plan.least_rows
    if sums.n_rows < least - ROUNDING:
        raise DisclosureError(
            f"There are {sums.n_rows:g} rows, and sums of fewer than {least} (least_rows of the "
            "plan) do not leave a place. Add rows, or agree on a smaller least_rows."
        )
    for subsets in row_subsets(sums.count, sums.triple_counts if sums.triples else None):
        few = subsets.few(least)
        if len(few):
            which = int(few[np.argmin(subsets.counts[few])])
            count = subsets.counts[which]
            rows = "1 row holds" if round(count) == 1 else f"{count:g} rows hold"
            raise DisclosureError(
                f"Only {rows} {subsets.words(which, plan.names)}, and could be told from sums with "
                f"and without them: that takes {least} rows (least_rows of the plan). Leave such "
                "rows out with "
                + setting(leave_out=True)
                + ", or a column out of the plan, or agree on a smaller least_rows."
            )
    for name, value, count in _categories(sums.levels, plan):
        if ROUNDING < count < least - ROUNDING:
            raise DisclosureError(
                f"'{name}' is '{value}' in {count:g} rows, and could be told from their sums: that "
                f"takes {least} rows (least_rows of the plan). Leave such rows out with "
                + setting(leave_out=True)
                + ", or that value out of the plan, or agree on a smaller least_rows."
            )


def _categories(levels: Array, plan: Plan) -> Iterator[tuple[str, str, float]]:
    """The number of cells of each value of each column."""
    at = iter(levels)
    for column in plan.columns:
        for value in column.labels or tuple(f"{value:g}" for value in column.levels):
            yield column.name, value, float(next(at))


def without_few(rows: Rows, plan: Plan, triples: bool) -> tuple[Rows, int]:
    """The rows without identifiable ones, and how many were left out.

    Leaving some out may make others few, so that this is done until there are none.
    """
    left, values = rows, [column.levels for column in plan.columns]
    n_rows = total = rows.accumulate(len)
    while True:
        sums = left.accumulate(side_by_side(pair_counts, *([triple_counts] if triples else [])))
        few = _few(plan.least_rows, *sums.each) + _rare(left, plan, values)
        if not few:
            return left, total - n_rows
        left = left.map(_leaving_out(few))
        n_rows = left.accumulate(len)
        if n_rows < MOST_LEFT_OUT * total:
            raise DisclosureError(
                f"More than {MOST_LEFT_OUT:.0%} of {total} rows would have to be left out, so that "
                f"none of fewer than {plan.least_rows} could be told. Plan fewer columns, or agree "
                "on a smaller least_rows."
            )


Which = tuple[RowSubsets, int] | tuple[int, float]
"""Rows by what they hold, or by the value of a column."""


def _few(least: int, pairs: Array, triples: Array | None = None) -> list[Which]:
    every = row_subsets(np.asarray(pairs, dtype=float), triples)
    return [(one, int(which)) for one in every for which in one.few(least)]


def _rare(rows: Rows, plan: Plan, values: list[Array]) -> list[Which]:
    """Values held by few rows."""
    if not any(map(len, values)):
        return []
    origin = np.zeros(len(values))
    levels = rows.accumulate(MomentSums.about(origin, triples=False, values=values)).levels
    every = [(i, float(value)) for i, own in enumerate(values) for value in own]
    few = (levels > ROUNDING) & (levels < plan.least_rows - ROUNDING)
    return [one for one, rare in zip(every, few, strict=True) if rare]


def _leaving_out(few: list[Which]) -> Callable[[Block], Block]:
    def others(block: Block) -> Block:
        observed, out = block.observed, np.zeros(len(block), bool)
        for subset, which in few:
            if isinstance(subset, RowSubsets):
                out |= subset.rows(int(which), observed)
            else:
                out |= observed[:, subset] & (block.values[:, subset] == which)
        return block.rows(np.flatnonzero(~out)) if out.any() else block

    return others


def check_components(shares: Array, plan: Plan, noun: str) -> None:
    """Refuse sums by component if a component has too few rows here."""
    few = np.flatnonzero(shares < plan.least_rows - ROUNDING)
    if len(few):
        raise DisclosureError(
            f"Only {shares[few[0]]:.1f} rows of this place are of {noun} {few[0] + 1}, and sums of "
            f"fewer than {plan.least_rows} (least_rows of the plan) do not leave a place. Add "
            "rows, plan fewer components, or agree on a smaller least_rows."
        )


# Gaussian noise on sums, for the differential privacy of single rows.
#
# References
# ----------
# B. Balle, Y.-X. Wang (2018), Improving the Gaussian mechanism for differential privacy: analytical
# calibration and optimal denoising.


def delta_of(sigma: float, epsilon: float) -> float:
    """The smallest δ for which noise of that deviation is (ε, δ) private at a sensitivity of one.

    ``Φ(1/(2σ) - εσ) - e^ε Φ(-1/(2σ) - εσ)``.
    """
    away = 0.5 / sigma
    second = math.exp(epsilon + log_ndtr(-away - epsilon * sigma))
    return float(ndtr(away - epsilon * sigma) - second)


def noise_deviation(epsilon: float, delta: float) -> float:
    """The smallest standard deviation of noise that is (ε, δ) private at a sensitivity of one.

    >>> round(noise_deviation(1.0, 1e-5), 2)  # the classical bound is 4.84
    3.73
    """
    low, high = 1e-6, 1.0
    while delta_of(high, epsilon) > delta:
        high *= 2
    return float(brentq(lambda sigma: delta_of(sigma, epsilon) - delta, low, high, xtol=1e-12))


def sensitivities(noise: Noise, n_features: int) -> Array:
    """How much one row can change sums of one, two and three factors at most; (3,).

    A row's ``u`` holds at most d ones and deviations of the agreed norm, so that
    ``‖u‖² ≤ R² = d + norm²``, ``‖u⊗u‖ ≤ R²`` and ``‖u⊗u⊗u‖ ≤ R³``. Entries of symmetric arrays
    are there once, which makes them no longer. The number of rows changes by one.
    """
    radius = math.sqrt(n_features + noise.norm**2)
    return np.array([1.0, radius**2, radius**3])


def noise_for(plan: Plan, epsilon: float | None) -> Noise | None:
    """The noise of a plan, or more of it, if a place has a smaller ``epsilon`` of its own."""
    if epsilon is None:
        return plan.noise
    if plan.noise is None:
        raise ValueError(
            "Noise needs a norm that rows are clipped to, in all places alike, and the plan has "
            "none. Draft a plan with noise."
        )
    if epsilon > plan.noise.epsilon:
        raise ValueError(
            f"The plan allows an epsilon of {plan.noise.epsilon:g}, and {epsilon:g} would tell "
            "more. Give a smaller one, or none."
        )
    return replace(plan.noise, epsilon=epsilon)


def add_noise(sums: MomentSums, noise: Noise | None, random: np.random.Generator) -> MomentSums:
    """The sums with noise, if any, for the privacy that is asked for.

    The parts are released together: each divided by its length they change by at most the root of
    their number, which is what the noise is made for.
    """
    if noise is None:
        return sums
    d = sums.n_features
    rows, pairs, triples = sensitivities(noise, d)
    n_parts = 2 + sums.triples + bool(sums.levels.size)
    sigma = noise_deviation(noise.epsilon, noise.delta) * math.sqrt(n_parts)
    upper = np.triu(random.normal(size=sums.second.shape))
    second = sums.second + sigma * pairs * (upper + np.triu(upper, 1).T)
    third = sums.third + sigma * triples * random.normal(size=sums.third.shape)
    levels = sums.levels + sigma * math.sqrt(d) * random.normal(size=sums.levels.shape)
    n_rows = sums.n_rows + sigma * rows * random.normal()
    return replace(sums, second=second, third=third, levels=levels, n_rows=float(n_rows), n_empty=0)
