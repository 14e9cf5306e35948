"""Whether rows are those that a model was learned from, and not some others."""

from typing import Any

import numpy as np

from halfseen.method.fit import Fitted
from halfseen.moments.survey import Survey
from halfseen.rows.naming import quoted

SAME = 1e-9


def learned_from(fitted: Fitted[Any], seen: Survey) -> bool:
    """Whether a table looks to be the one that the model was fitted to."""
    apart = np.abs(fitted.observed_fraction - seen.sums.observed_fraction)
    return bool((apart < SAME).all()) and np.array_equal(seen.kept, fitted.kept)


def check_learned_from(fitted: Fitted[Any], seen: Survey) -> None:
    """Refuse another table."""
    if not learned_from(fitted, seen):
        raise ValueError(
            "Intervals are those of the table that a model was learned from, and X is another: "
            f"{_difference(fitted, seen)}. Give the same X (and sample_weight), or fit to this "
            "one."
        )


def _difference(fitted: Fitted[Any], seen: Survey) -> str:
    """What tells a table from the one that the model was fitted to, by its first feature."""
    before, now = fitted.observed_fraction, seen.sums.observed_fraction
    differs = np.abs(before - now) >= SAME
    if differs.any():
        first = int(np.argmax(differs))
        how = f"is observed in {now[first]:.4g} of its rows and was in {before[first]:.4g}"
    else:
        first = int(np.argmax(seen.kept != fitted.kept))
        how = "varies and did not" if seen.kept[first] else "is constant and was not"
    return f"{quoted(seen.names, [first])} {how}"
