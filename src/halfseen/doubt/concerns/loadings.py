"""Checks of what is hidden behind rows in amounts, as topics are."""

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtri

from halfseen.doubt.concerns.case import Case
from halfseen.doubt.concerns.concern import Concern, Gravity

CHANCE = 0.01
TELLING = 0.15
"""Correlations beyond the model below this are too small to matter."""
MOST_NAMED = 3


def go_along(case: Case) -> Iterator[Concern]:
    """Amounts that go along with each other in rows more, or less, than the model has it."""
    found = case.loadings_together
    if found is None:
        return
    k = len(found.seen)
    clear = -ndtri(CHANCE / (k * (k - 1)))
    stands_out = (np.abs(found.deviation) > clear) & (np.abs(found.beyond) > TELLING)
    pairs = [(int(i), int(j)) for i, j in np.argwhere(np.triu(stands_out, 1))]
    if not pairs:
        return
    pairs.sort(key=lambda pair: -abs(found.beyond[pair]))
    told = "; ".join(
        f"{case.called(i)} and {case.called(j)} "
        f"{'more' if found.beyond[i, j] > 0 else 'less'} ({found.seen[i, j]:+.2f} against "
        f"{found.expected[i, j]:+.2f})"
        for i, j in pairs[:MOST_NAMED]
    )
    others = f"; and {len(pairs) - MOST_NAMED} other pairs" if len(pairs) > MOST_NAMED else ""
    yield Concern(
        "correlated_components",
        f"Some {case.components} go along with each other in rows more, or less, than the model "
        f"allows for (rank correlations, and those of rows that the model draws): {told}{others}. "
        f"What the model expects of rows with both is off, and {case.components} that go along may "
        "be parts of one.",
        gravity=Gravity.CARE,
    )
