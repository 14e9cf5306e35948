"""Concerns about dependent rows."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import poisson, rankdata

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.formatting import quoted
from halfseen.data.rows import Block, gathered, with_gaps
from halfseen.data.sampling import sample_rows
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity, Subject
from halfseen.io.kind_inference import OF_SEVERAL_ROWS

FIRST_ROWS = 20_000
"""Rows whose neighbours are compared, from the first."""
FEWEST_ROWS = 200  # of fewer, correlations of neighbours are too uncertain
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
    """The column in which consecutive rows are most alike."""

    column: int
    correlation: float  # beyond that of rows further apart


def rows_depend(case: ConcernContext) -> Iterator[Concern]:
    """Warn of several rows of one subject, found by an unused column or by their order."""
    if case.bins.labels is not None or case.rows.sequenced:
        return
    shared = _shared_identifiers(case)
    if shared:
        yield Concern(
            "rows_depend",
            f"Rows that share {quoted(shared)} depend on each other, as a "
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


def _shared_identifiers(case: ConcernContext) -> list[str]:
    """Unused columns that name subjects of several rows."""
    columns = case.fitted.diagnostics.columns
    if columns is None:
        return []
    said = zip(columns.names, columns.sentences, strict=True)
    return [name for name, sentence in said if OF_SEVERAL_ROWS.alone in sentence]


def _alike(case: ConcernContext) -> Neighbours | None:
    """Whether consecutive rows are more alike than in a sorted table.

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
    """The cells of a block's rows that are among the first rows of the table; (n, d)."""
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
    """The mean correlation with rows at a lag, and the number of pairs."""
    products = np.concatenate([values[lag:] * values[:-lag] for lag in lags])
    seen = ~np.isnan(products)
    return float(products[seen].sum() / max(seen.sum(), 1)), float(max(seen.sum(), 1))


MAX_REPEATED_ROWS, MOST_CELLS = 5000, 5_000_000
"""Rows that are compared with each other, and cells of tables that are drawn at a time."""
N_DRAWS = 3
"""Tables that the model draws, to count how many rows repeat others by chance."""
TIMES, DUPLICATES_P_VALUE = 2.0, 0.001
"""So many times the expected number of copies, and how rarely chance gives as many, to be told."""
MANY = 0.01
"""Of the rows: fewer copies change little."""
Keys = NDArray[np.uint64]


def repeated_rows(case: ConcernContext) -> Iterator[Concern]:
    """Warn of duplicate rows, if there are more than the model predicts."""
    kept = case.features[case.fitted.kept]
    most = min(MAX_REPEATED_ROWS, max(MOST_CELLS // max(len(kept), 1), 1))
    sample = sample_rows(case.rows, most).rows
    table = gathered(sample.select(case.features), with_gaps)
    table = table[~np.isnan(table).all(axis=1)]
    keys = _keys(table)
    found = _copies(keys.sum(axis=1))
    if found <= 1 or not _stand_apart(keys):
        return
    expected = _expected(case, table, kept)
    if found < TIMES * expected or poisson.sf(found - 1, expected) > DUPLICATES_P_VALUE:
        return
    rows = "rows" if len(table) >= case.seen.sums.n_rows else f"of {len(table):,} rows"
    yield Concern(
        "repeated_rows",
        f"{found:,} {rows} repeat another row in all {table.shape[1]} columns, where "
        f"{_about(expected)} would by chance. The same record may be in the table twice: then it "
        "counts twice, and intervals are narrower than they should be. Look at these rows, and "
        "leave out copies.",
        Subject.VALUES,
        Gravity.CARE if found > MANY * len(table) else Gravity.KNOW,
    )


def _keys(table: Array) -> Keys:
    """A random number for each value of each column, gaps included; (n, d).

    Rows are equal if the sums of their numbers are, but for one chance in 2^64.
    """
    random, found = np.random.default_rng(0), np.empty(table.shape, dtype=np.uint64)
    for d, column in enumerate(table.T):
        values, place = np.unique(column, return_inverse=True)
        numbers = random.integers(0, 2**64, len(values), dtype=np.uint64)
        found[:, d] = numbers[place.reshape(-1)]
    return found


def _copies(keys: Keys) -> int:
    return len(keys) - len(np.unique(keys))


def _pairs(keys: Keys) -> float:
    counts = np.unique(keys, return_counts=True)[1].astype(float)
    return float(np.sum(counts * (counts - 1) / 2))


def _stand_apart(keys: Keys) -> bool:
    """Whether more pairs of rows are equal than differ in one column only.

    Where columns of few values go along, rows are equal by chance more often than the model has
    it, but then they differ in one column still more often.
    """
    whole = keys.sum(axis=1)
    equal = _pairs(whole)
    nearly = sum(_pairs(whole - keys[:, d]) - equal for d in range(keys.shape[1]))
    return nearly < equal


def _expected(case: ConcernContext, table: Array, kept: Mask) -> float:
    """The expected number of duplicates under the model, with the same gaps."""
    fitted, random, total = case.fitted, np.random.RandomState(0), 0
    gaps = np.isnan(table)
    for _ in range(N_DRAWS):
        drawn = fitted.model.draw(fitted.parameters, len(table), random)[0][:, kept]
        rounded = [_nearest(x, values) for x, values in zip(drawn.T, table.T, strict=True)]
        total += _copies(_keys(np.where(gaps, np.nan, np.column_stack(rounded))).sum(axis=1))
    return (total + 1) / N_DRAWS  # no draw may have had any


def _nearest(x: Array, values: Array) -> Array:
    """Values ``x`` (n,) rounded to the nearest observed ``values``."""
    known = np.unique(values[~np.isnan(values)])
    if not len(known):
        return x
    place = np.clip(np.searchsorted(known, x), 1, max(len(known) - 1, 1))
    low, high = known[place - 1], known[np.minimum(place, len(known) - 1)]
    return np.where(x - low < high - x, low, high)


def _about(expected: float) -> str:
    return "hardly any" if expected < 1 else f"about {expected:,.0f}"
