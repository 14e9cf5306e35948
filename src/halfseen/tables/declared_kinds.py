"""What users declare the columns of a table to be."""

from collections.abc import Iterable, Mapping
from typing import Any

from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted
from halfseen.tables.coding import DECLARED

MOST_NAMED = 12
"""Columns in a sentence that says which there are."""


def takes_kinds(estimator: Any) -> bool:
    """Whether an estimator takes columns of words, and kinds of columns."""
    return bool(getattr(estimator, "takes_kinds", False))


def check_kinds(kinds: Any) -> None:
    """Refuse what is no declaration of kinds, whatever the table."""
    if isinstance(kinds, str) and kinds == "auto":
        return
    if not isinstance(kinds, Mapping):
        raise ValueError(
            f"The 'kinds' parameter must be 'auto' or a dict from columns to kinds. Got {kinds!r} "
            "instead."
        )
    for column, kind in kinds.items():
        if kind not in DECLARED:
            every = ", ".join(map(repr, DECLARED))
            raise ValueError(f"kinds says that '{column}' is {kind!r}. A column is one of {every}.")


def declared_kinds(estimator: Any, names: Iterable[str]) -> dict[str, str]:
    """The declared kinds by name, of columns that the table has; columns may go by number."""
    kinds = estimator.kinds
    check_kinds(kinds)
    if isinstance(kinds, str):
        return {}
    declared, known = {str(column): str(kind) for column, kind in kinds.items()}, tuple(names)
    unknown = [column for column in declared if column not in set(known)]
    if unknown:
        raise DataError(
            f"kinds names {quoted(unknown, range(len(unknown)))}, which the table does not have. "
            f"It has {quoted(known, range(len(known)), MOST_NAMED)}."
        )
    return declared
