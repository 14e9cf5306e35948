"""One expectation-maximisation for every model: accelerated, and the likelihood never falls.

References
----------
A. Dempster, N. Laird, D. Rubin (1977), Maximum likelihood from incomplete data via the EM
algorithm. R. Varadhan, C. Roland (2008), Simple and globally convergent methods for accelerating
the convergence of any EM algorithm.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import numpy as np

from halfseen.method.definite import coordinates_of, from_coordinates
from halfseen.method.learned import Declared, declared
from halfseen.method.model import Climb, Polished
from halfseen.method.scale import ANY, DEFINITE, FRACTION, SHARE
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block, Rows

P = TypeVar("P")
AT_REST = 1e-10
"""In units in which parameters are of the order of one."""
LEAST_SHARE = 1e-10
"""A component that no row belongs to keeps a trace of weight, so that it can come back."""
FARTHEST = 0.7
"""That a coordinate of a covariance may leap: a standard deviation doubles or halves at most."""


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


def climb(
    rows: Rows,
    start: P,
    steps: Steps[P],
    *,
    tolerance: float,
    max_iterations: int,
    settling: int = 0,
) -> Polished:
    """Climb from ``start`` to a maximum of the likelihood of what is observed in ``rows``.

    Where the steps have a prior it is the likelihood times that. Two EM steps and a squared
    extrapolation from them (SQUAREM), which is taken only if it does not lower the likelihood.
    Stops when an EM step gains less than ``tolerance`` a row. Near a maximum that leaves the
    parameters off by its root: they then have ``settling`` more passes, at most, to come to rest.
    """
    n_rows = 1.0

    def step(parameters: P) -> tuple[float, P]:
        nonlocal n_rows
        sums = rows.accumulate(steps.expect(parameters))
        n_rows = sums.n_rows
        height = (sums.log_likelihood + steps.prior(parameters)) / n_rows
        return height, steps.maximise(sums, parameters)

    here = start
    height, once = step(here)
    n_iterations, converged, last, moved = 1, False, max_iterations, math.inf
    while n_iterations < last:
        higher, twice = step(once)
        n_iterations += 1
        if not converged and higher - height < tolerance:
            converged, last = True, min(n_iterations + settling, last)
        if n_iterations >= last or (converged and moved < AT_REST):
            here, height = once, higher
            break
        units = steps.units(here)
        leap = steps.within(_leaped(here, once, twice, units))
        leap_height, after = step(leap)
        n_iterations += 1
        moved = _apart(here, leap, units) if converged else math.inf
        if leap_height >= higher:
            here, height, once = leap, leap_height, after
        elif n_iterations < last:
            here = twice
            height, once = step(here)
            n_iterations += 1
        else:
            here, height = once, higher
    return Polished(here, Climb(height, n_iterations, converged, n_rows=n_rows))


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


def _leaped(start: P, once: P, twice: P, units: Mapping[str, Array]) -> P:
    """Where the last two steps point to, at the squared step length of SQUAREM's third scheme."""
    fields = [one for one in declared(start) if one.role.climbs]
    points = list(zip(*(_coordinates(p, fields, units) for p in (start, once, twice)), strict=True))
    steps = [b - a for a, b, _ in points]
    bends = [c - 2 * b + a for a, b, c in points]
    # What only some features have is NaN for the others.
    length = np.sqrt(sum(float(np.nansum(s**2)) for s in steps))
    bend = np.sqrt(sum(float(np.nansum(b**2)) for b in bends))
    ratio = max(length / bend, 1.0) if bend > 0 else 1.0
    leap = [
        point[0] + 2 * ratio * s + ratio**2 * b
        for point, s, b in zip(points, steps, bends, strict=True)
    ]
    leap = [
        np.clip(x, point[2] - FARTHEST, point[2] + FARTHEST) if one.scale is DEFINITE else x
        for one, x, point in zip(fields, leap, points, strict=True)
    ]
    placed = {one.field: _placed(one, x, units) for one, x in zip(fields, leap, strict=True)}
    return replace(twice, **placed)  # type: ignore[type-var]


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


def _placed(one: Declared, value: Array, units: Mapping[str, Array]) -> Array:
    if one.scale is ANY:
        return value * units[one.field]
    if one.scale is DEFINITE:
        return from_coordinates(value)
    if one.scale is SHARE:
        shares = np.exp(value - value.max(axis=-1, keepdims=True))
        return normalised(shares / shares.sum(axis=-1, keepdims=True))
    if one.scale is FRACTION:
        return np.asarray(np.clip(value, 0.0, 1.0) ** 2)
    with np.errstate(over="ignore"):  # a leap may be wild; it is bounded next
        return np.asarray(np.exp(value))
