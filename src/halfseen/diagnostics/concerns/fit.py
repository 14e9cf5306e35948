"""Concerns about the fit itself: how clear it is, and whether the model knows what it knows."""

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom

from halfseen.data.formatting import percent
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity, Subject

UNEXPLAINED = 0.5
SMALLEST_COMPONENT = 50
"""Rows from which the averages of a component are worth telling."""
LEAST_ROWS = 10
"""Rows behind an average, from which it is no longer nearly one of them."""
AS_ROWS = "What is learned of so few is nearly what is known of one of them: share it only as rows."
FEWER, CHANCE = 0.05, 0.001
"""By how much the share of values within reach must be below the expected one to matter."""


def not_told_apart(case: ConcernContext) -> Iterator[Concern]:
    """Components that leave much of the third moments over."""
    left = case.fitted.diagnostics.off_diagonal_fraction
    if left > UNEXPLAINED:
        yield Concern(
            "unexplained_third_moments",
            f"The {case.components} leave {percent(left)} of the third moments unexplained, so "
            "they were not clearly told apart by moments alone.",
            gravity=Gravity.CARE,
        )


def not_converged(case: ConcernContext) -> Iterator[Concern]:
    """An EM run that was stopped before its end."""
    if not case.fitted.converged:
        yield Concern(
            "not_converged",
            "The likelihood was still rising when the fit was stopped, so another fit may differ.",
        )


def small_components(case: ConcernContext) -> Iterator[Concern]:
    """Components that hardly any row belongs to, where rows belong to one each."""
    model, sums = case.fitted.model, case.seen.sums
    if not model.about.labels:
        return
    n_rows = sums.n_rows + sums.n_empty
    for component, share in enumerate(model.shares(case.fitted.parameters)):
        behind = share * n_rows
        if behind < SMALLEST_COMPONENT:
            nearly_rows = f" {AS_ROWS}" if behind < LEAST_ROWS else ""
            yield Concern(
                "small_component",
                f"{case.called(component).capitalize()} has about {behind:.0f} rows, too few to "
                f"describe it well.{nearly_rows}",
                gravity=Gravity.CARE,
            )


def too_sure_of_values(case: ConcernContext) -> Iterator[Concern]:
    """Values that are further from what was expected than the model thinks they can be."""
    found = case.hidden_values
    if found is None:
        return
    within, expected = found.within, found.expected_within
    by_chance = binom.cdf(round(within * len(found.true)), len(found.true), expected)
    if within < expected - FEWER and by_chance < CHANCE:
        yield Concern(
            "too_sure_of_values",
            f"Only {percent(within)} of values that were hidden and filled in again lie within two "
            f"standard deviations of what was expected ({percent(expected)} should): single values "
            "are less certain than the model thinks.",
            Subject.VALUES,
            Gravity.CARE,
        )


CORRELATION_P_VALUE = 0.01
TELLING = 0.15
"""Correlations beyond the model below this are too small to matter."""
MOST_NAMED = 3


def go_along(case: ConcernContext) -> Iterator[Concern]:
    """Amounts that go along with each other in rows more, or less, than the model has it."""
    found = case.loadings_together
    if found is None:
        return
    k = len(found.seen)
    clear = -ndtri(CORRELATION_P_VALUE / (k * (k - 1)))
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
