"""How many components the second moments support: a sequence of tests by bootstrap.

References
----------
Y. Cheng, X. He, Y. Liu (2015), Model selection for topic models via spectral decomposition: the
rank is the number of eigenvalues above the noise. Here the noise is that of the table at hand, in
which each pair of features has a quality of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.inference.model import Cumulants
from halfseen.moments.resampling import BinSums, Influence, OriginSums

N_REPLICATES = 400
LEVEL = 0.99
CLEARLY = 1.25


@dataclass(frozen=True)
class RankTest:
    """Whether so many components leave more than noise in the second moments."""

    n_components: int
    eigenvalue: float  # the largest that is left over
    noise: float  # what it stays below, at the chosen level, if only noise is left
    p_value: float

    @property
    def more(self) -> bool:
        """Whether there must be more components."""
        return self.eigenvalue > self.noise

    @property
    def clearly_more(self) -> bool:
        """Whether that is beyond doubt."""
        return self.eigenvalue > CLEARLY * self.noise


def rank_tests(
    sums: BinSums,
    cumulants: Cumulants[Any],
    complete: Mask,
    most: int,
    generator: np.random.Generator,
) -> tuple[RankTest, ...]:
    """Tests from one component upwards, to the first that finds only noise or to ``most``."""
    multipliers = generator.standard_normal((N_REPLICATES, sums.n_bins))
    tests: list[RankTest] = []
    while len(tests) < most and all(test.more for test in tests[-1:]):
        tests.append(rank_test(sums, cumulants, complete, len(tests) + 1, multipliers))
    return tuple(tests)


def rank_test(
    sums: BinSums,
    cumulants: Cumulants[Any],
    complete: Mask,
    n_components: int,
    multipliers: Array,
    feature_weights: Array | None = None,
) -> RankTest:
    """Compare the first eigenvalue that the components leave with what noise would make of it.

    With r dimensions of signal and P the projection on the others, the (r+1)-th eigenvalue of the
    weighted signal is, to first order, ``λ_max(P E P)`` of its error E. Bins of rows, reweighted
    by ``multipliers`` (b, g) of mean 0 and variance 1, draw from the law of that error: what the
    model makes of the moments is differentiated, so the model has to say nothing more. Features
    weigh as much as they are observed, unless ``feature_weights`` (d,) say otherwise.
    """
    weighted = _weighted_signal(sums, cumulants, complete, n_components, feature_weights)
    signal = Influence.on(weighted, sums)
    values, vectors = np.linalg.eigh(signal.value)
    rank = cumulants.rank(n_components)
    rest = vectors[:, : len(values) - rank]
    within = Influence(signal.value, rest.T @ signal.of_bins @ rest)
    noise = np.linalg.eigvalsh(within.errors(multipliers))[:, -1]
    eigenvalue = float(values[len(values) - rank - 1])
    return RankTest(
        n_components,
        eigenvalue,
        float(np.quantile(noise, LEVEL)),
        float((1 + np.count_nonzero(noise >= eigenvalue)) / (1 + len(noise))),
    )


def _weighted_signal(
    sums: BinSums,
    cumulants: Cumulants[Any],
    complete: Mask,
    n_components: int,
    feature_weights: Array | None,
) -> Callable[[OriginSums], Array]:
    """The signal (d, d) of sums, with weights that are the same for all of them."""
    whole = sums.reweighted(np.ones(sums.n_bins)).moments(cumulants.centred)
    unit = cumulants.signal(whole, complete, n_components).unit
    fraction = whole.observed_fraction if feature_weights is None else feature_weights
    weights = fraction / unit

    def signal(replicate: OriginSums) -> Array:
        matrix = cumulants.signal(
            replicate.moments(cumulants.centred), complete, n_components
        ).matrix
        return np.asarray(weights[:, None] * matrix * weights)

    return signal
