"""Section on several tables: shares of components in each."""

import numpy as np

from halfseen.diagnostics.concerns import ConcernContext
from halfseen.report.categories import bounded
from halfseen.report.charts.by_component import Stack, stacked_chart
from halfseen.report.charts.drawing import Figure
from halfseen.report.section import ReportContext, Section

MOST_TABLES = 20
"""More are files of one table rather than studies."""
LONGEST = 11
"""Letters of a name that stand beside a bar."""


def tables_section(page: ReportContext) -> list[Section]:
    """The section on several tables."""
    case, tables = page.case, page.case.tables
    if not 1 < len(tables.names) <= MOST_TABLES:
        return []
    own = [
        f"{name}: {int(n):,} rows, {int(np.count_nonzero(holds)):,} of {len(tables.columns):,} "
        "columns."
        for name, n, holds in zip(tables.names, tables.n_rows, tables.holds, strict=True)
    ]
    shared = int(np.count_nonzero(tables.holds.all(axis=0)))
    sentences = [
        f"The rows are of {len(tables.names)} tables, of which {shared:,} columns are in all.",
        *([_adjusted(case)] if tables.adjusted else []),
    ]
    return [Section("tables", "The tables", sentences, _shares(page), own)]


def _shares(page: ReportContext) -> list[Figure]:
    case, view, least = page.case, page.view, page.least_rows
    if case.table_shares is None:
        return []
    tables, found = case.tables, case.table_shares.shares[:, view.order]
    labels = tuple(f"{view.noun} {k + 1}" for k in range(view.k))
    # Shares that few rows stand behind are told as bounds, as those of categories are.
    bounds = np.minimum(least / np.maximum(tables.n_rows, least), 0.5)
    words = [
        [bounded(float(share), float(bound)) for share, bound in zip(column, bounds, strict=True)]
        for column in found.T
    ]
    drawn = np.clip(found, bounds[:, None], 1 - bounds[:, None])
    few = [bool(n < least) for n in tables.n_rows]
    return [
        stacked_chart(
            f"{view.nouns.capitalize()} by table",
            f"Shares of rows of each table that are of each {view.noun}; rows that may be of "
            "several count for each by how likely that is.",
            [Stack(view.nouns, labels, drawn.T, words, few, ordered=False)],
            [_short(name) for name in tables.names],
        )
    ]


def _adjusted(case: ConcernContext) -> str:
    tables = case.tables
    moved = ((tables.factor != 1) | (tables.shift != 0)).any(axis=0)
    names = [name for name, one in zip(tables.columns, moved, strict=True) if one]
    return (
        f"So that tables can be compared, {len(names)} shared columns were moved to the mean and "
        f"the spread that they have in the first table that has them: {', '.join(names)}. What is "
        "shown is in the units of that table."
    )


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
