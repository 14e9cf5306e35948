"""Second and third moments of features of distinct columns."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.compiled import njit
from halfseen.data.rows import Block
from halfseen.data.sums import Sums
from halfseen.moments import symmetric_tensors
from halfseen.moments.joint_counts import triple_counts
from halfseen.moments.product_mixture.encoding import Encoding, Ints

Statistics = Callable[[Block], Array]
"""Statistics (n, s) of a block's rows, each of one column and zero in its gaps."""


@dataclass(frozen=True, eq=False)
class MeetingSums(Sums):
    """Weighted sums of products of features z, masks m and statistics f."""

    products: Array  # (q, q)  Σ z z'
    presence: Array  # (j, q)  Σ m z'
    count: Array  # (j, j)     Σ m m', the rows that hold both items
    cross: Array  # (s, q)     Σ f z'
    total: Array  # (s,)       Σ f

    @classmethod
    def of(cls, encoding: Encoding, statistics: Statistics) -> Callable[[Block], "MeetingSums"]:
        """The function that sums a block."""
        q, n_items = int(encoding.width.sum()), len(encoding.width)

        def summarise(block: Block) -> MeetingSums:
            both = np.empty((q + n_items, len(block)))  # one product of it with itself has it all
            encoding.write(block, both[:q])
            both[q:] = block.observed.T
            found = np.asarray(statistics(block), dtype=float)
            if block.weights is not None:
                root = np.sqrt(block.weights)
                both *= root
                found = found * root[:, None]
                total = root @ found
            else:
                total = found.sum(axis=0)
            sums = both @ both.T
            return cls(sums[:q, :q], sums[q:, :q], sums[q:, q:], (both[:q] @ found).T, total)

        return summarise


FEWEST = 2.0
"""Rows that a pair of items has to share, by weight, to count as seen."""
MOST_ITERATIONS = 200
TOLERANCE = 1e-9
MEMORY = 6
"""Steps that an accelerated one is put together from."""
SPARE = 8
"""Directions carried beyond those wanted where there are too many for all eigenvectors."""
MANY = 300
"""Features beyond which eigenvectors are followed from step to step and not found anew."""
NO_EIGENVALUE = 1e-10
"""Of the largest: what is smaller is rounding."""


# The second moment of items, with what independence within classes leaves unknown filled in.
#
# For two items i ≠ j that are independent given the class ``C_ij = E[z_i z_j'] = B_i B_j'``, of
# rank K - 1 in all. Blocks within an item hold its own noise and tell nothing, and pairs that
# hardly any row holds are not known either. Both are completed: the leading eigenvectors give a
# matrix of the rank that is wanted, whose blocks take the place of the unknown ones, again and
# again (principal axis factoring; alternating minimisation in Jain and Oh 2014).


@dataclass(frozen=True, eq=False)
class Completion:
    """A low-rank completion ``C ≈ B B'`` of the second moment between items."""

    back: Array  # (q, r)      B
    spectrum: Array  # (q,)    eigenvalues of the completed, weighted second moment, largest first
    n_supported: int  # of the r leading ones, those that are positive
    n_iterations: int

    @property
    def rank(self) -> int:
        return int(self.back.shape[1])


def known_pairs(count: Array, item: Ints) -> Mask:
    """Pairs of features of two items observed together often enough; (q, q)."""
    apart = (count >= FEWEST) & ~np.eye(len(count), dtype=bool)
    return apart[np.ix_(item, item)]


def complete(sums: MeetingSums, item: Ints, weights: Array, rank: int) -> Completion:
    """Complete the second moment at a given rank, with item weights (j,)."""
    known = known_pairs(sums.count, item)
    scale = weights[item]
    pairs = np.maximum(sums.count, FEWEST)[np.ix_(item, item)]
    moment = np.where(known, sums.products / pairs * np.outer(scale, scale), 0.0)
    step = _Step(moment, known, _by_item(item, len(weights)), weights, rank)
    factor, n_iterations = _fixed_point(step)
    spectrum = np.linalg.eigvalsh(np.where(known, moment, factor @ factor.T))[::-1]
    supported = spectrum[:rank] > NO_EIGENVALUE * spectrum.max(initial=0.0)
    unscaled = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    return Completion(
        unscaled[:, None] * factor, spectrum, int(np.count_nonzero(supported)), n_iterations
    )


