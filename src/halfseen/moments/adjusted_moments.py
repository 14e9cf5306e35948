"""Moments of incomplete columns, adjusted by regression on complete columns.

With ŷ the least-squares prediction of a row from its complete features, fixed beforehand,

    E[z_i z_j] = E[ŷ_i ŷ_j] + E[z_i z_j - ŷ_i ŷ_j],

the first mean taken over all rows, the second over those that hold both features. Under gaps
completely at random that is unbiased whatever the prediction, and the better it is the less there
is left to the few rows: control variates, or augmented inverse-probability weighting (Robins,
Rotnitzky and Zhao 1994). The same holds of means and of third moments.

Complete features may have a few gaps. They predict nothing there, and the first mean is then over
the rows that hold those of them that it is a product of: a gap taken for a zero would shrink it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import Sums
from halfseen.moments import symmetric_tensors
from halfseen.moments.missing_patterns import JointGaps
from halfseen.moments.regression import RegressionSums
from halfseen.moments.second_moment import AllPairs, Moments, PairSums, check_pairs
from halfseen.moments.third_moment import Probe, ProjectedThird, ThirdSums, alike_along


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predictions of all features from the complete ones, and the adjusted means."""

    mean: Array  # (d,)          of all features, adjusted
    complete: Mask  # (d,)
    slopes: Array  # (c, d)      the identity for complete features

    @classmethod
    def learn(cls, rows: Rows, features: FeatureSums, complete: Mask) -> Self:
        """Regress each incomplete feature on the complete ones, over rows that hold it."""
        origin = features.mean
        n_complete = int(np.count_nonzero(complete))

        def regressors(block: Block) -> Array:
            return np.column_stack([np.ones(len(block)), block.about(origin[complete])])

        sums = rows.accumulate(
            RegressionSums.on(regressors, complete, ~complete, origin[~complete])
        )
        coefficients = sums.least_squares()  # (t, 1 + c)
        slopes = np.zeros((n_complete, len(origin)))
        slopes[:, complete] = np.eye(n_complete)
        slopes[:, ~complete] = coefficients[:, 1:].T
        mean = origin.copy()
        # Complete features are zero on average, so what they predict on average is the intercept.
        mean[~complete] += coefficients[:, 0]
        return cls(mean, complete, slopes)

    def of(self, block: Block) -> Array:
        """Predicted deviations from the means; (n, d)."""
        return block.about(self.mean)[:, self.complete] @ self.slopes


@dataclass(frozen=True, eq=False)
class AdjustedSums(Sums):
    """Sums of products over complete pairs less their predictions, and predictions of all rows."""

    count: Array
    beyond: Array  # observed products less predicted ones, where observed
    predictable: Array  # rows that hold the complete features of a product
    predicted: Array  # products over those rows

    @classmethod
    def pairs(cls, prediction: Prediction) -> Callable[[Block], "AdjustedSums"]:
        """The function that sums products of pairs in a block; (d, d)."""
        return cls._of(PairSums.about(prediction.mean), prediction)

    @classmethod
    def triples(cls, prediction: Prediction) -> Callable[[Block], "AdjustedSums"]:
        """The function that sums products of triples in a block, packed."""
        return cls._of(ThirdSums.about(prediction.mean), prediction)

    @classmethod
    def _of(
        cls, summed: Callable[[Block], PairSums | ThirdSums], prediction: Prediction
    ) -> Callable[[Block], "AdjustedSums"]:
        def summarise(block: Block) -> AdjustedSums:
            predicted = prediction.of(block) + prediction.mean
            here = summed(block)
            where_observed = summed(_with_values(block, predicted, block.observed))
            everywhere = summed(
                _with_values(block, predicted, block.observed | ~prediction.complete)
            )
            return cls(
                here.count,
                here.total - where_observed.total,
                everywhere.count,
                everywhere.total,
            )

        return summarise

    @property
    def estimate(self) -> Array:
        """Means of the products; predictions where nothing is observed."""
        return _mean(self.predicted, self.predictable) + _mean(self.beyond, self.count)


def _mean(total: Array, count: Array) -> Array:
    return np.divide(total, count, out=np.zeros_like(total), where=count > 0)


def _with_values(block: Block, values: Array, observed: Mask) -> Block:
    filled = np.where(observed, values, 0.0)
    return Block(filled, observed, block.weights, block.start, block.sequence)


@dataclass(frozen=True, eq=False)
class AdjustedSecond(AllPairs):
    """Second moments adjusted by regression."""

    prediction: Prediction

    def moments(self, rows: Rows, features: FeatureSums, centred: bool) -> Moments:
        sums = rows.accumulate(AdjustedSums.pairs(self.prediction))
        check_pairs(sums.count, rows.names)
        mean = self.prediction.mean
        return Moments(mean, mean, True, sums.estimate, JointGaps(sums.count, features.n_rows))


@dataclass(frozen=True, eq=False)
class AdjustedThird:
    """Third moments adjusted by regression."""

    prediction: Prediction

    def __call__(self, rows: Rows, moments: Moments, probe: Probe) -> ProjectedThird:
        sums = rows.accumulate(AdjustedSums.triples(self.prediction))
        estimate, d = sums.estimate, len(moments.mean)
        places = dict(symmetric_tensors.slabs(d))
        return ProjectedThird(
            symmetric_tensors.project(
                lambda j: estimate[places[j]].reshape(j + 1, d - j), probe.basis
            ),
            "explicit, adjusted",
            alike_along(probe.whitening),
            int(np.count_nonzero(sums.count == 0)),
            "moments are adjusted by what complete features predict",
        )
