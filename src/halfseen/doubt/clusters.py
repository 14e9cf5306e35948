"""Which rows depend on each other, as users say it."""

from typing import Any

import numpy as np

from halfseen.rows.bins import Bins
from halfseen.rows.rows import Rows
from halfseen.rows.sampled import sequence_of

FEWEST_GROUPS = 10


def bins_for(groups: Any, rows: Rows, sample_weight: Any = None) -> Bins:
    """Bins of the rows, or of whole groups if ``groups`` (n,) has a label for each row.

    Rows that follow each other are in the bins of their sequences.

    Rows of no weight are not among ``rows``, but have their labels.
    """
    if groups is None:
        return Bins.of_sequences(sequence_of(rows)) if rows.sequenced else _of_rows(rows)
    labels = np.asarray(groups)
    place = getattr(rows, "place", None)
    n_rows = rows.accumulate(len) if sample_weight is None else len(sample_weight)
    n_rows = n_rows if place is None else len(place)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"groups must hold one label a row, {n_rows} in all. Got an array of shape "
            f"{labels.shape} instead."
        )
    if sample_weight is not None:
        labels = labels[np.asarray(sample_weight) > 0]
    if any(map(_is_missing, labels.tolist())):
        raise ValueError(
            "Some labels in groups are missing. Give rows that belong to no group a label of "
            "their own."
        )
    bins = Bins.of_groups(labels if place is None else _in_place(labels, place, rows))
    if bins.n < FEWEST_GROUPS:
        raise ValueError(
            f"groups has {bins.n} different labels, too few to tell how much groups differ. It "
            f"needs at least {FEWEST_GROUPS}; leave groups out if rows are independent."
        )
    return bins


def _in_place(labels: Any, place: Any, rows: Rows) -> Any:
    """Labels of rows that were put in order: those between have that of the row before them."""
    numbers = np.zeros(rows.accumulate(len), dtype=np.intp)
    numbers[place] = np.arange(len(place))
    given = np.zeros(len(numbers), dtype=np.intp)
    given[place] = place
    return labels[numbers[np.maximum.accumulate(given)]]


def _of_rows(rows: Rows) -> Bins:
    return Bins.of_rows(rows.accumulate(len))


def _is_missing(label: Any) -> bool:
    """None, NaN, and what will not even say whether it equals itself, as pandas' NA."""
    same = label == label
    return label is None or not isinstance(same, bool | np.bool_) or not same
