"""Those that fill gaps: models of rows, and the imputer; asked alike."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from halfseen.data.arrays import Array
from halfseen.imputation.accuracy import FillAccuracy
from halfseen.imputation.estimator import Imputer


class Fills(Protocol):
    """Fills the gaps of some rows, as a fitted estimator takes them."""

    @property
    def estimator(self) -> Any:
        """Who learned to."""

    def expected(self, given: Any) -> Any:
        """The rows without gaps."""

    def expected_and_spread(self, given: Any) -> tuple[Any, Any]:
        """The same, and how far off each value may be."""

    def drawn(self, given: Any, number: int, seed: int) -> list[Any]:
        """So many tables that are filled by lot."""

    @property
    def ends(self) -> Array:
        """The lowest and the highest value that each column gets; (2, d)."""

    @property
    def accuracy(self) -> FillAccuracy | None:
        """How well each column is filled, if that was measured on rows held out."""

    @property
    def zero_beside(self) -> Any:
        """For each column the one whose zeros its gaps go with (d,), if that was looked for."""


@dataclass(frozen=True, eq=False)
class ByModel:
    """What a model expects given the rest of the row."""

    estimator: Any
    possible: bool = True

    def expected(self, given: Any) -> Any:
        """The rows without gaps."""
        return self.estimator.impute(given, possible=self.possible)

    def expected_and_spread(self, given: Any) -> tuple[Any, Any]:
        """The same, and how far off each value may be."""
        filled, spread = self.estimator.impute(given, return_std=True, possible=self.possible)
        return filled, spread

    def drawn(self, given: Any, number: int, seed: int) -> list[Any]:
        """So many tables that are filled by lot."""
        self.estimator.random_state = seed
        return list(self.estimator.impute(given, draws=number, possible=self.possible))

    @property
    def ends(self) -> Array:
        """The lowest and the highest value that each column gets; (2, d)."""
        return np.asarray(self.estimator.value_ranges_)

    @property
    def accuracy(self) -> None:
        """Models are not tried on rows held out."""
        return None

    @property
    def zero_beside(self) -> None:
        """Models are not told what gaps mean."""
        return None


@dataclass(frozen=True, eq=False)
class ByImputer:
    """What an imputer fills in, which was told what is possible when it was made."""

    estimator: Imputer

    def expected(self, given: Any) -> Any:
        """The rows without gaps."""
        return self.estimator.transform(given)

    def expected_and_spread(self, given: Any) -> tuple[Any, Any]:
        """The same, and how far off each value may be."""
        filled, spread = self.estimator.transform(given, return_std=True)
        return filled, spread

    def drawn(self, given: Any, number: int, seed: int) -> list[Any]:
        """So many tables that are filled by lot."""
        self.estimator.random_state = seed
        return self.estimator.draw(given, number)

    @property
    def ends(self) -> Array:
        """The lowest and the highest value that each column gets; (2, d)."""
        possible = self.estimator.learned_.possible
        return np.array([possible.low, possible.high])

    @property
    def accuracy(self) -> FillAccuracy | None:
        """How well each column is filled, as rows that were held out show."""
        return self.estimator.learned_.accuracy

    @property
    def zero_beside(self) -> Any:
        """For each column the one whose zeros its gaps go with (d,); -1 if there is none."""
        return self.estimator.learned_.zero_beside
