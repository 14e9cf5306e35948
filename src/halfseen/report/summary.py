"""The three sentences of "In short"."""

import re
from typing import NamedTuple

from halfseen.data.formatting import percent
from halfseen.diagnostics.choice import Choice, ClusterTendency
from halfseen.diagnostics.concerns import Concern, ConcernContext
from halfseen.report.portrait import ABOUT_AVERAGE, NOT_SHOWN, Portrait, RowCertainty
from halfseen.report.section import ReportContext

MOST_NAMED = 6
"""Components that the summary names one by one; the rest are counted."""


class Summary(NamedTuple):
    """The three sentences of a summary."""

    found: str
    sure: str
    distrust: str
    worst: Concern | None  # what the last of them is about, if it is a concern


def summarise(page: ReportContext) -> Summary:
    """The model in three sentences."""
    # Of concerns that are equally grave the first counts.
    worst = max(page.concerns, key=lambda one: one.gravity, default=None)
    found = _found(page.case, page.view, page.missing.n_rows)
    if page.line is not None and page.line.exists:
        found += f" {page.line.sentence}"
    sure = _sure(page.case, page.view, page.row_certainty)
    return Summary(found, sure, _distrust(page.case, worst), worst)


def _found(case: ConcernContext, view: Portrait, n_rows: int) -> str:
    if view.k == 1:
        chosen = case.fitted.diagnostics.choice is not None
        why = f"no {view.nouns} stand out" if chosen else f"you asked for one {view.noun}"
        return f"All {n_rows:,} rows are described together: {why}."
    told = [
        f"{view.noun} {i + 1} ({percent(view.shares[i])}){_with(brief)}"
        for i, brief in enumerate(view.briefs()[:MOST_NAMED])
    ]
    if view.k > MOST_NAMED:
        rest = percent(float(view.shares[MOST_NAMED:].sum()))
        told.append(f"{view.k - MOST_NAMED} smaller ones ({rest})")
    verb = "fall into" if case.fitted.model.about.labels else "are mixtures of"
    listed = f"{'; '.join(told[:-1])}; and {told[-1]}"
    return f"The {n_rows:,} rows {verb} {view.k} {view.nouns}: {listed}."


def _with(brief: str) -> str:
    return f", {brief}" if brief in (ABOUT_AVERAGE, NOT_SHOWN) else f" with {brief}"


def _sure(case: ConcernContext, view: Portrait, rows: RowCertainty) -> str:
    choice: Choice | None = case.fitted.diagnostics.choice
    if view.k == 1:
        return f"You asked for one {view.noun}." if choice is None else choice.reason
    clear = rows.sentence.rstrip(".").partition(";")[0]
    if choice is None:
        return f"{clear}; you asked for {view.k} {view.nouns}, their number was not estimated."
    if choice.case == ClusterTendency.UNDECIDED:
        return choice.reason
    again = [one.stability for one in choice.tried if one.n_components == view.k]
    again += [one.agreement for one in choice.held_out if one.n_components == view.k]
    if not again or again[-1] is None:
        return f"{clear}; how many {view.nouns} there are was chosen by what the rows support."
    of_case = f"the {view.nouns} are {choice.case.split()[0]}, and " if choice.case else ""
    return (
        f"{clear}; {of_case}fits to halves of the rows agree on them to {again[-1]:.2f} (1 is the "
        "same, 0 is chance)."
    )


def _distrust(case: ConcernContext, worst: Concern | None) -> str:
    if worst is None:
        assumes = case.fitted.model.about.assumes
        return f"Nothing in the diagnostics stands out. What the model assumes: {assumes}"
    return first_sentence(worst.sentence)


def first_sentence(words: str) -> str:
    """The first sentence of a text; full stops in names do not end it.

    >>> first_sentence("Groups overlap (0.5; 'No. A'). Use fewer.")
    "Groups overlap (0.5; 'No. A')."
    """
    for end in re.finditer(r"[.:](?= [A-Z])", words):
        before = words[: end.start()]
        if end[0] == "." and before.count("'") % 2 == 0 and before.count("(") == before.count(")"):
            return f"{before}."
    return words
