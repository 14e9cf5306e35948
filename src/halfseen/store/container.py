"""Named arrays and text in one file that anyone can read: safetensors with a checksum.

A safetensors file is a length (8 bytes, little-endian), that many bytes of JSON, and the arrays one
after the other. The format is written and read here, not by its package, because its reader knows
no checksum and two of its rules have to be stricter: the first two entries of the metadata are the
format's version and a SHA-256 of everything else in the file, at fixed places. So whatever was
altered is refused before any of it is interpreted, and nothing is allocated on the word of a file.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from halfseen.rows.errors import ModelFileError

FORMAT = 1
"""Files of a higher version are refused."""

DTYPES = {
    "BOOL": "|b1",
    "U8": "|u1",
    "U32": "<u4",
    "U64": "<u8",
    "I32": "<i4",
    "I64": "<i8",
    "F32": "<f4",
    "F64": "<f8",
}
_CODES = {np.dtype(name): code for code, name in DTYPES.items()}
_BLANK = b"0" * 64
_START = re.compile(
    rb'\{"__metadata__":\{"format":"halfseen model (\d{1,9})","checksum":"([0-9a-f]{64})"'
)
_LONGEST_START = 8 + 128
_DAMAGED = "Copy it again from where it came, or fit and save the model again."

INTERPRETING = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)
"""What values of the wrong kind raise where they are used."""

Values = np.ndarray[Any, Any]


def storable(array: Values) -> bool:
    """Whether arrays of this type have a place in the format."""
    return array.dtype.newbyteorder("<") in _CODES


def pack(metadata: Mapping[str, str], arrays: Mapping[str, Values]) -> bytes:
    """The file that holds ``metadata`` and ``arrays``."""
    entries: dict[str, Any] = {
        "__metadata__": {
            "format": f"halfseen model {FORMAT}",
            "checksum": _BLANK.decode(),
            **metadata,
        }
    }
    parts, end = [], 0
    # The widest first, as the safetensors package has it, so that every array is aligned.
    for name, array in sorted(arrays.items(), key=lambda item: -item[1].itemsize):
        dtype = array.dtype.newbyteorder("<")
        part = array.astype(dtype, copy=False).tobytes()
        start, end = end, end + len(part)
        entries[name] = {
            "dtype": _CODES[dtype],
            "shape": list(array.shape),
            "data_offsets": [start, end],
        }
        parts.append(part)
    header = json.dumps(entries, separators=(",", ":"), allow_nan=False).encode("ascii")
    header += b" " * (-len(header) % 8)
    data = bytearray(b"".join([len(header).to_bytes(8, "little"), header, *parts]))
    where = _start(data, "")[1]
    data[where] = _digest(data, where)
    return bytes(data)


def unpack(data: bytes, name: str) -> tuple[dict[str, str], dict[str, Values]]:
    """Metadata and arrays of the file ``name`` with these contents."""
    check_start(data, len(data), name)
    where = _start(data, name)[1]
    if _digest(data, where) != data[where]:
        raise ModelFileError(
            f"{name} was altered, damaged or cut short: its checksum does not match what it holds. "
            f"{_DAMAGED}"
        )
    try:
        return _interpret(data)
    except INTERPRETING as error:
        raise ModelFileError(
            f"{name} is not laid out as a model file: {first_line(error)}. Save the model again "
            "with halfseen."
        ) from error


def check_start(data: bytes, size: int, name: str) -> None:
    """Refuse what is no model of ours from the first bytes of a file of ``size`` bytes."""
    length = int.from_bytes(data[:8], "little")
    version, _ = _start(data, name)
    if version > FORMAT:
        raise ModelFileError(
            f"{name} has format {version}, and this version of halfseen reads formats up to "
            f"{FORMAT}. Upgrade halfseen, or save the model again with this version."
        )
    if length > size - 8:
        raise ModelFileError(
            f"{name} is cut short: its header should take {length:,} bytes, but {size - 8:,} "
            f"follow. {_DAMAGED}"
        )


def _start(data: bytes | bytearray, name: str) -> tuple[int, slice]:
    """The format's version, and where the checksum is."""
    found = _START.match(data[8:_LONGEST_START])
    if found is None:
        raise ModelFileError(
            f"{name} is not a model saved by halfseen, or its start is damaged. Give a file "
            f"written by save(). {_DAMAGED}"
        )
    return int(found[1]), slice(8 + found.start(2), 8 + found.end(2))


def _digest(data: bytes | bytearray, where: slice) -> bytes:
    """The checksum of everything but the checksum."""
    view = memoryview(data)
    digest = hashlib.sha256(view[: where.start])
    digest.update(_BLANK)
    digest.update(view[where.stop :])
    return digest.hexdigest().encode()


def _interpret(data: bytes) -> tuple[dict[str, str], dict[str, Values]]:
    start = 8 + int.from_bytes(data[:8], "little")
    header = strict_json(data[8:start].decode("utf-8"))
    metadata = header.pop("__metadata__")
    if not all(isinstance(text, str) for text in metadata.values()):
        raise ValueError("its metadata are not all text")
    if "checksum" not in metadata or metadata.pop("format") != f"halfseen model {FORMAT}":
        raise ValueError("it is of another format than its first bytes say")
    del metadata["checksum"]
    _check_spans(header, len(data) - start)
    buffer = memoryview(data)[start:]
    return metadata, {name: _array(entry, buffer, name) for name, entry in header.items()}


def _check_spans(entries: dict[str, Any], size: int) -> None:
    """Arrays that fill the file exactly, before any is copied: together they take its size."""
    for name, entry in entries.items():
        if set(entry) != {"dtype", "shape", "data_offsets"} or len(entry["data_offsets"]) != 2:
            raise ValueError(f"array '{name}' is not described as arrays are")
        if entry["dtype"] not in DTYPES:
            raise ValueError(f"array '{name}' is of type {entry['dtype']}, which models do not use")
        numbers = [*entry["data_offsets"], *entry["shape"]]
        if not all(type(number) is int and number >= 0 for number in numbers):
            raise ValueError(f"array '{name}' is not measured in whole numbers")
    edge = 0
    for begin, end in sorted(entry["data_offsets"] for entry in entries.values()):
        if begin != edge or end < begin:
            raise ValueError("its arrays do not lie one after the other")
        edge = end
    if edge != size:
        raise ValueError("its arrays do not end where it does")


def _array(entry: dict[str, Any], buffer: memoryview, name: str) -> Values:
    """A copy, which may be written to and is aligned as new arrays are."""
    begin, end = entry["data_offsets"]
    stored = np.frombuffer(buffer[begin:end], dtype=DTYPES[entry["dtype"]])
    if entry["dtype"] == "BOOL" and (stored.view(np.uint8) > 1).any():
        raise ValueError(f"array '{name}' holds truth values that are neither true nor false")
    return stored.reshape(entry["shape"]).astype(stored.dtype.newbyteorder("="))


def strict_json(text: str) -> Any:
    """JSON as its standard has it: no name twice in an object, no NaN."""
    return json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return content


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def first_line(error: Exception) -> str:
    """What an error says, as part of a sentence."""
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
