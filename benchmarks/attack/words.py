"""Tables with words in them: some columns of a table of numbers, as people write other things."""

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from halfseen.data.arrays import Array

Rng = np.random.Generator
Cells = np.ndarray[Any, np.dtype[np.object_]]
"""(n, d)  any objects, None in the gaps"""
LABELS = (
    "yes", "no", "red", "größe", "日本", "a,b", 'say "hi"', " lead", "1 Not at all", "10 Most",
    "2 Quite well", "x" * 300, "=cmd|' /C calc'!A0", "a\x1b[31mred\x07", "\u202eevil", "-", "O'B",
    "<script>alert(1)</script>", "{{ 7 * 7 }}", "{}", "%s", "\\N", "a\tb", "Yes", "YES",
    "é", "e\u0301", "True", "false", "1", "1.0", "01", "inf", "-0", "0x1F", "½",
    "2024-01-31", "12:30",
)  # fmt: skip
"""None of which stands for a gap."""
GAPS: tuple[Any, ...] = (None, float("nan"), np.nan, "", "NA", "?", "null")
"""What stands for a gap where cells may be any objects."""
WORDED = 0.6
"""The share of columns that become words, in tables that have any."""


def draw(rng: Rng, X: Array) -> Cells:
    """The table with words in some columns, which go along with the numbers that were there."""
    cells = X.astype(object)
    for place in range(X.shape[1]):
        if rng.random() < WORDED:
            way = rng.choice(list(WAYS), p=[chance for chance, _ in WAYS.values()])
            cells[:, place] = WAYS[way][1](rng, X[:, place])
    cells[np.isnan(X)] = None
    return cells


def _ranks(x: Array, number: int) -> Any:
    """Which of so many steps each value is on; (n,)."""
    _, ranks = np.unique(np.nan_to_num(x), return_inverse=True)
    return ranks * number // (ranks.max(initial=0) + 1)


def _objects(values: Any) -> Cells:
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def _few(rng: Rng, x: Array, number: int | None = None) -> Cells:
    number = int(rng.integers(1, 7)) if number is None else number
    labels = rng.choice(LABELS, size=number, replace=False).tolist()
    return _objects([labels[rank] for rank in _ranks(x, number)])


def _truths(rng: Rng, x: Array) -> Cells:
    false, true = ((False, True), ("False", "True"), ("no", "yes"), (np.False_, np.True_))[
        rng.integers(4)
    ]
    return _objects([true if rank else false for rank in _ranks(x, 2)])


def _whole_as_text(rng: Rng, x: Array) -> Cells:
    return _objects([str(rank) for rank in _ranks(x, 8)])


def _as_text(rng: Rng, x: Array) -> Cells:
    return _objects([repr(float(value)) for value in x])


def _with_odd_words(rng: Rng, x: Array) -> Cells:
    """Numbers, and words here and there, as text."""
    odd = rng.random(len(x)) < rng.choice([0.05, 0.5])
    pairs = zip(x, odd, strict=True)
    return _objects([str(rng.choice(LABELS)) if other else f"{value:g}" for value, other in pairs])


def _several_types(rng: Rng, x: Array) -> Cells:
    kinds = (float, str, lambda v: Decimal(repr(v)), lambda v: v > 0)
    return _objects([kinds[rng.integers(4)](float(value)) for value in x])


def _all_different(rng: Rng, x: Array) -> Cells:
    return _objects([f"Mr {number}" for number in rng.permutation(len(x))])


def _dates(rng: Rng, x: Array) -> Cells:
    days = [date(2024, 1, 1) + timedelta(int(rank)) for rank in _ranks(x, 300)]
    return _objects(days if rng.random() < 0.5 else [day.isoformat() for day in days])


def _other_things(rng: Rng, x: Array) -> Cells:
    thing = (b"bytes", ("a", "tuple"), ["a", "list"], 1 + 2j, {"a": 1})[rng.integers(5)]
    made = np.empty(len(x), dtype=object)
    for place in range(len(x)):
        made[place] = thing if rng.random() < 0.5 else "word"
    return made


WAYS: dict[str, tuple[float, Callable[[Rng, Array], Cells]]] = {
    "few": (0.5, _few),
    "two": (0.1, lambda rng, x: _few(rng, x, 2)),
    "truths": (0.12, _truths),
    "whole numbers as text": (0.06, _whole_as_text),
    "numbers as text": (0.05, _as_text),
    "with odd words": (0.05, _with_odd_words),
    "several types": (0.03, _several_types),
    "all different": (0.04, _all_different),
    "dates": (0.03, _dates),
    "other things": (0.02, _other_things),
}
