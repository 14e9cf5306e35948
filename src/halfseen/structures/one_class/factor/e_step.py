"""What rows say of the factors behind them, by matrix products over blocks.

With m the cells that are there and ``y = (x - μ_k) / s_k``,
``G = I + Σ_d m_d λ_d λ_d'/ψ_d`` does not depend on the component, ``b_k = Σ_d m_d λ_d y_d/ψ_d``,
and ``z | x, k ~ N(G⁻¹ b_k, G⁻¹)``.
"""

import math
from typing import NamedTuple

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.block import Block, upper_pairs
from halfseen.rows.compiled import njit
from halfseen.structures.one_class.factor.parameters import FactorParameters

LOG_2PI = math.log(2 * math.pi)


class Factors(NamedTuple):
    """What is known of the factors of each row, if it is of each component."""

    log_densities: Array  # (n, k)
    squares: Array  # (n, k)   distances from the means
    expected: Array  # (n, k, q)
    uncertain: Array  # (n, t)  G⁻¹, entries of the upper triangle
    values: Array  # (n, d)   from the middle, zero in the gaps
    there: Array  # (n, d)


def middle_of(parameters: FactorParameters) -> Array:
    """What values are measured from, so that squares expand without losing digits; (d,)."""
    middle: Array = parameters.weights @ parameters.means
    return middle


def factors_of(block: Block, parameters: FactorParameters) -> Factors:
    """The factors behind the rows of a block."""
    k, q = len(parameters.weights), parameters.pattern.shape[1]
    origin, own = middle_of(parameters), parameters.own
    x, there = block.about(origin), block.observed.astype(float)
    left, right = upper_pairs(q)
    scaled = parameters.pattern / own[:, None]  # (d, q)  λ / ψ
    means, precision = parameters.means - origin, 1 / (parameters.spreads**2 * own)
    gram = there @ (scaled[:, left] * parameters.pattern[:, right])
    # Columns of one product each: all components side by side.
    onto = (scaled[None] / parameters.spreads[:, :, None]).transpose(1, 0, 2).reshape(-1, k * q)
    shift = means.T.repeat(q, axis=1) * onto
    b = (x @ onto - there @ shift).reshape(-1, k, q)
    squares = (x * x) @ precision.T - 2 * (x @ (means * precision).T)
    squares += there @ (means**2 * precision).T
    dets = there @ np.log(parameters.spreads**2 * own).T
    expected, gain = np.empty((len(block), k, q)), np.empty((len(block), k))
    uncertain, log_det = np.empty_like(gram), np.empty(len(block))
    _solved(np.ascontiguousarray(gram), np.ascontiguousarray(b), expected, gain, uncertain, log_det)
    squares -= gain
    size = dets + log_det[:, None] + LOG_2PI * there.sum(axis=1)[:, None]
    return Factors(-0.5 * (squares + size), squares, expected, uncertain, x, there)


def summed(found: Factors, shares: Array) -> tuple[Array, ...]:
    """Sums by component for the M-step, if rows have ``shares`` (n, k).

    Σr m, Σr x, Σr x² (k, d), Σr m z, Σr x z (k, d, q) and Σr m zz' (k, d, t), of what is expected.
    """
    x, there = found.values, found.there
    weighed = shares[:, :, None] * found.expected
    both = np.empty((*shares.shape, found.uncertain.shape[1]))
    _weighed_squares(np.ascontiguousarray(shares), found.expected, found.uncertain, both)
    return (
        shares.T @ there,
        shares.T @ x,
        shares.T @ (x * x),
        _back(there, weighed),
        _back(x, weighed),
        _back(there, both),
    )


def _back(entries: Array, per_row: Array) -> Array:
    """``E' Y_k`` for each component, in one product; (k, d, m)."""
    n, k, m = per_row.shape
    product = entries.T @ per_row.reshape(n, k * m)
    return np.ascontiguousarray(product.reshape(-1, k, m).transpose(1, 0, 2))


@njit(cache=True, nogil=True, error_model="numpy")
def _weighed_squares(
    shares: Array, expected: Array, uncertain: Array, out: Array
) -> None:  # pragma: no cover - compiled
    """``r (z z' + G⁻¹)`` of each row and component, entries of the upper triangle; (n, k, t)."""
    n, k, q = expected.shape
    for r in range(n):
        for c in range(k):
            share, place = shares[r, c], 0
            for i in range(q):
                for j in range(i, q):
                    square = expected[r, c, i] * expected[r, c, j]
                    out[r, c, place] = share * (square + uncertain[r, place])
                    place += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _solved(
    gram: Array, b: Array, expected: Array, gain: Array, uncertain: Array, log_det: Array
) -> None:  # pragma: no cover - compiled
    """``G⁻¹ b``, ``b' G⁻¹ b``, ``G⁻¹`` and ``log |G|``, from ``G - I`` in ``gram`` (n, t)."""
    n, k, q = b.shape
    a, inverse = np.empty((q, q)), np.zeros((q, q))
    for r in range(n):
        place = 0
        for i in range(q):
            for j in range(i, q):
                a[j, i] = gram[r, place] + (1.0 if i == j else 0.0)
                place += 1
        total = 0.0
        for j in range(q):
            for i in range(j, q):
                left = a[i, j]
                for p in range(j):
                    left -= a[i, p] * a[j, p]
                if i == j:
                    a[j, j] = math.sqrt(left)
                    total += 2 * math.log(a[j, j])
                else:
                    a[i, j] = left / a[j, j]
        log_det[r] = total
        for i in range(q):  # L⁻¹
            inverse[i, i] = 1 / a[i, i]
            for j in range(i):
                left = 0.0
                for p in range(j, i):
                    left -= a[i, p] * inverse[p, j]
                inverse[i, j] = left / a[i, i]
        place = 0
        for i in range(q):
            for j in range(i, q):
                left = 0.0
                for p in range(j, q):
                    left += inverse[p, i] * inverse[p, j]
                uncertain[r, place] = left
                a[i, j] = left
                a[j, i] = left
                place += 1
        for c in range(k):
            square = 0.0
            for i in range(q):
                left = 0.0
                for j in range(q):
                    left += a[i, j] * b[r, c, j]
                expected[r, c, i] = left
                square += left * b[r, c, i]
            gain[r, c] = square


def whole(upper: Array, q: int) -> Array:
    """Symmetric matrices (..., q, q) from the entries of their upper triangles."""
    left, right = upper_pairs(q)
    matrices = np.empty((*upper.shape[:-1], q, q))
    matrices[..., left, right] = upper
    matrices[..., right, left] = upper
    return matrices
