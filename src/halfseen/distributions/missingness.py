"""Informative missingness: whether a column is observed, as a binary column.

    p(m_d | k) = q_kd if column d is observed, and 1 - q_kd if it is not

Gaps are then not at random, but at random given the component.

References
----------
A. Sportisse, M. Marbac, F. Laporte, G. Celeux, C. Boyer, J. Josse, C. Biernacki (2024),
Model-based clustering with missing not at random data.
"""

from dataclasses import replace

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.rows import Block
from halfseen.distributions.column_summary import ColumnSummary
from halfseen.distributions.mixed_parameters import MixedParameters

LEAST = 1e-12


def log_densities(block: Block, parameters: MixedParameters) -> Array:
    """Log-probabilities of each row's mask under each component; (n, k)."""
    chance = parameters.presence
    odds = np.nan_to_num(np.log(chance) - np.log1p(-chance))
    none = np.nansum(np.log1p(-chance), axis=1)
    found: Array = block.presence().onto(odds.T) + none
    return found


def sums(block: Block, shares: Array) -> tuple[Array, Array]:
    """How often columns are observed in each component (k, d), and the number of rows; (k, 1).

    ``shares`` (k, n) are times the weights of the rows.
    """
    return block.presence().back(shares.T).T, shares.sum(axis=1, keepdims=True)


def maximised(
    before: MixedParameters, present: Array, share: Array, facts: ColumnSummary, prior_rows: float
) -> MixedParameters:
    """Probabilities of being observed, with a prior worth some rows per component."""
    count = share + prior_rows
    found = (present + prior_rows * facts.observed) / np.maximum(count, 1e-300)
    chance = np.where(np.isnan(before.presence) | (count <= 0), before.presence, found)
    return within(replace(before, presence=chance))


def within(parameters: MixedParameters) -> MixedParameters:
    """Probabilities away from zero and one."""
    return replace(parameters, presence=np.clip(parameters.presence, LEAST, 1 - LEAST))


def prior(parameters: MixedParameters, facts: ColumnSummary, prior_rows: float) -> float:
    """The log-prior of the probabilities."""
    seen, chance = facts.observed, parameters.presence
    return prior_rows * float(np.nansum(seen * np.log(chance) + (1 - seen) * np.log1p(-chance)))
