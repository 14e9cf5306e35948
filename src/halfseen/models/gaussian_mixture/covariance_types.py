"""The kinds of covariance that a Gaussian mixture may have."""

from collections.abc import Callable
from typing import Any, NamedTuple

from halfseen.structures.one_class.correlated import CorrelatedEmission
from halfseen.structures.one_class.factor.emission import FactorNormal
from halfseen.structures.one_class.factor.parameters import FactorParameters
from halfseen.structures.one_class.full.emission import FullNormal
from halfseen.structures.one_class.full.parameters import FullParameters


class CorrelatedType(NamedTuple):
    """A kind of covariance in which columns go along with each other."""

    emission: Callable[[int, bool, float], CorrelatedEmission[Any]]
    """From the number of factors, whether outliers are looked for, and the prior's strength."""
    parameters: type[Any]
    first: str  # the kind that components are found with at first


CORRELATED: dict[str, CorrelatedType] = {
    "tied": CorrelatedType(lambda q, *more: FullNormal(True, *more), FullParameters, "tied_diag"),
    "full": CorrelatedType(lambda q, *more: FullNormal(False, *more), FullParameters, "diag"),
    "factor": CorrelatedType(FactorNormal, FactorParameters, "diag"),
}
