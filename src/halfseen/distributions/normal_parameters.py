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
