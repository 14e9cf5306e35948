"""The forward-backward and Viterbi algorithms, compiled.

Probabilities are scaled row by row and never underflow; a row that holds nothing has density one.

References
----------
L. Baum, T. Petrie, G. Soules, N. Weiss (1970), A maximization technique occurring in the
statistical analysis of probabilistic functions of Markov chains. A. Viterbi (1967), Error bounds
for convolutional codes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.compiled import njit
from halfseen.data.rows import Block

Begins = NDArray[np.int64]
"""Where each sequence begins, and where the last ends; (s + 1,)."""


@njit(cache=True, nogil=True)
def filter_(
    density: Array, start: Array, transition: Array, begins: Begins, height: Array, scale: Array
) -> None:  # pragma: no cover - compiled
    """Log-densities (n, k) become densities over the highest, ``scale`` the filtered law.

    ``height`` (n,) is the log-likelihood of each row given those before it.
    """
    k = len(start)
    for s in range(len(begins) - 1):
        for t in range(begins[s], begins[s + 1]):
            highest = density[t, 0]
            for i in range(1, k):
                highest = max(highest, density[t, i])
            total = 0.0
            for j in range(k):
                density[t, j] = np.exp(density[t, j] - highest)
                if t == begins[s]:
                    here = start[j]
                else:
                    here = 0.0
                    for i in range(k):
                        here += scale[t - 1, i] * transition[i, j]
                scale[t, j] = here * density[t, j]
                total += scale[t, j]
            for j in range(k):
                scale[t, j] /= total
                density[t, j] /= total
            height[t] = np.log(total) + highest


@njit(cache=True, nogil=True)
def smooth(
    density: Array,
    filtered: Array,
    transition: Array,
    begins: Begins,
    weights: Array,
    first: Array,
    moves: Array,
) -> None:  # pragma: no cover - compiled
    """Filtered probabilities (n, k) become smoothed ones; starts and transitions are added up."""
    k = len(transition)
    after, before = np.empty(k), np.empty(k)
    for s in range(len(begins) - 1):
        last = begins[s + 1] - 1
        if last < begins[s]:
            continue
        weight = weights[begins[s]]
        for i in range(k):
            after[i] = 1.0
        for t in range(last - 1, begins[s] - 1, -1):
            for j in range(k):
                after[j] *= density[t + 1, j]
            for i in range(k):
                total = 0.0
                for j in range(k):
                    part = transition[i, j] * after[j]
                    total += part
                    moves[i, j] += weight * filtered[t, i] * part
                before[i] = total
            total = 0.0
            for i in range(k):
                after[i] = before[i]
                filtered[t, i] *= before[i]
                total += filtered[t, i]
            for i in range(k):
                filtered[t, i] /= total  # one, but for rounding
        for i in range(k):
            first[i] += weight * filtered[begins[s], i]


@njit(cache=True, nogil=True)
def likeliest(
    density: Array, start: Array, transition: Array, begins: Begins, states: Any
) -> None:  # pragma: no cover - compiled
    """Viterbi's path, from log-densities (n, k) and logarithms of the law."""
    n, k = density.shape
    came = np.empty((n, k), dtype=np.int64)
    height, higher = np.empty(k), np.empty(k)
    for s in range(len(begins) - 1):
        last = begins[s + 1] - 1
        if last < begins[s]:
            continue
        for t in range(begins[s], begins[s + 1]):
            for j in range(k):
                if t == begins[s]:
                    higher[j] = start[j] + density[t, j]
                    continue
                best = 0
                for i in range(1, k):
                    if height[i] + transition[i, j] > height[best] + transition[best, j]:
                        best = i
                came[t, j] = best
                higher[j] = height[best] + transition[best, j] + density[t, j]
            for j in range(k):
                height[j] = higher[j]
        best = 0
        for i in range(1, k):
            if height[i] > height[best]:
                best = i
        states[last] = best
        for t in range(last, begins[s], -1):
            states[t - 1] = came[t, states[t]]


