"""Expectation-maximisation of every model: accelerated, and the likelihood never falls.

References
----------
A. Dempster, N. Laird, D. Rubin (1977), Maximum likelihood from incomplete data via the EM
algorithm. R. Varadhan, C. Roland (2008), Simple and globally convergent methods for accelerating
the convergence of any EM algorithm. H. Walker, P. Ni (2011), Anderson acceleration for fixed-point
iterations. N. Henderson, R. Varadhan (2019), Damped Anderson acceleration with restarts and
monotonicity control for accelerating EM and EM-like algorithms.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows
from halfseen.inference.model import Convergence, EMResult
from halfseen.inference.parameters import (
    ANY,
    DEFINITE,
    FRACTION,
    SHARE,
    Declared,
    coordinates_of,
    declared,
    from_coordinates,
)

P = TypeVar("P")
LEAST_SHARE = 1e-10
"""A component that no row belongs to keeps a trace of weight, so that it can come back."""


class EMSteps(ABC, Generic[P]):
    """The E-step and the M-step of a model, for parameters of any kind."""

    @abstractmethod
    def expect(self, parameters: P) -> Callable[[Block], Any]:
        """The function that runs the E-step on a block: sums with n_rows and log_likelihood."""

    @abstractmethod
    def maximise(self, sums: Any, before: P) -> P:
        """The M-step; parameters that no row tells of stay as they were."""

    @abstractmethod
    def units(self, parameters: P) -> Mapping[str, Array]:
        """For fields that may be any number: a distance that is far."""

    @abstractmethod
    def within(self, parameters: P) -> P:
        """The parameters, moved to where no density overflows."""

    def prior(self, parameters: P) -> float:
        """What is added to the log-likelihood of all rows."""
        return 0.0


class Point(NamedTuple, Generic[P]):
    """Parameters, their score, and where a step of EM from them leads."""

    parameters: P
    score: float  # mean log-likelihood of the rows, with the prior
    image: P


class EMMap(Generic[P]):
    """One pass over the rows: the score of parameters, and the step of EM from them."""

    def __init__(self, rows: Rows, steps: EMSteps[P]) -> None:
        self.rows, self.steps, self.n_rows, self.n_passes = rows, steps, 1.0, 0

    def __call__(self, parameters: P) -> Point[P]:
        sums = self.rows.accumulate(self.steps.expect(parameters))
        self.n_rows, self.n_passes = sums.n_rows, self.n_passes + 1
        score = (sums.log_likelihood + self.steps.prior(parameters)) / sums.n_rows
        return Point(parameters, score, self.steps.maximise(sums, parameters))


def run_em(
    rows: Rows,
    start: P,
    steps: EMSteps[P],
    *,
    tolerance: float,
    max_iterations: int,
    final_passes: int = 0,
) -> EMResult[P]:
    """Maximise the likelihood of what is observed in ``rows``, from ``start``.

    Where the steps have a prior it is the likelihood times that. Two EM steps are followed by a
    SQUAREM extrapolation, and once that gains little by Anderson's mixing; neither is taken if it
    lowers the likelihood. Near a maximum the parameters are off by the root of the tolerance: they
    then have at most ``final_passes`` more passes to come to rest.
    """
    em = EMMap(rows, steps)
    squarem, anderson = Squarem(steps), Anderson(steps)
    here = em(start)
    stopping = Stopping(steps, here.score, tolerance, max_iterations, final_passes)
    while em.n_passes < stopping.last_pass:
        if anderson.active:
            mixed = em(anderson.mixed(here))
            if mixed.score >= here.score:
                stopping.watch(here, mixed)
                anderson.active = stopping.converged or mixed.score - here.score >= tolerance
                here = mixed
                if stopping.at_rest:
                    break
            else:
                anderson.refuse()
            continue
        once = em(here.image)
        stopping.judge(here, once, em)
        if em.n_passes >= stopping.last_pass or stopping.at_rest:
            here = once
            break
        before, leap = here, em(squarem.leap(here, once))
        stopping.watch(here, leap)
        if leap.score >= once.score:
            squarem.accept()
            here = leap
        elif em.n_passes < stopping.last_pass:
            squarem.refuse()
            here = em(once.image)
        else:
            here = once
        anderson.restart((here.score - before.score) * em.n_rows)
    convergence = Convergence(here.score, em.n_passes, stopping.converged, n_rows=em.n_rows)
    return EMResult(here.parameters, convergence)


# Acceleration.


class Squarem(Generic[P]):
    """Extrapolation from two steps of EM, at the step length of SQUAREM's third scheme."""

    FACTOR = 4.0
    """How much longer the next step may be than one that was as long as allowed, or was refused."""

    def __init__(self, steps: EMSteps[P]) -> None:
        self.steps, self.longest, self.length = steps, math.inf, 1.0

    def leap(self, here: Point[P], once: Point[P]) -> P:
        """The parameters that the steps from ``here`` and from ``once`` point to."""
        space = Coordinates(here.parameters, self.steps.units(here.parameters))
        ways = (here.parameters, here.image, once.image)
        first, second, third = (space.vector(parameters) for parameters in ways)
        step, bend = second - first, third - 2 * second + first
        # What only some features have is NaN for the others.
        size, turn = (np.sqrt(np.square(x[x == x]).sum()) for x in (step, bend))
        length = min(max(size / turn, 1.0) if turn > 0 else 1.0, self.longest)
        self.length = length
        return self.steps.within(space.at(first + 2 * length * step + length**2 * bend, once.image))

    def accept(self) -> None:
        """Allow a longer step next, if this one was as long as allowed."""
        if self.length == self.longest:
            self.longest *= self.FACTOR

    def refuse(self) -> None:
        """Allow a shorter step only, as this one lowered the likelihood."""
        self.longest = max(self.length / self.FACTOR, 1.0)


