"""Sums of rows that are not available: add, save and continue them."""

import json
import os
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np

from halfseen.data.engines.precomputed import Flat, added
from halfseen.data.errors import DataError, ModelFileError
from halfseen.federated.plan import Plan
from halfseen.moments import symmetric_tensors
from halfseen.moments.moment_sums import MomentSums
from halfseen.persistence.atomic import write_whole
from halfseen.persistence.container import (
    INTERPRETING,
    SUMS,
    Values,
    check_start,
    first_line,
    pack,
    strict_json,
    unpack,
)

_SECTIONS = {"names", "plan", "library_version"}


@dataclass(frozen=True, eq=False)
class Stream:
    """Sums of rows, from batches of ``partial_fit`` or for a plan.

    Streams of the same features about the same origin add, so that parts of a table can be summed
    on different machines: by one plan, or each from :meth:`empty` of the first.

    Examples
    --------
    >>> import numpy as np
    >>> from halfseen import GaussianMixture, Stream
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4)) + 6 * rng.integers(2, size=(600, 1))
    >>> first = GaussianMixture(2).partial_fit(X[:300])
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     first.stream_.save(f"{folder}/first.sums")
    ...     later = GaussianMixture(2).partial_fit(Stream.load(f"{folder}/first.sums"))
    >>> later.partial_fit(X[300:]).stream_.n_rows
    600.0
    """

    names: tuple[str, ...]
    sums: MomentSums
    plan: Plan | None = None
    rounds: tuple[Flat, ...] = ()  # what was asked for after the first sums
    model: bytes | None = None  # the file of the model that the last round was summed at
    n_left_out: int = 0  # rows that were not summed, as they could be told; not in the file

    @property
    def n_rows(self) -> float:
        """The weighted number of non-empty rows."""
        return self.sums.n_rows

    def empty(self) -> Self:
        """A stream of no rows, to which the same features can be added."""
        sums = self.sums
        none = MomentSums.none(sums.origin, sums.unit, triples=sums.triples)
        return type(self)(self.names, replace(none, levels=np.zeros_like(sums.levels)), self.plan)

    def __add__(self, other: Self) -> Self:
        if self.names != other.names:
            raise DataError(
                "These streams have other features: "
                f"{_first_difference(self.names, other.names)}. Sum each by itself."
            )
        if self.plan != other.plan:
            raise DataError(
                "These sums are of different plans and cannot be added. Have all places sum their "
                "rows by one plan."
            )
        if not np.array_equal(self.sums.origin, other.sums.origin):
            raise DataError(
                "These streams are summed about different origins and cannot be added. Start all "
                "but the first from first.stream_.empty()."
            )
        if self.sums.third.shape != other.sums.third.shape:
            raise DataError(
                "Only one of these streams holds sums over triples of columns. Sum both again."
            )
        if not self.rounds and not other.rounds:
            return replace(self, sums=self.sums + other.sums)
        if not self._same_before(other):
            raise DataError(
                "These sums were not asked for by the same round, and cannot be added. Sum again "
                "at what the last round led to, in all places."
            )
        last = added(self.rounds[-1], other.rounds[-1])
        sums = self.sums if self.model is None else self.sums + other.sums
        return replace(self, sums=sums, rounds=(*self.rounds[:-1], last))

    def _same_before(self, other: Self) -> bool:
        """Whether two streams agree on all but the last round.

        At a model that is the model; before there is one, the sums of all places so far.
        """
        if len(self.rounds) != len(other.rounds) or self.model != other.model:
            return False
        shapes = [{name: one.shape for name, one in s.rounds[-1].items()} for s in (self, other)]
        before = [replace(s, rounds=s.rounds[:-1])._arrays() for s in (self, other)]
        known = self.model is not None or all(
            np.array_equal(one, before[1][name]) for name, one in before[0].items()
        )
        return shapes[0] == shapes[1] and known

    def _arrays(self) -> dict[str, Values]:
        """All arrays, by their names in the file."""
        arrays: dict[str, Values] = {
            f"first.{one.name}": np.asarray(getattr(self.sums, one.name))
            for one in fields(self.sums)
        }
        for number, sums in enumerate(self.rounds, start=1):
            arrays |= {f"round {number}.{name}": np.asarray(one) for name, one in sums.items()}
        if self.model is not None:
            arrays["model"] = np.frombuffer(self.model, np.uint8)
        return arrays

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the sums to one file, whole or not at all."""
        write_whole(path, self.dumped(), overwrite=overwrite)

    def dumped(self) -> bytes:
        """The content of the file."""
        metadata = {
            "library_version": version("halfseen"),
            "names": json.dumps(list(self.names)),
            "plan": "null" if self.plan is None else self.plan.to_json(),
        }
        return pack(metadata, self._arrays(), SUMS)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read sums that :meth:`save` wrote."""
        name = os.fspath(path)
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            start = file.read(256)
            if start[:2] == b"PK":
                raise DataError(
                    f"{name} holds the sums of a stream as halfseen 0.1 kept them, which are not "
                    "enough for moments about the mean. Sum the rows again."
                )
            check_start(start, size, name, SUMS)
            file.seek(0)
            return cls.read(file.read(size), name)

    @classmethod
    def read(cls, data: bytes, name: str) -> Self:
        """The sums in the file ``name`` with these contents."""
        metadata, arrays = unpack(data, name, SUMS)
        unknown = sorted(set(metadata) - _SECTIONS)
        if unknown:
            raise ModelFileError(
                f"{name} holds section '{unknown[0]}', which this version of halfseen does not "
                f"know; it was written by version {metadata.get('library_version', '?')}. Upgrade "
                "halfseen."
            )
        try:
            return cls._assembled(metadata, arrays)
        except INTERPRETING as error:
            raise ModelFileError(
                f"{name} does not hold whole sums: {first_line(error)}. It was written by halfseen "
                f"{metadata.get('library_version', '?')}; sum the rows again, or upgrade halfseen."
            ) from error

    @classmethod
    def _assembled(cls, metadata: dict[str, str], arrays: dict[str, Values]) -> Self:
        names = strict_json(metadata["names"])
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            raise ValueError("it does not name its columns")
        plan = None
        if metadata["plan"] != "null":
            plan = Plan.from_json(metadata["plan"], "its plan")
        model = arrays.pop("model", None)
        parts: dict[str, dict[str, Values]] = {}
        for name, values in arrays.items():
            part, _, own = name.partition(".")
            parts.setdefault(part, {})[own] = values
        sums = _moment_sums(parts.pop("first"), len(names))
        rounds = tuple(parts.pop(f"round {i}") for i in range(1, len(parts) + 1))
        for each in rounds:
            if not all(one.dtype == float and np.isfinite(one).all() for one in each.values()):
                raise ValueError("a round of it holds what is no number")
        if plan is not None:
            _check_planned(sums, tuple(names), plan)
        if plan is None or plan.noise is None:
            _check_counts(sums)
        return cls(tuple(names), sums, plan, rounds, None if model is None else _bytes_of(model))


