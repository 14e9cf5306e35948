"""The third moment, projected on a basis: the only form in which the method needs it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from halfseen.moments.gaps.joint_counts import triple_counts
from halfseen.moments.moments import Moments
from halfseen.moments.tensors import cubes, in_three_places
from halfseen.moments.thirds import packed
from halfseen.moments.thirds.packed import Indices, third_products
from halfseen.moments.weights import Whitening
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block, Rows


@dataclass(frozen=True, eq=False)
class ThirdSums:
    """Joint counts, and sums of triple products of deviations from a fixed origin.

    Both are symmetric and packed (:mod:`halfseen.moments.thirds.packed`), so that the two together
    take a third of one d × d × d array.
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

    def __add__(self, other: Self) -> Self:
        return type(self)(self.count + other.count, self.total + other.total)

    def __iadd__(self, other: Self) -> Self:
        np.add(self.count, other.count, out=self.count)
        np.add(self.total, other.total, out=self.total)
        return self


FEW_FEATURES = 48
"""Up to so many, all triples are estimated at once; of more, a slab at a time."""


@dataclass(frozen=True, eq=False)
class Probe:
    """Where the third moment is needed: in the whitened space, and perhaps beyond."""

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
    """The third moment about the origin, projected, and how it was had.

    What a model knows of the third moment beforehand has to be projected in the same way.
    """

    tensor: Array  # (r + m, r + m, r + m)
    route: str
    alike: Alike
    n_unseen: int = 0  # triples of features never observed in one row, where they matter
    reason: str = "asked for"


class ThirdMoment(Protocol):
    """A route to the projected third moment of a table with gaps."""

    def __call__(self, rows: Rows, moments: Moments, probe: Probe) -> ProjectedThird:
        """Project the third moment about ``moments.origin``."""


def alike_along(whitening: Whitening) -> Alike:
    """Projection on the columns of the whitening."""
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
        return packed.project_whole(third_estimates(sums, moments), basis)
    places = dict(packed.slabs(d))

    def slab(j: int) -> Array:
        shape, place = (j + 1, d - j), places[j]
        i, k = np.arange(j + 1)[:, None], np.arange(j, d)[None]
        count, total = sums.count[place].reshape(shape), sums.total[place].reshape(shape)
        return _estimates(count, total, moments, i, np.array(j), k)

    return packed.project(slab, basis)


def third_estimates(sums: ThirdSums, moments: Moments) -> Array:
    """The same before it is projected, packed."""
    return _estimates(sums.count, sums.total, moments, *packed.triples(len(moments.mean)))


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
