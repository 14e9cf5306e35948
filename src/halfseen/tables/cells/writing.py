"""How numbers are written in cells of text, and what they are."""

from enum import Enum
from typing import Any

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.tables.cells.gap_words import Gaps

NUMBER = r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf|infinity))"
WHOLE = r"^[+-]?\d+$"
TRUTH = "true|True|TRUE|false|False|FALSE"
PLAIN = rf"^{NUMBER}$"
WITH_THOUSANDS = rf"^({NUMBER}|[+-]?\d{{1,3}}(,\d{{3}})+(\.\d+)?)$"
WITH_DECIMAL_COMMAS = rf"^({NUMBER}|[+-]?\d*,\d+([eE][+-]?\d+)?)$"
TRUTHS = f"^({TRUTH}|0|1)$"
TRUTH_WORDS = f"^({TRUTH})$"
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
DATES = rf"^(\d{{4}}-\d{{2}}-\d{{2}}([ T]{_TIME} ?(Z|[+-]\d{{2}}:?\d{{2}})?)?|{_TIME})$"


class Writing(Enum):
    """How the cells of a column are written."""

    PLAIN = "plain"
    THOUSANDS = "thousands"
    DECIMAL_COMMAS = "decimal commas"
    TRUTHS = "truths"

    @property
    def note(self) -> str | None:
        """What people are told of the commas in it."""
        return _NOTES.get(self)


_NOTES = {
    Writing.THOUSANDS: "were read as thousands separators",
    Writing.DECIMAL_COMMAS: "were read as decimal commas",
}


def floats_of(column: Any, writing: Writing, gaps: Gaps) -> Array:
    """An Arrow column as floats, NaN in the gaps; float32 stays as it is."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_text(column.type):
        column = _NUMBERS[writing](tidy(column, gaps))
    if column.type not in (pa.float32(), pa.float64()):
        column = column.cast(pa.float64(), safe=False)  # large integers lose digits, as in NumPy
    return gaps.opened(column.to_numpy(zero_copy_only=False))


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds words."""
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view")


def tidy(column: Any, gaps: Gaps) -> Any:
    """Cells of text without spaces around them, null where they stand for a gap."""
    import pyarrow as pa
    from pyarrow import compute

    cells = compute.utf8_trim_whitespace(column.cast(pa.string()))
    empty = compute.is_in(cells, value_set=pa.array(gaps.words, pa.string()))
    return compute.if_else(compute.fill_null(empty, True), pa.scalar(None, pa.string()), cells)


def _with(mark: str) -> Any:
    def numbers(cells: Any) -> Any:
        import pyarrow as pa
        from pyarrow import compute

        return compute.replace_substring(cells, ",", mark).cast(pa.float64())

    return numbers


def _truths(cells: Any) -> Any:
    from pyarrow import compute

    return compute.match_substring_regex(cells, "^(?i:true|1)$")


_NUMBERS = {
    Writing.PLAIN: _with(""),
    Writing.THOUSANDS: _with(""),
    Writing.DECIMAL_COMMAS: _with("."),
    Writing.TRUTHS: _truths,
}


def parsed_as_they_stand(column: Any, gaps: Gaps) -> Array | None:
    """Cells of text as numbers, if each is a plain one or empty; None if some are not."""
    import pyarrow as pa

    try:
        return np.asarray(gaps.opened(column.cast(pa.float64()).to_numpy(zero_copy_only=False)))
    except pa.ArrowInvalid:
        return None
