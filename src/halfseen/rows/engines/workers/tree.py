"""Additions in a tree whose shape and order depend on nothing but the number of sums."""

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

from halfseen.rows.rows import S

FAN_IN = 8
"""Sums that are added by one task: a worker holds no more of them than this and one."""


def tree(leaves: Sequence[Any], token: str) -> Any:
    """Delayed sums added in a tree, neighbours first; one that is alone is that sum."""
    from dask import delayed

    add, level = delayed(added, traverse=False), 0
    while len(leaves) > 1:
        name = f"halfseen-add-{token}-{level}"
        leaves = [
            add(list(leaves[start : start + FAN_IN]), dask_key_name=f"{name}-{start}")
            for start in range(0, len(leaves), FAN_IN)
        ]
        level += 1
    return leaves[0]


def added(sums: Sequence[S]) -> S:
    """The sum of sums in order, all of which stay as they are."""
    first, *rest = sums
    if not rest:
        return first
    # A new object, and then in place where sums can: they may be large.
    return reduce(operator.iadd, rest[1:], first + rest[0])
