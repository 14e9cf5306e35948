"""What every format of files can do."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from halfseen.rows.batched import Piece
from halfseen.rows.errors import DataError


class Header(NamedTuple):
    """The columns of a file."""

    names: tuple[str, ...]
    text: dict[str, str]  # what those hold that do not hold numbers
    aside: frozenset[str] = frozenset()  # an index stored with a table: not one of its features
    named: bool = True  # or numbered


class Format(Protocol):
    """A way to store the rows of a table."""

    def header(self, file: Path) -> Header:
        """The columns of a file."""

    def pieces(self, file: Path, names: tuple[str, ...], n_rows: int) -> Iterator[Piece]:
        """The rows of a file in order, columns as named, at most ``n_rows`` rows at a time."""

    def parts(self, file: Path) -> "list[Part]":
        """The parts of a file that can be read on their own."""


class Part(NamedTuple):
    """Some of a file's rows, as a format that reads no others."""

    format: Format
    n_rows: int | None  # None if only reading tells
    name: str  # for errors: which part, or nothing if it is all of the file


@contextmanager
def reading(file: Path, place: Callable[[], str]) -> Iterator[None]:
    """Say which file, and where in it, whatever goes wrong while it is being read."""
    try:
        yield
    except (DataError, ModuleNotFoundError):
        raise
    # Readers of damaged bytes raise whatever the bytes make them do.
    except Exception as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataError(
            f"{file.name} cannot be read at {place()}: {reason}. Write it again, or leave it out."
        ) from error