def _by_item(item: Ints, n_items: int) -> list[slice]:
    edges = np.searchsorted(item, np.arange(n_items + 1))
    return [slice(a, b) for a, b in pairwise(edges)]


@dataclass(eq=False)
class _Step:
    """One step of the completion: fill the unknown entries, then factor."""

    moment: Array  # (q, q)  zero where unknown
    known: Mask  # (q, q)
    parts: list[slice]  # the features of each item
    weights: Array  # (j,)
    rank: int
    basis: Array | None = None  # (q, m)  where the last leading eigenvectors were

    def __call__(self, filling: Array) -> tuple[Array, float]:
        """The factor (q, r), and its distance from the known entries."""
        matrix = self.moment.copy()
        matrix[~self.known] = filling
        values, vectors = self._leading(matrix)
        factor = self._within(vectors * np.sqrt(np.maximum(values, 0.0)))
        miss = (self.moment - factor @ factor.T)[self.known]
        return factor, float(miss @ miss)

    def filling(self, factor: Array) -> Array:
        """The values of a factor at the unknown entries."""
        return np.asarray((factor @ factor.T)[~self.known])

    def _leading(self, matrix: Array) -> tuple[Array, Array]:
        if len(matrix) <= MANY:
            values, vectors = np.linalg.eigh(matrix)
            return values[::-1][: self.rank], vectors[:, ::-1][:, : self.rank]
        if self.basis is None:
            shape = (len(matrix), min(self.rank + SPARE, len(matrix)))
            self.basis = np.random.default_rng(0).standard_normal(shape)
            for _ in range(SPARE):
                self.basis = np.linalg.qr(matrix @ self.basis)[0]
        self.basis = np.linalg.qr(matrix @ np.linalg.qr(matrix @ self.basis)[0])[0]
        values, inside = np.linalg.eigh(self.basis.T @ matrix @ self.basis)
        self.basis = self.basis @ inside[:, ::-1]
        return values[::-1][: self.rank], self.basis[:, : self.rank]

    def _within(self, factor: Array) -> Array:
        """Limit the factor: classes explain at most the variance of an item, ``B_i B_i' ≤ I``."""
        for part, weight in zip(self.parts, self.weights, strict=True):
            if np.sum(factor[part] ** 2) > weight**2:
                left, size, right = np.linalg.svd(factor[part], full_matrices=False)
                factor[part] = (left * np.minimum(size, weight)) @ right
        return factor


def _fixed_point(step: _Step) -> tuple[Array, int]:
    """Repeat filling and factoring until convergence.

    Steps are put together by Anderson's mixing (Walker and Ni 2011), where that leads closer to
    what is known; a plain step never leads away from it.
    """
    here = np.zeros(np.count_nonzero(~step.known))
    factor, miss = step(here)
    memory: list[tuple[Array, Array]] = []
    for iteration in range(1, MOST_ITERATIONS + 1):
        there = step.filling(factor)
        if np.linalg.norm(there - here) <= TOLERANCE * np.linalg.norm(there):
            return factor, iteration
        memory = [*memory[-MEMORY:], (here, there)]
        here = _mixed(memory)
        factor, new_miss = step(here)
        if new_miss > miss:
            memory, here = [], there
            factor, new_miss = step(here)
        miss = new_miss
    return factor, MOST_ITERATIONS


