"""The third moment, projected on the whitened space."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.feature_sums import fraction_of
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import LargeSums, Sums
from halfseen.moments import symmetric_tensors
from halfseen.moments.joint_counts import triple_counts
from halfseen.moments.missing_patterns import MaskRows, Panels
from halfseen.moments.second_moment import Moments
from halfseen.moments.symmetric_tensors import (
    Indices,
    cubes,
    in_each_mode,
    in_three_places,
    matrix_and_vector,
    multilinear,
    pairs_with,
    third_products,
)
from halfseen.moments.whitening import Whitening


@dataclass(frozen=True, eq=False)
class ThirdSums(LargeSums):
    """Joint counts, and sums of triple products of deviations from a fixed origin.

    Both are symmetric and packed (:mod:`halfseen.moments.symmetric_tensors`), so that the two
    together take a third of one d × d × d array.
    """

    count: Array  # (d (d+1) (d+2) / 6,)  rows in which i, j and k are all observed, by weight
    total: Array  # the same shape: sum over those rows of the triple product

    @classmethod
    def about(cls, origin: Array) -> Callable[[Block], "ThirdSums"]:
        """The function that sums a block about ``origin`` (d,)."""

        def summarise(block: Block) -> ThirdSums:
            products = third_products(block.about(origin), block.weights)
            return cls(triple_counts(block), products)

        return summarise


FEW_FEATURES = 48
"""Up to so many, all triples are estimated at once; of more, a slab at a time."""


@dataclass(frozen=True, eq=False)
class Probe:
    """The directions in which the third moment is needed."""

    whitening: Whitening
    beyond: Array  # (d, m)  directions outside the space that the whitening keeps

    @property
    def basis(self) -> Array:
        """All directions, those of the whitening first; (d, r + m)."""
        return np.hstack([self.whitening.forward, self.beyond])


Alike = Callable[[Any, Array], Array]
"""From R (d, d) and v (d,) to the projection of a tensor with entries only where indices are alike:
``δ_ij R_ik`` in three places plus ``δ_ijk v_i``; (r, r, r)."""


@dataclass(frozen=True, eq=False)
class ProjectedThird:
    """The projected third moment about the origin, and how it was computed.

    What a model knows of the third moment beforehand has to be projected in the same way.
    """

    tensor: Array  # (r + m, r + m, r + m)
    route: str
    alike: Alike
    n_unseen: int = 0  # triples of features never observed in one row, where they matter
    reason: str = "asked for"


class ThirdMoment(Protocol):
    """A way to compute the projected third moment of a table with gaps."""

    def __call__(self, rows: Rows, moments: Moments, probe: Probe) -> ProjectedThird:
        """Project the third moment about ``moments.origin``."""


def alike_along(whitening: Whitening) -> Alike:
    """The projection on the columns of the whitening."""
    forward = whitening.forward

    def alike(pairs: Any, triples: Array) -> Array:
        return in_three_places(forward, pairs @ forward) + cubes(forward, triples)

    return alike


def explicit(rows: Rows, moments: Moments, probe: Probe) -> ProjectedThird:
    """Available-case: every triple of features from the rows that hold all three."""
    basis = probe.basis

    def finish(sums: ThirdSums) -> tuple[Array, int]:
        n_unseen = int(np.count_nonzero(sums.count == 0))
        return project_estimates(sums, moments, basis), n_unseen

    tensor, n_unseen = rows.condensed(ThirdSums.about(moments.origin), finish)
    return ProjectedThird(tensor, "explicit", alike_along(probe.whitening), n_unseen)


def project_estimates(sums: ThirdSums, moments: Moments, basis: Array) -> Array:
    """The unbiased third moment about the origin, projected on a basis (d, m); (m, m, m)."""
    d = len(moments.mean)
    if d <= FEW_FEATURES:
        return symmetric_tensors.project_whole(third_estimates(sums, moments), basis)
    places = dict(symmetric_tensors.slabs(d))

    def slab(j: int) -> Array:
        shape, place = (j + 1, d - j), places[j]
        i, k = np.arange(j + 1)[:, None], np.arange(j, d)[None]
        count, total = sums.count[place].reshape(shape), sums.total[place].reshape(shape)
        return _estimates(count, total, moments, i, np.array(j), k)

    return symmetric_tensors.project(slab, basis)


def third_estimates(sums: ThirdSums, moments: Moments) -> Array:
    """The same before it is projected, packed."""
    return _estimates(
        sums.count, sums.total, moments, *symmetric_tensors.triples(len(moments.mean))
    )


def _estimates(
    count: Array, total: Array, moments: Moments, i: Indices, j: Indices, k: Indices
) -> Array:
    """The third moments of some triples of features, from their counts and sums.

    With the marginal means as origin a sum of N_ijk products has expectation N_ijk k_ijk times
    the third cumulant,

        k_ijk = 1 - (1/N_i + 1/N_j + 1/N_k) + (1/(N_i N_j) + 1/(N_i N_k) + 1/(N_j N_k))
                  - N_ijk/(N_i N_j N_k),

    also for repeated indices; with no gaps it is (N - 1)(N - 2)/N². A triple that no row holds
    gets the moment that goes with a third cumulant of zero.
    """
    inverse = moments.centred / moments.gaps.own
    offset, second = moments.offset, moments.second
    a, b, c = inverse[i], inverse[j], inverse[k]
    bias = 1 - (a + b + c) + (a * b + a * c + b * c) - count * a * b * c
    u, v, w = offset[i], offset[j], offset[k]
    no_cumulant = second[i, j] * w + second[i, k] * v + second[j, k] * u - 2 * u * v * w
    # Below 1e-12 the correction is rounding: two rows cannot give a third cumulant.
    weight = count * bias
    estimate: Array = np.divide(total, weight, out=no_cumulant, where=weight > 1e-12)
    return estimate


# The projected third moment without a d × d × d array, for gaps independent of each other.
#
# Dividing every observed deviation by its probability of being observed (Horvitz and Thompson)
# makes products of *different* features unbiased. Where a feature, or features that are only
# observed together, stand more than once in a product, it divides too often; those terms are few
# and known:
#
#     ỹ = Σ_g y_g/p_g,  y_g = F_g'(m∘(x - μ))_g,   g over groups that are observed as one,
#     T(F, F, F) = (1/N) Σ_n { ỹ⊗ỹ⊗ỹ + Σ_g [ (p_g - 1)/p_g² (y_g⊗y_g⊗ỹ in 3 places)
#                                             + (1 - p_g)(2 - p_g)/p_g³ y_g⊗y_g⊗y_g ] }.
#
# A feature on its own is a group of one, for which the corrections need only ``Σ_n x̃_i² ỹ`` and
# ``Σ_n x̃_i³``. The cost is linear in the number of entries.


@dataclass(frozen=True, eq=False)
class ImplicitThirdSums(Sums):
    """Sums from which the projected third central moment follows."""

    cube: Array  # (m, m, m)  of ỹ, with the corrections of groups of several features
    square: Array  # (d, m)   Σ x̃_i² ỹ for features on their own, zero for others
    third: Array  # (d,)      Σ x̃_i³ for features on their own, zero for others

    @classmethod
    def along(
        cls, basis: Array, mean: Array, fraction: Array, groups: Panels
    ) -> Callable[[Block], "ImplicitThirdSums"]:
        """The function that sums a block projected on ``basis`` (d, m)."""
        divided = basis / fraction[:, None]
        parts = groups.parts
        shared = [fraction[members][0] for members in groups.together]

        def summarise(block: Block) -> ImplicitThirdSums:
            deviations = block.deviations(mean)
            each = deviations.onto_parts(divided, parts)  # (g, n, m)  y_g/p_g
            whole = each.sum(axis=0)  # (n, m)  ỹ
            cube = pairs_with(whole, block.weighed(whole))
            for number, p in enumerate(shared, start=1):
                cube = cube + _correction(each[number], whole, p, block)
            return cls(
                cube,
                square=deviations.squares(block.weighed(whole), groups.alone),
                third=deviations.cubes(block.row_weights(), groups.alone),
            )

        return summarise

    def total(self, basis: Array, fraction: Array) -> Array:
        """``Σ_n`` of all terms: N times the projected third moment; (m, m, m)."""
        p = fraction
        twice = ((p - 1) / p**2)[:, None] * self.square
        thrice = (1 - p) * (2 - p) / p**3 * self.third
        return self.cube + in_three_places(basis, twice) + cubes(basis, thrice)


def _correction(part: Array, whole: Array, p: float, block: Block) -> Array:
    """The correction for a group of features with equal masks.

    ``part`` is ``y_g/p_g``, so that ``y_g⊗y_g/p_g²`` is its square. The terms with y_g twice and
    three times have the same pairs: ``(p - 1) in 3 places`` of pairs with ỹ, of which a third of
    ``(1 - p)(2 - p)`` with y_g/p_g itself.
    """
    single = (p - 1) * whole + (1 - p) * (2 - p) / 3 * part
    return in_each_mode(pairs_with(part, block.weighed(single)))


def implicit(rows: Rows, moments: Moments, probe: Probe) -> ProjectedThird:
    """Horvitz-Thompson: right when groups of features are missing independently of each other."""
    gaps, basis = moments.gaps, probe.basis
    n, fraction = gaps.rows_behind, fraction_of(gaps.own, gaps.rows_behind)
    sums = rows.accumulate(ImplicitThirdSums.along(basis, moments.mean, fraction, gaps.groups))
    # About the mean, N in place of the second makes a cumulant too small; raw moments are not.
    divisor = (n - 1) * (n - 2) / n if moments.centred else n
    about_mean = sums.total(basis, fraction) / divisor
    tensor = _about_origin(about_mean, moments, basis)
    return ProjectedThird(tensor, "implicit", alike_along(probe.whitening))


def _about_origin(about_mean: Array, moments: Moments, basis: Array) -> Array:
    """The projected third moment about the origin, from that about the mean."""
    if moments.centred:
        return about_mean
    offset = basis.T @ moments.offset
    return (
        about_mean
        + matrix_and_vector(basis.T @ moments.covariance @ basis, offset)
        + offset[:, None, None] * offset[:, None] * offset
    )


# The third moment by weighted least squares: for any pattern of gaps, without a d³ array.
#
# What is wanted is the small tensor G for which ``G(B, B, B)`` is closest to the third moment T, B
# being the way back from the whitened space, when each triple of features counts as much as the
# rows that hold it and as its features' weights ω say:
#
#     minimise  Σ_ijk N_ijk ω_i ω_j ω_k (T̂_ijk - G(B_i, B_j, B_k))²,
#     T̂_ijk = Σ_n x̃_i x̃_j x̃_k / N_ijk  over the rows that hold all three.
#
# The joint counts cancel on the right side of the normal equations and turn into a sum over rows
# on the left, so neither needs N_ijk:
#
#     Σ_n G(M_n, M_n, M_n) = Σ_n y_n⊗y_n⊗y_n,   y_n = B'Ω x̃_n,   M_n = B'Ω diag(m_n) B,
#
# which is solved by conjugate gradients over the different masks m, preconditioned with the inverse
# of the mean M in each mode. For independent gaps ω = w²/p gives the scheme with weights w.


TOLERANCE = 1e-11
MOST_ITERATIONS = 200


@dataclass(frozen=True, eq=False)
class RightSide(Sums):
    """The right side of the normal equations, and the masks for the left side."""

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

    def _inverse_of_mean(self) -> Array:
        total = np.zeros(len(self.sometimes))
        for mask, count in self.masks.pieces():
            total += count @ mask
        often = total / self.masks.count.sum()
        mean = (often @ self.sometimes).reshape(self.always.shape) + self.always
        return np.asarray(np.linalg.pinv(mean))

    def solve(self, right: Array) -> Array:
        """The tensor whose left side is ``right`` (r, r, r), by conjugate gradients."""
        n, inverse = float(self.masks.count.sum()), self._inverse_of_mean()

        def precondition(tensor: Array) -> Array:
            return multilinear(tensor, inverse) / n

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
    """The features of each group with equal masks, in the order of representatives."""
    parts = [np.array([i]) for i in np.flatnonzero(groups.alone)]
    parts += [np.flatnonzero(members) for members in groups.together]
    return sorted(parts, key=lambda features: int(features[0]))


def _dot(one: Array, other: Array) -> float:
    return float(np.sum(one * other))
