"""Which rows depend on each other, by a column of the file."""

from typing import Annotated

import typer

Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Rows with the same value here depend on each other, such as those of one patient.",
    ),
]
