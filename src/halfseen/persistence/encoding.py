"""Python values as JSON and named arrays, and back.

Only values are stored, never code: numbers, text, lists, dictionaries, arrays, random states, and
records (data classes and named tuples) of the kinds the caller lists. In the JSON every object has
one name, which says what it is: ``{"array": "learned.means_"}``.
"""

import dataclasses
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from halfseen.persistence.container import Values, storable

Records = Mapping[str, type]


class Unstorable(TypeError):
    """A value that has no place in a model file."""


@dataclass(frozen=True, eq=False)
class Store:
    """Where encoded arrays go, and which records may be stored."""

    records: Records
    arrays: dict[str, Values] = field(default_factory=dict)


@singledispatch
def encode(value: Any, name: str, store: Store) -> Any:
    """``value`` as JSON; its arrays go to the store under names that begin with ``name``."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {part.name: getattr(value, part.name) for part in dataclasses.fields(value)}
        return _record(value, fields, name, store)
    raise Unstorable(f"a value of type {type(value).__name__}")


def _record(value: Any, fields: dict[str, Any], name: str, store: Store) -> Any:
    kind = type(value).__name__
    if store.records.get(kind) is not type(value):
        raise Unstorable(f"a record of type {kind}")
    return {"record": {"type": kind, "fields": _named(fields, name, store)}}


def _named(values: Mapping[str, Any], name: str, store: Store) -> dict[str, Any]:
    if not all(isinstance(key, str) for key in values):
        raise Unstorable("a dictionary with keys that are not text")
    return {str(key): encode(value, f"{name}.{key}", store) for key, value in values.items()}


@encode.register
def _(value: None, name: str, store: Store) -> None:
    return None


@encode.register(bool)
@encode.register(np.bool_)
def _(value: Any, name: str, store: Store) -> bool:
    return bool(value)


@encode.register(int)
@encode.register(np.integer)
def _(value: Any, name: str, store: Store) -> int:
    return int(value)


@encode.register(float)
@encode.register(np.floating)
def _(value: Any, name: str, store: Store) -> Any:
    number = float(value)
    return number if math.isfinite(number) else {"float": str(number)}


@encode.register
def _(value: str, name: str, store: Store) -> str:
    return str(value)


@encode.register
def _(value: list, name: str, store: Store) -> Any:  # type: ignore[type-arg]
    return [encode(item, f"{name}.{i}", store) for i, item in enumerate(value)]


@encode.register
def _(value: tuple, name: str, store: Store) -> Any:  # type: ignore[type-arg]
    if hasattr(value, "_asdict"):
        return _record(value, value._asdict(), name, store)
    return {"tuple": encode(list(value), name, store)}


@encode.register
def _(value: dict, name: str, store: Store) -> Any:  # type: ignore[type-arg]
    if value and all(isinstance(key, int) and not isinstance(key, bool) for key in value):
        return {"numbered": _named({str(key): one for key, one in value.items()}, name, store)}
    return {"dict": _named(value, name, store)}


@encode.register(np.ndarray)
def _(value: Values, name: str, store: Store) -> Any:
    if not storable(value):
        raise Unstorable(f"an array of type {value.dtype}")
    while name in store.arrays:  # a key with a dot in it
        name += "'"
    store.arrays[name] = value
    return {"array": name}


@encode.register
def _(value: np.random.RandomState, name: str, store: Store) -> Any:
    state: dict[str, Any] = value.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise Unstorable(f"a RandomState of {state['bit_generator']}")
    flat = state["state"] | {"has_gauss": state["has_gauss"], "gauss": state["gauss"]}
    return {"random_state": _named(flat, name, store)}


def decode(content: Any, arrays: Mapping[str, Values], records: Records) -> Any:
    """The value that was encoded as ``content`` and ``arrays``."""
    if isinstance(content, list):
        return [decode(item, arrays, records) for item in content]
    if not isinstance(content, dict):
        return content
    if len(content) != 1:
        raise ValueError("an object in it does not say in one word what it is")
    ((tag, inside),) = content.items()
    if tag not in _DECODE:
        raise ValueError(f"it holds a '{tag}', of which nothing is known")
    return _DECODE[tag](inside, arrays, records)


def _decode_all(
    named: dict[str, Any], arrays: Mapping[str, Values], records: Records
) -> dict[str, Any]:
    return {key: decode(value, arrays, records) for key, value in named.items()}


def _decode_numbered(
    named: dict[str, Any], arrays: Mapping[str, Values], records: Records
) -> dict[int, Any]:
    return {int(key): value for key, value in _decode_all(named, arrays, records).items()}


def _decode_float(text: Any, arrays: Mapping[str, Values], records: Records) -> float:
    return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text]


def _decode_array(name: Any, arrays: Mapping[str, Values], records: Records) -> Values:
    if name not in arrays:
        raise ValueError(f"array '{name}' is not in it")
    return arrays[name]


def _decode_tuple(items: Any, arrays: Mapping[str, Values], records: Records) -> Any:
    return tuple(decode(item, arrays, records) for item in items)


def _decode_record(content: Any, arrays: Mapping[str, Values], records: Records) -> Any:
    """A field the file does not have is one that came later: its default, or None if it has none.

    A field the file has and the record has not came with a later version, and is left out.
    """
    kind = records[content["type"]]
    stored = _decode_all(content["fields"], arrays, records)
    check_fields(kind, stored)
    return kind(**{name: stored.get(name, default) for name, default in _defaults(kind).items()})


def _defaults(kind: Any) -> dict[str, Any]:
    if not dataclasses.is_dataclass(kind):
        return {name: kind._field_defaults.get(name) for name in kind._fields}
    return {part.name: _default(part) for part in dataclasses.fields(kind)}


def _default(part: dataclasses.Field[Any]) -> Any:
    if part.default_factory is not dataclasses.MISSING:
        return part.default_factory()
    return None if part.default is dataclasses.MISSING else part.default


def _decode_random_state(
    content: Any, arrays: Mapping[str, Values], records: Records
) -> np.random.RandomState:
    state = _decode_all(content, arrays, records)
    key, position = state["key"], state["pos"]
    # NumPy takes both at their word, and would read beyond its state.
    if key.shape != (624,) or key.dtype != np.uint32 or not 0 <= int(position) <= 624:
        raise ValueError("its random state is not one of the Mersenne twister's")
    random = np.random.RandomState(0)
    random.set_state(
        ("MT19937", key, int(position), int(state["has_gauss"]), float(state["gauss"]))
    )
    return random


_DECODE: dict[str, Callable[[Any, Mapping[str, Values], Records], Any]] = {
    "array": _decode_array,
    "dict": _decode_all,
    "float": _decode_float,
    "numbered": _decode_numbered,
    "random_state": _decode_random_state,
    "record": _decode_record,
    "tuple": _decode_tuple,
}


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
