"""Random numbers in compiled loops, one stream a row.

A stream is one 64-bit state (SplitMix64, Steele, Lea and Flood 2014). Seeded by what a row holds it
gives the row the same draws alone, among others and in any order; seeded by a row's number, in any
blocks.
"""

import math

import numpy as np
from numpy.typing import NDArray

from halfseen.data.compiled import njit

State = NDArray[np.uint64]  # (1,)

MOST_TRIES = 1000
"""Of a gamma: of twenty tries nineteen are accepted, so this many are refused only of no number."""


@njit(cache=True, nogil=True)
def mixed(z: np.uint64) -> np.uint64:  # pragma: no cover - compiled
    """Mix the bits of a number."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(z ^ (z >> np.uint64(31)))


@njit(cache=True, nogil=True)
def start(state: State, seed: np.uint64, row: int) -> None:  # pragma: no cover - compiled
    """Seed the stream of a row by the row's number."""
    state[0] = mixed(mixed(seed) ^ mixed(np.uint64(row) + np.uint64(0x9E3779B97F4A7C15)))


@njit(cache=True, nogil=True)
def uniform(state: State) -> float:  # pragma: no cover - compiled
    """Draw a uniform number between zero and one."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = mixed(state[0])
    return (float(z >> np.uint64(11)) + 0.5) * 2.0**-53


@njit(cache=True, nogil=True)
def normal(state: State) -> float:  # pragma: no cover - compiled
    """Draw a standard normal number (Box and Muller)."""
    return math.sqrt(-2 * math.log(uniform(state))) * math.cos(2 * math.pi * uniform(state))


@njit(cache=True, nogil=True)
def log_gamma(shape: float, state: State) -> float:  # pragma: no cover - compiled
    """Draw the logarithm of a gamma variable of rate one (Marsaglia and Tsang 2000).

    Below a shape of one, ``G(a) = G(a + 1) U^(1/a)``: in logarithms nothing underflows. No number,
    or an infinite one, gives the same back.
    """
    d = (shape + 1 if shape < 1 else shape) - 1 / 3
    found = shape
    for _ in range(MOST_TRIES):
        x = normal(state)
        v = 1 + x / math.sqrt(9 * d)
        if v > 0:
            v = v**3
            if math.log(uniform(state)) < 0.5 * x * x + d - d * v + d * math.log(v):
                found = math.log(d * v)
                break
    return found + math.log(uniform(state)) / shape if shape < 1 else found


@njit(cache=True, nogil=True)
def binomial(count: int, chance: float, state: State) -> int:  # pragma: no cover - compiled
    """Draw a binomial count (Devroye 1986, X.4.3).

    The middle one of them in order is a beta; which side of it the chance lies on leaves half of
    them to look at.
    """
    total = 0
    while count > 24:
        middle = count // 2 + 1
        below = log_gamma(float(middle), state)
        above = log_gamma(float(count + 1 - middle), state)
        value = 1 / (1 + math.exp(above - below))
        if chance < value:
            count, chance = middle - 1, chance / value
        else:
            total += middle
            count, chance = count - middle, (chance - value) / (1 - value)
    for _ in range(count):
        total += uniform(state) < chance
    return total


@njit(cache=True, nogil=True)
def poisson(mean: float, state: State) -> int:  # pragma: no cover - compiled
    """Draw a Poisson count (Ahrens and Dieter 1974).

    Of events one after the other the m-th is at a gamma; whether that is before the end leaves
    fewer of them to look at. No number, or an infinite one, gives none.
    """
    total = 0
    while 12.0 < mean < 1e15:
        some = int(0.875 * mean)
        at = math.exp(log_gamma(float(some), state))
        if at > mean:
            return total + binomial(some - 1, mean / at, state)
        total += some
        mean -= at
    if not mean < 1e15:
        return 0
    left = math.exp(-mean)
    reached = uniform(state)
    while reached > left:
        total += 1
        reached *= uniform(state)
    return total
