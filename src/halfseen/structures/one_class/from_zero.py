"""Emissions of numbers that are taken as they are: what such have in common."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from halfseen.method.learned import declared
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.rows import Block, Rows
from halfseen.structures.one_class.emission import Pull
from halfseen.structures.one_class.exponential import Exponential

P = TypeVar("P")
STEP = 1e-3
"""Of logarithms, in differences: the second ones are then good to seven digits."""


class FromZero(Exponential):
    """Counts, categories: nothing is measured from elsewhere, and all that is learned is positive.

    What an emission says about column d of component k, ``η_i(k)_d``, rests on its own learned
    numbers for k and d alone.
    """

    def origin(self, parameters: Any) -> Array:
        """Zero; (d,)."""
        return np.zeros(_numbers(parameters)[0].shape[1])

    def moved(self, parameters: P, by: Array) -> P:
        """The same: nothing moves."""
        return parameters

    def for_table(self, rows: Rows, kept: Survey) -> Self:
        """The same for every table."""
        return self

    def calmed(self, rows: Rows, kept: Survey) -> Rows:
        """As they are."""
        return rows

    def units(self, parameters: Any) -> Mapping[str, Array]:
        """Nothing may be any number."""
        return {}

    def free(self: Any, parameters: P) -> "FreeLogarithms[P]":
        """Logarithms of all that was learned."""
        return FreeLogarithms(self, parameters)


def _numbers(parameters: Any) -> list[Array]:
    """What is learned for each component and column; (k, d) each."""
    return [getattr(parameters, one.field) for one in declared(parameters)[1:]]


@dataclass(frozen=True, eq=False)
class FreeLogarithms(Generic[P]):
    """The free numbers: log π, and then the logarithms of what is learned by component and column.

    Slopes and curvatures are those of ``η``, by differences.
    """

    emission: Exponential
    start: P

    @property
    def size(self) -> int:
        """How many there are."""
        return sum(int(np.size(getattr(self.start, one.field))) for one in declared(self.start))

    def moved(self, step: Array) -> P:
        """The mixture a ``step`` (size,) away from the start."""
        weights, *fields = declared(self.start)
        shares = getattr(self.start, weights.field)
        changed, place = {weights.field: softmax(np.log(shares) + step[: len(shares)])}, len(shares)
        for one in fields:
            value = getattr(self.start, one.field)
            part = step[place : place + value.size].reshape(value.shape)
            changed[one.field], place = value * np.exp(part), place + value.size
        return replace(self.start, **changed)  # type: ignore[type-var]

    @property
    def probabilities(self) -> NDArray[np.intp]:
        """None but the weights."""
        return np.empty(0, dtype=np.intp)

    def away_from_edges(self, seen: FeatureSums) -> P:
        """The start itself: numbers above zero have no edge."""
        return self.start

    def pull(self, block: Block, component: int) -> Pull:
        """Slopes along the logarithms of a component's numbers."""
        statistics = self.emission.statistics(block.values, block.observed.astype(float))
        k, d = _numbers(self.start)[0].shape
        n_fields = len(_numbers(self.start))
        starts = k + (np.arange(n_fields) * k + component) * d
        where = (starts[:, None] + np.arange(d)).ravel()
        slopes = [self._differences(component, field) for field in range(n_fields)]
        slope = np.hstack([_weighed(statistics, each) for each in slopes])

        def bend(weight: Array) -> Array:
            total = [weight @ each for each in statistics]
            whole = np.zeros((n_fields * d, n_fields * d))
            for one in range(n_fields):
                for other in range(n_fields):
                    second = self._second_differences(component, one, other)
                    values = -sum(t * s for t, s in zip(total, second, strict=True))
                    place = np.arange(d)
                    whole[one * d + place, other * d + place] = values
            return whole

        return Pull(where, slope, bend)

    def _natural(self, component: int, *steps: tuple[int, float]) -> list[Array]:
        """``η_i`` of a component if the logarithms of some fields are moved; (d,) each."""
        fields = declared(self.start)[1:]
        moved = self.start
        for field, step in steps:
            name = fields[field].field
            moved = replace(moved, **{name: getattr(moved, name) * np.exp(step)})  # type: ignore[type-var]
        return [each[component] for each in self.emission.natural(moved)]

    def _differences(self, component: int, field: int) -> list[Array]:
        up, down = (self._natural(component, (field, sign * STEP)) for sign in (1, -1))
        return [(a - b) / (2 * STEP) for a, b in zip(up, down, strict=True)]

    def _second_differences(self, component: int, one: int, other: int) -> list[Array]:
        corners = [
            [
                sign * other_sign * each
                for each in self._natural(component, (one, sign * STEP), (other, other_sign * STEP))
            ]
            for sign in (1, -1)
            for other_sign in (1, -1)
        ]
        return [sum(each) / (2 * STEP) ** 2 for each in zip(*corners, strict=True)]


def _weighed(statistics: tuple[Array, ...], factors: list[Array]) -> Array:
    total: Array = sum(t * f for t, f in zip(statistics, factors, strict=True))  # type: ignore[assignment]
    return total
