"""What speaks against taking a model at its word, in sentences."""

from collections.abc import Callable, Iterator

from halfseen.doubt.concerns import (
    dependence,
    duplicates,
    fit,
    gaps,
    information,
    loadings,
    one_cloud,
    spectrum,
    tables,
    unrelated,
)
from halfseen.doubt.concerns.case import Case
from halfseen.doubt.concerns.concern import Concern
from halfseen.doubt.concerns.facts import facts_of

Check = Callable[[Case], Iterator[Concern]]
SHARED: tuple[Check, ...] = (
    tables.columns_differ,
    tables.shares_differ,
    tables.never_meet,
    gaps.depend_on_values,
    gaps.in_blocks,
    gaps.few_together,
    dependence.rows_depend,
    duplicates.repeated_rows,
    unrelated.unrelated_features,
    spectrum.number_of_components,
    information.one_too_many,
    one_cloud.one_cloud,
    fit.not_told_apart,
    fit.not_converged,
    fit.small_components,
    fit.too_sure_of_values,
    loadings.go_along,
)
"""The checks of every model; each may have more of its own."""


def concerns_of(case: Case) -> list[Concern]:
    """All concerns about a fitted model and the table it was learned from."""
    checks = (*SHARED, *case.fitted.model.checks)
    return [concern for check in checks for concern in check(case)]


__all__ = ["SHARED", "Case", "Check", "Concern", "concerns_of", "facts_of"]
