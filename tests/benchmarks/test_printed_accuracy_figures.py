"""What is printed of the accuracy of fills is what was measured on cells that were never seen."""

import numpy as np
import pytest

from benchmarks import results_file
from benchmarks.printed_accuracy import Hiding, compared, hidden_cells, near


@pytest.fixture(scope="module")
def figures():
    if not (results_file.FOLDER / "printed_accuracy.json").exists():
        pytest.skip("printed accuracy has not been measured yet")
    return results_file.figures("printed_accuracy")


def test_printed_and_measured_accuracy_agree_for_nine_columns_of_ten(figures):
    assert figures["all"]["near to all"] >= 0.9
    assert len(figures) == 11  # ten tables, and all of them


def test_cells_are_hidden_where_another_row_misses_something():
    known = np.ones((400, 3), dtype=bool)
    known[:100, :2] = False
    hidden = hidden_cells(known, np.random.default_rng(0))
    np.testing.assert_array_equal(hidden[:, 0], hidden[:, 1])
    assert not hidden[:, 2].any()
    assert not hidden[:100].any()
    assert 50 < hidden[:, 0].sum() < 100


def test_times_are_judged_by_themselves_and_together():
    first = Hiding("a", True, 0.95, 0.9, np.array([0.0, 2.0]), np.array([0.0, 2.0]))
    second = first._replace(filled=np.array([2.0, 0.0]))
    one, other = compared([first, second])
    assert (one["measured"], other["measured"]) == (1.0, -3.0)
    assert one["measured on all"] == other["measured on all"] == -1.0
    assert near(one, "printed", "measured")
    assert not near(one, "printed", "measured on all")
