"""How large a table may say that it is."""

from halfseen.rows.errors import DataError

MOST_COLUMNS = 1 << 24
"""Each has a name: a file of a few bytes that claims to have more would fill the memory."""
MOST_ROWS = 1 << 31
"""Of a sparse matrix, which is in memory as a whole, rows in which nothing is stored too."""


def check_width(name: str, n_columns: int) -> None:
    """Refuse a table of more columns than anybody measures."""
    if n_columns > MOST_COLUMNS:
        raise DataError(
            f"{name} says that it has {n_columns:,} columns, and at most {MOST_COLUMNS:,} are "
            "read. Check that rows and columns are not interchanged, or leave columns out."
        )


def check_size(name: str, n_rows: int, n_columns: int) -> None:
    """Refuse a sparse matrix of more rows or columns than memory holds."""
    check_width(name, n_columns)
    if n_rows > MOST_ROWS:
        raise DataError(
            f"{name} says that it has {n_rows:,} rows, and at most {MOST_ROWS:,} are read of a "
            "sparse matrix. Write its rows to Parquet files."
        )
