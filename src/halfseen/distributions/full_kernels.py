"""Compiled loops for normal distributions with any covariance and gaps.

With o the cells that are there and m those that are not, ``Q = Σ_oo⁻¹`` comes from the Cholesky
factor of Σ_oo or, if few are missing, as ``P_oo - P_om P_mm⁻¹ P_mo`` with ``P = Σ⁻¹``.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.block import Block
from halfseen.data.compiled import njit

Places = NDArray[np.int64]

CHUNK = 256
"""Rows that are gone over at a time: what they need stays in the cache."""
FEW = 4
"""Rows for which a call of a library costs more than it saves."""
LOG_2PI = math.log(2 * math.pi)
DENSITIES, EXPECT, GIVEN, SQUARES = 0, 1, 2, 3


class ByGaps(NamedTuple):
    """Rows of a block sorted by the pattern of their gaps."""

    order: Places  # (n,)  which row of the block each is
    values: Array  # (n, d)  row by row in memory, zero in the gaps
    weights: Array  # (n,)
    starts: Places  # (u + 1,)  where rows of the next pattern begin
    columns: Places  # (u, d)  of each pattern: columns that are there, and then those that are not
    n_there: Places  # (u,)  how many are

    @classmethod
    def of(cls, block: Block) -> "ByGaps":
        """The rows of a block, sorted once if the block serves many passes."""
        return block.kept_for(cls, _sorted)

    def back(self, per_row: Array) -> Array:
        """Values of rows (n, ...) in the order of the block."""
        out = np.empty_like(per_row)
        out[self.order] = per_row
        return out


def _sorted(block: Block) -> ByGaps:
    observed = np.ascontiguousarray(block.observed)
    codes = np.packbits(observed, axis=1)
    width = max(codes.shape[1], 1)
    whole = np.zeros((len(codes), width), np.uint8)
    whole[:, : codes.shape[1]] = codes
    names, inverse = np.unique(whole.view(f"V{width}").reshape(-1), return_inverse=True)
    order = np.argsort(inverse.reshape(-1), kind="stable")
    starts = np.concatenate(
        [[0], np.cumsum(np.bincount(inverse.reshape(-1), minlength=len(names)))]
    )
    masks = observed[order[starts[:-1]]] if len(names) else observed[:0]
    weights = np.ones(len(block)) if block.weights is None else block.weights
    return ByGaps(
        order,
        np.ascontiguousarray(block.values[order]),
        np.ascontiguousarray(weights[order], dtype=float),
        starts.astype(np.int64),
        np.argsort(~masks, axis=1, kind="stable").astype(np.int64),
        masks.sum(axis=1).astype(np.int64),
    )


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def cholesky(a: Array, n: int) -> float:  # pragma: no cover - compiled
    """Cholesky factor in place, and the log determinant."""
    total = 0.0
    for j in range(n):
        for i in range(j, n):
            left = a[i, j]
            for p in range(j):
                left -= a[i, p] * a[j, p]
            if i == j:
                # Rounding may put what is next to nothing below it.
                a[j, j] = math.sqrt(left) if left > 1e-300 else 1e-150
                total += 2 * math.log(a[j, j])
            else:
                a[i, j] = left / a[j, j]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _mirror(a: Array, n: int) -> None:  # pragma: no cover - compiled
    """Copy the lower triangle to the upper one."""
    for i in range(n):
        for j in range(i):
            a[j, i] = a[i, j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def part_inverse(
    covariance: Array, precision: Array, log_det: float, columns: Places, o: int, q: Array, a: Array
) -> float:  # pragma: no cover - compiled
    """The inverse of Σ_oo into the first o rows and columns of ``q``; returns ``log |Σ_oo|``."""
    m = len(columns) - o
    if 2 * m < o:
        for i in range(o):
            for j in range(o):
                q[i, j] = precision[columns[i], columns[j]]
        if m == 0:
            return log_det
        for i in range(m):
            for j in range(i + 1):
                a[i, j] = precision[columns[o + i], columns[o + j]]
        log_det += cholesky(a, m)
        for i in range(m):  # W = L⁻¹ P_mo in the rows of q below those of Q
            row = q[o + i]
            for j in range(o):
                row[j] = precision[columns[o + i], columns[j]]
            for p in range(i):
                factor = a[i, p]
                other = q[o + p]
                for j in range(o):
                    row[j] -= factor * other[j]
            scale = 1 / a[i, i]
            for j in range(o):
                row[j] *= scale
        for p in range(m):
            row = q[o + p]
            for i in range(o):
                factor = row[i]
                out = q[i]
                for j in range(i + 1):
                    out[j] -= factor * row[j]
        _mirror(q, o)
        return log_det
    for i in range(o):
        for j in range(i + 1):
            a[i, j] = covariance[columns[i], columns[j]]
    log_det = cholesky(a, o)
    for i in range(o):  # L⁻¹, row by row
        row = q[i]
        for j in range(o):
            row[j] = 0.0
        for p in range(i):
            factor = a[i, p]
            other = q[p]
            for j in range(p + 1):
                row[j] -= factor * other[j]
        scale = 1 / a[i, i]
        for j in range(i):
            row[j] *= scale
        row[i] = scale
    for i in range(o):
        for j in range(i + 1):
            a[i, j] = q[i, j]
    for i in range(o):
        for j in range(o):
            q[i, j] = 0.0
    for p in range(o):
        row = a[p]
        for i in range(p + 1):
            factor = row[i]
            out = q[i]
            for j in range(i + 1):
                out[j] += factor * row[j]
    _mirror(q, o)
    return log_det


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _times(left: Array, right: Array, out: Array) -> None:  # pragma: no cover - compiled
    """``out = left right``."""
    if len(left) >= FEW:
        np.dot(left, right, out)
        return
    for r in range(len(left)):
        row = out[r]
        for j in range(len(row)):
            row[j] = 0.0
        for i in range(left.shape[1]):
            factor = left[r, i]
            other = right[i]
            for j in range(len(row)):
                row[j] += factor * other[j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _add_squares(v: Array, roots: Array, out: Array) -> None:  # pragma: no cover - compiled
    """``out += v' diag(roots²) v``, with v overwritten."""
    for r in range(len(v)):
        for j in range(v.shape[1]):
            v[r, j] *= roots[r]
    if len(v) >= FEW:
        out += np.dot(v.T, v)
        return
    for r in range(len(v)):
        row = v[r]
        for i in range(len(row)):
            factor = row[i]
            into = out[i]
            for j in range(len(row)):
                into[j] += factor * row[j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def over_rows(
    job: int,
    x: Array,
    weights: Array,
    starts: Places,
    columns: Places,
    n_there: Places,
    log_shares: Array,
    means: Array,
    covariances: Array,
    precisions: Array,
    log_dets: Array,
    per_row: Array,
    total: Array,
    count: Array,
    first: Array,
    second: Array,
) -> float:  # pragma: no cover - compiled
    """One pass over rows (n, d) sorted by gaps; returns their log-likelihoods.

    ``DENSITIES`` puts ``log p(x_o | k)`` into ``per_row`` (n, k), ``SQUARES`` the distances
    ``(x_o - μ_o)' Q (x_o - μ_o)``. ``EXPECT`` adds what an E-step
    sums: Σr (k,), Σ r m (k, d), Σ r v (k, d) and Σ r (v v' - Q) (k, d, d), ``v = Q (x_o - μ_o)``.
    ``GIVEN`` does so with the shares in ``per_row``. Covariances of which there is one are those of
    all components.
    """
    k, d = means.shape
    n_different = len(covariances)
    a = np.empty((d, d))
    dets = np.empty(n_different)
    whole = np.empty((d, d))
    apart_room, v_room = np.empty(CHUNK * d), np.empty((k, CHUNK * d))
    q_room, s_room = np.empty((n_different, d * d)), np.empty((k, d * d))
    joint, roots, of_pattern = np.empty((k, CHUNK)), np.empty(CHUNK), np.empty(k)
    likelihood = 0.0
    for u in range(len(n_there)):
        o = n_there[u]
        where = columns[u]
        for c in range(n_different):
            dets[c] = part_inverse(covariances[c], precisions[c], log_dets[c], where, o, whole, a)
            q = q_room[c, : o * o].reshape(o, o)
            for i in range(o):
                for j in range(o):
                    q[i, j] = whole[i, j]
        for c in range(k):
            of_pattern[c] = 0.0
            s_room[c, : o * o] = 0.0
        for begin in range(starts[u], starts[u + 1], CHUNK):
            n = min(CHUNK, starts[u + 1] - begin)
            apart = apart_room[: n * o].reshape(n, o)
            for c in range(k):
                shared = c if n_different > 1 else 0
                for r in range(n):
                    for j in range(o):
                        apart[r, j] = x[begin + r, where[j]] - means[c, where[j]]
                v = v_room[c, : n * o].reshape(n, o)
                _times(apart, q_room[shared, : o * o].reshape(o, o), v)
                for r in range(n):
                    square = 0.0
                    for j in range(o):
                        square += apart[r, j] * v[r, j]
                    joint[c, r] = -0.5 * (square + dets[shared] + o * LOG_2PI)
                    if job == SQUARES:
                        joint[c, r] = square
            if job in (DENSITIES, SQUARES):
                for c in range(k):
                    for r in range(n):
                        per_row[begin + r, c] = joint[c, r]
                continue
            for r in range(n):
                if job == GIVEN:
                    for c in range(k):
                        joint[c, r] = per_row[begin + r, c]
                    continue
                highest = -np.inf
                for c in range(k):
                    joint[c, r] += log_shares[c]
                    highest = max(highest, joint[c, r])
                together = 0.0
                for c in range(k):
                    joint[c, r] = math.exp(joint[c, r] - highest)
                    together += joint[c, r]
                likelihood += weights[begin + r] * (highest + math.log(together))
                for c in range(k):
                    joint[c, r] *= weights[begin + r] / together
            for c in range(k):
                v = v_room[c, : n * o].reshape(n, o)
                for r in range(n):
                    share = joint[c, r]
                    of_pattern[c] += share
                    roots[r] = math.sqrt(share)
                    for j in range(o):
                        first[c, where[j]] += share * v[r, j]
                _add_squares(v, roots, s_room[c, : o * o].reshape(o, o))
        if job in (DENSITIES, SQUARES):
            continue
        for c in range(k):
            total[c] += of_pattern[c]
            q = q_room[c if n_different > 1 else 0, : o * o].reshape(o, o)
            s = s_room[c, : o * o].reshape(o, o)
            for i in range(o):
                count[c, where[i]] += of_pattern[c]
                out = second[c, where[i]]
                for j in range(o):
                    out[where[j]] += s[i, j] - of_pattern[c] * q[i, j]
    return likelihood


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def conditionals(
    x: Array,
    starts: Places,
    columns: Places,
    n_there: Places,
    shares: Array,
    means: Array,
    covariances: Array,
    precisions: Array,
    mean: Array,
    variance: Array,
) -> None:  # pragma: no cover - compiled
    """Conditional means and variances (n, d) of all cells, averaged over ``shares`` (n, k).

    What is there is known. ``x_m | x_o, k ~ N(μ_m + Σ_mo Q (x_o - μ_o), Σ_mm - Σ_mo Q Σ_om)``.
    """
    k, d = means.shape
    n_different = len(covariances)
    q, a = np.empty((d, d)), np.empty((d, d))
    slopes, left = np.empty((n_different, d, d)), np.empty((n_different, d))
    by_component = np.empty((k, d))
    for u in range(len(n_there)):
        o, where = n_there[u], columns[u]
        m = d - o
        for c in range(n_different):
            part_inverse(covariances[c], precisions[c], 0.0, where, o, q, a)
            for i in range(m):
                row, missing = slopes[c, i], where[o + i]
                for j in range(o):
                    row[j] = 0.0
                for p in range(o):
                    factor = covariances[c, missing, where[p]]
                    other = q[p]
                    for j in range(o):
                        row[j] += factor * other[j]
                spread = covariances[c, missing, missing]
                for j in range(o):
                    spread -= row[j] * covariances[c, where[j], missing]
                left[c, i] = max(spread, 0.0)
        for r in range(starts[u], starts[u + 1]):
            for j in range(o):
                mean[r, where[j]], variance[r, where[j]] = x[r, where[j]], 0.0
            for i in range(m):
                expected, spread = 0.0, 0.0
                for c in range(k):
                    shared = c if n_different > 1 else 0
                    at = means[c, where[o + i]]
                    for j in range(o):
                        at += slopes[shared, i, j] * (x[r, where[j]] - means[c, where[j]])
                    by_component[c, i] = at
                    expected += shares[r, c] * at
                for c in range(k):
                    shared = c if n_different > 1 else 0
                    away = by_component[c, i] - expected
                    spread += shares[r, c] * (left[shared, i] + away * away)
                mean[r, where[o + i]], variance[r, where[o + i]] = expected, spread


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def without_each(
    x: Array,
    starts: Places,
    columns: Places,
    n_there: Places,
    log_shares: Array,
    means: Array,
    covariances: Array,
    precisions: Array,
    log_dets: Array,
    expected: Array,
) -> None:  # pragma: no cover - compiled
    """Expected value (n, d) of each cell given the other observed cells of its row.

    With ``v = Q (x_o - μ_o)`` a cell that is there is expected at ``x_d - v_d / Q_dd`` without it,
    with variance ``1 / Q_dd``, and another at ``μ_d + Σ_do v``; components count by how likely
    they make the others.
    """
    k, d = means.shape
    q_room, a = np.empty((k, d, d)), np.empty((d, d))
    dets, away, v = np.empty(k), np.empty(d), np.empty(d)
    said, joint = np.empty((k, d)), np.empty((k, d))
    for u in range(len(n_there)):
        o, where = n_there[u], columns[u]
        for c in range(k):
            dets[c] = part_inverse(
                covariances[c], precisions[c], log_dets[c], where, o, q_room[c], a
            )
        for r in range(starts[u], starts[u + 1]):
            for c in range(k):
                q = q_room[c]
                for j in range(o):
                    away[j], v[j] = x[r, where[j]] - means[c, where[j]], 0.0
                for p in range(o):
                    factor, row = away[p], q[p]
                    for j in range(o):
                        v[j] += factor * row[j]
                square = 0.0
                for j in range(o):
                    square += away[j] * v[j]
                height = log_shares[c] - 0.5 * (square + dets[c])
                for j in range(o):
                    said[c, j] = x[r, where[j]] - v[j] / q[j, j]
                    # Less the logarithm of p(x_d | the others), but for what components share.
                    joint[c, j] = height - 0.5 * (math.log(q[j, j]) - v[j] * v[j] / q[j, j])
                for i in range(o, d):
                    at, row = means[c, where[i]], covariances[c, where[i]]
                    for j in range(o):
                        at += row[where[j]] * v[j]
                    said[c, i], joint[c, i] = at, height
            for i in range(d):
                highest = -np.inf
                for c in range(k):
                    highest = max(highest, joint[c, i])
                total, mean = 0.0, 0.0
                for c in range(k):
                    share = math.exp(joint[c, i] - highest)
                    total += share
                    mean += share * said[c, i]
                expected[r, where[i]] = mean / total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def draws(
    x: Array,
    starts: Places,
    columns: Places,
    n_there: Places,
    labels: Places,
    drawn: Array,
    covariances: Array,
    precisions: Array,
    out: Array,
) -> None:  # pragma: no cover - compiled
    """Draw rows (n, d) of components ``labels`` (n,) given their observed cells.

    ``drawn`` (n, d) are rows of those components that owe nothing to the table. What a regression
    of theirs on the cells that are there leaves over is what is uncertain (Matheron's rule).
    """
    n_different, d = len(covariances), x.shape[1]
    q, a = np.empty((d, d)), np.empty((d, d))
    about = np.empty(d)
    for u in range(len(n_there)):
        o, where = n_there[u], columns[u]
        for c in range(n_different):
            known = False
            for r in range(starts[u], starts[u + 1]):
                if n_different > 1 and labels[r] != c:
                    continue
                if not known:
                    part_inverse(covariances[c], precisions[c], 0.0, where, o, q, a)
                    known = True
                for j in range(o):
                    about[j] = 0.0
                for p in range(o):
                    factor = x[r, where[p]] - drawn[r, where[p]]
                    row = q[p]
                    for j in range(o):
                        about[j] += factor * row[j]
                for j in range(o):
                    out[r, where[j]] = x[r, where[j]]
                for i in range(o, d):
                    value = drawn[r, where[i]]
                    for j in range(o):
                        value += covariances[c, where[i], where[j]] * about[j]
                    out[r, where[i]] = value
