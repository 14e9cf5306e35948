"""What fitted models expect in every cell of a table, given what is observed in the row."""

from typing import Any

import numpy as np

from halfseen.estimators.imputation import Predictive, spread_out
from halfseen.models.gamma_poisson.importance import importance_sample
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.rows import Block
from halfseen.tables.arrays_and_frames import in_memory, row_by_row


def of_mixture(shares: Array, means: Array, variances: Array, random: Any) -> Predictive:
    """Components with ``means`` and ``variances`` (k, d), of which rows have ``shares`` (n, k)."""

    def moments() -> tuple[Array, Array]:
        middle = means.mean(axis=0)
        centre = shares @ (means - middle)
        spread = shares @ (variances + (means - middle) ** 2) - centre**2
        return middle + centre, np.maximum(spread, 0.0)  # rounding can put it below

    def draw() -> Array:
        chances = random.random_sample((len(shares), 1)) * shares.sum(axis=1, keepdims=True)
        labels = (np.cumsum(shares, axis=1) < chances).sum(axis=1)
        noise = random.standard_normal((len(shares), means.shape[1]))
        drawn: Array = means[labels] + noise * np.sqrt(variances[labels])
        return drawn

    return Predictive(moments, lambda number: [draw() for _ in range(number)])


def of_topics(
    table: np.ndarray[Any, Any],
    parameters: GammaPoissonParameters,
    kept: Mask,
    constants: Array,
    seed: int,
    random: Any,
) -> Predictive:
    """Poisson counts of uncertain loadings, for rows of the kept features; ``constants`` (d,) else.

    ``seed`` is that of the importance draws, ``random`` draws what is drawn.
    """
    topics = parameters.topics
    no_spread = np.where(np.isnan(constants), np.nan, 0.0)

    def both(block: Block) -> Array:
        sample = importance_sample(block, parameters, seed)
        rates = sample.mean @ topics
        of_rates = np.einsum("nkl,kd,ld->nd", sample.covariance, topics, topics, optimize=True)
        return np.hstack([rates, rates + of_rates])

    def moments() -> tuple[Array, Array]:
        mean, variance = np.hsplit(row_by_row(in_memory(table), both), 2)
        return spread_out(mean, kept, constants), spread_out(variance, kept, no_spread)

    def draws(number: int) -> list[Array]:
        fresh = random.randint(2**31)
        loadings = row_by_row(
            in_memory(table),
            lambda block: importance_sample(block, parameters, fresh, number).draws,
        )
        rates = np.einsum("nmk,kd->mnd", loadings, topics)
        return [spread_out(random.poisson(rate).astype(float), kept, constants) for rate in rates]

    return Predictive(moments, draws)
