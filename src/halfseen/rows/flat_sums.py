"""Sums as named arrays and back: what can be written down, sent elsewhere, and added there.

Only sums whose numbers all add are written so; what is read is laid out like the sums of no rows,
which say how many numbers there are of what.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from halfseen.rows.arrays import Array

Flat = Mapping[str, Array]
"""Arrays by name. Numbers are arrays without a side."""


def flattened(sums: Any) -> dict[str, Array]:
    """The numbers of sums, by where they are in them."""
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
    """Sums laid out like others, with the numbers of ``flat``; raises ValueError if they are not.

    >>> laid_out({"": np.array(3.0)}, 0.0)
    3.0
    """
    wanted = flattened(like)
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
