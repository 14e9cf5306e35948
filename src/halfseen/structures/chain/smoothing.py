"""What is behind each row of a block, given the rows before it or all rows of its sequence."""

from typing import Any

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block
from halfseen.structures.chain import kernels


def filtered(block: Block, emission: Any, parameters: Any) -> tuple[Array, Array, Array, Any]:
    """Log-likelihoods given the rows before (n,), the filtered law and scaled densities (n, k)."""
    return filtered_by(emission.log_densities(block, parameters), block, parameters)


def filtered_by(
    log_density: Array, block: Block, parameters: Any
) -> tuple[Array, Array, Array, Any]:
    """The same, given the log-densities (n, k) of rows under each state."""
    density = np.array(log_density, dtype=float, order="C")
    begins = kernels.begins_of(block.sequence, len(block))
    height, law = np.empty(len(block)), np.empty_like(density)
    start, transition = (np.ascontiguousarray(p) for p in (parameters.start, parameters.transition))
    kernels.filter_(density, start, transition, begins, height, law)
    return height, law, density, begins


def smoothed(block: Block, emission: Any, parameters: Any) -> tuple[Array, Array, Array, Array]:
    """Log-likelihoods (n,), the law of each state given all rows (n, k), starts and moves."""
    return smoothed_by(emission.log_densities(block, parameters), block, parameters)


def smoothed_by(
    log_density: Array, block: Block, parameters: Any
) -> tuple[Array, Array, Array, Array]:
    """The same, given the log-densities (n, k) of rows under each state."""
    height, law, density, begins = filtered_by(log_density, block, parameters)
    weights = np.ones(len(block)) if block.weights is None else np.ascontiguousarray(block.weights)
    k = len(parameters.start)
    first, moves = np.zeros(k), np.zeros((k, k))
    transition = np.ascontiguousarray(parameters.transition)
    kernels.smooth(density, law, transition, begins, weights, first, moves)
    return height, law, first, moves