class Anderson(Generic[P]):
    """Anderson's mixing: the combination of the last few steps that would move least."""

    MEMORY = 5
    """Steps that the next is put together from."""
    FLAT = 0.1
    """Nats that a cycle of SQUAREM gains, all rows together, if many small steps would follow."""
    TOO_EARLY = 2.0
    """By which that is divided if one of the first two mixtures lowered the likelihood."""

    def __init__(self, steps: EMSteps[P]) -> None:
        self.model_steps, self.active, self.little = steps, False, self.FLAT
        self.places: list[Array] = []  # where steps began
        self.steps: list[Array] = []
        self.space: Coordinates[P] | None = None

    def restart(self, gain: float) -> None:
        """Forget all steps; mix further ones if the last cycle of SQUAREM hardly had a ``gain``."""
        self.active, self.places, self.steps, self.space = gain < self.little, [], [], None

    def refuse(self) -> None:
        """Return to SQUAREM, as the mixture lowered the likelihood."""
        self.active = False
        self.little /= self.TOO_EARLY if len(self.steps) < 3 else 1

    def mixed(self, here: Point[P]) -> P:
        """Where the mixture of the last steps leads; the first is a plain step of EM."""
        parameters = here.parameters
        self.space = self.space or Coordinates(parameters, self.model_steps.units(parameters))
        place, end = self.space.vector(parameters), self.space.vector(here.image)
        self.places = [*self.places[-self.MEMORY :], place]
        self.steps = [*self.steps[-self.MEMORY :], end - place]
        if len(self.steps) == 1:
            return here.image
        known = end == end  # what only some features have is NaN for the others
        turns, ways = np.diff(self.steps, axis=0).T, np.diff(self.places, axis=0).T
        mix = np.linalg.lstsq(turns[known], self.steps[-1][known], rcond=1e-8)[0]
        return self.model_steps.within(self.space.at(end - (turns + ways) @ mix, here.image))


# Stopping.


class Stopping(Generic[P]):
    """Stop when a step of EM gains less than the tolerance a row, and all further ones would, too.

    What is left to gain follows from how fast gains fall from pass to pass.
    """

    LEFT = 0.002
    """Nats, all rows together, that may be left to gain at the end, if the tolerance is no more."""
    SLOWEST = 0.001
    """By which gains are taken to fall a pass at least: less cannot be told from noise."""
    GUESSES = 3
    """Guesses of what is left that must agree. Two ended .02 nats too early on categories."""
    AT_REST = 1e-10
    """Distance moved, in units in which parameters are of the order of one."""

    def __init__(
        self, steps: EMSteps[P], score: float, tolerance: float, max_passes: int, final_passes: int
    ) -> None:
        self.steps, self.tolerance, self.final_passes = steps, tolerance, final_passes
        self.converged, self.last_pass, self.moved = False, max_passes, math.inf
        self.score, self.n_passes, self.gain = score, 1, 0.0
        self.guesses: list[float] = []

    @property
    def at_rest(self) -> bool:
        """Whether parameters moved by rounding only since the likelihood converged."""
        return self.converged and self.moved < self.AT_REST

    def watch(self, before: Point[P], after: Point[P]) -> None:
        """Measure how far an accelerated step moves, once the likelihood has converged."""
        if self.converged:
            units = self.steps.units(before.parameters)
            self.moved = _distance(before.parameters, after.parameters, units)

    def judge(self, before: Point[P], after: Point[P], em: EMMap[P]) -> None:
        """Look at a plain step of EM, and set the last pass if it shows convergence."""
        left = self._left(before.score, after.score, em.n_passes) * em.n_rows
        # Scores may be minus infinity, and comparisons with what follows from them are false.
        near = not left >= self.LEFT or self.tolerance * em.n_rows > self.LEFT
        if not self.converged and near and not after.score - before.score >= self.tolerance:
            self.converged = True
            self.last_pass = min(em.n_passes + self.final_passes, self.last_pass)

    def _left(self, before: float, score: float, n_passes: int) -> float:
        """What is left to gain: of the last few guesses the highest, as one may be far too low."""
        passes = n_passes - self.n_passes
        gain = max(score - self.score, 0.0) / passes
        falls = math.log(self.gain / gain) / passes if 0 < gain < self.gain else 0.0
        self.n_passes, self.score, self.gain = n_passes, score, gain
        self.guesses = [*self.guesses[1 - self.GUESSES :], gain / max(falls, self.SLOWEST)]
        most = (score - before) / self.SLOWEST
        return min(max(self.guesses), most) if len(self.guesses) == self.GUESSES else most


