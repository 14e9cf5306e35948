"""Text that a spreadsheet would run: a name such as ``=cmd|...`` is as good as a program."""

import re
from typing import Any

from halfseen.io.cells.number_formats import PLAIN, is_text

FORMULA = r"^[=+\-@\t\r]"


def without_formulas(table: Any) -> Any:
    """An Arrow table with an apostrophe before names and cells of text that begin like a formula.

    Numbers stay as they are, also such as are written as text.
    """
    names = [_harmless_name(name) for name in table.column_names]
    return type(table).from_arrays([_harmless(column) for column in table.columns], names=names)


def _harmless_name(name: str) -> str:
    return f"'{name}" if re.match(FORMULA, name) and not re.match(PLAIN, name) else name


def _harmless(column: Any) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not is_text(column.type):
        return column
    column = column.cast(pa.string())
    formula = compute.match_substring_regex(column, FORMULA)
    number = compute.match_substring_regex(column, PLAIN)
    marked = compute.binary_join_element_wise("'", column, "")
    return compute.if_else(compute.and_not(formula, number), marked, column)
