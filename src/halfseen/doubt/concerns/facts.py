"""What is worth knowing about a fit and is no cause for alarm."""

from collections.abc import Iterator

from halfseen.doubt.concerns.case import Case


def facts_of(case: Case) -> list[str]:
    """Sentences for those who read a page about the model."""
    return [*_of_the_rows(case), *_of_the_fit(case)]


def _of_the_rows(case: Case) -> Iterator[str]:
    n_empty = case.seen.sums.n_empty - case.n_added
    if n_empty:
        yield f"{n_empty:,} rows hold nothing, and say nothing."


def _of_the_fit(case: Case) -> Iterator[str]:
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
