"""What any statistic of a column is expected to be in each class, read off the second moments.

For a statistic f of column d and the features z_j of another item, independent given the class,
``Cov(f, z_j) = B_j φ``, and ``E[f | class k] = E[f] + φ'ζ_k`` with ζ_k the place of class k. φ is
found by least squares over all items j ≠ d with weights ``N_dj ω_j``. Means, variances, shares of
levels and histograms of counts are all had in this one way.
"""

from typing import Any, NamedTuple

import numpy as np

from halfseen.moments.items.features import Ints
from halfseen.moments.items.sums import MeetingSums
from halfseen.rows.arrays import Array

SMALLEST = 1e-10
"""Directions that the other items tell less of, beside the best told, are not read."""


class Reading(NamedTuple):
    """How statistics depend on where a class is."""

    mean: Array  # (s,)      E[f]
    slope: Array  # (s, r)   φ

    def at(self, places: Array) -> Array:
        """The statistics of classes at ``places`` (k, r); (k, s)."""
        return self.mean + places @ self.slope.T


def inner_products(back: Array, item: Ints, emphasis: Array) -> Array:
    """``M_j = ω_j B_j'B_j``; (j, r, r)."""
    inner = np.zeros((len(emphasis), back.shape[1], back.shape[1]))
    np.add.at(inner, item, back[:, :, None] * back[:, None, :])
    return inner * emphasis[:, None, None]


class Equations(NamedTuple):
    """Normal equations of φ for each statistic; those of several neighbours add."""

    left: Array  # (j, r, r)  by the column that a statistic is of
    right: Array  # (s, r)

    def __add__(self, other: Any) -> "Equations":
        return Equations(self.left + other.left, self.right + other.right)

    def read(self, mean: Array, owner: Ints) -> Reading:
        """The reading of statistics with these means, of the columns ``owner`` (s,)."""
        inverse = np.linalg.pinv(self.left, rcond=SMALLEST, hermitian=True)
        return Reading(mean, np.einsum("sab,sb->sa", inverse[owner], self.right))


def means_of(sums: MeetingSums, owner: Ints) -> Array:
    """The statistics' means over the rows that hold their columns; (s,)."""
    seen = sums.count.diagonal()[owner]
    return np.divide(sums.total, seen, out=np.zeros_like(sums.total), where=seen > 0)


def of_other_columns(
    sums: MeetingSums, owner: Ints, back: Array, item: Ints, emphasis: Array
) -> Equations:
    """What the other columns of a row tell, given B (q, r) and ω (j,)."""
    covariance = sums.cross - means_of(sums, owner)[:, None] * sums.presence[owner]  # times N_dj
    others = np.where(owner[:, None] == item, 0.0, covariance)
    right = others @ (emphasis[item][:, None] * back)  # (s, r)
    count = sums.count * ~np.eye(len(sums.count), dtype=bool)
    left = np.tensordot(count, inner_products(back, item, emphasis), axes=1)  # (j, r, r)
    return Equations(left, right)


def read_statistics(
    sums: MeetingSums, owner: Ints, back: Array, item: Ints, emphasis: Array
) -> Reading:
    """The reading of statistics, one of column ``owner`` (s,) each, given B (q, r) and ω (j,)."""
    told = of_other_columns(sums, owner, back, item, emphasis)
    return told.read(means_of(sums, owner), owner)
