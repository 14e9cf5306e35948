"""Files that hold several tables, of which one is learned from."""

from collections.abc import Sequence
from pathlib import Path

from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted

MOST_NAMED = 12


def the_one(file: Path, known: Sequence[str], asked: str | None, what: str = "tables") -> str:
    """The table that is asked for, or the only one."""
    named = quoted(known, range(len(known)), MOST_NAMED)
    if asked is not None and asked not in known:
        raise DataError(f"{file.name} has no table '{asked}'. It has {named or 'none'}.")
    if asked is not None:
        return asked
    if not known:
        raise DataError(f"{file.name} holds no table. Give a file with one.")
    if len(known) > 1:
        raise DataError(
            f"{file.name} holds several {what}: {named}. Say which one with table={known[0]!r}."
        )
    return known[0]