def _bytes_of(model: Values) -> bytes:
    if model.dtype != np.uint8 or model.ndim != 1:
        raise ValueError("its model is not the contents of a file")
    return model.tobytes()


def _moment_sums(stored: dict[str, Values], d: int) -> MomentSums:
    """The first sums, if they are laid out as they should be and can be."""
    if stored.keys() != {one.name for one in fields(MomentSums)}:
        raise ValueError("it lacks sums, or has others than there are")
    for name, own in stored.items():
        kind, *shapes = _FORMS.get(name, (np.float64, "d"))
        fits = own.shape in [_shape(one, d) for one in shapes] if shapes else own.ndim == 1
        if own.dtype != kind or not fits:
            raise ValueError(f"'{name}' of it is not of {d} columns")
        if np.isnan(own).any() or (name not in _ENDS and not np.isfinite(own).all()):
            raise ValueError(f"'{name}' of it holds what is no number")
    plain: dict[str, Any] = {n: one if one.ndim else one.item() for n, one in stored.items()}
    sums = MomentSums(**plain)
    if not (sums.unit > 0).all():
        raise ValueError("a unit of it is not above zero")
    if not np.allclose(sums.second, sums.second.T, atol=1e-9 * np.abs(sums.second).max(initial=1)):
        raise ValueError("its sums over pairs of columns are not those of pairs")
    return sums


_ENDS = ("minimum", "maximum")
_FORMS: dict[str, tuple[Any, ...]] = {
    "n_rows": (np.float64, ""),
    "n_empty": (np.int64, ""),
    "whole": (np.bool_, "d"),
    "two_valued": (np.bool_, "d"),
    "second": (np.float64, "2d,2d"),
    "third": (np.float64, "3", "0"),
    "levels": (np.float64,),
}
"""What the first sums are made of, with their sides; what is not here is one number a column."""


def _shape(form: str, d: int) -> tuple[int, ...]:
    sides = {
        "": (),
        "d": (d,),
        "2d,2d": (2 * d, 2 * d),
        "3": (symmetric_tensors.size(2 * d),),
        "0": (0,),
    }
    return sides[form]


def _check_counts(sums: MomentSums) -> None:
    """Refuse impossible counts, which noise may cause."""
    count, slack = sums.count, 1e-6 * (1 + abs(sums.n_rows))
    own = count.diagonal()
    wrong = (count < -slack) | (count > np.minimum.outer(own, own) + slack)
    if wrong.any() or (own > sums.n_rows + slack).any() or (sums.levels < -slack).any():
        raise ValueError("it counts rows as no table can")


def _check_planned(sums: MomentSums, names: tuple[str, ...], plan: Plan) -> None:
    same = (
        names == plan.names
        and np.array_equal(sums.origin, plan.each("origin"))
        and np.array_equal(sums.unit, plan.each("scale"))
        and sums.levels.size == sum(len(column.levels) for column in plan.columns)
    )
    if not same:
        raise ValueError("its sums are not those of its plan")


def _first_difference(one: tuple[str, ...], other: tuple[str, ...]) -> str:
    for a, b in zip(one, other, strict=False):
        if a != b:
            return f"{a!r} where the other has {b!r}"
    return f"{len(one)} where the other has {len(other)}"
