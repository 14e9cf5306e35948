"""Emissions of exponential families, computed by two matrix products."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from halfseen.data.arrays import Array
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import Block
from halfseen.distributions.emission import Emission, RowScores, Step, StepBeside
from halfseen.inference.parameters import declared


class Exponential(Emission[Any]):
    """An exponential family: ``log p(x | k) = Σ_i T_i(x) · η_i(k)`` plus a constant.

    The statistics T are zero in the gaps, so that a missing cell drops out. An emission of this
    kind says its ``statistics`` and what they are multiplied with, its ``natural`` parameters.
    """

    constant: ClassVar[Callable[[Any, Block], Array] | None] = None
    """What is the same for all components of each row's log-density (n,), if anything is."""

    def statistics(self, values: Array, mask: Array) -> tuple[Array, ...]:
        """``T_i`` of values (n, d), zero in the gaps, and a mask (n, d); (n, s) each."""
        raise NotImplementedError

    def natural(self, parameters: Any) -> tuple[Array, ...]:
        """``η_i``; (k, s) each."""
        raise NotImplementedError

    def log_densities(self, block: Block, parameters: Any) -> Array:
        origin = self.origin(parameters)
        values, mask = block.about(origin), block.observed.astype(float)
        natural = self.natural(self.moved(parameters, -origin))
        joint: Any = 0.0
        # Products with a row of the block in each row: its bits do not depend on those beside it.
        for factor, each in zip(natural, self.statistics(values, mask), strict=True):
            joint = joint + each @ factor.T
        return np.asarray(joint if self.constant is None else joint + self.constant(block)[:, None])

    def expect(self, parameters: Any) -> Step:
        beside = self.expect_beside(parameters)

        def step(block: Block, log_weights: Array) -> tuple[float, Array, tuple[Array, ...]]:
            likelihood, shares, sums = beside(block, log_weights[:, None])
            return likelihood, shares.sum(axis=1), sums

        return step

    def expect_beside(self, parameters: Any) -> StepBeside:
        """The E-step on a block, with log-densities of other columns."""
        natural = self.natural(parameters)

        def step(block: Block, known: Array) -> tuple[float, Array, tuple[Array, ...]]:
            statistics = self.statistics(block.values, block.observed.astype(float))
            likelihood, shares = _shares(statistics, natural, known)
            if self.constant is not None:
                likelihood += self.constant(block)
            if block.weights is not None:
                likelihood, shares = likelihood * block.weights, shares * block.weights
            return float(likelihood.sum()), shares, tuple(shares @ each for each in statistics)

        return step

    def given(self, block: Block, shares: Array, parameters: Any) -> tuple[Array, ...]:
        statistics = self.statistics(block.values, block.observed.astype(float))
        return tuple(shares.T @ each for each in statistics)

    def about(self, places: Array, like: Any) -> Any:
        """Half way from where they are: of most families no more is known."""
        k = len(places)
        block = Block(places, np.ones(places.shape, dtype=bool))
        shares = 0.5 * np.eye(k) + 0.5 / k
        return self.maximise(np.full(k, 1 / k), self.given(block, shares, like), like)


def _shares(
    statistics: tuple[Array, ...], natural: tuple[Array, ...], known: Array
) -> tuple[Array, Array]:
    """Log-likelihoods (n,) and responsibilities by component; (k, n).

    What is done over components then runs along memory, which is faster.
    """
    joint = natural[0] @ statistics[0].T
    for factor, each in zip(natural[1:], statistics[1:], strict=True):
        joint += factor @ each.T
    joint += known
    highest = joint.max(axis=0)
    joint -= highest
    shares = np.exp(joint, out=joint)
    total = shares.sum(axis=0)
    shares /= total
    return np.log(total) + highest, shares


P = TypeVar("P")
STEP = 1e-3
"""Of logarithms, in differences: the second ones are then good to seven digits."""


class FromZero(Exponential):
    """Families with positive parameters and data measured from zero.

    What an emission says about column d of component k, ``η_i(k)_d``, rests on its own learned
    numbers for k and d alone.
    """

    def free(self: Any, parameters: P) -> "FreeLogarithms[P]":
        """Logarithms of all parameters."""
        return FreeLogarithms(self, parameters)


def _numbers(parameters: Any) -> list[Array]:
    """The parameters of each component and column; (k, d) each."""
    return [getattr(parameters, one.field) for one in declared(parameters)[1:]]


@dataclass(frozen=True, eq=False)
class FreeLogarithms(Generic[P]):
    """Free parameters: log weights, then log parameters by component and column.

    Slopes and curvatures are those of ``η``, by differences.
    """

    emission: Exponential
    start: P

    @property
    def size(self) -> int:
        return sum(int(np.size(getattr(self.start, one.field))) for one in declared(self.start))

    def moved(self, step: Array) -> P:
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
        return np.empty(0, dtype=np.intp)

    def away_from_edges(self, seen: FeatureSums) -> P:
        return self.start

    def row_scores(self, block: Block, component: int) -> RowScores:
        statistics = self.emission.statistics(block.values, block.observed.astype(float))
        k, d = _numbers(self.start)[0].shape
        n_fields = len(_numbers(self.start))
        starts = k + (np.arange(n_fields) * k + component) * d
        where = (starts[:, None] + np.arange(d)).ravel()
        slopes = [self._differences(component, field) for field in range(n_fields)]
        slope = np.hstack([_weighed(statistics, each) for each in slopes])

        def information(weight: Array) -> Array:
            total = [weight @ each for each in statistics]
            whole = np.zeros((n_fields * d, n_fields * d))
            for one in range(n_fields):
                for other in range(n_fields):
                    second = self._second_differences(component, one, other)
                    values = -sum(t * s for t, s in zip(total, second, strict=True))
                    place = np.arange(d)
                    whole[one * d + place, other * d + place] = values
            return whole

        return RowScores(where, slope, information)

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
