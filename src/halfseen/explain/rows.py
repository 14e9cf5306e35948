"""Rows of the table on the page: only if asked for."""

from typing import Any, NamedTuple

import numpy as np

from halfseen.explain.certainty import Certainty
from halfseen.explain.shown import Shown
from halfseen.explain.words import number, percent
from halfseen.rows.arrays import Array

OF_EACH = 5
MOST_COLUMNS = 30


class RowsTable(NamedTuple):
    """Some rows, with the numbers they have in the table."""

    head: list[str]
    rows: list[list[str]]


def some_rows(model: Any, view: Shown, sure: Certainty, table: Array) -> RowsTable:
    """The rows that most clearly belong to each group or topic, in their own units."""
    done = model.preprocessing_
    columns = range(min(len(view.names), MOST_COLUMNS))
    known = ~np.isnan(table[sure.rows])
    rows = []
    for k in range(view.k):
        clearest = np.lexsort((-known.sum(axis=1), -sure.memberships[:, k].round(3)))[:OF_EACH]
        for place in clearest:
            row = table[sure.rows[place]][None]
            values = (row if done is None else done.undo(row))[0]
            cells = [number(values[d]) if np.isfinite(values[d]) else "" for d in columns]
            share = percent(float(sure.memberships[place, k]))
            rows.append([str(sure.rows[place] + 1), f"{view.kind} {k + 1}", share, *cells])
    head = ["row", view.kind, "sure" if view.kind == "group" else "share"]
    return RowsTable([*head, *(view.names[d] for d in columns)], rows)
