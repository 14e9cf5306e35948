"""What became of each column of a table that was read, for a model to keep."""

from collections.abc import Iterable, Sequence
from typing import Any

from halfseen.rows.feature_sums import FeatureSums
from halfseen.tables.coding import LEFT_OUT, Coding
from halfseen.tables.kinds import Column, varying

DECLARED = "It is declared not to be used."


def keep_columns(estimator: Any, columns: Iterable[Column]) -> None:
    """Let an estimator know what became of the columns."""
    estimator._columns_read = tuple(columns)


def columns_kept(estimator: Any, names: tuple[str, ...], sums: FeatureSums) -> Coding | None:
    """What became of the columns of the last table, with ``sums`` of those that are read.

    None if they are counts of sparse matrices. If nothing was found at the door, all are numbers.
    """
    read: Sequence[Column] | None = vars(estimator).pop("_columns_read", None)
    if read == ():
        return None
    if read is None:
        read = [Column(name, "continuous", True) for name in names]
    coding = getattr(estimator, "coding_", None)
    pairs = () if coding is None else zip(coding.names, coding.labels, strict=True)
    return kept(varying(read, names, sums, {name for name, labels in pairs if labels}))


def kept(columns: Iterable[Column]) -> Coding:
    """What became of columns, for a model to keep."""
    every = tuple(columns)
    return Coding(
        tuple(one.name for one in every),
        tuple(one.kind if one.used or one.kind in LEFT_OUT else "ignored" for one in every),
        ((),) * len(every),
        tuple(one.sentence or ("" if one.used else DECLARED) for one in every),
    )
