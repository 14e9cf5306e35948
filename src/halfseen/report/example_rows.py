"""Section with example rows, only if asked for."""

from typing import NamedTuple

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.formatting import number, percent
from halfseen.data.rows import Block, gathered
from halfseen.report.portrait import years_among
from halfseen.report.section import ReportContext

OF_EACH = 5
"""Rows that are shown of each component."""
MOST_COLUMNS = 30
"""Columns that are shown; rows of more are told by what they count most."""
MOST_COUNTED = 12
"""Of a row of more columns than that which count things."""


class RowsTable(NamedTuple):
    """Example rows, with their row numbers."""

    head: list[str]
    rows: list[list[str]]


def some_rows(page: ReportContext) -> RowsTable:
    """The rows that most clearly belong to each component, in original units."""
    view, fitted, sample = page.view, page.case.fitted, page.case.sample
    memberships = page.row_certainty.memberships
    done, years, coding = fitted.preprocessing, years_among(fitted), fitted.coding
    labels = ((),) * len(view.names) if coding is None else coding.labels
    columns = range(min(len(view.names), MOST_COLUMNS))
    counts = len(view.names) > MOST_COLUMNS and fitted.model.about.counts
    n_known = gathered(sample.rows, _n_known)
    rows = []
    for k in range(view.k):
        # Of rows that are equally certain, those with most known cells say most to a reader.
        clearest = np.lexsort((-n_known, -memberships[:, k].round(3)))[:OF_EACH]
        for place, row in zip(clearest, sample.some(clearest), strict=True):
            values = (row[None] if done is None else done.undo(row[None]))[0]
            if counts:
                cells = [_most_counted(values, view.names)]
            else:
                cells = [_written(values[d], labels[d], bool(years[d])) for d in columns]
            share = percent(float(memberships[place, k]))
            rows.append([str(sample.numbers[place] + 1), f"{view.noun} {k + 1}", share, *cells])
    head = ["row", view.noun, view.belonging]
    named = ["counted most"] if counts else [view.names[d] for d in columns]
    return RowsTable([*head, *named], rows)


def _n_known(block: Block) -> Array:
    """The number of observed cells of each row; (n,)."""
    return block.presence().onto(np.ones((block.n_features, 1)))[:, 0]


def _most_counted(values: Array, names: tuple[str, ...]) -> str:
    """A row of counts, by its largest ones."""
    top = np.argsort(-np.nan_to_num(values), kind="stable")[:MOST_COUNTED]
    return ", ".join(f"{names[d]} {values[d]:.0f}" for d in top if values[d] > 0)


def _written(value: float, labels: tuple[str, ...], year: bool) -> str:
    if not np.isfinite(value):
        return ""
    return labels[int(value)] if labels else number(value, year)