def _mixed(memory: list[tuple[Array, Array]]) -> Array:
    """The Anderson mixture of the last steps."""
    here, there = memory[-1]
    moved = there - here
    before = [new - old for old, new in memory[:-1]]
    if not before:
        return there
    changes = np.stack([moved - one for one in before], axis=1)
    mix = np.linalg.lstsq(changes, moved, rcond=1e-10)[0]
    ends = np.stack([there - new for _, new in memory[:-1]], axis=1)
    mixed: Array = there - ends @ mix
    return mixed


def most_rank(known: Mask, item: Ints, most: int) -> int:
    """The largest rank up to ``most`` with fewer unknowns than known pairs and triples.

    B has ``q r - r (r - 1)/2`` unknowns and the third moment ``r (r + 1) (r + 2)/6``.
    """
    width = np.bincount(item).astype(float)
    pairs = np.count_nonzero(known) / 2
    first, second, third = (float(np.sum(width**power)) for power in (1, 2, 3))
    triples = (first**3 - 3 * first * second + 2 * third) / 6
    return max((r for r in range(1, most + 1) if _told(r, len(item), pairs, triples)), default=0)


def _told(rank: int, n_features: int, pairs: float, triples: float) -> bool:
    unknown = n_features * rank - rank * (rank - 1) / 2
    return unknown <= pairs and rank * (rank + 1) * (rank + 2) / 6 <= triples


# The third moment of items, as the small tensor G that fits all triples of distinct items best.
#
# For distinct items ``C3_ijl = E[z_i ⊗ z_j ⊗ z_l] = G(B_i, B_j, B_l)``, so G is found by
#
#     minimise  Σ_{i, j, l distinct} N_ijl ω_i ω_j ω_l ‖Ĉ3_ijl - G(B_i, B_j, B_l)‖².
#
# With ``y_j = ω_j B_j' z_j`` and ``M_j = ω_j B_j' B_j`` the normal equations are
#
#     Σ_{ijl distinct} N_ijl G(M_i, M_j, M_l) = Σ_n Σ_{ijl distinct} y_i ⊗ y_j ⊗ y_l,
#
# whose right side is a sum over rows by Newton and Girard's identity: with ``y = Σ_j y_j``
# it is ``y³ - Σ_j (y_j ⊗ y_j ⊗ y in three places) + 2 Σ_j y_j³`` (cf. Zhang and Kileel 2022), so
# triples of features are never formed.


AT_A_TIME = 256
"""Rows whose products stay in the cache."""
SMALLEST = 1e-12
"""Directions of G that triples tell less of, beside the best told, are left at zero."""


