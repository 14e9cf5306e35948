"""Parameters of incomplete columns, by regression on complete columns.

For every model here ``E[x_d | x_c] = Σ_k a_dk E[h_k | x_c]`` exactly, x_c being the complete
features and h the latent variables. So a_d is the coefficient of a regression of x_d on the
expected latent variables over the rows in which d is observed, which also holds when the gaps
depend on x_c. Division by a small weight amplifies noise instead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.products import Entries, products_of_pairs, upper_pairs
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import LargeSums, Sums

P = TypeVar("P")
Expectation = Callable[[Block], Array]
"""Expected latent variables (n, k) of a block of the complete features."""


@dataclass(frozen=True, eq=False)
class RegressionSums(LargeSums):
    """Normal equations of regressions of several targets on shared regressors."""

    count: Array  # (t,)      rows in which target t is observed
    square: Array  # (t,)     sum of (x - origin)_t² over those rows
    products: Array  # (t, k (k+1)/2)  sum of h_i h_j for i ≤ j
    cross: Array  # (t, k)    sum of h (x - origin)_t

    @classmethod
    def on(
        cls, expectation: Expectation, complete: Mask, targets: Mask, origin: Array
    ) -> Callable[[Block], "RegressionSums"]:
        """The function that sums a block, targets being measured from ``origin`` (t,)."""

        def summarise(block: Block) -> RegressionSums:
            latent = expectation(block.select(complete))  # (n, k)
            wanted = block.select(targets)
            ones = block.row_weights()
            return cls._of(latent, wanted.deviations(origin), wanted.presence(), ones)

        return summarise

    @classmethod
    def _of(
        cls, latent: Array, deviations: Entries, presence: Entries, weights: Array
    ) -> "RegressionSums":
        """The sums of rows with latent variables (n, k), each counting ``weights`` (n,) times."""
        column = weights[:, None]
        weighed = latent * column
        products = presence.back(products_of_pairs(weighed, latent))
        return cls(
            count=presence.back(column)[:, 0],
            square=deviations.squares(column, np.ones(len(products), dtype=bool))[:, 0],
            products=products,
            cross=deviations.back(weighed),
        )

    @property
    def gram(self) -> Array:
        """Sums of h ⊗ h; (t, k, k)."""
        t, k = self.cross.shape
        i, j = upper_pairs(k)
        gram = np.empty((t, k, k))
        gram[:, i, j] = gram[:, j, i] = self.products
        return gram

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


@dataclass(frozen=True, eq=False)
class ManyRegressions(Sums):
    """Sums of several weighted regressions of the same targets."""

    each: tuple[RegressionSums, ...]

    @classmethod
    def on(
        cls,
        expectations: Sequence[Expectation],
        complete: Mask,
        origin: Array,
        bins: Bins,
        weights: Array,
    ) -> Callable[[Block], "ManyRegressions"]:
        """A summarise function; regression b gives bin g the weight ``weights[b, g]``."""

        def summarise(block: Block) -> ManyRegressions:
            known, wanted = block.select(complete), block.select(~complete)
            deviations, presence = wanted.deviations(origin), wanted.presence()
            labels = bins.of(block)
            return cls(
                tuple(
                    RegressionSums._of(
                        expectation(known), deviations, presence, block.weighed(one[labels])
                    )
                    for expectation, one in zip(expectations, weights, strict=True)
                )
            )

        return summarise


class Solution(NamedTuple):
    """Coefficients and residual variances of regressions."""

    coefficients: Array  # (t, k)
    left_over: Array  # (t,)  variances


class Regression(Protocol[P]):
    """How a model's incomplete features follow from its complete ones."""

    @property
    def origin(self) -> Array:
        """The origin of the features; (d,)."""

    def reference(self, parameters: P, features: Mask) -> P:
        """The parameters of only some of the features."""

    def expectation(self, block: Block, reference: P) -> Array:
        """Expected latent variables (n, k) given the complete features of a block."""

    def solved(self, sums: RegressionSums) -> Solution:
        """The solution for the targets, from the sums."""

    def completed(self, reference: P, complete: Mask, solution: Solution) -> P:
        """The parameters of all features, from those of the complete ones."""


def recovered(rows: Rows, regression: Regression[P], reference: P, complete: Mask) -> P:
    """The parameters of all features, from the ``reference`` ones of the complete features."""
    solution = rows.condensed(
        RegressionSums.on(
            lambda block: regression.expectation(block, reference),
            complete,
            ~complete,
            regression.origin[~complete],
        ),
        regression.solved,
    )
    return regression.completed(reference, complete, solution)


def recovered_each(
    rows: Rows,
    regression: Regression[P],
    references: Sequence[P],
    complete: Mask,
    bins: Bins,
    weights: Array,
) -> list[P]:
    """:func:`recovered` for replicates in which bin g has weight ``weights[b, g]``, in one pass."""
    expectations = [
        lambda block, reference=reference: regression.expectation(block, reference)
        for reference in references
    ]
    origin = regression.origin[~complete]
    sums = rows.accumulate(ManyRegressions.on(expectations, complete, origin, bins, weights))
    return [
        regression.completed(reference, complete, regression.solved(one))
        for reference, one in zip(references, sums.each, strict=True)
    ]
