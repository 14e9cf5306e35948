"""Ways in which the bytes of a file come to be wrong."""

from collections.abc import Callable

import numpy as np

Rng = np.random.Generator


def _cut(rng: Rng, data: bytes) -> bytes:
    return data[: int(rng.integers(0, len(data) + 1))]


def _cut_near_an_end(rng: Rng, data: bytes) -> bytes:
    few = int(rng.integers(1, 12))
    return data[few:] if rng.random() < 0.5 else data[:-few]


def _flip(rng: Rng, data: bytes) -> bytes:
    changed = bytearray(data)
    for place in rng.integers(0, max(len(data), 1), size=int(rng.integers(1, 6))):
        if data:
            changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _noise(rng: Rng, data: bytes) -> bytes:
    start = int(rng.integers(0, len(data) + 1))
    noise = rng.integers(0, 256, size=int(rng.integers(1, 40)), dtype=np.uint8).tobytes()
    return data[:start] + noise + data[start + len(noise) * int(rng.integers(2)) :]


def _extreme(rng: Rng, data: bytes) -> bytes:
    """A length or an offset somewhere becomes huge, or negative, or nothing."""
    start = int(rng.integers(0, max(len(data) - 8, 1)))
    words = (b"\xff" * 8, b"\xff\xff\xff\x7f", b"\x00" * 8, b"\x00\x00\x00\x80", b"\xff" * 4)
    word = words[rng.integers(len(words))]
    return data[:start] + word + data[start + len(word) :]


def _repeat(rng: Rng, data: bytes) -> bytes:
    start = int(rng.integers(0, len(data) + 1))
    return data[:start] + data[start : start + 64] * int(rng.integers(2, 20)) + data[start:]


def _nuls(rng: Rng, data: bytes) -> bytes:
    start = int(rng.integers(0, len(data) + 1))
    return data[:start] + b"\x00" * int(rng.integers(1, 600)) + data[start:]


DAMAGES: dict[str, Callable[[Rng, bytes], bytes]] = {
    "cut": _cut,
    "cut near an end": _cut_near_an_end,
    "flipped bits": _flip,
    "noise": _noise,
    "extreme numbers": _extreme,
    "repeated": _repeat,
    "nuls": _nuls,
    "empty": lambda rng, data: b"",
}


def damaged(rng: Rng, data: bytes) -> bytes:
    """The same, with one of the damages, or two."""
    for _ in range(1 + (rng.random() < 0.2)):
        data = DAMAGES[list(DAMAGES)[rng.integers(len(DAMAGES))]](rng, data)
    return data
