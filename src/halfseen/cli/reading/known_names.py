"""Names in options, checked against those of the table."""

from collections.abc import Sequence
from difflib import get_close_matches

from halfseen.data.formatting import quoted


def check_known(names: Sequence[str], known: Sequence[str], file: str, option: str) -> None:
    """Refuse names that the table does not have."""
    every = set(known)
    unknown = [name for name in names if name not in every]
    if unknown:
        close = get_close_matches(unknown[0], known, n=1)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        raise ValueError(
            f"{option} names {quoted(unknown, range(len(unknown)))}, but {file} has "
            f"{quoted(known, range(len(known)), most=12)}.{hint}"
        )


def check_named(named: bool, file: str, option: str) -> None:
    """Refuse to ask for columns by name in a file that has only numbers for them."""
    if not named:
        raise ValueError(f"The columns of {file} have no names. Leave {option} out.")
