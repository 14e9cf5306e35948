"""Concerns about rows that depend on each other though nobody said so."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from halfseen.doubt.concerns.case import Case
from halfseen.doubt.concerns.concern import Concern, Gravity, Subject
from halfseen.rows.arrays import Array, Labels
from halfseen.rows.gathered import gathered, with_gaps
from halfseen.rows.naming import quoted
from halfseen.rows.rows import Block
from halfseen.tables.identifiers import OF_SEVERAL_ROWS

FIRST_ROWS = 20_000
"""Rows whose neighbours are compared, from the first."""
FEWEST_ROWS = 200
NEAR, LEAST_NEAR, MOST_NEAR = 1 / 40, 6, 20
"""Of the rows: how much further are those that are no neighbours, and in which limits. Rows of
subjects with fewer rows than that are found; sorted stretches must be several times as long."""
CHANCE, ALIKE = 0.001, 0.1
"""How rarely chance makes neighbours so alike, and the rank correlation from which it matters."""
FEWEST_MEETINGS = 10
"""Neighbours that both differ from the commonest value by chance: of rarer ones a few decide."""
MOST_LEVELS = 4
"""Categories of a column that are compared, the commonest."""


class Neighbours(NamedTuple):
    """The column in which rows next to each other are most alike."""

    column: int
    correlation: float  # beyond that of rows further apart


def rows_depend(case: Case) -> Iterator[Concern]:
    """Rows of one subject, named by a column that was left out or by standing together."""
    if case.bins.labels is not None or case.rows.sequenced:
        return
    shared = _shared_identifiers(case)
    if shared:
        yield Concern(
            "rows_depend",
            f"Rows that share {quoted(shared, range(len(shared)))} depend on each other, as a "
            "rule, and were taken to be independent: intervals are narrower than they should be. "
            "Name that column as groups, or learn states along it if rows follow each other.",
            Subject.VALUES,
            Gravity.CARE,
        )
        return
    found = _alike(case)
    if found is not None:
        yield Concern(
            "rows_depend",
            f"Rows next to each other are alike: {quoted(case.names, [found.column])} has a rank "
            f"correlation of {found.correlation:.2f} with that of the next row, beyond that of "
            "rows further apart, as if several rows were of one subject. They were taken to be "
            "independent: intervals are narrower than they should be. Give the subject of each "
            "row as groups, or learn states along the rows if they follow each other in time.",
            Subject.VALUES,
            Gravity.CARE,
        )


def _shared_identifiers(case: Case) -> list[str]:
    """Columns that were left out as they name what several rows are of, such as a patient."""
    columns = case.fitted.diagnostics.columns
    if columns is None:
        return []
    said = zip(columns.names, columns.sentences, strict=True)
    return [name for name, sentence in said if OF_SEVERAL_ROWS.alone in sentence]


def _alike(case: Case) -> Neighbours | None:
    """Whether rows are more like the next than a sorted table has it.

    The correlation of a column with itself some rows further falls linearly with their distance in
    a table that was sorted or put together of parts, so that twice that at some lags less that at
    twice these lags is what neighbours would have there. Rows of one subject have more.
    """
    table = gathered(case.rows.select(case.features), _first)
    if len(table) < FEWEST_ROWS:
        return None
    nominal = case.fitted.nominal[case.features]
    views = [(d, one) for d, x in enumerate(table.T) for one in _views(x, bool(nominal[d]))]
    clear = -ndtri(CHANCE / max(len(views), 1))
    last = int(np.clip(NEAR * len(table), LEAST_NEAR, MOST_NEAR))
    lags, found = np.arange(last // 2 + 1, last + 1), []
    for column, values in views:
        (own, n), near, far = (_lagged(values, some) for some in (np.ones(1, int), lags, 2 * lags))
        excess = own - 2 * near[0] + far[0]
        error = np.sqrt(1 / n + 4 / near[1] + 1 / far[1])
        if excess > max(clear * error, ALIKE):
            found.append(Neighbours(column, excess))
    return max(found, key=lambda one: one.correlation, default=None)


def _first(block: Block) -> Array:
    """Those of a block's rows that are among the first of the table; (n, d)."""
    return with_gaps(block.rows(np.arange(min(max(FIRST_ROWS - block.start, 0), len(block)))))


def _views(column: Array, nominal: bool) -> Iterator[Array]:
    """Standardised ranks of a column (n,), or indicators of its categories; NaN in the gaps."""
    seen = ~np.isnan(column)
    levels, counts = np.unique(column[seen], return_counts=True)
    common = levels[np.argsort(-counts, kind="stable")[:MOST_LEVELS]]
    for one in [column == level for level in common] if nominal else [column]:
        cells = np.unique(one[seen], return_counts=True)[1]
        rare = len(one[seen]) - cells.max(initial=0)
        if rare**2 >= FEWEST_MEETINGS * max(len(one[seen]), 1):
            ranks = rankdata(one[seen])
            values = np.full(len(column), np.nan)
            values[seen] = (ranks - ranks.mean()) / np.std(ranks)
            yield values


def _lagged(values: Array, lags: Labels) -> tuple[float, float]:
    """The mean correlation with rows so much further, and the number of pairs it rests on."""
    products = np.concatenate([values[lag:] * values[:-lag] for lag in lags])
    seen = ~np.isnan(products)
    return float(products[seen].sum() / max(seen.sum(), 1)), float(max(seen.sum(), 1))
