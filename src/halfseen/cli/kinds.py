"""``--kind``: what people say columns are."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer

from halfseen.cli.reading.command_table import all_names
from halfseen.cli.reading.known_names import check_known
from halfseen.io.coding import check_kinds, declared_kinds, takes_kinds
from halfseen.io.files import Files
from halfseen.io.open_files import Kinds
from halfseen.models import MODELS

KindOf = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=KIND",
        help="What a column is: continuous, count, categorical, ordinal, binary or ignored, such "
        "as 'stage=ordinal'. May be repeated; the others are found from the data.",
    ),
]
EXAMPLE = "Write the column, = and a kind, such as --kind stage=ordinal."


def said(given: Sequence[str] | None) -> dict[str, str]:
    """Kinds by column, as options say them; names may hold anything, and = too.

    >>> said(["tumour stage=ordinal", "a=b, c=count"])
    {'tumour stage': 'ordinal', 'a=b, c': 'count'}
    """
    found: dict[str, str] = {}
    for text in given or ():
        column, mark, kind = (part.strip() for part in text.rpartition("="))
        if not (mark and column):
            raise ValueError(f"--kind {text!r} does not say what is what. {EXAMPLE}")
        if found.setdefault(column, kind) != kind:
            raise ValueError(f"--kind says that '{column}' is {found[column]!r} and {kind!r}.")
    check_kinds(found)
    return found


def check_columns(kinds: dict[str, str], data: Files) -> None:
    """Refuse kinds of columns that a file does not have."""
    if kinds:
        check_known(list(kinds), all_names(data), data.name, "--kind")


def as_declared(kinds: dict[str, str]) -> Kinds | None:
    """How files are opened for a model that takes kinds; None if there is none."""
    able = next((kind for kind in MODELS.values() if takes_kinds(kind)), None)
    return None if able is None else partial(declared_kinds, kinds or "auto")
