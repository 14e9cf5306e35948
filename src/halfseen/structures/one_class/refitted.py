"""What mixtures would have been with other rows: a few passes from where all rows led.

Where columns go along with each other there are too many numbers for one step of Newton's, and a
pass is cheap beside that. If there are many rows some of them are gone over, and what is learned
moves less in proportion.
"""

import math
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from halfseen.doubt.few_rows import few_rows
from halfseen.method.definite import coordinates_of, from_coordinates
from halfseen.method.em import normalised
from halfseen.method.learned import Declared, declared
from halfseen.method.scale import ANY, DEFINITE, SHARE
from halfseen.moments.survey import survey
from halfseen.rows.arrays import Array
from halfseen.rows.bins import Bins
from halfseen.rows.engines.memory import PreparedRows
from halfseen.rows.gathered import with_gaps
from halfseen.rows.rows import Block, Rows
from halfseen.structures.one_class.fences import inside

P = TypeVar("P")
MOST_ROWS = 2000
PASSES = 15
"""From where all rows led: replicates are near."""


def refitted(model: Any, rows: Rows, home: P, bins: Bins, weights: Array) -> list[P]:
    """Parameters for each of ``weights`` (b, g), bin g counting so often."""
    suited = model.suited(rows, survey(rows, 1.0))
    n_rows, few = rows.accumulate(len), few_rows(rows, bins, MOST_ROWS)
    every = Block.from_table(few.rows.table, few.rows.weights)  # type: ignore[attr-defined]
    usual = inside(every, home)[0]  # type: ignore[arg-type]
    table, label = with_gaps(usual), few.bins.of(every)
    order = np.lexsort(np.packbits(np.isnan(table), axis=1).T)
    table, label, own = table[order], label[order], every.weighed(np.ones(len(table)))[order]

    def climbed(weight: Array, start: P, passes: int) -> P:
        part = PreparedRows((Block.from_table(table, weight),), rows.names)
        found: P = suited.climbed(part, start, passes).parameters
        return found

    begun = suited.emission.begun(home)
    base = climbed(own, begun, 2 * PASSES) if len(table) < n_rows else begun
    shrink = math.sqrt(len(table) / n_rows)
    found = (climbed(own * one[label], base, PASSES) for one in weights)
    return [_moved(home, base, suited.emission.alike(one, base), shrink) for one in found]


def _moved(home: P, start: P, end: P, share: float) -> P:
    """From home, so great a share of the way from start to end."""
    changed = {
        one.field: _between(
            one, getattr(home, one.field), getattr(start, one.field), getattr(end, one.field), share
        )
        for one in declared(home)
        if one.role.climbs
    }
    return replace(home, **changed)  # type: ignore[type-var]


def _between(one: Declared, home: Array, start: Array, end: Array, share: float) -> Array:
    to = partial(_coordinate, one)
    place = to(home) + share * (to(end) - to(start))
    if one.scale is DEFINITE:
        return from_coordinates(place)
    if one.scale is ANY:
        return place
    return normalised(np.exp(place)) if one.scale is SHARE else np.asarray(np.exp(place))


def _coordinate(one: Declared, value: Array) -> Array:
    if one.scale is DEFINITE:
        return coordinates_of(value)
    return value if one.scale is ANY else np.log(value)
