"""The third moment by weighted least squares: for any pattern of gaps, without a d³ array.

What is wanted is the small tensor G for which ``G(B, B, B)`` is closest to the third moment T, B
being the way back from the whitened space, when each triple of features counts as much as the rows
that hold it and as its features' weights ω say:

    minimise  Σ_ijk N_ijk ω_i ω_j ω_k (T̂_ijk - G(B_i, B_j, B_k))²,
    T̂_ijk = Σ_n x̃_i x̃_j x̃_k / N_ijk  over the rows that hold all three.

The joint counts cancel on the right side of the normal equations and turn into a sum over rows on
the left, so neither needs N_ijk:

    Σ_n G(M_n, M_n, M_n) = Σ_n y_n⊗y_n⊗y_n,   y_n = B'Ω x̃_n,   M_n = B'Ω diag(m_n) B,

which is solved by conjugate gradients over the different masks m, preconditioned with the inverse
of the mean M in each mode. With ω = w²/p this is, for independent gaps, the scheme with weights w.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import Sums
from halfseen.moments.missing_patterns import MaskRows, Panels
from halfseen.moments.second_moment import Moments
from halfseen.moments.symmetric_tensors import cubes, in_three_places, multilinear, pairs_with
from halfseen.moments.third_moment import Probe, ProjectedThird

TOLERANCE = 1e-11
MOST_ITERATIONS = 200


@dataclass(frozen=True, eq=False)
class RightSide(Sums):
    """Sums of the right side of the normal equations, and the masks for the left."""

    cube: Array  # (r, r, r)
    masks: MaskRows

    @classmethod
    def along(
        cls, basis: Array, origin: Array, features: NDArray[np.intp]
    ) -> Callable[[Block], "RightSide"]:
        """The function that sums a block's deviations along ``basis`` (d, r)."""
        list_masks = MaskRows.of(features)

        def summarise(block: Block) -> RightSide:
            y = block.deviations(origin).onto(basis)
            return cls(pairs_with(y, block.weighed(y)), list_masks(block))

        return summarise


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """The left side, ``G → Σ_n G(M_n, M_n, M_n)``, over the different masks."""

    masks: MaskRows
    always: Array  # (r, r)     what complete features add to every M
    sometimes: Array  # (f, r²) what each part that comes and goes adds

    def left(self, tensor: Array) -> Array:
        """``Σ_n G(M_n, M_n, M_n)`` for a tensor G (r, r, r)."""
        r = len(tensor)
        total = np.zeros((r * r, r))
        for mask, count in self.masks.pieces():
            m = (mask @ self.sometimes).reshape(-1, r, r) + self.always  # (u, r, r)
            first = np.matmul(m, tensor.reshape(r, r * r)).reshape(-1, r, r, r)  # (u, a, j, k)
            second = np.matmul(m[:, None], first)  # (u, a, b, k)
            weighed = m * count[:, None, None]
            total += np.tensordot(second.reshape(-1, r * r, r), weighed, axes=([0, 2], [0, 2]))
        return total.reshape(r, r, r)

    @cached_property
    def _inverse_of_mean(self) -> Array:
        total = np.zeros(len(self.sometimes))
        for mask, count in self.masks.pieces():
            total += count @ mask
        often = total / self.masks.count.sum()
        mean = (often @ self.sometimes).reshape(self.always.shape) + self.always
        return np.asarray(np.linalg.pinv(mean))

    def solve(self, right: Array) -> Array:
        """The tensor whose left side is ``right`` (r, r, r), by conjugate gradients."""
        n = float(self.masks.count.sum())

        def precondition(tensor: Array) -> Array:
            return multilinear(tensor, self._inverse_of_mean) / n

        solution = precondition(right)
        residual = right - self.left(solution)
        direction = conditioned = precondition(residual)
        agreement, enough = _dot(residual, conditioned), TOLERANCE**2 * _dot(right, solution)
        for _ in range(MOST_ITERATIONS):
            if not agreement > enough:
                break
            image = self.left(direction)
            step = agreement / _dot(direction, image)
            solution = solution + step * direction
            residual = residual - step * image
            conditioned = precondition(residual)
            agreement, before = _dot(residual, conditioned), agreement
            direction = conditioned + agreement / before * direction
        return solution


def least_squares(rows: Rows, moments: Moments, probe: Probe) -> ProjectedThird:
    """Weighted least squares: right for values missing in any pattern, completely at random."""
    gaps, whitening = moments.gaps, probe.whitening
    if whitening.rank == 0:  # one component about the mean: there is nothing to solve for
        nothing = np.zeros((0, 0, 0))
        return ProjectedThird(nothing, "least squares", lambda pairs, triples: nothing)
    emphasis = (whitening.weights**2 / moments.observed_fraction)[:, None]
    basis = emphasis * whitening.back  # ΩB
    # About the means, sums over N_i rows are too small by 1 - 1/N_i for each feature.
    unbiased = basis / (1 - moments.centred / gaps.own)[:, None]
    groups = gaps.groups
    representatives = np.flatnonzero(groups.representatives)
    sums = rows.accumulate(RightSide.along(unbiased, moments.origin, representatives))
    r = whitening.rank
    outer = (basis[:, :, None] * whitening.back[:, None, :]).reshape(-1, r * r)
    parts = [outer[members].sum(axis=0) for members in _members(groups)]
    complete = moments.observed_fraction == 1
    equations = NormalEquations(
        sums.masks.merged(),
        outer[complete].sum(axis=0).reshape(r, r),
        np.array(parts).reshape(-1, r * r),
    )

    def alike(pairs: Any, triples: Array) -> Array:
        singles = gaps.counted(pairs, basis)
        right = in_three_places(basis, singles) + cubes(basis, gaps.own * triples)
        return equations.solve(right)

    return ProjectedThird(equations.solve(sums.cube), "least squares", alike)


def _members(groups: Panels) -> list[NDArray[np.intp]]:
    """The features of each part that comes and goes, in the order of their representatives."""
    parts = [np.array([i]) for i in np.flatnonzero(groups.alone)]
    parts += [np.flatnonzero(members) for members in groups.together]
    return sorted(parts, key=lambda features: int(features[0]))


def _dot(one: Array, other: Array) -> float:
    return float(np.sum(one * other))
