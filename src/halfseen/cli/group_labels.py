"""Which rows depend on each other, by a column of the file."""

from typing import Annotated, Any

import numpy as np
import typer

from halfseen.cli.table import Table, check_known

Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Rows with the same value here depend on each other, such as those of one patient.",
    ),
]


def labels(table: Table, column: str | None) -> Any:
    """The values of a column of the file, one a row; None if no column is named."""
    if column is None:
        return None
    names = () if table.frame is None else tuple(table.frame.column_names)
    check_known([column], names, table.file, "--groups")
    return np.array(table.frame[column].to_pylist(), dtype=object)
