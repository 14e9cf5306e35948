"""From one place to better ones: two components become one, and another becomes two.

A climb ends where no small step leads higher. What it mostly has wrong is that two components
share rows that are of one kind, while one of the others has rows of two.

References
----------
N. Ueda, R. Nakano, Z. Ghahramani, G. Hinton (2000), SMEM algorithm for mixture models.
"""

from collections.abc import Iterator

import numpy as np

from halfseen.rows.arrays import Array

MOST_LEFT_OUT = 3
"""Components that are tried to do without: those that others make up for best."""
OWN = 0.9
"""What a row has of its side of a component that is cut in two."""


def moves(shares: Array, values: Array) -> Iterator[Array]:
    """Shares (n, k) of rows in components after one of them is left out and another is cut in two.

    ``values`` (n, d) are the rows on a scale on which features are alike, gaps in the middle.
    """
    k = shares.shape[1]
    loss = -np.log1p(-np.minimum(shares, 1 - 1e-12)).sum(axis=0)
    for left_out in np.argsort(loss, kind="stable")[:MOST_LEFT_OUT]:
        others = np.delete(shares, left_out, axis=1) + 1e-12
        others /= others.sum(axis=1, keepdims=True)
        for cut in range(k - 1):
            side = _sides(others[:, cut], values)
            own = OWN * side + (1 - OWN) * (1 - side)
            both = others[:, cut, None] * np.column_stack([own, 1 - own])
            yield np.column_stack([np.delete(others, cut, axis=1), both])


def _sides(share: Array, values: Array) -> Array:
    """One for rows on one side of a component, across the direction in which it is longest."""
    about = values - share @ values / share.sum()
    _, directions = np.linalg.eigh((about * share[:, None]).T @ about)
    return np.where(about @ directions[:, -1] > 0, 1.0, 0.0)
