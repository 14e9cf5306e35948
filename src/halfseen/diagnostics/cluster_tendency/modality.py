"""Modes of a normal mixture, and how far its density dips between them.

Components climb to the modes of the whole density by modal EM (J. Li, S. Ray, B. Lindsay, 2007, A
nonparametric statistical approach to clustering via mode identification). Between two modes the
highest path is looked for, over the means of all components: along straight lines, and along the
ridgelines of pairs of components, on which the modes of such a pair lie (S. Ray, B. Lindsay, 2005,
The topography of multivariate normal mixtures).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import binom, gaussian_kde

from halfseen.data.arrays import Array, Labels
from halfseen.diagnostics.cluster_tendency.mixture import Mixture, Table
from halfseen.diagnostics.cluster_tendency.single_density import RowsByPattern

STEPS = 41
"""Points of a path at which the density is looked at."""
CLIMB = 200
"""Most steps of modal EM."""


class Merge(NamedTuple):
    """Two merged groups of components."""

    dip: (
        float  # the density in the dip between them over that of the lower peak; 1 if there is none
    )
    group: Labels  # (k,)  of each component, before they were


def merges(mixture: Mixture) -> tuple[Merge, ...]:
    """Components merged step by step, those with the shallowest dip first."""
    k = mixture.n_components
    precision = np.asarray(np.linalg.inv(mixture.covariances), dtype=float)
    modes = _climbed(mixture, precision)
    peaks = _heights(mixture, modes)
    saddle = _saddles(mixture, precision, modes)
    group, found = np.arange(k), []
    while len(names := np.unique(group)) > 1:
        best = (-np.inf, 0, 0)
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                first, second = group == a, group == b
                lower = min(peaks[first].max(), peaks[second].max())
                best = max(best, (saddle[np.ix_(first, second)].max() - lower, a, b))
        found.append(
            Merge(float(np.exp(min(best[0], 0.0))), np.unique(group, return_inverse=True)[1])
        )
        group = np.where(group == best[2], best[1], group)
    return tuple(found)


def grouped(found: tuple[Merge, ...], deepest: float, k: int) -> Labels:
    """The group of each component (k,), separated where the density dips lower than that."""
    for merge in found:
        if merge.dip <= deepest:
            return merge.group
    return np.zeros(k, dtype=np.intp)


def _heights(mixture: Mixture, points: Array) -> Array:
    nothing = np.zeros((len(points), mixture.log_probabilities.shape[1]))
    return mixture.log_densities(Table(RowsByPattern.of(points), nothing, ()))


def _climbed(mixture: Mixture, precision: Array) -> Array:
    points = mixture.means.copy()
    pull = np.einsum("kij,kj->ki", precision, mixture.means)
    nothing = np.zeros((len(points), mixture.log_probabilities.shape[1]))
    for _ in range(CLIMB):
        given = mixture.responsibilities(Table(RowsByPattern.of(points), nothing, ()))
        weighted = np.einsum("mk,kij->mij", given, precision)
        moved = np.linalg.solve(weighted, (given @ pull)[:, :, None])[:, :, 0]
        if np.abs(moved - points).max() < 1e-6:
            break
        points = moved
    return points


def _saddles(mixture: Mixture, precision: Array, modes: Array) -> Array:
    """The log-density at the lowest point of the highest path between the modes; (k, k)."""
    k = len(modes)
    nodes = np.vstack([modes, mixture.means])
    height = np.full((2 * k, 2 * k), -np.inf)
    at = np.linspace(0, 1, STEPS)[:, None]
    for i in range(2 * k):
        height[i, i] = _heights(mixture, nodes[i : i + 1])[0]
        for j in range(i):
            paths = [nodes[i] + at * (nodes[j] - nodes[i])]
            if j >= k:
                paths.append(_ridgeline(mixture, precision, i - k, j - k))
            lowest = max(_heights(mixture, path).min() for path in paths)
            height[i, j] = height[j, i] = lowest
    for via in range(2 * k):  # the widest path, as by Floyd and Warshall
        height = np.maximum(height, np.minimum(height[:, via, None], height[via]))
    return height[:k, :k]


def _ridgeline(mixture: Mixture, precision: Array, i: int, j: int) -> Array:
    """``[(1-α) Σ_i⁻¹ + α Σ_j⁻¹]⁻¹ [(1-α) Σ_i⁻¹ μ_i + α Σ_j⁻¹ μ_j]`` for α from 0 to 1; (s, p)."""
    alpha = np.linspace(0, 1, STEPS)[:, None, None]
    pulls = [(precision[one] @ mixture.means[one])[:, None] for one in (i, j)]
    both = (1 - alpha) * precision[i] + alpha * precision[j]
    return np.asarray(np.linalg.solve(both, (1 - alpha) * pulls[0] + alpha * pulls[1])[:, :, 0])


BANDWIDTH = 0.25
"""Of the kernel that finds the band, in standard deviations of the narrower group."""
LEAST_ROWS = 4
"""A group of fewer training rows has no middle."""


class Counts(NamedTuple):
    """Numbers of held-out rows in three windows."""

    left: int
    between: int
    right: int

    @property
    def p_value(self) -> float:
        """The p-value of so few rows in the middle window, if there is one mode."""
        sides = (self.left, self.right)
        found = [binom.cdf(self.between, self.between + side, 0.5) for side in sides]
        return float(max(found))


@dataclass(frozen=True, eq=False)
class LabelledFold:
    """Complete rows of a fold, with the components assigned by the other folds."""

    train: Array  # (n, d)
    of_train: Labels  # (n,)
    test: Array  # (m, d)
    of_test: Labels  # (m,)


def largest_p_value(folds: list[LabelledFold], group: Labels) -> float:
    """The largest p-value over pairs of groups; ``group`` (k,) is that of each component."""
    sets = [np.flatnonzero(group == one).tolist() for one in np.unique(group)]
    pairs = [(a, b) for i, a in enumerate(sets) for b in sets[i + 1 :]]
    return max((counted(folds, a, b).p_value for a, b in pairs), default=1.0)


def counted(folds: list[LabelledFold], a: list[int], b: list[int]) -> Counts:
    """Held-out rows of two sets of components in the three windows."""
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
