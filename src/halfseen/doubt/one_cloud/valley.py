"""Groups that have an emptier band between them, in rows that were not used to find it.

Two groups are looked at along the direction that tells them apart best. Of three windows of one
width, around the two middles and between them, one mode implies that the one between holds at
least as many rows as the emptier of the others. Rows are counted that the direction and the
windows were not learned from, so that a binomial test is valid.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import binom, gaussian_kde

from halfseen.rows.arrays import Array, Labels

BANDWIDTH = 0.25
"""Of the kernel that finds the band, in standard deviations of the narrower group."""
LEAST_ROWS = 4
"""A group of fewer training rows has no middle."""


class Counts(NamedTuple):
    """Held-out rows in the three windows."""

    left: int
    between: int
    right: int

    @property
    def p_value(self) -> float:
        """Of as few rows in between, if there is one mode."""
        sides = (self.left, self.right)
        found = [binom.cdf(self.between, self.between + side, 0.5) for side in sides]
        return float(max(found))


@dataclass(frozen=True, eq=False)
class LabelledFold:
    """Rows of a fold without gaps, and the components that its training rows give them."""

    train: Array  # (n, d)
    of_train: Labels  # (n,)
    test: Array  # (m, d)
    of_test: Labels  # (m,)


def largest_p_value(folds: list[LabelledFold], group: Labels) -> float:
    """Of the bands between all pairs of groups; ``group`` (k,) is that of each component."""
    sets = [np.flatnonzero(group == one).tolist() for one in np.unique(group)]
    pairs = [(a, b) for i, a in enumerate(sets) for b in sets[i + 1 :]]
    return max((counted(folds, a, b).p_value for a, b in pairs), default=1.0)


def counted(folds: list[LabelledFold], a: list[int], b: list[int]) -> Counts:
    """Held-out rows of two sets of components in their three windows, over all folds."""
    found = np.array([_of_fold(fold, a, b) for fold in folds]).sum(axis=0)
    return Counts(*map(int, found))


def _of_fold(fold: LabelledFold, a: list[int], b: list[int]) -> tuple[int, int, int]:
    first, second = (fold.train[np.isin(fold.of_train, one)] for one in (a, b))
    if min(len(first), len(second)) < max(LEAST_ROWS, 2):
        return 0, 0, 0
    within = (len(first) * _covariance(first) + len(second) * _covariance(second)) / (
        len(first) + len(second)
    )
    within += 1e-6 * np.diag(np.diag(within)) + 1e-12 * np.eye(len(within))
    direction = np.linalg.solve(within, second.mean(axis=0) - first.mean(axis=0))
    low, high = np.median(first @ direction), np.median(second @ direction)
    narrow = min((first @ direction).std(), (second @ direction).std())
    if not high - low > 1e-9 or narrow <= 0:
        return 0, 0, 0
    along = np.concatenate([first, second]) @ direction
    grid = np.linspace(low + (high - low) / 4, high - (high - low) / 4, 41)
    kernel = gaussian_kde(along, bw_method=BANDWIDTH * narrow / along.std(ddof=1))
    middle = grid[np.argmin(kernel(grid))]
    half = 0.5 * min(middle - low, high - middle)
    apart = fold.test[np.isin(fold.of_test, [*a, *b])] @ direction
    inside = [int(np.sum(np.abs(apart - at) <= half)) for at in (low, middle, high)]
    return inside[0], inside[1], inside[2]


def _covariance(rows: Array) -> Array:
    deviation = rows - rows.mean(axis=0)
    return np.asarray(deviation.T @ deviation / len(rows))
