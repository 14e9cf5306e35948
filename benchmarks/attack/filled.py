"""What a table must be whose gaps were filled, by whatever filled them."""

from typing import Any

import numpy as np

from benchmarks.attack.containers import as_floats
from benchmarks.attack.defect import check
from benchmarks.attack.word_containers import as_cells
from halfseen.data.arrays import Array, Mask
from halfseen.data.feature_sums import PossibleValues
from halfseen.io.cells.missing_values import LIKELY_CODES, STANDARD_CODES
from halfseen.io.coding import text_of

GAP_WORDS = frozenset(STANDARD_CODES)


def is_gap(cell: Any) -> bool:
    """Whether a cell holds nothing, or a word for that."""
    return text_of(cell, GAP_WORDS) is None


def gaps_in(X: Any, coding: Any = None) -> Mask:
    """Which cells (n, d) of a table of numbers or of cells, or some cells (n,), are gaps.

    In columns that a ``coding`` has as numbers, words that are suspected to stand for gaps do.
    """
    if X.dtype != object:
        return np.asarray(np.isnan(X))
    gaps = np.array([is_gap(cell) for cell in X.flat], dtype=bool).reshape(X.shape)
    if coding is not None:
        words = [str(cell).strip().lower() in LIKELY_CODES for cell in X.flat]
        of_numbers = ~(coding.worded | coding.left_out)
        gaps |= np.array(words, dtype=bool).reshape(X.shape) & of_numbers
    return gaps


FURTHEST = 100.0
"""Widths of a column's range that a fill may be beyond its ends, if no limit is nearer."""


def possible_ends(possible: PossibleValues) -> Array:
    """The lowest and the highest number that each column may be filled with; (2, d)."""
    reach = FURTHEST * (possible.high - possible.low)
    low = np.fmax(possible.floor, possible.low - reach)
    return np.array([low, np.fmin(possible.ceiling, possible.high + reach)])


def check_filled(X: Any, filled: Any, learned: Mask, limits: Array, coding: Any = None) -> None:
    """Observed cells stay, gaps of what was ``learned`` (d,) become possible values.

    ``limits`` (2, d) are what fills of each column cannot be beyond.
    """
    words = X.dtype == object
    made: Any = as_cells(filled) if words else as_floats(filled)
    check(made.shape == X.shape, "impute changes the shape", made.shape)
    gaps = gaps_in(X, coding)
    if words:
        _check_words(X, made, gaps, learned, limits)
    else:
        check(np.array_equal(made[~gaps], X[~gaps]), "impute touches observed cells", made)
        _check_numbers(made, gaps, learned, limits)


def _check_numbers(made: Array, gaps: Mask, learned: Mask, limits: Array) -> None:
    full, empty = gaps & learned, gaps & ~learned
    check(np.isfinite(made[full]).all(), "impute leaves gaps, or fills with inf", made)
    check(np.isnan(made[empty]).all(), "impute fills what was never seen", made)
    low, high = (np.broadcast_to(end, made.shape) for end in limits)
    inside = (made[full] >= low[full]) & (made[full] <= high[full])
    check(inside.all(), "impute fills what is impossible", made)


def _check_words(X: Any, made: Any, gaps: Mask, learned: Mask, limits: Array) -> None:
    touched = [place for place in np.argwhere(~gaps) if not same(X[*place], made[*place])]
    check(
        not touched,
        "impute touches observed cells",
        [(X[*p], made[*p]) for p in touched[:2]],
    )
    for place in range(X.shape[1]):
        gap, cells = gaps[:, place], made[:, place]
        seen = {text_of(cell, frozenset()) for cell in X[~gap, place]}
        numbers = all(_is_number(cell) for cell in X[~gap, place])
        for cell in cells[gap]:
            if not learned[place]:
                check(is_gap(cell), "impute fills what was never seen", cell)
                continue
            check(not is_gap(cell), "impute leaves gaps, or fills with inf", cell)
            low, high = limits[:, place]
            inside = numbers and _is_number(cell) and low <= float(cell) <= high
            known = text_of(cell, frozenset()) in seen or inside
            check(known, "impute fills what is impossible", f"{cell!r} of {list(seen)[:9]}")


def same(was: Any, now: Any) -> bool:
    """Whether a cell is still what it was; numbers that were text may be numbers."""
    if type(was) is type(now):
        return bool(was == now)
    ours, theirs = text_of(was, frozenset()), text_of(now, frozenset())
    return ours == theirs or (_is_number(was) and _is_number(now) and float(was) == float(now))


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def check_spread(X: Any, spread: Any, learned: Mask, coding: Any = None) -> None:
    """How far off fills of what was ``learned`` (d,) are is known, and no other cell is off."""
    spread = as_floats(spread)
    check(np.isnan(spread[:, ~learned]).all(), "impute is sure of what was not learned", spread)
    spread, gaps = spread[:, learned], gaps_in(X, coding)[:, learned]
    check((spread >= 0).all(), "impute gives a negative std", spread)
    check(np.isfinite(spread).all(), "impute gives an infinite std", spread)
    check((spread[~gaps] == 0).all(), "impute gives a std to observed cells", spread)


def check_chances(chances: dict[str, Array], n: int) -> None:
    """Probabilities of categories are from zero to one, and sum to one."""
    for name, found in chances.items():
        check(len(found) == n, "chances are of other rows", found.shape)
        check(np.isfinite(found).all(), "chances are not finite", f"{name} {found}")
        check(((found >= 0) & (found <= 1 + 1e-9)).all(), "chances are not from 0 to 1", found)
        check(np.abs(found.sum(axis=1) - 1).max(initial=0) < 1e-9, "chances do not sum to 1", found)
