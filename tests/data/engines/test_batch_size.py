"""Batches are as large as the memory allows and no larger than is fast."""

import pytest

from halfseen.data.engines.batched import BYTES_AN_ENTRY, MOST_ENTRIES, rows_a_batch


@pytest.mark.parametrize("memory", [0.001, 1, 64, 256])
@pytest.mark.parametrize("n_columns", [1, 50, 1000])
@pytest.mark.parametrize("n_threads", [1, 2, 16])
def test_batches_in_flight_fit_in_the_memory_or_are_single_rows(memory, n_columns, n_threads):
    n_rows = rows_a_batch(memory, n_columns, n_threads)
    taken = n_rows * n_columns * BYTES_AN_ENTRY * (n_threads + 2)
    assert taken <= memory * 1e6 or n_rows == 1


def test_more_memory_than_is_fast_is_not_used():
    assert rows_a_batch(1e6, 4, 2) == MOST_ENTRIES // 4


def test_a_table_without_columns_has_batches_too():
    assert rows_a_batch(1, 0, 1) >= 1
