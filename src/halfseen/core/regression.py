"""Parameters of incomplete features, by regression on what the complete ones say.

For every model here ``E[x_d | x_c] = Σ_k a_dk E[h_k | x_c]`` exactly, x_c being the complete
features and h the latent variables. So a_d is the coefficient of a regression of x_d on the
expected latent variables over the rows in which d is observed, which also holds when the gaps
depend on x_c. Division by a small weight amplifies noise instead.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.core.arrays import Array, Mask
from halfseen.core.rows import Block

Expectation = Callable[[Block], Array]
"""Expected latent variables (n, k) of a block of the complete features."""


@dataclass(frozen=True, eq=False)
class RegressionSums:
    """Normal equations of one regression a target feature, on shared regressors."""

    count: Array  # (t,)      rows in which target t is observed
    square: Array  # (t,)     sum of (x - origin)_t² over those rows
    gram: Array  # (t, k, k)  sum of h ⊗ h
    cross: Array  # (t, k)    sum of h (x - origin)_t

    @classmethod
    def on(
        cls, expectation: Expectation, complete: Mask, targets: Mask, origin: Array
    ) -> Callable[[Block], "RegressionSums"]:
        """The function that sums a block, targets being measured from ``origin`` (t,)."""

        def summarise(block: Block) -> RegressionSums:
            latent = expectation(block.select(complete))  # (n, k)
            wanted = block.select(targets)
            deviations, presence = wanted.deviations(origin), wanted.presence()
            n, k = latent.shape
            i, j = np.triu_indices(k)
            gram = np.empty((len(origin), k, k))
            products = block.weighed(latent[:, i] * latent[:, j])
            gram[:, i, j] = gram[:, j, i] = presence.back(products)
            ones = block.weighed(np.ones((n, 1)))
            return cls(
                count=presence.back(ones)[:, 0],
                square=deviations.squares(ones, np.ones(len(origin), dtype=bool))[:, 0],
                gram=gram,
                cross=deviations.back(block.weighed(latent)),
            )

        return summarise

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.count + other.count,
            self.square + other.square,
            self.gram + other.gram,
            self.cross + other.cross,
        )

    def __iadd__(self, other: Self) -> Self:
        for mine, more in zip(vars(self).values(), vars(other).values(), strict=True):
            np.add(mine, more, out=mine)
        return self

    def solved(self) -> tuple[Array, Array]:
        """Least-squares coefficients (t, k), and the variances that they leave over (t,)."""
        coefficients = self.least_squares()
        return coefficients, self.residual_variance(coefficients)

    def least_squares(self) -> Array:
        """Coefficients (t, k); of those that fit equally well, the shortest."""
        inverse = np.linalg.pinv(self.gram, hermitian=True)
        coefficients: Array = np.einsum("tij,tj->ti", inverse, self.cross)
        return coefficients

    def residual_variance(self, coefficients: Array) -> Array:
        """What the regression with least-squares ``coefficients`` (t, k) leaves over; (t,)."""
        explained = np.einsum("tk,tk->t", coefficients, self.cross)
        variance: Array = (self.square - explained) / self.count
        return variance
