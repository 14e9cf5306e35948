"""Words of new rows that the fit did not see."""

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.errors import UnseenCategoryWarning, warn
from halfseen.tables.coding import Coding

MOST_NAMED = 5
"""Columns that are named."""


def warn_of_unseen(coding: Coding, counts: Array) -> None:
    """Say how many cells (d,) hold a word that is no label; the words may be names of people."""
    found = np.flatnonzero(counts)
    if not len(found):
        return
    each = [_cells(int(counts[place]), coding.names[place]) for place in found[:MOST_NAMED]]
    if len(found) > MOST_NAMED:
        each.append(f"cells of {len(found) - MOST_NAMED} more columns")
    listed = each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"
    one = counts.sum() == 1
    warn(
        f"{listed} {'holds a category' if one else 'hold categories'} that the fit did not see, "
        f"and {'counts as a gap' if one else 'count as gaps'}. Check the spelling, or fit again "
        "with rows that hold such categories.",
        UnseenCategoryWarning,
    )


def _cells(count: int, name: str) -> str:
    return f"{count:,} cell{'s' * (count > 1)} of '{name}'"
