"""Concerns: what speaks against a fitted model, in sentences."""

from collections.abc import Callable, Iterator

from halfseen.diagnostics.concerns import columns, dependence, fit, tables
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext

Check = Callable[[ConcernContext], Iterator[Concern]]
SHARED: tuple[Check, ...] = (
    tables.columns_differ,
    tables.shares_differ,
    tables.never_meet,
    columns.depend_on_values,
    columns.in_blocks,
    columns.few_together,
    dependence.rows_depend,
    dependence.repeated_rows,
    columns.unrelated_features,
    fit.number_of_components,
    fit.one_too_many,
    fit.one_cloud,
    fit.not_told_apart,
    fit.not_converged,
    fit.small_components,
    fit.too_sure_of_values,
    fit.go_along,
)
"""The checks of every model; each may have more of its own."""


def concerns_of(case: ConcernContext) -> list[Concern]:
    """All concerns about a fitted model and the table it was learned from."""
    checks = (*SHARED, *case.fitted.model.checks)
    return [concern for check in checks for concern in check(case)]


__all__ = ["SHARED", "Check", "Concern", "ConcernContext", "concerns_of", "facts_of"]


def facts_of(case: ConcernContext) -> list[str]:
    """Sentences for those who read a page about the model."""
    return [*_of_the_rows(case), *_of_the_fit(case)]


def _of_the_rows(case: ConcernContext) -> Iterator[str]:
    n_empty = case.seen.sums.n_empty - case.n_added
    if n_empty:
        yield f"{n_empty:,} rows hold nothing, and say nothing."


def _of_the_fit(case: ConcernContext) -> Iterator[str]:
    seen = case.fitted.diagnostics
    if seen.n_unseen_triples:
        yield (
            f"{seen.n_unseen_triples:,} triples of columns are never known in the same row; what "
            "they would say about each other was taken to be nothing."
        )
    if seen.incomplete_features == "divide":
        yield (
            "Too few columns are complete to work out the others by regression, so columns with "
            "many gaps are known less well."
        )
    for name, reason in seen.never_together.items():
        yield (
            f"{name} is {reason}, so its part in the components was found by likelihood, from "
            "the columns that it is observed with."
        )
    for name, reason in seen.dropped_features.items():
        yield f"{name} was left out: it is {reason.rstrip(',')}."
