"""A learned model, as everything that is not an estimator sees it."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from halfseen.method.diagnostics import Diagnostics
from halfseen.method.learned import attributes, name_of
from halfseen.method.model import Model
from halfseen.method.settings import Settings
from halfseen.rows.arrays import Array, Mask

P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class Fitted(Generic[P]):
    """What was learned, how, and from which features."""

    model: Model[P]
    settings: Settings
    parameters: P  # of the kept features
    names: tuple[str, ...]  # of all features
    kept: Mask  # (d,)   features that vary
    complete: Mask  # (d,)
    observed_fraction: Array  # (d,)
    feature_weights: Array  # (d,)  zero for features that were not used
    constants: Array  # (d,)  of features that do not vary; NaN for others
    n_components: int
    converged: bool
    diagnostics: Diagnostics
    preprocessing: Any  # what was done to the columns before, or None
    estimator: str  # the class by which users know it
    streamed: bool  # learned from rows that were seen once and are gone

    def attributes(self, parameters: P) -> dict[str, Any]:
        """Learned attributes, if these were the parameters of the kept features."""
        return attributes(parameters, self.kept, self.constants, self.model.axes)

    def name_of(self, values: Array) -> str | None:
        """The attribute that these of its parameters are public as, if they are one."""
        return name_of(self.parameters, values)

    @property
    def own_names(self) -> tuple[str, ...]:
        """The features' names as the user has them, whatever was done to them before the fit."""
        return self.names if self.preprocessing is None else tuple(self.preprocessing.columns)
