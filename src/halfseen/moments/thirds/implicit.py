"""The projected third moment without a d × d × d array, for gaps independent of each other.

Dividing every observed deviation by its probability of being observed (Horvitz and Thompson) makes
products of *different* features unbiased. Where a feature, or features that are only observed
together, stand more than once in a product, it divides too often; those terms are few and known:

    ỹ = Σ_g y_g/p_g,  y_g = F_g'(m∘(x - μ))_g,   g over groups that are observed as one,
    T(F, F, F) = (1/N) Σ_n { ỹ⊗ỹ⊗ỹ + Σ_g [ (p_g - 1)/p_g² (y_g⊗y_g⊗ỹ in 3 places)
                                            + (1 - p_g)(2 - p_g)/p_g³ y_g⊗y_g⊗y_g ] }.

A feature on its own is a group of one, for which the corrections need only ``Σ_n x̃_i² ỹ`` and
``Σ_n x̃_i³``. The cost is linear in the number of entries.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.moments.gaps.panels import Panels
from halfseen.moments.moments import Moments
from halfseen.moments.tensors import (
    cubes,
    in_each_mode,
    in_three_places,
    matrix_and_vector,
    pairs_with,
)
from halfseen.moments.thirds.third import Probe, ProjectedThird, alike_along
from halfseen.rows.arrays import Array
from halfseen.rows.feature_sums import fraction_of
from halfseen.rows.rows import Block, Rows


@dataclass(frozen=True, eq=False)
class ImplicitThirdSums:
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
                third=deviations.cubes(block.weighed(np.ones(len(block))), groups.alone),
            )

        return summarise

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.cube + other.cube, self.square + other.square, self.third + other.third
        )

    def total(self, basis: Array, fraction: Array) -> Array:
        """``Σ_n`` of all terms: N times the projected third moment; (m, m, m)."""
        p = fraction
        twice = ((p - 1) / p**2)[:, None] * self.square
        thrice = (1 - p) * (2 - p) / p**3 * self.third
        return self.cube + in_three_places(basis, twice) + cubes(basis, thrice)


def _correction(part: Array, whole: Array, p: float, block: Block) -> Array:
    """What a group of several features that are observed as one adds to the cube.

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
