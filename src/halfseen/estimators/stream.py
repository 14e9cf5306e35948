"""What is kept of a stream of batches: it can be added, saved and taken up again."""

import zipfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np

from halfseen.moments.origin_sums import OriginSums
from halfseen.moments.pairs import PairSums
from halfseen.moments.thirds.third import ThirdSums
from halfseen.rows.errors import DataError
from halfseen.rows.feature_sums import FeatureSums
from halfseen.store.atomic import whole_file

VERSION = 1
_PARTS = {"features": FeatureSums, "pairs": PairSums, "thirds": ThirdSums}


@dataclass(frozen=True, eq=False)
class Stream:
    """Sums of all rows that ``partial_fit`` has seen; about d³/3 numbers, however many rows.

    Streams of the same features about the same origin add, so that parts of a table can be summed
    on different machines: start each from :meth:`empty` of the first.

    Examples
    --------
    >>> import numpy as np
    >>> from halfseen import GaussianMixture, Stream
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4)) + 6 * rng.integers(2, size=(600, 1))
    >>> first = GaussianMixture(2).partial_fit(X[:300])
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     first.stream_.save(f"{folder}/sums.npz")
    ...     later = GaussianMixture(2).partial_fit(Stream.load(f"{folder}/sums.npz"))
    >>> later.partial_fit(X[300:]).stream_.n_rows
    600.0
    """

    names: tuple[str, ...]
    sums: OriginSums

    @property
    def n_rows(self) -> float:
        """Rows in which something was observed, by weight."""
        return self.sums.features.n_rows

    def empty(self) -> Self:
        """A stream of no rows, to which the same features can be added."""
        return type(self)(self.names, OriginSums.none(self.sums.origin))

    def __add__(self, other: Self) -> Self:
        if self.names != other.names:
            raise DataError(
                "These streams have other features: "
                f"{_first_difference(self.names, other.names)}. Sum each by itself."
            )
        if not np.array_equal(self.sums.origin, other.sums.origin):
            raise DataError(
                "These streams are summed about different origins and cannot be added. Start all "
                "but the first from first.stream_.empty()."
            )
        return type(self)(self.names, self.sums + other.sums)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the sums to an NPZ file, whole or not at all."""
        target = Path(path)
        if target.exists() and not overwrite:
            raise FileExistsError(f"{target} exists. Use overwrite=True to replace it.")
        arrays: dict[str, Any] = {
            "version": VERSION,
            "names": np.array(self.names),
            "origin": self.sums.origin,
        }
        for part, kind in _PARTS.items():
            sums = getattr(self.sums, part)
            arrays |= {f"{part}.{field.name}": getattr(sums, field.name) for field in fields(kind)}
        with whole_file(target, overwrite=overwrite) as file:
            np.savez(file, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read sums that :meth:`save` wrote."""
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as members:
                arrays = {name: members[name] for name in members.files}
            version = int(arrays["version"])
        except _DAMAGE as error:
            raise _damaged(path) from error
        if version != VERSION:
            raise DataError(
                f"{path} is of version {version}, and this halfseen reads {VERSION}. Use the "
                "halfseen that wrote it, or a newer one."
            )
        # Streams of 0.1 do not say which features have two values.
        n_features = len(arrays.get("names", ()))
        arrays.setdefault("features.two_valued", np.zeros(n_features, bool))
        try:
            parts = {
                part: kind(**{f.name: _plain(arrays[f"{part}.{f.name}"]) for f in fields(kind)})
                for part, kind in _PARTS.items()
            }
            return cls(tuple(map(str, arrays["names"])), OriginSums(arrays["origin"], **parts))
        except _DAMAGE as error:
            raise _damaged(path) from error


_DAMAGE = (KeyError, EOFError, TypeError, ValueError, zipfile.BadZipFile)


def _damaged(path: str | Path) -> DataError:
    return DataError(
        f"{path} does not hold the sums of a stream, or is damaged. Sum the rows again."
    )


def _plain(value: Any) -> Any:
    """Numbers as numbers, arrays as they are."""
    return value if value.ndim else value.item()


def _first_difference(one: tuple[str, ...], other: tuple[str, ...]) -> str:
    for a, b in zip(one, other, strict=False):
        if a != b:
            return f"{a!r} where the other has {b!r}"
    return f"{len(one)} where the other has {len(other)}"
