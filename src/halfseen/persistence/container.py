"""Arrays and text in one safetensors file with a checksum.

A safetensors file is a length (8 bytes, little-endian), that many bytes of JSON, and the arrays one
after the other. Its package lays the arrays out and reads them. The metadata are put into the
header here, because the package writes them in another order at every call: the first two are the
format's version and a SHA-256 of everything else in the file, at fixed places. So whatever was
altered is refused before any of it is interpreted, and equal contents give equal bytes.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from halfseen.data.errors import ModelFileError

FORMAT = 1
"""Files of a higher version are refused."""

DTYPES = ("bool", "uint8", "uint32", "uint64", "int32", "int64", "float32", "float64")
_BLANK = b"0" * 64
_START = re.compile(
    rb'\{"__metadata__":\{"format":"halfseen (model|sums) (\d{1,9})","checksum":"([0-9a-f]{64})"'
)
_LONGEST_START = 8 + 128


class Content(NamedTuple):
    """The type of a file: its first bytes, and its name in sentences."""

    word: str
    saved: str  # what it is not, if it is something else
    written_by: str
    again: str  # how to have another
    kept_by: str  # the same, beside what wrote it

    @property
    def damaged(self) -> str:
        """The remedy for a damaged file."""
        return f"Copy it again from where it came, or {self.again}."


MODEL = Content(
    "model",
    "a model saved by halfseen",
    "save()",
    "fit and save the model again",
    "save the model again",
)
SUMS = Content(
    "sums",
    "a file of sums written by halfseen",
    "'halfseen sums' or save()",
    "sum the rows again",
    "sum the rows again",
)

INTERPRETING = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What values of the wrong kind raise where they are used."""

Values = np.ndarray[Any, Any]


def storable(array: Values) -> bool:
    """Whether arrays of this type can be stored."""
    return array.dtype.name in DTYPES


def pack(
    metadata: Mapping[str, str], arrays: Mapping[str, Values], content: Content = MODEL
) -> bytes:
    """The file that holds ``metadata`` and ``arrays``."""
    # The package takes memory as it lies, which is another array if columns lie together.
    plain = safetensors.numpy.save({n: np.asarray(a, order="C") for n, a in arrays.items()})
    body = _body(plain)
    first = {"format": f"halfseen {content.word} {FORMAT}", "checksum": _BLANK.decode()}
    entries = {"__metadata__": {**first, **metadata}, **json.loads(plain[8:body])}
    header = json.dumps(entries, separators=(",", ":"), allow_nan=False).encode("ascii")
    header += b" " * (-len(header) % 8)  # so that every array is aligned
    data = bytearray(len(header).to_bytes(8, "little") + header + plain[body:])
    where = _start(data, "", content)[1]
    data[where] = _digest(data, where)
    return bytes(data)


def unpack(
    data: bytes, name: str, content: Content = MODEL
) -> tuple[dict[str, str], dict[str, Values]]:
    """Metadata and arrays of the file ``name`` with these contents."""
    check_start(data, len(data), name, content)
    where = _start(data, name, content)[1]
    if _digest(data, where) != data[where]:
        raise ModelFileError(
            f"{name} was altered, damaged or cut short: its checksum does not match what it holds. "
            f"{content.damaged}"
        )
    try:
        return _interpret(data, content)
    except INTERPRETING as error:
        again = f"{content.kept_by[0].upper()}{content.kept_by[1:]}"
        raise ModelFileError(
            f"{name} is not laid out as a {content.word} file: {first_line(error)}. {again} with "
            "halfseen."
        ) from error


def word_of(data: bytes) -> str:
    """The file type in the first bytes; empty if it is not ours."""
    found = _START.match(data[8:_LONGEST_START])
    return "" if found is None else found[1].decode()


def check_start(data: bytes, size: int, name: str, content: Content = MODEL) -> None:
    """Refuse a file whose first bytes are not those of ``content``."""
    length = _body(data) - 8
    version, _ = _start(data, name, content)
    if version > FORMAT:
        raise ModelFileError(
            f"{name} has format {version}, and this version of halfseen reads formats up to "
            f"{FORMAT}. Upgrade halfseen, or {content.kept_by} with this version."
        )
    if length > size - 8:
        raise ModelFileError(
            f"{name} is cut short: its header should take {length:,} bytes, but {size - 8:,} "
            f"follow. {content.damaged}"
        )


def _start(data: bytes | bytearray, name: str, content: Content = MODEL) -> tuple[int, slice]:
    """The format version, and the position of the checksum."""
    found = _START.match(data[8:_LONGEST_START])
    if found is None or found[1] != content.word.encode():
        raise ModelFileError(
            f"{name} is not {content.saved}, or its start is damaged. Give a file written by "
            f"{content.written_by}. {content.damaged}"
        )
    return int(found[2]), slice(8 + found.start(3), 8 + found.end(3))


def _digest(data: bytes | bytearray, where: slice) -> bytes:
    """The checksum of everything but itself."""
    view = memoryview(data)
    digest = hashlib.sha256(view[: where.start])
    digest.update(_BLANK)
    digest.update(view[where.stop :])
    return digest.hexdigest().encode()


def _body(data: bytes) -> int:
    """The position where arrays begin, by the header."""
    return 8 + int.from_bytes(data[:8], "little")


def _interpret(data: bytes, content: Content = MODEL) -> tuple[dict[str, str], dict[str, Values]]:
    header = strict_json(data[8 : _body(data)].decode("utf-8"))
    metadata = header.pop("__metadata__")
    if "checksum" not in metadata or metadata.pop("format") != (
        f"halfseen {content.word} {FORMAT}"
    ):
        raise ValueError("it is of another format than its first bytes say")
    del metadata["checksum"]
    if any(set(entry) != {"dtype", "shape", "data_offsets"} for entry in header.values()):
        raise ValueError("it says other things of its arrays than where and of what type they are")
    return metadata, _arrays(data)


def _arrays(data: bytes) -> dict[str, Values]:
    """Writable copies of the arrays; the package first checks that they fill the file."""
    try:
        arrays = safetensors.numpy.load(data)
    except (KeyError, SafetensorError) as error:  # a type unknown to NumPy is a KeyError
        raise ValueError(
            "its header is not as safetensors have it, or its arrays do not lie one after the "
            f"other ({first_line(error)})"
        ) from error
    for name, array in arrays.items():
        if not storable(array):
            raise ValueError(f"array '{name}' is of type {array.dtype}, which models do not use")
        if array.dtype == bool and (array.view(np.uint8) > 1).any():
            raise ValueError(f"array '{name}' holds truth values that are neither true nor false")
    return arrays


def strict_json(text: str) -> Any:
    """Standard JSON: no duplicate names, no NaN."""
    return json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return content


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def first_line(error: Exception) -> str:
    """The first line of an error, as part of a sentence."""
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
