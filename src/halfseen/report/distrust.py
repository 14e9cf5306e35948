"""What to be careful about: diagnostics in sentences."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from halfseen.estimators.diagnostics import noise_level
from halfseen.missingness import Missingness
from halfseen.report.certainty import SURE, Certainty
from halfseen.report.shown import Shown
from halfseen.report.words import percent

FEW_ROWS = 50
UNEXPLAINED = 0.5
FAR_ABOVE = 3.0
COVERED = 0.9


def concerns(model: Any, view: Shown, found: Missingness, sure: Certainty) -> list[str]:
    """Everything that speaks against taking the model at its word."""
    return [
        *_of_the_gaps(found),
        *_of_the_moments(model, view),
        *_of_the_fit(model, view, found),
        *_of_the_rows(view, sure),
    ]


def _of_the_gaps(found: Missingness) -> Iterator[str]:
    if found.shift is not None:
        more = "higher" if found.shift.difference > 0 else "lower"
        yield (
            f"Values are not missing at random: where {found.shift.where_missing} is missing, "
            f"{found.shift.feature} is {more}. Averages of columns with gaps may be off; trust "
            "those of complete columns more."
        )
    if not found.independent and found.most_dependent is not None:
        first, second = found.most_dependent
        yield (
            f"Columns are not missing independently of each other ({first} and {second} least of "
            "all). That is allowed for, but fewer rows hold what is needed than the percentages "
            "alone suggest."
        )
    if found.n_empty_rows:
        yield f"{found.n_empty_rows:,} rows hold nothing, and say nothing."


def _of_the_moments(model: Any, view: Shown) -> Iterator[str]:
    seen = model.diagnostics_
    noise = noise_level(seen.spectrum)
    kept = seen.spectrum[: seen.n_kept_eigenvalues]
    rest = seen.spectrum[seen.n_kept_eigenvalues :]
    weak = int(np.count_nonzero(kept <= noise))
    strong = int(np.count_nonzero(rest > FAR_ABOVE * noise)) if noise > 0 else 0
    if weak:
        yield (
            f"{weak} of the {len(kept)} dimensions that the {view.kind}s span do not stand out of "
            f"the noise. There may be fewer {view.kind}s than {view.k}; try fewer."
        )
    if strong:
        yield (
            f"{strong} dimensions that were left out stand out of the noise. There may be more "
            f"{view.kind}s than {view.k}; or columns are related within {view.kind}s, which the "
            "model does not allow for."
        )
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


def _of_the_rows(view: Shown, sure: Certainty) -> Iterator[str]:
    if view.kind == "group" and view.k > 1:
        unsure = float((sure.doubt < SURE).mean())
        if unsure > 0.25:
            yield (
                f"{percent(unsure)} of the rows fit more than one group: the groups overlap, and "
                "the most probable group of a row is often wrong."
            )
    if sure.hidden is not None and sure.hidden.within(2.0) < COVERED:
        yield (
            f"Only {percent(sure.hidden.within(2.0))} of values that were hidden and filled in "
            "again lie within two standard deviations of what was expected (95% should): single "
            "values are less certain than the model thinks."
        )