@dataclass(frozen=True, eq=False)
class CubeSums(Sums):
    """The right side of the normal equations, and joint counts for the left."""

    cube: Array  # (r, r, r)
    count: Array  # (g (g+1) (g+2) / 6,)  rows that hold three of the g items with gaps, packed

    @classmethod
    def along(cls, encoding: Encoding, basis: Array, gappy: Mask) -> Callable[[Block], "CubeSums"]:
        """The function that sums a block's features along ``basis`` ΩB (q, r).

        Triples are counted of the items that ``gappy`` (j,) says.
        """
        edges = np.concatenate([[0], np.cumsum(encoding.width)])
        basis = np.ascontiguousarray(basis)

        def summarise(block: Block) -> CubeSums:
            features = encoding.features(block).T
            weights = block.row_weights()
            entries = _cubes(features, weights, edges, basis)
            cube: Array = entries[symmetric_tensors.places(basis.shape[1])]
            return cls(cube, triple_counts(block.select(gappy)))

        return summarise


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _cubes(
    features: Array, weights: Array, edges: Ints, basis: Array
) -> Array:  # pragma: no cover - compiled
    """``Σ_n w Σ_{ijl distinct} y_i ⊗ y_j ⊗ y_l`` from features (q, n), packed."""
    r, n = basis.shape[1], features.shape[1]
    out = np.zeros(r * (r + 1) * (r + 2) // 6)
    own, every = np.empty((r, AT_A_TIME)), np.empty((r, AT_A_TIME))
    squares, product = np.empty((r, r, AT_A_TIME)), np.empty(AT_A_TIME)
    for start in range(0, n, AT_A_TIME):
        m = min(AT_A_TIME, n - start)
        weight = weights[start : start + m]
        every[:] = 0.0
        squares[:] = 0.0
        for j in range(len(edges) - 1):
            if edges[j] == edges[j + 1]:
                continue
            for a in range(r):
                for row in range(m):
                    own[a, row] = basis[edges[j], a] * features[edges[j], start + row]
                for q in range(edges[j] + 1, edges[j + 1]):
                    for row in range(m):
                        own[a, row] += basis[q, a] * features[q, start + row]
                for row in range(m):
                    every[a, row] += own[a, row]
            place = 0
            for b in range(r):
                for a in range(b + 1):
                    for row in range(m):
                        product[row] = own[a, row] * own[b, row]
                        squares[a, b, row] += product[row]
                    for row in range(m):
                        product[row] *= 2.0 * weight[row]
                    for c in range(b, r):
                        total = 0.0
                        for row in range(m):
                            total += product[row] * own[c, row]
                        out[place] += total
                        place += 1
        place = 0
        for b in range(r):
            for a in range(b + 1):
                for c in range(b, r):
                    total = 0.0
                    for row in range(m):
                        x, y, z = every[a, row], every[b, row], every[c, row]
                        pairs = squares[a, b, row] * z + squares[a, c, row] * y
                        pairs += squares[b, c, row] * x
                        total += weight[row] * (x * y * z - pairs)
                    out[place] += total
                    place += 1
    return out


def joint_triples(sums: CubeSums, pairs: Array, gappy: Mask) -> Array:
    """``N_ijl`` of distinct items, zero where two are the same, from ``N_ij`` (j, j); (j, j, j).

    An item without gaps leaves of a triple the pair of the others.
    """
    n_items = len(pairs)
    whole = np.empty((n_items, n_items, n_items))
    some = np.flatnonzero(gappy)
    whole[np.ix_(some, some, some)] = sums.count[symmetric_tensors.places(len(some))]
    for i in np.flatnonzero(~gappy):
        whole[i] = whole[:, i] = whole[:, :, i] = pairs
    same = np.arange(n_items)
    whole[same, same] = whole[same, :, same] = whole[:, same, same] = 0.0
    return whole


def normal_matrix(triples: Array, inner: Array) -> Array:
    """``Σ N_ijl M_i ⊗ M_j ⊗ M_l``, as it acts on tensors, for matrices M (j, r, r); (r³, r³)."""
    r = inner.shape[1]
    flat = inner.reshape(len(inner), r * r)
    left = triples
    for _ in range(3):
        left = np.tensordot(left, flat, axes=(0, 0))  # at last (r², r², r²)
    return acting(left.reshape((r,) * 6))


def acting(left: Array) -> Array:
    """From ``Σ M_aa' ⊗ M_bb' ⊗ M_cc'`` (r, r, r, r, r, r) to a matrix (r³, r³) on tensors."""
    r = len(left)
    return left.transpose(0, 2, 4, 1, 3, 5).reshape(r**3, r**3)


def fit_tensor(cube: Array, left: Array) -> Array:
    """The symmetric tensor G that solves one or several systems ``left`` (r³, r³)."""
    r = len(cube)
    if r == 0:
        return cube
    spread = _symmetric(r)  # (r³, p)
    matrix, right = spread.T @ left @ spread, spread.T @ cube.ravel()
    size = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    alike = scale[:, None] * matrix * scale
    solution = scale * np.linalg.lstsq(alike, scale * right, rcond=SMALLEST)[0]
    return np.asarray(spread @ solution).reshape(r, r, r)


@cache
def _symmetric(r: int) -> Array:
    """From the entries of a packed symmetric tensor to those of the whole; (r³, p)."""
    return np.eye(symmetric_tensors.size(r))[symmetric_tensors.places(r).ravel()]
