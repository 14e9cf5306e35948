"""Representation of a fitted model in notebooks.

Words only, no averages: what a notebook shows is passed on more easily than a page is.
"""

from html import escape

from halfseen.data.formatting import percent
from halfseen.inference.fit import Fitted
from halfseen.report.portrait import Portrait
from halfseen.report.registry import portrait_of

MOST = 12
"""Components that a notebook lists; a longer list would hide the code around it."""
STYLE = (
    "border:1px solid currentColor;border-radius:6px;padding:.5em .8em;max-width:36em;"
    "font-family:system-ui,sans-serif;font-size:.9em;line-height:1.4"
)
BAR = "display:inline-block;height:.7em;background:currentColor;opacity:.55;vertical-align:baseline"


def summary_beside(diagram: str, fitted: Fitted[object]) -> str:
    """HTML of the learned model beside scikit-learn's diagram."""
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start">'
        f"{summary(fitted, portrait_of(fitted))}<div>{diagram}</div></div>"
    )


def summary(fitted: Fitted[object], view: Portrait) -> str:
    """The learned model as one small block of HTML."""
    number = f"1 {view.noun}" if view.k == 1 else f"{view.k} {view.nouns}"
    n_used = int(fitted.taken.sum())
    return (
        f'<div style="{STYLE}"><strong>{escape(fitted.estimator)}</strong>: {number} of '
        f"{n_used:,} columns{_chosen(fitted)}.{_listed(view)}"
        "<div>What to trust of it: <code>concerns(X)</code>, or a page by "
        "<code>report(X, 'report.html')</code>.</div></div>"
    )


def _chosen(fitted: Fitted[object]) -> str:
    return "" if fitted.diagnostics.choice is None else ", as many as the rows support"


def _listed(view: Portrait) -> str:
    lines = [
        f"<tr><td style='text-align:left;white-space:nowrap'>{view.noun} {i + 1}</td>"
        f"<td style='text-align:right'>{percent(view.shares[i])}</td>"
        f"<td style='text-align:left'><span style='{BAR};width:{4 * view.shares[i]:.2f}em'></span>"
        f"</td><td style='text-align:left'>{escape(brief)}</td></tr>"
        for i, brief in enumerate(view.briefs()[:MOST])
    ]
    more = f"<div>and {view.k - MOST} more</div>" if view.k > MOST else ""
    return f"<table style='margin:.4em 0'>{''.join(lines)}</table>{more}"
