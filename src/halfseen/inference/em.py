"""One expectation-maximisation for every model: accelerated, and the likelihood never falls.

References
----------
A. Dempster, N. Laird, D. Rubin (1977), Maximum likelihood from incomplete data via the EM
algorithm. R. Varadhan, C. Roland (2008), Simple and globally convergent methods for accelerating
the convergence of any EM algorithm. H. Walker, P. Ni (2011), Anderson acceleration for fixed-point
iterations. N. Henderson, R. Varadhan (2019), Damped Anderson acceleration with restarts and
monotonicity control for accelerating EM and EM-like algorithms.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

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
AT_REST = 1e-10
"""In units in which parameters are of the order of one."""
LEAST_SHARE = 1e-10
"""A component that no row belongs to keeps a trace of weight, so that it can come back."""
FLAT = 0.1
"""Nats that two steps and a leap gain, all rows together, where many small steps would follow."""
TOO_EARLY = 2.0
"""Times less it has to be, if the first such step led downwards."""
MEMORY = 5
"""Steps that the next is put together from, there."""
FARTHEST = 0.7
"""That a coordinate of a covariance may leap: a standard deviation doubles or halves at most."""
NEARLY = 0.002
"""Nats, all rows together, that may be left to gain at the end, if the tolerance is no more."""
SLOWEST = 0.001
"""By which gains are taken to fall from pass to pass at least: less cannot be told from noise."""
GUESSES = 3
"""Of what is left to gain that must agree. Two ended .02 nats too early on tables of categories."""
LONGER = 4.0
"""Times as long the next leap may be as one that was as long as allowed, or that led downwards."""


class Expected(Protocol):
    """What one E-step adds up over blocks of rows; the M-step needs the rest of it."""

    @property
    def n_rows(self) -> float:
        """Rows, by weight."""

    @property
    def log_likelihood(self) -> float:
        """Of all rows."""

    def __add__(self, other: Any) -> Any: ...


class Steps(Protocol[P]):
    """The two steps of a model's EM, and where a leap beyond them may land."""

    def expect(self, parameters: P) -> Callable[[Block], Expected]:
        """The function that runs the E-step on a block."""

    def maximise(self, sums: Any, before: P) -> P:
        """The M-step. What no row says anything about stays as it was."""

    def units(self, parameters: P) -> Mapping[str, Array]:
        """For fields that may be any number: how far is far."""

    def within(self, parameters: P) -> P:
        """The same, if it was leaped to: where no density overflows."""

    def prior(self, parameters: P) -> float:
        """What is added to the log-likelihood of all rows; 0 if that alone decides."""


def run_em(
    rows: Rows,
    start: P,
    steps: Steps[P],
    *,
    tolerance: float,
    max_iterations: int,
    final_passes: int = 0,
) -> EMResult[P]:
    """Climb from ``start`` to a maximum of the likelihood of what is observed in ``rows``.

    Where the steps have a prior it is the likelihood times that. Two EM steps and a squared
    extrapolation from them (SQUAREM), which is taken only if it does not lower the likelihood.
    Once that gains little, one step is put together from the last few (Anderson's mixing), as long
    as the likelihood does not fall. Stops when an EM step gains less than ``tolerance`` a row, and
    so would, by how fast gains fall, all further ones together (or next to nothing). Near a
    maximum that leaves the parameters off by its root: they then have ``settling`` more passes,
    at most, to come to rest.
    """
    n_rows = 1.0

    def step(parameters: P) -> tuple[float, P]:
        nonlocal n_rows
        sums = rows.accumulate(steps.expect(parameters))
        n_rows = sums.n_rows
        height = (sums.log_likelihood + steps.prior(parameters)) / n_rows
        return height, steps.maximise(sums, parameters)

    here, lately, flat, little, longest = start, _Lately[P](), False, FLAT, math.inf
    height, once = step(here)
    n_iterations, converged, last, moved = 1, False, max_iterations, math.inf
    pace = _Pace(1, height)
    while n_iterations < last:
        if flat:
            mixed = lately.mixed(here, once, steps)
            mixed_height, after = step(mixed)
            n_iterations += 1
            if mixed_height >= height:
                flat = converged or mixed_height - height >= tolerance
                moved = _apart(here, mixed, steps.units(here)) if converged else math.inf
                here, height, once = mixed, mixed_height, after
                if converged and moved < AT_REST:
                    break
            else:
                flat, little = False, little / (TOO_EARLY if len(lately.steps) < 3 else 1)
            continue
        higher, twice = step(once)
        n_iterations += 1
        left = pace.left(n_iterations, height, higher) * n_rows
        near = not left >= NEARLY or tolerance * n_rows > NEARLY  # heights may be minus infinity
        if not converged and near and not higher - height >= tolerance:
            converged, last = True, min(n_iterations + final_passes, last)
        if n_iterations >= last or (converged and moved < AT_REST):
            here, height = once, higher
            break
        units, before = steps.units(here), height
        leaped, length = _leaped(here, once, twice, units, longest)
        leap = steps.within(leaped)
        leap_height, after = step(leap)
        n_iterations += 1
        moved = _apart(here, leap, units) if converged else math.inf
        if leap_height >= higher:
            longest = longest * LONGER if length == longest else longest
            here, height, once = leap, leap_height, after
        elif n_iterations < last:
            here, longest = twice, max(length / LONGER, 1.0)
            height, once = step(here)
            n_iterations += 1
        else:
            here, height = once, higher
        flat, lately = (height - before) * n_rows < little, _Lately[P]()
    return EMResult(here, Convergence(height, n_iterations, converged, n_rows=n_rows))


