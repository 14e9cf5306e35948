"""Expected statistics of each column in each class, from second moments.

For a statistic f of column d and the features z_j of another item, independent given the class,
``Cov(f, z_j) = B_j φ``, and ``E[f | class k] = E[f] + φ'ζ_k`` with ζ_k the place of class k. φ is
found by least squares over all items j ≠ d with weights ``N_dj ω_j``. Means, variances, shares of
levels and histograms of counts are all had in this one way.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.rows import Rows
from halfseen.data.sums import Sums
from halfseen.moments.product_mixture.encoding import Encoding, Ints, Item, ItemSums
from halfseen.moments.product_mixture.item_moments import (
    Completion,
    CubeSums,
    MeetingSums,
    Statistics,
    complete,
    fit_tensor,
    joint_triples,
    known_pairs,
    most_rank,
    normal_matrix,
)
from halfseen.moments.symmetric_tensors import bordered, located

SMALLEST = 1e-10
"""Directions that the other items tell less of, beside the best told, are not read."""


class Reading(NamedTuple):
    """A linear map from the position of a class to expected statistics."""

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


@dataclass(frozen=True, eq=False)
class Equations(Sums):
    """Normal equations of φ for each statistic; equations of neighbours add."""

    left: Array  # (j, r, r)  by the column that a statistic is of
    right: Array  # (s, r)

    def read(self, mean: Array, owner: Ints) -> Reading:
        """Solve for statistics with these means, of the columns ``owner`` (s,)."""
        inverse = np.linalg.pinv(self.left, rcond=SMALLEST, hermitian=True)
        return Reading(mean, np.einsum("sab,sb->sa", inverse[owner], self.right))


def means_of(sums: MeetingSums, owner: Ints) -> Array:
    """Means of the statistics over rows in which their columns are observed; (s,)."""
    seen = sums.count.diagonal()[owner]
    return np.divide(sums.total, seen, out=np.zeros_like(sums.total), where=seen > 0)


def other_column_equations(
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
    """The map to statistics of column ``owner`` (s,) each, given B (q, r) and ω (j,)."""
    equations = other_column_equations(sums, owner, back, item, emphasis)
    return equations.read(means_of(sums, owner), owner)


MOST_COMPONENTS = 8
MOST_ITEMS = 120
"""Items whose triples are counted; of more, those that tell most of the classes."""

Weighting = Callable[[Array], Array]
"""From the share of rows that hold each item to its weight; (j,) both."""


class Decomposed(Protocol):
    """A symmetric tensor as a sum of cubes of vectors."""

    @property
    def vectors(self) -> Array:
        """Unit vectors in columns; (k, k)."""


Decompose = Callable[[Array], Decomposed]
"""From a symmetric tensor (k, k, k) to its decomposition."""


@dataclass(frozen=True, eq=False)
class ItemStart:
    """Classes found from moments, perhaps fewer than asked for."""

    weights: Array  # (k,)       π
    statistics: Array  # (k, s)  what each statistic is expected to be in each class
    places: Array  # (k, k - 1)  ζ
    item_weights: Array  # (j,)  w
    spectrum: Array  # (q,)      eigenvalues of the weighted second moment, largest first
    n_supported: int  # how many of the k - 1 leading ones are positive
    decomposition: Decomposed
    n_rows: float  # rows that hold something, by weight
    counts: Array  # (j, j)      those that hold both items
    n_unseen: int  # triples of distinct items that no row holds, of those that are fitted

    @property
    def finite(self) -> bool:
        found = (self.weights, self.places, self.statistics)
        return all(bool(np.isfinite(one).all()) for one in found)


@dataclass(frozen=True, eq=False)
class Second:
    """Encoded items and their second moments."""

    encoding: Encoding
    sums: MeetingSums
    owner: Ints  # (s,)
    n_rows: float
    weights: Array  # (j,)   w
    emphasis: Array  # (j,)  ω = w²/p, with which N_ij ω_i ω_j is w_i² w_j² for independent gaps


@dataclass(frozen=True, eq=False)
class System(Sums):
    """Normal equations of the third moment between classes; several systems add."""

    cube: Array  # (r, r, r)
    left: Array  # (r³, r³)
    n_unseen: int

    @property
    def tensor(self) -> Array:
        """The best-fitting tensor G; (r, r, r)."""
        return fit_tensor(self.cube, self.left)


def item_start(
    rows: Rows,
    items: Sequence[Item],
    statistics: Statistics,
    owner: Ints,
    n_components: int,
    weighting: Weighting,
    decompose: Decompose,
) -> ItemStart:
    """Classes of ``rows`` whose columns are ``items``, independent of each other given the class.

    ``statistics`` are those that classes are to be described by, ``owner`` (s,) the column that
    each is of. There are fewer classes than asked for if the moments tell fewer apart.
    """
    second = second_of(rows, items, statistics, owner, weighting)
    for rank in range(identifiable_rank(second, n_components), -1, -1):
        completion = supported(second, rank)
        third = of_rows(rows, second, completion)
        reading = read_statistics(
            second.sums, second.owner, completion.back, second.encoding.item, second.emphasis
        )
        start = read_off(second, completion, third, reading, decompose)
        if start.finite:
            break
    return start


def second_of(
    rows: Rows, items: Sequence[Item], statistics: Statistics, owner: Ints, weighting: Weighting
) -> Second:
    """Second moments of pairs of items."""
    cells = rows.accumulate(ItemSums.of(items))
    encoding = Encoding.of(items, cells)
    sums = rows.accumulate(MeetingSums.of(encoding, statistics))
    fraction = cells.observed_fraction
    weights = np.asarray(weighting(fraction), dtype=float)
    emphasis = np.divide(weights**2, fraction, out=np.zeros_like(weights), where=fraction > 0)
    return Second(encoding, sums, np.asarray(owner), cells.n_rows, weights, emphasis)


def identifiable_rank(second: Second, n_components: int) -> int:
    """Ranks that pairs and triples of items can tell."""
    item = second.encoding.item
    known = known_pairs(second.sums.count, item)
    return most_rank(known, item, min(n_components, MOST_COMPONENTS) - 1)


def supported(second: Second, rank: int) -> Completion:
    """The completion of the largest rank up to ``rank`` with positive eigenvalues only."""
    completion = complete(second.sums, second.encoding.item, second.weights, rank)
    if completion.n_supported < rank:
        return supported(second, completion.n_supported)
    return completion


def of_rows(rows: Rows, second: Second, completion: Completion) -> System:
    """The third moment of distinct columns of a row, for the most informative items."""
    if completion.rank == 0:
        return System(np.zeros((0, 0, 0)), np.zeros((0, 0)), 0)
    item, emphasis = second.encoding.item, second.emphasis
    inner = inner_products(completion.back, item, emphasis)
    chosen = _most_informative(np.einsum("jaa,j->j", inner, second.sums.count.diagonal()))
    count = second.sums.count
    gappy = chosen & (count.diagonal() < second.n_rows * (1 - 1e-12))
    basis = (emphasis * chosen)[item][:, None] * completion.back
    sums = rows.accumulate(CubeSums.along(second.encoding, basis, gappy))
    triples = joint_triples(sums, count[np.ix_(chosen, chosen)], gappy[chosen])
    n = len(triples)
    n_unseen = (n * (n - 1) * (n - 2) - int(np.count_nonzero(triples))) // 6
    return System(sums.cube, normal_matrix(triples, inner[chosen]), n_unseen)


def _most_informative(told: Array) -> Mask:
    """The most informative items, at most as many as can be counted."""
    chosen = np.zeros(len(told), dtype=bool)
    chosen[np.argsort(-told, kind="stable")[:MOST_ITEMS]] = True
    return chosen & (told > 0)


def read_off(
    second: Second, completion: Completion, third: System, reading: Reading, decompose: Decompose
) -> ItemStart:
    """Classes from the decomposition of the third moment."""
    decomposition = decompose(bordered(third.tensor))
    classes = located(decomposition.vectors, second.n_rows)
    return ItemStart(
        weights=classes.weights,
        statistics=reading.at(classes.places),
        places=classes.places,
        item_weights=second.weights,
        spectrum=completion.spectrum,
        n_supported=completion.n_supported,
        decomposition=decomposition,
        n_rows=second.n_rows,
        counts=second.sums.count,
        n_unseen=third.n_unseen,
    )
