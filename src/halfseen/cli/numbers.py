"""Columns of files as numbers, or the reason why they are none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.cli.files import GAPS
from halfseen.rows.arrays import Array

PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$"
DECIMAL_COMMA = r"^[+-]?\d*,\d+([eE][+-]?\d+)?$"
USUAL_GAPS = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", *GAPS)
MOSTLY = 0.5


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column as floats, NaN in the gaps; and how it was read, if not as it stands."""

    values: Array  # (n,)
    note: str | None = None


@dataclass(frozen=True)
class NotNumbers:
    """Why a column is left aside."""

    reason: str


def read_numbers(column: Any, missing: Sequence[str]) -> Numbers | NotNumbers:
    """An Arrow column as numbers, if it holds any."""
    import pyarrow as pa

    kind = column.type
    types = pa.types
    if types.is_null(kind):
        return Numbers(np.full(len(column), np.nan))
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return Numbers(_without(_floats(column), missing))
    if types.is_decimal(kind):
        return Numbers(_without(_floats(column.cast(pa.float64())), missing))
    if types.is_dictionary(kind):
        return read_numbers(column.cast(kind.value_type), missing)
    if types.is_temporal(kind):
        return NotNumbers("it holds dates or times")
    if _is_text(kind):
        return _from_text(column.cast(pa.string()), missing)
    return NotNumbers(f"it holds values of type {kind}")


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view")


def _floats(column: Any) -> Array:
    import pyarrow as pa

    return np.array(column.cast(pa.float64()).to_numpy(), dtype=float)


def _without(values: Array, missing: Sequence[str]) -> Array:
    """-999 and the like are gaps in files that hold numbers, too."""
    codes = [code for text in missing if (code := _number(text)) is not None]
    values[np.isin(values, codes)] = np.nan
    return values


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _from_text(column: Any, missing: Sequence[str]) -> Numbers | NotNumbers:
    import pyarrow as pa
    from pyarrow import compute

    cells = compute.utf8_trim_whitespace(column)
    gaps = compute.is_in(cells, value_set=pa.array([*USUAL_GAPS, *missing], pa.string()))
    cells = compute.if_else(compute.fill_null(gaps, True), pa.scalar(None, pa.string()), cells)
    known = len(cells) - cells.null_count
    for pattern, mark, note in _WRITINGS:
        fits = _matches(cells, f"{PLAIN}|{pattern}")
        if known and _count(fits) == known:
            numbers = compute.replace_substring(cells, ",", mark).cast(pa.float64())
            return Numbers(_without(_floats(numbers), missing), note)
    return _explained(cells, known)


_WRITINGS = (
    (PLAIN, "", None),
    (THOUSANDS, "", "commas in it were read as thousands separators"),
    (DECIMAL_COMMA, ".", "commas in it were read as decimal commas"),
)


def _explained(cells: Any, known: int) -> NotNumbers:
    from pyarrow import compute

    fits = _matches(cells, f"{PLAIN}|{THOUSANDS}")
    others = compute.unique(cells.filter(compute.invert(fits)).drop_null()).to_pylist()
    shown = ", ".join(repr(_short(text)) for text in others[:3])
    if known and _count(fits) > MOSTLY * known:
        values = ",".join(others[:3])
        return NotNumbers(
            f"{_count(fits):,} of its {known:,} values are numbers, but it holds {shown} too; if "
            f"that stands for a gap, use --missing-values '{values}'"
        )
    return NotNumbers(f"it holds text, such as {shown}")


def _matches(cells: Any, pattern: str) -> Any:
    from pyarrow import compute

    return compute.fill_null(compute.match_substring_regex(cells, pattern), False)


def _count(truths: Any) -> int:
    from pyarrow import compute

    return int(compute.sum(truths).as_py() or 0)


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:23]}…"
