"""What to be careful about: diagnostics in sentences."""

from collections.abc import Iterator
from typing import Any

from halfseen.doubt.missingness import Missingness
from halfseen.explain.certainty import Certainty
from halfseen.explain.shown import Shown
from halfseen.explain.words import percent

FEW_ROWS = 50
UNEXPLAINED = 0.5
COVERED = 0.9


def distrust(
    model: Any, view: Shown, found: Missingness, sure: Certainty, concerns: list[str]
) -> list[str]:
    """Everything that speaks against taking the model at its word."""
    return [
        *concerns,
        *_of_the_gaps(found),
        *_of_the_moments(model, view),
        *_of_the_fit(model, view, found),
        *_of_the_rows(sure),
    ]


def _of_the_gaps(found: Missingness) -> Iterator[str]:
    if found.n_empty_rows:
        yield f"{found.n_empty_rows:,} rows hold nothing, and say nothing."


def _of_the_moments(model: Any, view: Shown) -> Iterator[str]:
    seen = model.diagnostics_
    if seen.off_diagonal_fraction > UNEXPLAINED:
        yield (
            f"The {view.kind}s leave {percent(seen.off_diagonal_fraction)} of the third moments "
            "unexplained, so they were not clearly told apart by moments alone."
        )
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


def _of_the_fit(model: Any, view: Shown, found: Missingness) -> Iterator[str]:
    if not getattr(model, "converged_", True):
        yield (
            "The likelihood was still rising when the fit was stopped, so another fit may differ."
        )
    for name, reason in model.diagnostics_.dropped_features.items():
        yield f"{name} was left out: it is {reason.rstrip(',')}."
    for i, share in enumerate(view.shares):
        if view.kind == "group" and share * found.n_rows < FEW_ROWS:
            yield (
                f"Group {i + 1} has about {share * found.n_rows:.0f} rows, too few to describe it "
                "well."
            )


def _of_the_rows(sure: Certainty) -> Iterator[str]:
    if sure.hidden is not None and sure.hidden.within(2.0) < COVERED:
        yield (
            f"Only {percent(sure.hidden.within(2.0))} of values that were hidden and filled in "
            "again lie within two standard deviations of what was expected (95% should): single "
            "values are less certain than the model thinks."
        )
