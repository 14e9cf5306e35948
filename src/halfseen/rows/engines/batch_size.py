"""How many rows to read at a time, by how much memory they may take."""

MEMORY = 256.0
"""MB that all batches in flight may take together, unless the user says otherwise."""

BYTES_AN_ENTRY = 48
"""Of a batch that is summed: as read, as floats, as doubles, and the products with its mask."""

MOST_ENTRIES = 1 << 20
"""Larger batches fall out of the cache and are slower, however much memory there is."""


def rows_a_batch(memory: float, n_columns: int, n_threads: int) -> int:
    """Rows of a batch such that one in each thread, one waiting and one being read fit.

    >>> rows_a_batch(memory=256, n_columns=50, n_threads=2)
    20971
    >>> rows_a_batch(memory=32, n_columns=50, n_threads=2)
    3333
    """
    entries = memory * 1e6 / BYTES_AN_ENTRY / (n_threads + 2)
    return max(int(min(entries, MOST_ENTRIES)) // max(n_columns, 1), 1)
