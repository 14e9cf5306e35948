"""What is expected after the last row of each sequence."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.method.fit import Fitted
from halfseen.method.learned import whole
from halfseen.rows.arrays import Array
from halfseen.rows.gathered import gathered
from halfseen.rows.rows import Block, Rows
from halfseen.structures.chain.kernels import begins_of
from halfseen.structures.chain.law import CHAIN


@dataclass(frozen=True, eq=False)
class Forecast:
    """States and columns of rows to come."""

    states: Array  # (s, steps, k)  probabilities
    means: Array  # (s, steps, d)   of the columns; NaN for categories in no order
    stds: Array  # (s, steps, d)


def forecast_of(fitted: Fitted[Any], rows: Rows, steps: int) -> Forecast:
    """``φ A``, ``φ A²``, … from the filtered law φ of each sequence's last row."""
    emission, parameters = fitted.model.emission, fitted.parameters  # type: ignore[attr-defined]

    def last(block: Block) -> Array:
        ends = begins_of(block.sequence, len(block))[1:] - 1
        return CHAIN.filtered(block, emission, parameters)[ends]

    law, states = gathered(rows, last), []
    for _ in range(steps):
        law = law @ parameters.transition
        states.append(law)
    every = np.stack(states, axis=1)
    means, variances = emission.means(parameters), emission.variances(parameters)
    mean = every @ means
    variance = np.maximum(every @ (variances + means**2) - mean**2, 0.0)
    nominal = fitted.nominal[fitted.kept]
    mean, variance = (np.where(nominal, np.nan, part) for part in (mean, variance))
    no_spread = np.where(np.isnan(fitted.constants), np.nan, 0.0)
    return Forecast(
        every,
        whole(mean, fitted.kept, fitted.constants),
        np.sqrt(whole(variance, fitted.kept, no_spread)),
    )
