"""What a page does not show, because it would be the row of somebody."""

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import percent
from halfseen.data.rows import Block, Rows
from halfseen.diagnostics.concerns.fit import LEAST_ROWS
from halfseen.report.portrait import Doubts, Portrait

__all__ = ["LEAST_ROWS", "few_behind", "few_behind_sparse", "rows_behind", "said_of"]


def few_behind(doubts: Doubts, table: Array, least: float) -> Mask:
    """Averages (k, d) that fewer than so many rows stand behind, of those that were looked at.

    By the effective number of rows ``(Σ c)² / Σ c²``, over the rows of ``table`` (n, d) that have
    a value, each carrying a component by ``c``.
    """
    return np.asarray(rows_behind(doubts.carried, ~np.isnan(table)) < least)


def few_behind_sparse(doubts: Doubts, rows: Rows, least: float) -> Mask:
    """The same for rows of which only what is stored is at hand."""

    def summed(block: Block) -> Array:
        own = doubts.carried[block.start : block.start + len(block)]
        return block.presence().back(np.hstack([own, own**2]))

    total, squares = np.hsplit(rows.accumulate(summed), 2)  # (d, k) each
    behind = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
    return np.asarray(least > behind.T)


def rows_behind(carried: Array, seen: Mask) -> Array:
    """The effective number of rows, of those ``seen`` (n, d), by which each is carried; (k, d)."""
    total, squares = carried.T @ seen, (carried**2).T @ seen
    return np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)


def said_of(view: Portrait, least: float) -> list[str]:
    """Which components are withheld, and why."""
    few = view.withheld
    if not few.any():
        return []
    wholly = [f"{view.noun} {i + 1}" for i in np.flatnonzero(few.all(axis=1))]
    partly = few & ~few.all(axis=1, keepdims=True)
    what = []
    if wholly:
        what.append(f"averages of {', '.join(wholly)}")
    if partly.any():
        what.append(f"{percent(float(partly.mean()))} of all averages, each of one column")
    return [
        f"Not shown: {' and '.join(what)}. Fewer than {least:g} rows stand behind them, so that "
        "they would be nearly what is known of one of those."
    ]
