"""Rows that are not available: sums that were computed before answer for them.

A fit asks rows for one sum after the other, and what it asks next depends on nothing but the
answers so far. So whoever knows the answers can ask the next question, and whoever holds rows can
answer it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import compress
from typing import Any, Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.rows import Block, Rows, S

Flat = Mapping[str, Array]
"""Arrays by name. Numbers are arrays without a side."""


def _flattened(sums: Any) -> dict[str, Array]:
    """All numbers of a sums object, by their path in it."""
    return dict(_each(sums, ""))


def _each(part: Any, name: str) -> Iterator[tuple[str, Array]]:
    if is_dataclass(part):
        inside = [(one.name, getattr(part, one.name)) for one in fields(part)]
    elif isinstance(part, tuple):
        inside = [(str(number), one) for number, one in enumerate(part)]
    else:
        yield name, np.asarray(part, dtype=float)
        return
    for own, one in inside:
        yield from _each(one, f"{name}.{own}" if name else own)


def added(one: Flat, other: Flat) -> dict[str, Array]:
    """The sums of the rows of both."""
    return {name: values + other[name] for name, values in one.items()}


def laid_out(flat: Flat, like: Any) -> Any:
    """Sums laid out like others, with the numbers ``flat``; ValueError if they do not fit.

    >>> laid_out({"": np.array(3.0)}, 0.0)
    3.0
    """
    wanted = _flattened(like)
    if {name: one.shape for name, one in flat.items()} != {n: o.shape for n, o in wanted.items()}:
        names = ", ".join(f"{name}{list(one.shape)}" for name, one in sorted(wanted.items()))
        raise ValueError(f"its sums are not those that are asked for ({names})")
    return _filled(flat, like, "")


def _filled(flat: Flat, like: Any, name: str) -> Any:
    def below(own: str) -> str:
        return f"{name}.{own}" if name else own

    if is_dataclass(like) and not isinstance(like, type):
        parts = {o.name: _filled(flat, getattr(like, o.name), below(o.name)) for o in fields(like)}
        return replace(like, **parts)
    if isinstance(like, tuple):
        return tuple(_filled(flat, one, below(str(i))) for i, one in enumerate(like))
    return flat[name] if isinstance(like, np.ndarray) else type(like)(flat[name].item())


class MoreSumsNeeded(DataError):
    """Raised if the next sum was not computed yet."""


class NextSums(Exception):
    """The next sum, computed from rows that are here."""

    def __init__(self, sums: Flat):
        super().__init__()
        self.sums = sums


@dataclass(eq=False)
class Answers:
    """All sums computed so far, in the order in which the fit asks for them."""

    known: tuple[Flat, ...]
    n_asked: int = field(default=0, init=False)

    def next(self) -> Flat | None:
        """The next sum, if it is known."""
        self.n_asked += 1
        return self.known[self.n_asked - 1] if self.n_asked <= len(self.known) else None


@dataclass(frozen=True, eq=False)
class SummedRows(Rows):
    """Stands for rows by known sums; the first unknown sum comes from rows that are ``here``.

    What only looks at the kind of values that columns hold sees the ``stand_in``, which holds no
    row of anybody.
    """

    names: tuple[str, ...]
    answers: Answers = field(default_factory=lambda: Answers(()))
    stand_in: Rows | None = None
    here: Rows | None = None

    def select(self, features: Mask) -> Self:
        return replace(
            self,
            names=tuple(compress(self.names, features)),
            stand_in=None if self.stand_in is None else self.stand_in.select(features),
            here=None if self.here is None else self.here.select(features),
        )

    def recentred(self, origin: Array) -> Self:
        """The same, measured from ``origin`` (d,)."""
        return replace(self, here=None if self.here is None else self.here.recentred(origin))

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        answer = self.answers.next()
        none = summarise(Block.from_table(np.empty((0, len(self.names)))))
        if answer is not None:
            return self._answered(answer, none)
        if self.here is not None:
            flat = _flattened(self.here.accumulate(summarise))
            laid_out(flat, none)  # what grows with the rows holds rows, and does not leave
            raise NextSums(flat)
        raise MoreSumsNeeded(
            "The rows of a stream are gone and cannot be gone over again. Give fit() batches that "
            "can be read again, such as files or a list of arrays; where rows are elsewhere, have "
            "them summed once more: summed(X, plan, at=sums), or 'halfseen sums --at'."
        )

    def _answered(self, answer: Flat, none: S) -> S:
        try:
            found: S = laid_out(answer, none)
        except ValueError as error:
            raise DataError(
                f"What was summed in round {self.answers.n_asked + 1} is not what is asked there: "
                f"{error}. Sum again, in all places."
            ) from error
        return found
