"""How loadings on topics are distributed, of every model whose counts are Poisson given them.

Loadings ``α_k = τ θ_k`` are a total ``τ ~ Gamma(shape g, rate b)`` times shares
``θ ~ Dirichlet(c)``, and counts ``x_d ~ Poisson(Σ_k α_k a_kd)``. With ``g = Σ c_k`` loadings are
independent gammas; otherwise their density has the factor ``τ^(g - Σ c_k)`` beside those gammas'.
"""

from typing import NamedTuple, Protocol

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block


class LoadingLaw(Protocol):
    """What is known of loadings before a row is seen, and how counts arise from them."""

    @property
    def topics(self) -> Array:
        """``a_k`` in rows; (k, d)."""

    @property
    def shapes(self) -> Array:
        """``c``, the shapes of the gammas, or of the shares; (k,)."""

    @property
    def rate(self) -> float:
        """``b``."""

    @property
    def extra(self) -> float:
        """``g - Σ c_k``, zero if loadings are independent."""


class Rest(NamedTuple):
    """What rows count beyond what was recorded, if their totals are known."""

    counts: Array  # (n,)
    shares: Array  # (n, k)  of each topic that lies in features which the row does not have

    @classmethod
    def none(cls, n_rows: int, n_topics: int) -> "Rest":
        """Nothing is known of any rest."""
        return cls(np.zeros(n_rows), np.zeros((n_rows, n_topics)))


def unrecorded(block: Block, topics: Array, totals: Array) -> Rest:
    """The rest of rows that count ``totals`` (n,) in all; rows without gaps have none."""
    seen = block.presence().onto(np.ascontiguousarray(topics.T))
    shares = np.ascontiguousarray(np.maximum(topics.sum(axis=1) - seen, 0.0))
    left = np.maximum(totals - block.nonzeros().totals(), 0.0)
    return Rest(np.where(shares.max(axis=1, initial=0.0) > 0, left, 0.0), shares)


def exposures(block: Block, law: LoadingLaw, rest: Rest | None) -> Array:
    """``b + Σ_d a_kd`` over what is observed, or over everything if the rest is known; (n, k)."""
    seen = law.rate + block.presence().onto(law.topics.T)
    return seen if rest is None else seen + rest.shares


def loading_means(law: LoadingLaw) -> Array:
    """``E[α_k] = g/b · c_k/Σ c``; (k,)."""
    means: Array = (1 + law.extra / law.shapes.sum()) * law.shapes / law.rate
    return means


def variance_along(law: LoadingLaw, directions: Array) -> Array:
    """``var(Σ_k w_k α_k)`` for directions w in rows (n, k); (n,).

    Of independent gammas it is ``Σ w_k² c_k/b²``; ``var(w·α) = E[τ²] var(w·θ) + (w·E θ)² var(τ)``.
    """
    total, total_shape = law.shapes.sum(), law.shapes.sum() + law.extra
    mean = law.shapes / total
    along, square = directions @ mean, directions**2 @ mean
    of_shares = (square - along**2) / (total + 1)
    found: Array = total_shape * ((total_shape + 1) * of_shares + along**2) / law.rate**2
    return found
