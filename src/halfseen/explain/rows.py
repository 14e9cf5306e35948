"""Rows of the table on the page: only if asked for."""

from typing import Any, NamedTuple

import numpy as np

from halfseen.explain.portrait import Portrait
from halfseen.explain.words import number, percent, years_among
from halfseen.method.fit import Fitted
from halfseen.rows.arrays import Array
from halfseen.rows.sampled import Sample

OF_EACH = 5
MOST_COLUMNS = 30


class RowsTable(NamedTuple):
    """Some rows, with the numbers they have in the table."""

    head: list[str]
    rows: list[list[str]]


def some_rows(view: Portrait, fitted: Fitted[Any], sample: Sample, memberships: Array) -> RowsTable:
    """The rows that most clearly belong to each component, in their own units.

    ``memberships`` (n, k) are of the sample's rows.
    """
    done, years, coding = fitted.preprocessing, years_among(fitted), fitted.coding
    labels = ((),) * len(view.names) if coding is None else coding.labels
    columns = range(min(len(view.names), MOST_COLUMNS))
    n_known = (~np.isnan(sample.table)).sum(axis=1)
    rows = []
    for k in range(view.k):
        clearest = np.lexsort((-n_known, -memberships[:, k].round(3)))[:OF_EACH]
        for place in clearest:
            row = sample.table[place][None]
            values = (row if done is None else done.undo(row))[0]
            cells = [_written(values[d], labels[d], bool(years[d])) for d in columns]
            share = percent(float(memberships[place, k]))
            rows.append([str(sample.numbers[place] + 1), f"{view.noun} {k + 1}", share, *cells])
    head = ["row", view.noun, view.belonging]
    return RowsTable([*head, *(view.names[d] for d in columns)], rows)


def _written(value: float, labels: tuple[str, ...], year: bool) -> str:
    """A cell: the word that a code stands for, or a number."""
    if not np.isfinite(value):
        return ""
    return labels[int(value)] if labels else number(value, year)
