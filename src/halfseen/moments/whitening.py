"""The linear map that makes the components orthonormal."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from halfseen.rows.arrays import Array


@dataclass(frozen=True, eq=False)
class Whitening:
    """``F`` with ``F' S F = I`` and its way back ``B`` with ``B B' ≈ S``, of rank r.

    From the eigenvectors U and values Λ of the weighted signal ``diag(w) S diag(w)``:
    ``F = diag(w) U Λ^(-1/2)`` and ``B = diag(1/w) U Λ^(1/2)``, so the weights act here and nothing
    after the whitening has to know of them.
    """

    forward: Array  # (d, r)  F
    back: Array  # (d, r)     B
    weights: Array  # (d,)    w
    spectrum: Array  # (≤ d,) eigenvalues of the weighted signal, largest first

    @cached_property
    def rank(self) -> int:
        """How many dimensions were kept."""
        return int(self.forward.shape[1])

    @property
    def n_supported(self) -> int:
        """How many of the kept eigenvalues are positive, as those of a signal are."""
        return int(np.count_nonzero(self.spectrum[: self.rank] > 0))


def whiten(signal: Array, weights: Array, rank: int) -> Whitening:
    """Whiten a signal matrix (d, d) to ``rank`` dimensions."""
    values, vectors = np.linalg.eigh(weights[:, None] * signal * weights)
    return whitening_from(values[::-1], vectors[:, ::-1], weights, rank)


def whitening_from(values: Array, vectors: Array, weights: Array, rank: int) -> Whitening:
    """The whitening that the leading eigenvalues and vectors of the weighted signal give.

    A kept eigenvalue that is not positive has no square root. It is noise, as large as its
    distance from zero, and is given that size, so that its direction is shrunk to the scale of
    noise and not blown up; ``n_supported`` tells.
    """
    kept, directions = values[:rank], _fixed_signs(vectors[:, :rank])
    floor = np.finfo(float).eps * max(np.abs(values).max(initial=0.0), np.finfo(float).tiny)
    size = np.sqrt(np.maximum(np.abs(kept), floor))
    return Whitening(
        forward=weights[:, None] * directions / size,
        back=directions * size / weights[:, None],
        weights=weights,
        spectrum=values,
    )


def _fixed_signs(vectors: Array) -> Array:
    """Each column with its largest entry positive: rounding does not choose the basis."""
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
