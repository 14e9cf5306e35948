"""What a table's gaps and values mean for a fit."""

from collections.abc import Iterator

import numpy as np

from halfseen.doubt.missingness import Missingness
from halfseen.explain.words import number
from halfseen.moments.few_rows import FEW_ROWS
from halfseen.rows.arrays import Array
from halfseen.rows.naming import quoted

SKEWED = 3.0
"""Columns above zero with a skewness above this are better off on a log scale."""
DIFFERENT_SCALES = 3.0
"""Spreads that are further apart than this have no noise in common."""


def what_methods_use(found: Missingness) -> Iterator[str]:
    """What each method would learn from."""
    d = len(found.names)
    n_complete = int(np.count_nonzero(found.complete))
    least = int(np.argmin(found.observed))
    yield (
        f"weighted (the default): all {d} columns, each counting by how well it is known, down to "
        f"{found.observed[least]:.2f} for '{found.names[least]}'."
    )
    yield f"full: all {d} columns, each counting the same."
    if not n_complete:
        yield "partial: cannot be used, as no column is known for at least 95% of rows."
        return
    yield (
        f"partial: the {n_complete} columns known for at least 95% of rows; the other "
        f"{d - n_complete} are worked out afterwards."
    )


def advice(found: Missingness, table: Array) -> Iterator[str]:
    """What to do, with the options that do it."""
    if found.never_together:
        yield (
            "A fit needs every pair of columns together in some rows. Leave one of each such pair "
            "out with --drop, or use --method partial."
        )
    elif found.rarest is not None and found.rarest.n_rows < FEW_ROWS:
        yield (
            f"Only {found.rarest.n_rows} rows hold both '{found.rarest.first}' and "
            f"'{found.rarest.second}', too few to learn from. Consider --drop."
        )
    if np.count_nonzero(found.complete) < 2:
        yield (
            "Hardly any column is known for nearly all rows, from which noise is told. Lower "
            "--complete-above, and look at the report with care."
        )
    if not found.at_random:
        yield (
            "As gaps depend on values, averages of what is known are biased. Keep the polish by "
            "likelihood (--refine, the default of gaussian), which allows for gaps that depend on "
            "what is known."
        )
    yield from _codes(found.names, table)
    yield from _kinds(found.names, table)


def _codes(names: tuple[str, ...], table: Array) -> Iterator[str]:
    """Numbers that often stand for a gap."""
    for name, column in zip(names, table.T, strict=True):
        seen = column[~np.isnan(column)]
        for code in (-9999.0, -999.0, -99.0, -9.0, 999.0, 9999.0):
            others = seen[seen != code]
            if len(others) and len(others) < len(seen) - 1 and _far(code, others):
                yield (
                    f"'{name}' is {code:g} in {len(seen) - len(others):,} rows, far from its other "
                    f"values. If that stands for a gap, use --missing-values {code:g}."
                )


def _far(code: float, others: Array) -> bool:
    low, high = float(others.min()), float(others.max())
    room = max(high - low, 1e-9)
    return (low >= 0 > code and code < low - room / 2) or code > high + room / 2


def _kinds(names: tuple[str, ...], table: Array) -> Iterator[str]:
    if _are_counts(table):
        yield (
            "All values are whole numbers of at least 0. If they count things, use --model "
            "gamma-poisson."
        )
        return
    skewed = [i for i, column in enumerate(table.T) if _is_skewed(column)]
    if skewed:
        listed = ",".join(names[i] for i in skewed[:6])
        yield (
            f"{quoted(names, skewed)} {'has' if len(skewed) == 1 else 'have'} a long tail. On a "
            f"log scale groups stand out better: --log '{listed}'."
        )
    spread = np.nanstd(table, axis=0)
    if spread.max() > DIFFERENT_SCALES * spread.min():
        wide, narrow = int(spread.argmax()), int(spread.argmin())
        yield (
            f"Columns are on different scales ('{names[wide]}' spreads over "
            f"{number(spread[wide])}, '{names[narrow]}' over {number(spread[narrow])}): use "
            "--standardise."
        )


def _are_counts(table: Array) -> bool:
    seen = table[~np.isnan(table)]
    return bool((seen >= 0).all() and (seen == np.floor(seen)).all())


def _is_skewed(column: Array) -> bool:
    seen = column[~np.isnan(column)]
    if len(seen) < FEW_ROWS or seen.min() <= 0:
        return False
    z = (seen - seen.mean()) / max(float(seen.std()), 1e-300)
    return bool((z**3).mean() > SKEWED)
