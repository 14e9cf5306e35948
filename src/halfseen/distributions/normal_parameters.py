"""Parameters of Gaussian mixtures."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.data.arrays import Array
from halfseen.inference.parameters import (
    ANY,
    BEHIND,
    BESIDE,
    FRACTION,
    GIVEN,
    POSITIVE,
    SHARE,
    SHOWN,
    learned,
)

NOT_GIVEN: Any = None


@dataclass(frozen=True, eq=False)
class MixtureParameters:
    """``x | component k ~ N(c_k, diag(σ²_k))`` with probability π_k.

    Beside that there may be outliers and spikes, as in
    :mod:`halfseen.distributions.normal_kernels`. Without them means are where the normals are.
    """

    weights: Array = learned("weights_", "k", SHARE)  # π
    means: Array = learned(  # of all that is not an outlier
        "means_", "kd", ANY, role=SHOWN, values=("spike", "other")
    )
    variances: Array = learned("covariances_", ("", "k", "d", "kd"), POSITIVE, 0.0)  # σ², (k, d)
    centres: Array = learned("centres_", "kd", ANY, role=BEHIND, default=NOT_GIVEN)
    spike_shares: Array = learned(
        "spike_shares_", "kd", FRACTION, np.nan, BESIDE, "spike", default=NOT_GIVEN
    )
    outlier_share: float = learned("outlier_share_", "", FRACTION, role=GIVEN, default=0.0)
    middle: Array = learned("typical_values_", "d", ANY, np.nan, GIVEN, "spread", default=NOT_GIVEN)
    spread: Array = learned(
        "typical_spreads_", "d", POSITIVE, np.nan, GIVEN, "middle", default=NOT_GIVEN
    )
    spike: Array = learned("spike_values_", "d", ANY, np.nan, GIVEN, default=NOT_GIVEN)
    other: Array = learned("second_values_", "d", ANY, np.nan, GIVEN, "spike", default=NOT_GIVEN)

    def __post_init__(self) -> None:
        if self.other is not NOT_GIVEN:  # all are
            return
        nothing = np.full(self.means.shape, np.nan)
        usual = {"centres": self.means, "spike_shares": nothing}
        usual |= dict.fromkeys(("middle", "spread", "spike", "other"), nothing[0])
        for name, value in usual.items():
            if getattr(self, name) is NOT_GIVEN:
                object.__setattr__(self, name, value)

    @property
    def plain(self) -> bool:
        """Whether it is a mixture of normals and nothing else."""
        return self.outlier_share == 0

    @property
    def spiked(self) -> bool:
        """Whether any feature has a spike."""
        return not math.isnan(np.fmax.reduce(self.spike))


def variances_with_spikes(parameters: MixtureParameters) -> Array:
    """Within components, between the spike and other values too; (k, d)."""
    if np.isnan(parameters.spike).all():
        return parameters.variances
    share, rest = parameters.spike_shares, ~np.isnan(parameters.other)
    variance = np.where(rest, 0.0, parameters.variances)
    centre = np.where(rest, parameters.other, beside_the_spike(parameters))
    apart = share * (1 - share) * (parameters.spike - centre) ** 2
    both = (1 - share) * variance + apart
    return np.where(np.isnan(parameters.spike), parameters.variances, both)


def beside_the_spike(parameters: MixtureParameters) -> Array:
    """Where values beside the spike are if means are as shown; (k, d).

    Under a skewed column that is not the centre: what is drawn has the means that are claimed.
    """
    spiked = ~np.isnan(parameters.spike)
    share = np.where(spiked, np.nan_to_num(parameters.spike_shares), 0.0)
    at_spike = share * np.nan_to_num(parameters.spike)
    beside: Array = (parameters.means - at_spike) / (1 - share)
    return beside
