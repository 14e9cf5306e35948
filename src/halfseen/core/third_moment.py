"""The third moment, projected on a basis: the only form in which the method needs it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from halfseen.core import packed
from halfseen.core.arrays import Array
from halfseen.core.moments import Moments
from halfseen.core.rows import Rows
from halfseen.core.tensors import cubes, in_three_places
from halfseen.core.third_sums import ThirdSums
from halfseen.core.whitening import Whitening


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
        return packed.project(third_estimates(sums, moments), basis), n_unseen

    tensor, n_unseen = rows.condensed(ThirdSums.about(moments.origin), finish)
    return ProjectedThird(tensor, "explicit", alike_along(probe.whitening), n_unseen)


def third_estimates(sums: ThirdSums, moments: Moments) -> Callable[[int], Array]:
    """Slabs of the unbiased third moment about the origin, as a function of the middle index.

    With the marginal means as origin a sum of N_ijk products has expectation N_ijk k_ijk times
    the third cumulant,

        k_ijk = 1 - (1/N_i + 1/N_j + 1/N_k) + (1/(N_i N_j) + 1/(N_i N_k) + 1/(N_j N_k))
                  - N_ijk/(N_i N_j N_k),

    also for repeated indices; with no gaps it is (N - 1)(N - 2)/N². A triple that no row holds
    gets the moment that goes with a third cumulant of zero.
    """
    d = len(moments.mean)
    places = dict(packed.slabs(d))
    inverse = moments.centred / moments.gaps.own
    offset, second = moments.offset, moments.second

    def slab(j: int) -> Array:
        shape = (j + 1, d - j)
        count = sums.count[places[j]].reshape(shape)
        total = sums.total[places[j]].reshape(shape)
        a, b, c = inverse[: j + 1, None], inverse[j], inverse[None, j:]
        bias = 1 - (a + b + c) + (a * b + a * c + b * c) - count * a * b * c
        u, v, w = offset[: j + 1, None], offset[j], offset[None, j:]
        no_cumulant = (
            second[: j + 1, j, None] * w
            + second[: j + 1, j:] * v
            + second[None, j, j:] * u
            - 2 * u * v * w
        )
        # Below 1e-12 the correction is rounding: two rows cannot give a third cumulant.
        weight = count * bias
        estimate: Array = np.divide(total, weight, out=no_cumulant, where=weight > 1e-12)
        return estimate

    return slab
