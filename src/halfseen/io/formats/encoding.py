"""How the text of a file is encoded: UTF-8, or what spreadsheets of Windows write."""

import codecs
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

UTF_8, UTF_16, WINDOWS, LATIN_1 = "utf-8", "utf-16", "cp1252", "latin-1"
NAMES = {UTF_16: "UTF-16", WINDOWS: "Windows-1252 (Latin-1)", LATIN_1: "Latin-1"}
"""What people call those that are told of."""
CHUNK = 1 << 20
UNDEFINED = bytes([0x81, 0x8D, 0x8F, 0x90, 0x9D])
"""Bytes that Windows-1252 does not have."""


def encoding_of(file: Path, opener: Any) -> str:
    """The encoding of a file, found by its bytes; a file that does not change is read once."""
    status = file.stat()
    return _encoding_of(file, opener, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _encoding_of(file: Path, opener: Any, size: int, changed: int) -> str:
    with opener(file, "rb") as stream:
        return detect_encoding(stream)


def detect_encoding(stream: IO[bytes]) -> str:
    """The encoding of what a stream holds."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    chunk = stream.read(CHUNK)
    if chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return UTF_16
    if b"\0" in chunk:
        return UTF_8  # no text at all, which its reader will say
    while chunk:
        # What is all ASCII needs no decoding, unless a sign is open from before.
        if not chunk.isascii() or decoder.getstate()[0]:
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                return _single_bytes(chunk, stream)
        chunk = stream.read(CHUNK)
    return WINDOWS if decoder.getstate()[0] else UTF_8


def _single_bytes(chunk: bytes, stream: IO[bytes]) -> str:
    while chunk:
        if any(byte in chunk for byte in UNDEFINED):
            return LATIN_1
        chunk = stream.read(CHUNK)
    return WINDOWS


def encoding_message(name: str, encoding: str) -> str | None:
    """What people are told of the encoding of a file; nothing of UTF-8."""
    if encoding == UTF_8:
        return None
    return (
        f"{name} is not UTF-8 and was read as {NAMES[encoding]}. If names look wrong, save the "
        "file as UTF-8."
    )
