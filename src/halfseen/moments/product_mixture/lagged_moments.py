"""Moments of consecutive rows of sequences.

Rows t-1, t and t+1 are independent of each other given the state of the row in the middle, all of
their columns among them. With ζ_k the place of state k, of mean zero and covariance one, and
``T = E[ζ(h_t) ζ(h_t+1)']``

    E[z_t z_t+1'] = B T B',   E[z_t-1 | h_t = k] = B T ζ_k,   E[z_t+1 | h_t = k] = B T' ζ_k,

so that ``E[z_t-1 ⊗ z_t ⊗ z_t+1] = G(B T, B, B T')`` with the same G that distinct columns of one
row have: the normal equations of both add.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.rows import Block
from halfseen.data.sums import Sums
from halfseen.moments.product_mixture.encoding import Encoding, Ints
from halfseen.moments.product_mixture.item_moments import Statistics, acting
from halfseen.moments.product_mixture.mixture_start import Equations, System, inner_products


class Windows(NamedTuple):
    """Rows of a block with the rows before and after them."""

    followed: NDArray[np.intp]  # have a next one
    middle: NDArray[np.intp]  # have both
    first: NDArray[np.intp]  # have none before

    @classmethod
    def of(cls, block: Block) -> "Windows":
        """The windows of a block; rows outside sequences have none."""
        n = len(block)
        same = np.zeros(n + 1, dtype=bool)
        if block.sequence is not None and n:
            same[1:-1] = np.diff(block.sequence) == 0  # row t and row t - 1
        before, after = same[:-1], same[1:]
        found = (np.flatnonzero(some) for some in (after, before & after, ~before))
        return cls(*found)


@dataclass(frozen=True, eq=False)
class LaggedSums(Sums):
    """Weighted sums over consecutive rows of features z, masks m and statistics f."""

    one: Array  # (q, q)      Σ z_t z_t+1'
    count_one: Array  # (j, j)   Σ m_t m_t+1'
    ahead: Array  # (s, q)    Σ f_t z_t+1'
    behind: Array  # (s, q)   Σ f_t+1 z_t'
    held_ahead: Array  # (j, q)   Σ m_t z_t+1'
    held_behind: Array  # (j, q)  Σ m_t+1 z_t'
    first: Array  # (q,)      Σ z of first rows
    first_count: Array  # (j,)
    before: Array  # (q,)     Σ z of rows that others follow
    before_count: Array  # (j,)
    after: Array  # (q,)      Σ z of rows that follow others
    after_count: Array  # (j,)
    n_middle: float  # rows with two neighbours, by weight
    n_first: float  # sequences
    n_rows: float

    @classmethod
    def of(cls, encoding: Encoding, statistics: Statistics) -> Callable[[Block], "LaggedSums"]:
        """The function that sums a block."""

        def summarise(block: Block) -> LaggedSums:
            z, m = encoding.features(block), block.observed.astype(float)
            f, weight = statistics(block), block.row_weights()
            t, mid, first = Windows.of(block)
            w = weight[t, None]
            return cls(
                one=(z[t] * w).T @ z[t + 1],
                count_one=(m[t] * w).T @ m[t + 1],
                ahead=(f[t] * w).T @ z[t + 1],
                behind=(f[t + 1] * w).T @ z[t],
                held_ahead=(m[t] * w).T @ z[t + 1],
                held_behind=(m[t + 1] * w).T @ z[t],
                first=weight[first] @ z[first],
                first_count=weight[first] @ m[first],
                before=weight[t] @ z[t],
                before_count=weight[t] @ m[t],
                after=weight[t] @ z[t + 1],
                after_count=weight[t] @ m[t + 1],
                n_middle=float(weight[mid].sum()),
                n_first=float(weight[first].sum()),
                n_rows=float(weight.sum()),
            )

        return summarise

    def between(self, item: Ints, emphasis: Array, back: Array) -> Array:
        """``T = E[ζ(h_t) ζ(h_t+1)']``; (r, r)."""
        return between(self.one, self.count_one, item, emphasis, back)

    def first_place(self, item: Ints, emphasis: Array, back: Array) -> Array:
        """The mean position of first rows in the space of states; (r,)."""
        return _place(self.first, self.first_count, item, emphasis, back)

    def pair_places(self, item: Ints, emphasis: Array, back: Array) -> tuple[Array, Array]:
        """Mean positions of rows with a successor, and of rows with a predecessor."""
        return (
            _place(self.before, self.before_count, item, emphasis, back),
            _place(self.after, self.after_count, item, emphasis, back),
        )

    def equations(
        self, mean: Array, owner: Ints, item: Ints, emphasis: Array, back: Array, between: Array
    ) -> Equations:
        """What the rows before and after tell of statistics with these means."""
        after = Neighbour(self.ahead, self.held_ahead, self.count_one, back @ between.T)
        before = Neighbour(self.behind, self.held_behind, self.count_one.T, back @ between)
        return neighbour_equations((after, before), mean, owner, item, emphasis)


class Neighbour(NamedTuple):
    """Statistics f and masks m of rows next to a row with features z."""

    cross: Array  # (s, q)  Σ f z'
    held: Array  # (j, q)   Σ m z'
    both: Array  # (j, j)   Σ m m'
    back: Array  # (q, r)   E[z | h = k] = B ζ_k


def neighbour_equations(
    neighbours: Iterable[Neighbour], mean: Array, owner: Ints, item: Ints, emphasis: Array
) -> Equations:
    """What neighbours tell of statistics with these means, of columns ``owner``."""
    found = []
    for cross, held, both, back in neighbours:
        covariance = cross - mean[:, None] * held[owner]
        right = covariance @ (emphasis[item][:, None] * back)
        left = np.tensordot(both, inner_products(back, item, emphasis), axes=1)
        found.append(Equations(left, right))
    return reduce(add, found)


def between(total: Array, count: Array, item: Ints, emphasis: Array, back: Array) -> Array:
    """``T`` of ``total = B T B'``, entry by entry times how often each pair was seen; (r, r).

    By least squares with weights N_ij ω_i ω_j.
    """
    r = back.shape[1]
    if r == 0:
        return np.zeros((0, 0))
    basis = emphasis[item][:, None] * back
    right = basis.T @ total @ basis
    inner = inner_products(back, item, emphasis).reshape(-1, r * r)
    left = (inner.T @ count @ inner).reshape(r, r, r, r)
    matrix = left.transpose(0, 2, 1, 3).reshape(r * r, r * r)
    found = np.linalg.lstsq(matrix, right.ravel(), rcond=1e-10)[0]
    return np.asarray(found).reshape(r, r)


def _place(total: Array, count: Array, item: Ints, emphasis: Array, back: Array) -> Array:
    if back.shape[1] == 0:
        return np.zeros(0)
    right = (emphasis[item][:, None] * back).T @ total
    left = np.tensordot(count, inner_products(back, item, emphasis), axes=1)
    return np.asarray(np.linalg.lstsq(left, right, rcond=1e-10)[0])


@dataclass(frozen=True, eq=False)
class WindowSums(Sums):
    """Sums for the normal equations of windows of three rows."""

    cube: Array  # (r, r, r)                Σ y_t-1 ⊗ y_t ⊗ y_t+1
    left: Array  # (r², r², r²)             Σ A_t-1 ⊗ A_t ⊗ A_t+1,  A = Σ_j m_j M_j

    @classmethod
    def along(
        cls, encodings: Sequence[Encoding], emphasis: Array, backs: tuple[Array, Array, Array]
    ) -> Callable[[Block], "WindowSums"]:
        """The function that sums a block.

        ``backs`` are B of the row before, its own and after, and ``encodings`` theirs.
        """
        item = encodings[0].item
        bases = [emphasis[item][:, None] * back for back in backs]
        inner = [inner_products(back, item, emphasis) for back in backs]
        r = backs[0].shape[1]

        def summarise(block: Block) -> WindowSums:
            mid = Windows.of(block).middle
            weight = block.row_weights()[mid]
            y, a = [], []
            for at, encoding, basis, M in zip((-1, 0, 1), encodings, bases, inner, strict=True):
                rows = block.rows(mid + at)
                y.append(encoding.features(rows) @ basis)
                a.append(rows.observed.astype(float) @ M.reshape(-1, r * r))
            return cls(_cubes(y, weight), _cubes(a, weight))

        return summarise

    @property
    def system(self) -> System:
        r = len(self.cube)
        return System(self.cube, acting(self.left.reshape((r,) * 6)), 0)


def _cubes(parts: list[Array], weight: Array) -> Array:
    """``Σ_n w a ⊗ b ⊗ c``."""
    one, two, three = parts
    n, p = one.shape
    pairs = (one[:, :, None] * (two * weight[:, None])[:, None, :]).reshape(n, p * p)
    return np.asarray(pairs.T @ three).reshape(p, p, p)