def _distance(one: Any, other: Any, units: Mapping[str, Array]) -> float:
    """How far parameters are from each other, in units in which they are of the order of one."""
    total = 0.0
    for field in _free_fields(one):
        a, b = getattr(one, field.field), getattr(other, field.field)
        if field.scale is DEFINITE:
            total += float(np.sum((coordinates_of(b) - coordinates_of(a)) ** 2))
            continue
        # A share that vanishes has no end on the scale of leaps.
        shares = field.scale is SHARE or field.scale is FRACTION
        unit = units[field.field] if field.scale is ANY else 1.0 if shares else a
        total += float(np.nansum(((b - a) / unit) ** 2))
    return math.sqrt(total)


def normalised(weights: Array) -> Array:
    """Shares that sum to one along the last axis, each at least ``LEAST_SHARE``."""
    weights = np.maximum(weights, LEAST_SHARE)
    shares: Array = weights / weights.sum(axis=-1, keepdims=True)
    return shares


# Coordinates in which steps are extrapolated.


def _free_fields(parameters: Any) -> list[Declared]:
    return [one for one in declared(parameters) if one.role.refined]


class Coordinates(Generic[P]):
    """Parameters as one unconstrained vector."""

    FARTHEST = 0.7
    """That a covariance coordinate may leap: a standard deviation at most doubles or halves."""

    def __init__(
        self, parameters: P, units: Mapping[str, Array], farthest: float = FARTHEST
    ) -> None:
        self.fields, self.units, self.farthest = _free_fields(parameters), units, farthest

    def vector(self, parameters: P) -> Array:
        """All coordinates of the parameters."""
        return np.concatenate([self._of(one, parameters).ravel() for one in self.fields])

    def at(self, vector: Array, near: P) -> P:
        """Parameters with these coordinates, otherwise like ``near``."""
        ends = [self._of(one, near) for one in self.fields]
        parts = np.split(vector, np.cumsum([end.size for end in ends])[:-1])
        placed = {
            one.field: self._placed(one, part.reshape(end.shape), end)
            for one, part, end in zip(self.fields, parts, ends, strict=True)
        }
        return replace(near, **placed)  # type: ignore[type-var]

    def _of(self, one: Declared, parameters: P) -> Array:
        value: Array = getattr(parameters, one.field)
        if one.scale is ANY:
            return value / self.units[one.field]
        if one.scale is DEFINITE:
            return coordinates_of(value)
        # Fractions may well end at zero, which logarithms never reach.
        return np.sqrt(value) if one.scale is FRACTION else np.log(value)

    def _placed(self, one: Declared, value: Array, end: Array) -> Array:
        if one.scale is ANY:
            return value * self.units[one.field]
        if one.scale is DEFINITE:
            return from_coordinates(np.clip(value, end - self.farthest, end + self.farthest))
        if one.scale is SHARE:
            shares = np.exp(value - value.max(axis=-1, keepdims=True))
            return normalised(shares / shares.sum(axis=-1, keepdims=True))
        if one.scale is FRACTION:
            return np.asarray(np.clip(value, 0.0, 1.0) ** 2)
        with np.errstate(over="ignore"):  # a leap may be wild; ``within`` bounds it next
            return np.asarray(np.exp(value))
