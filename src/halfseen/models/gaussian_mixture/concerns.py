"""Concerns about noise: unequal, or correlated between columns."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import quoted
from halfseen.data.messages import setting
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block
from halfseen.data.sums import Sums
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext
from halfseen.distributions.normal_em import (
    MixtureParameters,
    beside_spikes,
    cells_of,
    with_possible_outliers,
)
from halfseen.distributions.normal_kernels import outlier_probability
from halfseen.inference.fit import Fitted
from halfseen.inference.parameters import select

MIN_EXCESS = 0.2
"""Departures from the assumed noise below this are too small to matter."""
SIGNIFICANCE = 0.01
ALREADY_COMPARED = "Held-out rows were less likely where columns may go along."
"""Said where kinds of covariances were compared: to ask for that again would change nothing."""
LET_THEM = "Let them: " + setting(covariance_type="auto") + "."


def outlier_probabilities(block: Block, parameters: MixtureParameters) -> Array:
    """The probability that cells are outliers; (k, n, d)."""
    if parameters.plain:
        return np.zeros((len(parameters.weights), 1, 1))
    return outlier_probability(block, cells_of(with_possible_outliers(parameters)))


@dataclass(frozen=True, eq=False)
class ResidualSums(Sums):
    """Products of standardised residuals, by bin."""

    count: Array  # (g, d, d)
    product: Array  # (g, d, d)

    @classmethod
    def of(
        cls, fitted: Fitted[MixtureParameters], features: Mask, bins: Bins
    ) -> Callable[[Block], "ResidualSums"]:
        """A summarise function for some of the ``features`` (d,)."""
        some = select(fitted.parameters, features)

        def summarise(block: Block) -> ResidualSums:
            d = some.means.shape[1]
            count, product = np.zeros((2, bins.n, d, d))
            for bin_, rows in bins.parts(block):
                shares = rows.weighed(fitted.model.expected_latent(rows, fitted.parameters))
                part = rows.select(features)
                measured = beside_spikes(part, some)
                wild = outlier_probabilities(part, some)
                for k, share in enumerate(shares.T):
                    there = measured * (1 - wild[k])
                    left = part.about(some.centres[k]) / np.sqrt(some.variances[k]) * there
                    product[bin_] += (left.T * share) @ left
                    count[bin_] += (there.T * share) @ there
            return cls(count, product)

        return summarise

    def against(self, expected: Array) -> tuple[Array, Array]:
        """Mean products minus expected ones (d, d), and standard errors."""
        count = np.maximum(self.count.sum(axis=0), 1.0)
        mean = self.product.sum(axis=0) / count
        error = np.sqrt(np.sum((self.product - mean * self.count) ** 2, axis=0)) / count
        known = self.count.sum(axis=0) > 0  # of features with two values nothing is
        return np.where(known, mean - expected, 0.0), error


def _excess_covariance(case: ConcernContext) -> tuple[Array, Mask]:
    """Within-component covariances beyond the model's, and which are significant."""
    kept, d = case.fitted.kept, len(case.names)
    sums = ResidualSums.of(case.fitted, case.features[kept], case.bins)
    excess, error = case.rows.select(kept).accumulate(sums).against(np.eye(d))
    clear = student.isf(SIGNIFICANCE / (d * (d + 1)), case.bins.n - 1)  # of so many, two-sided
    stands_out: Mask = (np.abs(excess) > clear * error) & (np.abs(excess) > MIN_EXCESS)
    return excess, stands_out


def heteroscedastic_noise(case: ConcernContext) -> Iterator[Concern]:
    """Warn if the noise differs between features of a spherical mixture."""
    excess, stands_out = _excess_covariance(case)
    uneven = np.flatnonzero(stands_out.diagonal())
    if len(uneven):
        size = excess.diagonal()
        worst = uneven[np.argsort(-np.abs(size[uneven]))][:3]
        listed = ", ".join(f"{1 + size[i]:.2g} for {quoted(case.names, [i])}" for i in worst)
        yield Concern(
            "not_spherical",
            "The noise is not alike in all columns, as the model assumes: within "
            f"{case.components} the variance is, as a multiple of what is assumed, {listed}. Let "
            "each column have its own: " + setting(covariance_type="tied_diag") + ".",
        )


def correlated_within(case: ConcernContext) -> Iterator[Concern]:
    """Warn of features that are correlated within components."""
    excess, stands_out = _excess_covariance(case)
    stands_out = np.triu(stands_out, 1)
    if stands_out.any():
        i, j = np.unravel_index(np.argmax(np.abs(excess) * stands_out), stands_out.shape)
        chosen = case.fitted.diagnostics.covariance_reason
        yield Concern(
            "dependent_within",
            f"{quoted(case.names, [int(i), int(j)])} go along with each other within "
            f"{case.components} (covariance {excess[i, j]:.2g} times the noise), which the model "
            f"does not allow for. Some {case.components} may stand for that. "
            + (ALREADY_COMPARED if chosen else LET_THEM),
        )