@njit(cache=True, nogil=True)
def backward_draw(
    filtered: Array, transition: Array, begins: Begins, chance: Array, states: Any
) -> None:  # pragma: no cover - compiled
    """Draw a path given all rows, from filtered probabilities and uniform ``chance`` (n,)."""
    k = len(transition)
    share = np.empty(k)
    for s in range(len(begins) - 1):
        for t in range(begins[s + 1] - 1, begins[s] - 1, -1):
            total = 0.0
            for i in range(k):
                share[i] = filtered[t, i]
                if t < begins[s + 1] - 1:
                    share[i] *= transition[i, states[t + 1]]
                total += share[i]
            left, state = chance[t] * total, 0
            while state < k - 1 and left >= share[state]:
                left -= share[state]
                state += 1
            states[t] = state


@njit(cache=True, nogil=True)
def forward_draw(
    start: Array, transition: Array, begins: Begins, chance: Array, states: Any
) -> None:  # pragma: no cover - compiled
    """Draw a path from start and transition probabilities alone."""
    k = len(start)
    for s in range(len(begins) - 1):
        for t in range(begins[s], begins[s + 1]):
            law = start if t == begins[s] else transition[states[t - 1]]
            left, state = chance[t], 0
            while state < k - 1 and left >= law[state]:
                left -= law[state]
                state += 1
            states[t] = state


def begins_of(sequence: NDArray[np.int64] | None, n: int) -> Begins:
    """Where sequences begin, and where the last ends; rows alone are one each."""
    if sequence is None:
        return np.arange(n + 1)
    changes = np.flatnonzero(np.diff(sequence, prepend=np.int64(-1)))
    return np.append(changes, n).astype(np.int64)


def sequence_numbers(sequence: NDArray[np.int64] | None, n: int) -> NDArray[np.int64]:
    """The sequence of each row; rows alone are one each."""
    return np.arange(n) if sequence is None else np.asarray(sequence)


# What is behind each row of a block, given the rows before it or all rows of its sequence.


def filtered(block: Block, emission: Any, parameters: Any) -> tuple[Array, Array, Array, Any]:
    """Filtered probabilities of states; see :func:`filtered_by`."""
    return filtered_by(emission.log_densities(block, parameters), block, parameters)


def filtered_states(block: Block, emission: Any, parameters: Any) -> Array:
    """Probabilities of states given the rows up to each; (n, k)."""
    return filtered(block, emission, parameters)[1]


def filtered_by(
    log_density: Array, block: Block, parameters: Any
) -> tuple[Array, Array, Array, Any]:
    """Log-likelihoods given rows before (n,), filtered probabilities, densities and begins."""
    density = np.array(log_density, dtype=float, order="C")
    begins = begins_of(block.sequence, len(block))
    height, law = np.empty(len(block)), np.empty_like(density)
    start, transition = (np.ascontiguousarray(p) for p in (parameters.start, parameters.transition))
    filter_(density, start, transition, begins, height, law)
    return height, law, density, begins


def smoothed(block: Block, emission: Any, parameters: Any) -> tuple[Array, Array, Array, Array]:
    """Smoothed probabilities of states; see :func:`smoothed_by`."""
    return smoothed_by(emission.log_densities(block, parameters), block, parameters)


def smoothed_by(
    log_density: Array, block: Block, parameters: Any
) -> tuple[Array, Array, Array, Array]:
    """Log-likelihoods (n,), smoothed probabilities (n, k), sums of first states and transitions."""
    height, law, density, begins = filtered_by(log_density, block, parameters)
    weights = np.ones(len(block)) if block.weights is None else np.ascontiguousarray(block.weights)
    k = len(parameters.start)
    first, moves = np.zeros(k), np.zeros((k, k))
    transition = np.ascontiguousarray(parameters.transition)
    smooth(density, law, transition, begins, weights, first, moves)
    return height, law, first, moves
