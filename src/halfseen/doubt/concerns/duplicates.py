"""A concern: rows that are copies of others."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.stats import poisson

from halfseen.doubt.concerns.case import Case
from halfseen.doubt.concerns.concern import Concern, Gravity, Subject
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.gathered import gathered, with_gaps
from halfseen.rows.sampled import sampled

MOST_ROWS, MOST_CELLS = 5000, 5_000_000
"""That are looked at, and that are drawn at a time."""
N_DRAWS = 3
"""Tables that the model draws, to count how many rows repeat others by chance."""
TIMES, CHANCE = 2.0, 0.001
"""So many times the expected number of copies, and how rarely chance gives as many, to be told."""
MANY = 0.01
"""Of the rows: fewer copies change little."""
Keys = NDArray[np.uint64]


def repeated_rows(case: Case) -> Iterator[Concern]:
    """Rows that repeat another in all columns, more than rows of the model do."""
    kept = case.features[case.fitted.kept]
    most = min(MOST_ROWS, max(MOST_CELLS // max(len(kept), 1), 1))
    sample = sampled(case.rows, most).rows
    table = gathered(sample.select(case.features), with_gaps)
    table = table[~np.isnan(table).all(axis=1)]
    keys = _keys(table)
    found = _copies(keys.sum(axis=1))
    if found <= 1 or not _stand_apart(keys):
        return
    expected = _expected(case, table, kept)
    if found < TIMES * expected or poisson.sf(found - 1, expected) > CHANCE:
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
    """How many rows repeat an earlier one."""
    return len(keys) - len(np.unique(keys))


def _pairs(keys: Keys) -> float:
    """How many pairs of rows are equal."""
    counts = np.unique(keys, return_counts=True)[1].astype(float)
    return float(np.sum(counts * (counts - 1) / 2))


def _stand_apart(keys: Keys) -> bool:
    """Whether more pairs of rows are equal than differ in one column alone.

    Where columns of few values go along, rows are equal by chance more often than the model has
    it, but then they differ in one column still more often.
    """
    whole = keys.sum(axis=1)
    equal = _pairs(whole)
    nearly = sum(_pairs(whole - keys[:, d]) - equal for d in range(keys.shape[1]))
    return nearly < equal


def _expected(case: Case, table: Array, kept: Mask) -> float:
    """How many rows of as large a table of the model, with the same gaps, repeat others."""
    fitted, random, total = case.fitted, np.random.RandomState(0), 0
    gaps = np.isnan(table)
    for _ in range(N_DRAWS):
        drawn = fitted.model.draw(fitted.parameters, len(table), random)[0][:, kept]
        rounded = [_nearest(x, values) for x, values in zip(drawn.T, table.T, strict=True)]
        total += _copies(_keys(np.where(gaps, np.nan, np.column_stack(rounded))).sum(axis=1))
    return (total + 1) / N_DRAWS  # no draw may have had any


def _nearest(x: Array, values: Array) -> Array:
    """Each of ``x`` (n,) as the nearest of the observed ``values``: rounded as the column is."""
    known = np.unique(values[~np.isnan(values)])
    if not len(known):
        return x
    place = np.clip(np.searchsorted(known, x), 1, max(len(known) - 1, 1))
    low, high = known[place - 1], known[np.minimum(place, len(known) - 1)]
    return np.where(x - low < high - x, low, high)


def _about(expected: float) -> str:
    return "hardly any" if expected < 1 else f"about {expected:,.0f}"