class _Pace:
    """What passes gain, and how fast that falls."""

    def __init__(self, n_passes: int, height: float) -> None:
        self.n_passes, self.height, self.gain = n_passes, height, 0.0
        self.guesses: list[float] = []

    def left(self, n_passes: int, before: float, height: float) -> float:
        """What is left to gain after so many passes, if gains go on to fall as they did.

        The last pass was a step of EM, from the height ``before`` it. A single guess may be far too
        low, as where many small steps follow a leap; of the last few the highest counts.
        """
        passes = n_passes - self.n_passes
        gain = max(height - self.height, 0.0) / passes
        falls = math.log(self.gain / gain) / passes if 0 < gain < self.gain else 0.0
        self.n_passes, self.height, self.gain = n_passes, height, gain
        self.guesses = [*self.guesses[1 - GUESSES :], gain / max(falls, SLOWEST)]
        most = (height - before) / SLOWEST
        return min(max(self.guesses), most) if len(self.guesses) == GUESSES else most


class _Lately(Generic[P]):
    """The last few steps, and the one that is put together from them."""

    def __init__(self) -> None:
        self.units: Mapping[str, Array] = {}
        self.places: list[Array] = []  # where steps began
        self.steps: list[Array] = []

    def mixed(self, here: P, once: P, steps: Steps[P]) -> P:
        """Where the mixture of steps that would move least leads, the last from here to ``once``.

        Of one step alone, where that does.
        """
        fields = _climbing(here)
        self.units = self.units or steps.units(here)
        place, end = (_vector(_coordinates(p, fields, self.units)) for p in (here, once))
        self.places = [*self.places[-MEMORY:], place]
        self.steps = [*self.steps[-MEMORY:], end - place]
        if len(self.steps) == 1:
            return once
        there = end == end  # what only some features have is NaN for the others
        turns, ways = np.diff(self.steps, axis=0).T, np.diff(self.places, axis=0).T
        mix = np.linalg.lstsq(turns[there], self.steps[-1][there], rcond=1e-8)[0]
        return steps.within(_at(end - (turns + ways) @ mix, once, fields, self.units))


def _apart(one: P, other: P, units: Mapping[str, Array]) -> float:
    """How far parameters are from each other, in units in which they are of the order of one."""
    total = 0.0
    for field in declared(one):
        if field.role.climbs:
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
    """Shares that sum to one along the last side, none of them gone for good."""
    weights = np.maximum(weights, LEAST_SHARE)
    shares: Array = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def _climbing(parameters: Any) -> list[Declared]:
    return [one for one in declared(parameters) if one.role.climbs]


def _leaped(
    start: P, once: P, twice: P, units: Mapping[str, Array], longest: float
) -> tuple[P, float]:
    """Where the last two steps point to, at the squared step length of SQUAREM's third scheme.

    And that length, at most the ``longest``.
    """
    fields = _climbing(start)
    a, b, c = (_vector(_coordinates(p, fields, units)) for p in (start, once, twice))
    step, bend = b - a, c - 2 * b + a
    # What only some features have is NaN for the others.
    length, turn = (np.sqrt(np.square(x[x == x]).sum()) for x in (step, bend))
    ratio = min(max(length / turn, 1.0) if turn > 0 else 1.0, longest)
    return _at(a + 2 * ratio * step + ratio**2 * bend, twice, fields, units), ratio


def _at(place: Array, near: P, fields: Sequence[Declared], units: Mapping[str, Array]) -> P:
    """Parameters at a ``place``, which is one of all coordinates, else like those ``near`` it."""
    ends = _coordinates(near, fields, units)
    parts = np.split(place, np.cumsum([end.size for end in ends])[:-1])
    placed = {
        one.field: _placed(one, part.reshape(end.shape), end, units)
        for one, part, end in zip(fields, parts, ends, strict=True)
    }
    return replace(near, **placed)  # type: ignore[type-var]


def _vector(coordinates: Sequence[Array]) -> Array:
    return np.concatenate([each.ravel() for each in coordinates])


def _coordinates(
    parameters: Any, fields: Sequence[Declared], units: Mapping[str, Array]
) -> list[Array]:
    return [_coordinate(one, getattr(parameters, one.field), units) for one in fields]


def _coordinate(one: Declared, value: Array, units: Mapping[str, Array]) -> Array:
    if one.scale is ANY:
        return value / units[one.field]
    if one.scale is DEFINITE:
        return coordinates_of(value)
    # Fractions may well end at zero, which logarithms never reach.
    return np.sqrt(value) if one.scale is FRACTION else np.log(value)


def _placed(one: Declared, value: Array, end: Array, units: Mapping[str, Array]) -> Array:
    """What a leap puts there, from coordinates and those where the last step ended."""
    if one.scale is ANY:
        return value * units[one.field]
    if one.scale is DEFINITE:
        return from_coordinates(np.clip(value, end - FARTHEST, end + FARTHEST))
    if one.scale is SHARE:
        shares = np.exp(value - value.max(axis=-1, keepdims=True))
        return normalised(shares / shares.sum(axis=-1, keepdims=True))
    if one.scale is FRACTION:
        return np.asarray(np.clip(value, 0.0, 1.0) ** 2)
    with np.errstate(over="ignore"):  # a leap may be wild; it is bounded next
        return np.asarray(np.exp(value))
