"""Sums: frozen dataclasses that ``+`` merges field by field."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, Self, TypeVar

import numpy as np

Rule = Callable[[Any, Any], Any]
"""What becomes of the values of a field in the sums of two sets of rows."""


class Addable(Protocol):
    """Anything that merges with ``+``: :class:`Sums`, numbers and arrays."""

    def __add__(self, other: Self) -> Self: ...


def merged_by(rule: Rule) -> Mapping[str, Rule]:
    """The ``metadata`` of a field that merges by a rule other than addition."""
    return {"merge": rule}


LOWEST, HIGHEST = merged_by(np.minimum), merged_by(np.maximum)
ALL, ANY = merged_by(operator.and_), merged_by(operator.or_)
JOINED = merged_by(lambda one, other: np.concatenate([one, other]))
CHAINED = merged_by(operator.add)  # tuples one after the other, rather than element by element
SHARED = merged_by(lambda one, _: one)  # what is the same for all rows, such as an origin


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows; those of no rows are neutral.

    Fields are added, tuples element by element, unless their ``metadata`` says how else they merge.

    >>> from dataclasses import field
    >>> @dataclass(frozen=True)
    ... class Range(Sums):
    ...     n: int
    ...     low: float = field(metadata=merged_by(min))
    >>> Range(2, 1.5) + Range(1, 0.5)
    Range(n=3, low=0.5)
    """

    def __add__(self, other: Self) -> Self:
        return _merged(self, other, operator.add)


@dataclass(frozen=True, eq=False)
class LargeSums(Sums):
    """Sums whose arrays ``+=`` changes in place, so that one copy fewer is held at a time."""

    def __iadd__(self, other: Self) -> Self:
        return _merged(self, other, operator.iadd)


MANY_TO_MERGE = 65536
"""Entries that may be kept unsorted, whatever their number when they were last merged."""


@dataclass(frozen=True, eq=False)
class KeyedSums(Sums):
    """Numbers by key, in lists that are joined; a key may be there several times."""

    n_features: int = field(metadata=SHARED)
    n_merged: int = field(metadata=merged_by(max))  # so many keys are known to differ

    def __add__(self, other: Self) -> Self:
        both = super().__add__(other)
        # Sorting costs more than keeping: do it when what was kept has doubled.
        return both.merged() if len(both) > 2 * both.n_merged + MANY_TO_MERGE else both

    def __len__(self) -> int:
        raise NotImplementedError

    def merged(self) -> Self:
        """The same with every key only once."""
        raise NotImplementedError


_S = TypeVar("_S", bound=Sums)


def _merged(one: _S, other: _S, add: Rule) -> _S:
    values = []
    for each in fields(one):
        mine, more = getattr(one, each.name), getattr(other, each.name)
        rule = each.metadata.get("merge")
        if rule is not None:
            values.append(rule(mine, more))
        elif isinstance(mine, tuple):
            values.append(tuple(map(add, mine, more)))
        else:
            values.append(add(mine, more))
    return type(one)(*values)
