"""A learned model in words."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from halfseen.core.arrays import Array


class Column(NamedTuple):
    """How a feature is shown: its unit, and what is typical of it."""

    name: str
    unit: str
    typical: float
    spread: float
    digits: int


def describe_groups(
    shares: Array, scores: Array, columns: Sequence[Column], members: str
) -> Iterator[str]:
    """Lines on each group, most common first: how common it is and what stands out.

    ``scores`` (k, d) are the groups' means in spreads from typical.
    """
    for rank, group in enumerate(np.argsort(-shares), start=1):
        yield f"## Group {rank}: {shares[group]:.0%} of {members}"
        yield ""
        standing_out = [
            d for d in np.argsort(-np.abs(scores[group])) if _stands_out(scores[group][d])
        ]
        if not standing_out:
            yield "Nothing stands out: every measurement is about typical."
        for d in standing_out:
            yield f"- {_difference(columns[d], scores[group][d])}"
        yield ""


def describe_weights(weights: Array, observed: Array, columns: Sequence[Column]) -> Iterator[str]:
    """Lines on how much each feature counted, and why some counted less."""
    full = [column.name for column, weight in zip(columns, weights, strict=True) if weight >= 0.95]
    if full:
        yield f"- In full, being known for (nearly) every row: {', '.join(full)}."
    for d in np.argsort(-weights):
        if weights[d] < 0.95:
            yield (
                f"- {columns[d].name}: weight {weights[d]:.2f}, because it is known for only "
                f"{observed[d]:.0%} of rows and what is known of it is that much less certain."
            )


def _stands_out(score: float) -> bool:
    return bool(abs(score) >= 1)


def _difference(column: Column, score: float) -> str:
    degree = "much " if abs(score) >= 3 else "" if abs(score) >= 2 else "somewhat "
    direction = "higher" if score > 0 else "lower"
    value = column.typical + column.spread * score
    return (
        f"{column.name} {degree}{direction} than typical: {value:.{column.digits}f} {column.unit} "
        f"(typical {column.typical:.{column.digits}f})"
    )
