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

    emission: Callable[[int, bool], CorrelatedEmission[Any]]  # of so many factors, with outliers
    parameters: type[Any]
    first: str  # the kind that components are found with at first


CORRELATED: dict[str, CorrelatedType] = {
    "tied": CorrelatedType(lambda q, wild: FullNormal(True, wild), FullParameters, "tied_diag"),
    "full": CorrelatedType(lambda q, wild: FullNormal(False, wild), FullParameters, "diag"),
    "factor": CorrelatedType(FactorNormal, FactorParameters, "diag"),
}
