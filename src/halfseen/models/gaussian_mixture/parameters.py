"""Parameters of a mixture with independent normal noise."""

from dataclasses import dataclass

from halfseen.method.learned import learned
from halfseen.method.scale import ANY, POSITIVE, SHARE
from halfseen.rows.arrays import Array


@dataclass(frozen=True, eq=False)
class MixtureParameters:
    """``x | component k ~ N(a_k, diag(σ²_k))`` with probability π_k."""

    weights: Array = learned("weights_", "k", SHARE)  # π
    means: Array = learned("means_", "kd", ANY)  # a_k in rows
    variances: Array = learned("covariances_", ("", "k", "kd"), POSITIVE, 0.0)  # σ², (k, d)
