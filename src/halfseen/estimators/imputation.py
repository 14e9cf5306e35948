"""Filling gaps: expectations, how sure they are, or draws."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.tables.columns import in_order_of
from halfseen.tables.containers import filled_like, table_like


@dataclass(frozen=True, eq=False)
class Predictive:
    """What a model expects in every cell of a table given what is observed in the row.

    Functions, because each costs its own pass over the table.
    """

    moments: Callable[[], tuple[Array, Array]]  # means and variances, (n, d) each
    draws: Callable[[int], list[Array]]  # as many tables (n, d) as asked for


def impute(
    X: Any,
    ordered: Any,
    table: np.ndarray[Any, Any],
    predictive: Predictive,
    *,
    return_std: bool,
    draws: Any,
) -> Any:
    """Fill ``X`` as :meth:`GaussianMixture.impute` and :meth:`GammaPoisson.impute` say.

    ``ordered`` is X, and ``table`` X as numbers, with the columns in the order of the fit.
    """

    def fill(values: Array) -> Any:
        return in_order_of(X, filled_like(ordered, table, values))

    if draws is not None:
        if return_std or isinstance(draws, bool) or not isinstance(draws, Integral) or draws < 1:
            raise ValueError(
                "draws must be an int of at least 1, without return_std: how far apart the draws "
                f"are tells how sure they are. Got draws={draws!r}, return_std={return_std!r}."
            )
        return [fill(values) for values in predictive.draws(int(draws))]
    mean, variance = predictive.moments()
    if not return_std:
        return fill(mean)
    spread = np.where(np.isnan(table), np.sqrt(variance), 0.0)
    return fill(mean), in_order_of(X, table_like(ordered, spread))


def spread_out(kept_values: Array, kept: Mask, others: Array) -> Array:
    """Values (n, d) from those of the kept features (n, kept) and constants (d,) for the others."""
    values = np.tile(others, (len(kept_values), 1))
    values[:, kept] = kept_values
    return values
