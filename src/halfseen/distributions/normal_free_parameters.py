"""The free numbers of a Gaussian mixture in one vector, and how rows pull at them."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax

from halfseen.data.arrays import Array
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import Block
from halfseen.distributions.emission import Pull, with_pseudo_row
from halfseen.distributions.normal_em import beside_spikes, cells_of
from halfseen.distributions.normal_kernels import wild
from halfseen.distributions.normal_parameters import MixtureParameters
from halfseen.inference.parameters import reordered

FAR = 50.0
"""Of a log variance: a component on a point has no maximum, and a step from there no end."""


@dataclass(frozen=True, eq=False)
class FreeNormal:
    """The free numbers in one vector: log π, centres, log variances, and log odds of spikes.

    Shares are a softmax, so that moving all their logarithms alike moves nothing. How many
    outliers there are stays.
    """

    start: MixtureParameters
    labels: NDArray[np.intp]  # (k, d)  which log variance each one is

    @property
    def size(self) -> int:
        """How many there are."""
        k, d = self.labels.shape
        return int(k + k * d + self.n_variances + k * len(self.spiked))

    @property
    def n_variances(self) -> int:
        """Different ones."""
        return int(self.labels.max()) + 1

    @property
    def spiked(self) -> NDArray[np.intp]:
        """The features with a spike."""
        return np.flatnonzero(~np.isnan(self.start.spike))

    @property
    def probabilities(self) -> NDArray[np.intp]:
        """Log-odds of spikes."""
        return np.arange(self.size - len(self.labels) * len(self.spiked), self.size)

    def away_from_edges(self, seen: FeatureSums) -> MixtureParameters:
        """The mixture with a pseudo-row more of each spike; components have rows of their own."""
        start, n_rows = self.start, np.outer(self.start.weights, seen.count)
        shares = with_pseudo_row(np.array([start.spike_shares, 1 - start.spike_shares]), n_rows)[0]
        of_two = start.other + shares * (start.spike - start.other)
        means = np.where(np.isnan(of_two), start.means, of_two)
        return replace(start, spike_shares=shares, means=means)

    def moved(self, step: Array) -> MixtureParameters:
        """The mixture a ``step`` (size,) away from the start."""
        (k, d), start, spiked = self.labels.shape, self.start, self.spiked
        ends = np.cumsum([k, k * d, self.n_variances])
        of_weights, of_centres, of_variances, of_odds = np.split(step, ends)
        shift = of_centres.reshape(k, d)
        before = np.nan_to_num(start.spike_shares)
        after = before.copy()
        after[:, spiked] = expit(logit(before[:, spiked]) + of_odds.reshape(k, -1))
        rest = np.where(np.isnan(start.other), start.centres + shift, start.other)
        more = (after - before) * np.nan_to_num(start.spike - rest)
        still = np.where(np.isnan(start.other), 1.0 - before, 0.0)
        return replace(
            start,
            weights=softmax(np.log(start.weights) + of_weights),
            means=start.means + still * shift + more,
            centres=start.centres + shift,
            variances=start.variances * np.exp(np.clip(of_variances, -FAR, FAR))[self.labels],
            spike_shares=np.where(np.isnan(start.spike), np.nan, after),
        )

    def pull(self, block: Block, component: int) -> Pull:
        """Slopes along the centre, the log variances and the odds of a component.

        Of a cell that is normal with probability t, slopes u and curvature B are ``t u`` and
        ``t B + t (1-t) u u'``.
        """
        (k, d), start, spiked = self.labels.shape, self.start, self.spiked
        own, place = np.unique(self.labels[component], return_inverse=True)
        shared = np.eye(len(own))[place.reshape(-1)]  # (d, s)  which features share a variance
        first = k + k * d + self.n_variances
        odds = first + component * len(spiked) + np.arange(len(spiked))
        where = np.concatenate([k + component * d + np.arange(d), k + k * d + own, odds])
        normal = self._normal(block, component)
        deviation = block.about(start.centres[component])
        precision = 1 / start.variances[component]
        of_centre = deviation * precision
        squares = deviation * of_centre
        of_variance = 0.5 * (squares - 1.0)
        known = np.isnan(start.other) | (block.values == start.spike)
        known = (known | (block.values == start.other)) & block.observed  # others are outliers
        at_spike = (block.values == start.spike)[:, spiked] & block.observed[:, spiked]
        seen, share = known[:, spiked], start.spike_shares[component, spiked]
        slope = np.hstack(
            [normal * of_centre, (normal * of_variance) @ shared, at_spike - seen * share]
        )
        doubt = normal * (1 - normal)

        def bend(weight: Array) -> Array:
            whole = np.zeros((len(where), len(where)))
            centre, variance = slice(0, d), slice(d, d + len(own))
            whole[centre, centre] = np.diag(weight @ (normal * precision - doubt * of_centre**2))
            apart = weight @ (0.5 * normal * squares - doubt * of_variance**2)
            whole[variance, variance] = (shared.T * apart) @ shared
            both = weight @ (normal * of_centre - doubt * of_centre * of_variance)
            whole[centre, variance] = both[:, None] * shared
            whole[variance, centre] = whole[centre, variance].T
            last = np.arange(d + len(own), len(where))
            whole[last, last] = (weight @ seen) * share * (1 - share)
            return whole

        return Pull(where, slope, bend)

    def _normal(self, block: Block, component: int) -> Array:
        """The probability that each cell is of the component's own normal; (n, d)."""
        if self.start.plain:
            return block.observed.astype(float)
        one = reordered(self.start, [component])
        normal: Array = beside_spikes(block, one) * (1.0 - wild(block, cells_of(one))[0])
        return normal
