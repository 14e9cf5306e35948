"""How numbers are written in cells of text, and what they are."""

from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from halfseen.data.arrays import Array
from halfseen.io.cells.missing_values import LIKELY_CODES, MissingCodes

_MONEY = "[$€£¥₹]|USD|EUR|GBP|CHF"
_APART = "[ \u00a0\u202f'’]"
PERCENT, PARENTHESES, BELOW, ABOVE = "%", "()", "<", ">"
SYMBOL_PATTERNS = {
    PERCENT: r"%$",
    PARENTHESES: r"^\(.*\)$",
    BELOW: r"^[<≤]",
    ABOVE: r"^[>≥]",
    "$": r"\$|USD",
    "€": r"€|EUR",
    "£": r"£|GBP",
    "¥": r"¥",
    "₹": r"₹",
    "CHF": r"CHF",
}
"""What is looked for, by what people call it."""
MONEY = ("$", "€", "£", "¥", "₹", "CHF")
STRIPPING_STEPS = (
    (r"^[−–‒]", r"-"),
    (r"^[<>≤≥]=?\s*", r""),
    (r"^\(\s*([^()+-]+?)\s*\)$", r"-\1"),
    (rf"^([+-]?)\s*({_MONEY})\s*", r"\1"),
    (rf"\s*({_MONEY})$", r""),
    (r"\s*%$", r""),
)
GROUPED = rf"^[+-]?\d{{1,3}}({_APART}\d{{3}})+([.,]\d+)?$"
ANY_SYMBOL = rf"[−–‒<>≤≥()%]|{_MONEY}|\d{_APART}\d"


def strip_symbols_in_arrow(cells: Any) -> Any:
    """An Arrow column of text without symbols such as % or $.

    >>> words = pa.array(["12 %", "$1,234", "(432)", "<0.5", "−3", "1 234 567", "red"])
    >>> strip_symbols_in_arrow(words).to_pylist()
    ['12', '1,234', '-432', '0.5', '-3', '1234567', 'red']
    """
    if not compute.any(compute.match_substring_regex(cells, ANY_SYMBOL)).as_py():
        return cells
    for pattern, instead in STRIPPING_STEPS:
        cells = compute.replace_substring_regex(cells, pattern, instead)
    grouped = compute.match_substring_regex(cells, GROUPED)
    return compute.if_else(grouped, compute.replace_substring_regex(cells, _APART, ""), cells)


def _halve_below_limit(cells: Any, values: Any) -> Any:
    """Half of the limit for cells such as "<0.5"."""
    below = compute.match_substring_regex(cells, SYMBOL_PATTERNS[BELOW])
    return compute.if_else(below, compute.divide(values, 2.0), values)


def null_likely_codes(cells: Any) -> Any:
    """An Arrow column of written numbers, null where a word must stand for a gap."""
    known = pa.array(sorted(LIKELY_CODES), pa.string())
    suspect = compute.is_in(compute.utf8_lower(cells), value_set=known)
    return compute.if_else(suspect, pa.scalar(None, pa.string()), cells)


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


class NumberFormat(Enum):
    """The number format of a column."""

    PLAIN = "plain"
    THOUSANDS = "thousands"
    DECIMAL_COMMAS = "decimal commas"
    DOTS_AND_COMMAS = "dots for thousands and decimal commas"
    TRUTHS = "truths"
    ANSWERS = "answers"

    @property
    def note(self) -> tuple[str, str] | None:
        """A note on the format; empty for plain numbers."""
        return _NOTES.get(self)


_COMMAS = {
    NumberFormat.THOUSANDS: "were read as thousands separators",
    NumberFormat.DECIMAL_COMMAS: "were read as decimal commas",
    NumberFormat.DOTS_AND_COMMAS: "were read as decimal commas, and dots as thousands separators",
}
_NOTES = {
    **{
        writing: (f"commas in it {as_}", f"commas in them {as_}")
        for writing, as_ in _COMMAS.items()
    },
    NumberFormat.ANSWERS: ("yes was read as 1 and no as 0", "yes was read as 1 and no as 0"),
}


def to_floats(column: Any, writing: NumberFormat, gaps: MissingCodes) -> Array:
    """An Arrow column as floats, NaN in the gaps; float32 stays as it is."""
    types = pa.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_text(column.type):
        cells = null_likely_codes(trim_and_null(column, gaps))
        column = _halve_below_limit(
            cells, _NUMBERS[writing](strip_symbols_in_arrow(cells)).cast(pa.float64())
        )
    if column.type not in (pa.float32(), pa.float64()):
        column = column.cast(pa.float64(), safe=False)  # large integers lose digits, as in NumPy
    return gaps.opened(column.to_numpy(zero_copy_only=False))


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text."""
    return bool(types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view")


def trim_and_null(column: Any, gaps: MissingCodes) -> Any:
    """Trimmed text, null where it stands for a gap."""
    cells = compute.utf8_trim_whitespace(column.cast(pa.string()))
    empty = compute.is_in(cells, value_set=pa.array(gaps.words, pa.string()))
    return compute.if_else(compute.fill_null(empty, True), pa.scalar(None, pa.string()), cells)


def _without(thousands: str, decimal: str) -> Any:
    def numbers(cells: Any) -> Any:
        bare = compute.replace_substring(cells, thousands, "") if thousands else cells
        return compute.replace_substring(bare, decimal, ".") if decimal else bare

    return numbers


def _matching(pattern: str) -> Any:
    def truths(cells: Any) -> Any:
        return compute.match_substring_regex(cells, pattern)

    return truths


SEPARATORS = {
    NumberFormat.PLAIN: ("", ""),
    NumberFormat.THOUSANDS: (",", ""),
    NumberFormat.DECIMAL_COMMAS: ("", ","),
    NumberFormat.DOTS_AND_COMMAS: (".", ","),
}
"""What separates thousands, if anything does, and what stands for the decimal point."""
TRUE = {NumberFormat.TRUTHS: "^(?i:true|1)$", NumberFormat.ANSWERS: "^(?i:yes|y)$"}
_NUMBERS = {
    **{writing: _without(*marks) for writing, marks in SEPARATORS.items()},
    **{writing: _matching(pattern) for writing, pattern in TRUE.items()},
}


def parse_plain(column: Any, gaps: MissingCodes) -> Array | None:
    """Text as numbers, if all cells are plain numbers or empty; else None."""
    try:
        return np.asarray(gaps.opened(column.cast(pa.float64()).to_numpy(zero_copy_only=False)))
    except pa.ArrowInvalid:
        return None
