"""Whether the fields of a record hold what their annotations say."""

import types
from collections.abc import Mapping
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np


def check_fields(kind: type, fields: Mapping[str, Any]) -> None:
    """Raise ValueError if a field is of another type; None is for what was not known yet.

    >>> from typing import NamedTuple
    >>> class Note(NamedTuple):
    ...     text: str
    ...     pages: tuple[int, ...] = ()
    >>> check_fields(Note, {"text": "of all rows", "pages": (1, "two")})
    Traceback (most recent call last):
    ValueError: 'pages' of its Note is not tuple[int, ...]
    """
    for name, hint in get_type_hints(kind).items():
        if name in fields and not _fits(fields[name], hint):
            words = getattr(hint, "__name__", "") if isinstance(hint, type) else ""
            shown = words if words and not get_args(hint) else str(hint)
            raise ValueError(f"'{name}' of its {kind.__name__} is not {shown}")


def _fits(value: Any, hint: Any) -> bool:
    if value is None or hint is Any:
        return True
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in inside)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _fits_dtype(value, inside)
    if origin in (tuple, list):
        return isinstance(value, origin) and all(_fits(item, inside[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(item, inside[1]) for item in value.values())
    if origin is not None or not isinstance(hint, type):
        return True  # not one of those that records have
    if hint in (int, float):
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole or (hint is float and isinstance(value, float))
    return isinstance(value, hint)


def _fits_dtype(value: np.ndarray[Any, Any], inside: tuple[Any, ...]) -> bool:
    """An annotation such as ``ndarray[tuple[int, ...], dtype[float64]]``."""
    wanted = get_args(inside[1]) if len(inside) > 1 else ()
    return not (wanted and isinstance(wanted[0], type)) or np.issubdtype(value.dtype, wanted[0])
