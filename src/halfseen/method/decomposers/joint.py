"""Orthogonal joint diagonalisation of the tensor's slices."""

import math

import numpy as np

from halfseen.method.decomposers.decomposition import Decomposition
from halfseen.rows.arrays import Array
from halfseen.rows.compiled import njit


def joint(
    tensor: Array, generator: np.random.Generator, tolerance: float = 1e-10, max_sweeps: int = 100
) -> Decomposition:
    """Rotate all slices ``G(:, :, p)`` at once towards diagonal ones, by Jacobi sweeps.

    For the pair (i, j), with ``h = (M_ii - M_jj, M_ij + M_ji)`` over the slices M, the angle that
    maximises the squares on the diagonal is a quarter of the argument of
    ``(h_1·h_1 - h_2·h_2) + 2i h_1·h_2``. All slices together hold all the tensor says, so at equal
    λ the first-order error is 1/√2 of that of deflation.

    References
    ----------
    J.-F. Cardoso, A. Souloumiac (1993), Blind beamforming for non-Gaussian signals.
    """
    vectors = _start(tensor)
    # Both first modes of the symmetric tensor along the vectors, the third as it is.
    slices = np.tensordot(vectors.T, (tensor @ vectors).transpose(0, 2, 1), axes=1)
    _sweep(np.ascontiguousarray(slices), vectors, tolerance, max_sweeps)
    return Decomposition.along(tensor, vectors)


def _start(tensor: Array) -> Array:
    """Eigenvectors of one contraction: on the way already, and not on a saddle by symmetry."""
    direction = 1 / np.sqrt(np.arange(1, len(tensor) + 1))
    vectors: Array = np.linalg.eigh(tensor @ direction)[1]
    return vectors


def _sweep(slices: Array, vectors: Array, tolerance: float, max_sweeps: int) -> None:
    """Rotate pairs of directions in turn until no angle is above ``tolerance``.

    In a call for each direction, so that an interrupt is heard between them.
    """
    for _ in range(max_sweeps):
        largest = 0.0
        for i in range(len(vectors) - 1):
            largest = max(largest, _rotated_with_later(slices, vectors, i))
        if largest < tolerance:
            return


@njit(cache=True)
def _rotated_with_later(
    slices: Array, vectors: Array, i: int
) -> float:  # pragma: no cover - compiled
    """Rotate a direction with each that comes after it; the largest sine of an angle."""
    largest = 0.0
    for j in range(i + 1, len(vectors)):
        angle = _best_angle(slices, i, j)
        _rotate(slices, vectors, i, j, angle)
        largest = max(largest, abs(math.sin(angle)))
    return largest


@njit(cache=True)
def _best_angle(slices: Array, i: int, j: int) -> float:  # pragma: no cover - compiled
    on = off = 0.0
    for c in range(len(slices)):
        difference = slices[i, i, c] - slices[j, j, c]
        cross = slices[i, j, c] + slices[j, i, c]
        on += difference * difference - cross * cross
        off += 2 * difference * cross
    return 0.25 * math.atan2(off, on)


@njit(cache=True)
def _rotate(
    slices: Array, vectors: Array, i: int, j: int, angle: float
) -> None:  # pragma: no cover - compiled
    cos, sin = math.cos(angle), math.sin(angle)
    for a in range(len(slices)):
        for c in range(len(slices)):
            one, other = slices[i, a, c], slices[j, a, c]
            slices[i, a, c], slices[j, a, c] = cos * one + sin * other, cos * other - sin * one
    for a in range(len(slices)):
        for c in range(len(slices)):
            one, other = slices[a, i, c], slices[a, j, c]
            slices[a, i, c], slices[a, j, c] = cos * one + sin * other, cos * other - sin * one
        one, other = vectors[a, i], vectors[a, j]
        vectors[a, i], vectors[a, j] = cos * one + sin * other, cos * other - sin * one
