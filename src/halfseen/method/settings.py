"""How a model is to be learned: the parameters that all estimators share."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state


@dataclass(frozen=True, eq=False)
class Settings:
    """The shared parameters of an estimator, by the same names."""

    estimator: str  # whose they are, for messages
    n_components: Any
    method: str
    feature_weights: Any
    complete_above: float
    incomplete_features: str
    decomposer: str
    third_moment: str
    moments: str
    refine: str | None
    random_state: Any

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """The settings of an estimator."""
        names = [one.name for one in fields(cls) if one.name != "estimator"]
        return cls(type(estimator).__name__, *(getattr(estimator, name) for name in names))

    def generator(self) -> np.random.Generator:
        """Randomness, such as it is."""
        return np.random.default_rng(self.seed())

    def seed(self) -> int:
        """A number drawn from the random state."""
        return int(check_random_state(self.random_state).randint(2**31))
