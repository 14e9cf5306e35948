"""How often each row counts."""

from typing import Any

import numpy as np

from halfseen.rows.arrays import Array

MOST_ROWS = 1e18
LEAST_OF_OTHERS = 1e-12
"""Of all weight, that must be on more than one row."""


def read_row_weights(estimator: Any, sample_weight: Any, n_rows: int) -> Array | None:
    """Checked weights (n,), or None if every row counts once."""
    if sample_weight is None:
        return None
    name = type(estimator).__name__
    if np.ma.is_masked(sample_weight):
        raise ValueError(
            f"The 'sample_weight' of {name}.fit is masked in some rows. Give these rows a weight "
            "too: 0 leaves them out."
        )
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"The 'sample_weight' of {name}.fit must hold one number a row, {n_rows} in all. "
            f"Got an array of shape {weights.shape} instead."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError(
            f"The 'sample_weight' of {name}.fit must hold finite numbers of at least zero, not all "
            "zero. Repeat a row by giving it a weight of 2; leave it out with 0."
        )
    with np.errstate(over="ignore"):
        total, most = float(weights.sum()), float(weights.max())
    if total > MOST_ROWS:
        raise ValueError(
            f"The 'sample_weight' of {name}.fit sums to {total:.3g}, as if there were so many "
            f"rows, and can be {MOST_ROWS:g} at most. Divide the weights by their mean."
        )
    if most > (1 - LEAST_OF_OTHERS) * total and np.count_nonzero(weights) > 1:
        raise ValueError(
            f"The 'sample_weight' of {name}.fit gives row {int(weights.argmax())} a weight of "
            f"{most:.3g}, beside which all others together count for nothing. Give it a weight "
            "like theirs, or leave it out with 0."
        )
    return weights
