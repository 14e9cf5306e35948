"""How numbers are written in cells of text, and what they are."""

from enum import Enum
from typing import Any

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.tables.cells.dressed import halved_below, undressed, without_suspects
from halfseen.tables.cells.gap_words import Gaps

NUMBER = r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf|infinity))"
WHOLE = r"^[+-]?\d+$"
TRUTH = "true|True|TRUE|false|False|FALSE"
PLAIN = rf"^{NUMBER}$"
WITH_THOUSANDS = rf"^({NUMBER}|[+-]?\d{{1,3}}(,\d{{3}})+(\.\d+)?)$"
WITH_DECIMAL_COMMAS = rf"^({NUMBER}|[+-]?\d*,\d+([eE][+-]?\d+)?)$"
EUROPEAN = r"^[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$"
TRUTHS = f"^({TRUTH}|0|1)$"
TRUTH_WORDS = f"^({TRUTH})$"
ANSWERS = "^(?i:yes|no|y|n)$"
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
_MONTH = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})|"
    rf"\d{{1,2}}[ -]{_MONTH}[ -](\d{{4}}|\d{{2}})|{_MONTH} \d{{1,2}},? \d{{4}}"
)
DATES = rf"^(({_DATE})([ T]{_TIME} ?([AaPp][Mm]|Z|[+-]\d{{2}}:?\d{{2}})?)?|{_TIME})$"


class Writing(Enum):
    """How the cells of a column are written."""

    PLAIN = "plain"
    THOUSANDS = "thousands"
    DECIMAL_COMMAS = "decimal commas"
    DOTS_AND_COMMAS = "dots for thousands and decimal commas"
    TRUTHS = "truths"
    ANSWERS = "answers"

    @property
    def note(self) -> tuple[str, str] | None:
        """What people are told of it, alone and of several; nothing of what is plain."""
        return _NOTES.get(self)


_COMMAS = {
    Writing.THOUSANDS: "were read as thousands separators",
    Writing.DECIMAL_COMMAS: "were read as decimal commas",
    Writing.DOTS_AND_COMMAS: "were read as decimal commas, and dots as thousands separators",
}
_NOTES = {
    **{
        writing: (f"commas in it {as_}", f"commas in them {as_}")
        for writing, as_ in _COMMAS.items()
    },
    Writing.ANSWERS: ("yes was read as 1 and no as 0", "yes was read as 1 and no as 0"),
}


def floats_of(column: Any, writing: Writing, gaps: Gaps) -> Array:
    """An Arrow column as floats, NaN in the gaps; float32 stays as it is."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_text(column.type):
        cells = without_suspects(tidy(column, gaps))
        column = halved_below(cells, _NUMBERS[writing](undressed(cells)).cast(pa.float64()))
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


def _without(thousands: str, decimal: str) -> Any:
    def numbers(cells: Any) -> Any:
        from pyarrow import compute

        bare = compute.replace_substring(cells, thousands, "") if thousands else cells
        return compute.replace_substring(bare, decimal, ".") if decimal else bare

    return numbers


def _matching(pattern: str) -> Any:
    def truths(cells: Any) -> Any:
        from pyarrow import compute

        return compute.match_substring_regex(cells, pattern)

    return truths


MARKS = {
    Writing.PLAIN: ("", ""),
    Writing.THOUSANDS: (",", ""),
    Writing.DECIMAL_COMMAS: ("", ","),
    Writing.DOTS_AND_COMMAS: (".", ","),
}
"""What separates thousands, if anything does, and what stands for the decimal point."""
TRUE = {Writing.TRUTHS: "^(?i:true|1)$", Writing.ANSWERS: "^(?i:yes|y)$"}
_NUMBERS = {
    **{writing: _without(*marks) for writing, marks in MARKS.items()},
    **{writing: _matching(pattern) for writing, pattern in TRUE.items()},
}


def parsed_as_they_stand(column: Any, gaps: Gaps) -> Array | None:
    """Cells of text as numbers, if each is a plain one or empty; None if some are not."""
    import pyarrow as pa

    try:
        return np.asarray(gaps.opened(column.cast(pa.float64()).to_numpy(zero_copy_only=False)))
    except pa.ArrowInvalid:
        return None
