"""Encode Python values as JSON and named arrays, and decode them.

Only values are stored, never code: numbers, text, lists, dictionaries, arrays, random states, and
records (data classes and named tuples) of the kinds the caller lists. In the JSON every object has
one name, which says what it is: ``{"array": "learned.means_"}``.
"""

import dataclasses
import math
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from halfseen.persistence.container import Values, storable

Records = Mapping[str, type]


class Unstorable(TypeError):
    """Raised for a value that cannot be stored in a model file."""


@dataclass(frozen=True, eq=False)
class Store:
    """Destination of encoded arrays, and the records that may be stored."""

    records: Records
    arrays: dict[str, Values] = field(default_factory=dict)


def encode(value: Any, name: str, store: Store) -> Any:
    """``value`` as JSON; arrays go to the store under names that begin with ``name``."""
    match value:
        case None:
            return None
        case bool() | np.bool_():
            return bool(value)
        case int() | np.integer():
            return int(value)
        case float() | np.floating():
            number = float(value)
            return number if math.isfinite(number) else {"float": str(number)}
        case str():
            return str(value)
        case np.ndarray():
            return {"array": _stored(value, name, store)}
        case np.random.RandomState():
            return {"random_state": _named(_state_of(value), name, store)}
        case list():
            return [encode(item, f"{name}.{i}", store) for i, item in enumerate(value)]
        case tuple() if not hasattr(value, "_asdict"):
            return {"tuple": encode(list(value), name, store)}
        case dict() if value and all(type(key) is int for key in value):
            return {"numbered": _named({str(key): one for key, one in value.items()}, name, store)}
        case dict():
            return {"dict": _named(value, name, store)}
        case _:
            return {"record": _record(value, name, store)}


def _record(value: Any, name: str, store: Store) -> dict[str, Any]:
    kind = type(value).__name__
    if isinstance(value, tuple):
        fields = value._asdict()  # type: ignore[attr-defined]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {part.name: getattr(value, part.name) for part in dataclasses.fields(value)}
    else:
        raise Unstorable(f"a value of type {kind}")
    if store.records.get(kind) is not type(value):
        raise Unstorable(f"a record of type {kind}")
    return {"type": kind, "fields": _named(fields, name, store)}


def _named(values: Mapping[str, Any], name: str, store: Store) -> dict[str, Any]:
    if not all(isinstance(key, str) for key in values):
        raise Unstorable("a dictionary with keys that are not text")
    return {str(key): encode(value, f"{name}.{key}", store) for key, value in values.items()}


def _stored(value: Values, name: str, store: Store) -> str:
    if not storable(value):
        raise Unstorable(f"an array of type {value.dtype}")
    while name in store.arrays:  # a key with a dot in it
        name += "'"
    store.arrays[name] = value
    return name


def _state_of(random: np.random.RandomState) -> dict[str, Any]:
    state: dict[str, Any] = random.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise Unstorable(f"a RandomState of {state['bit_generator']}")
    flat: dict[str, Any] = state["state"]
    return flat | {"has_gauss": state["has_gauss"], "gauss": state["gauss"]}


def decode(content: Any, arrays: Mapping[str, Values], records: Records) -> Any:
    """The value encoded as ``content`` and ``arrays``."""

    def named(values: dict[str, Any]) -> dict[str, Any]:
        return {key: decode(value, arrays, records) for key, value in values.items()}

    if isinstance(content, list):
        return [decode(item, arrays, records) for item in content]
    if not isinstance(content, dict):
        return content
    if len(content) != 1:
        raise ValueError("an object in it does not say in one word what it is")
    match content:
        case {"array": name}:
            if name not in arrays:
                raise ValueError(f"array '{name}' is not in it")
            return arrays[name]
        case {"dict": values}:
            return named(values)
        case {"float": text}:
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text]
        case {"numbered": values}:
            return {int(key): value for key, value in named(values).items()}
        case {"random_state": state}:
            return _decode_random_state(named(state))
        case {"record": record}:
            return _decode_record(records[record["type"]], named(record["fields"]))
        case {"tuple": items}:
            return tuple(decode(item, arrays, records) for item in items)
    raise ValueError(f"it holds a '{next(iter(content))}', of which nothing is known")


def _decode_record(kind: Any, stored: dict[str, Any]) -> Any:
    """A field the file does not have is one that came later: its default, or None if it has none.

    A field the file has and the record has not came with a later version, and is left out.
    """
    check_fields(kind, stored)
    if dataclasses.is_dataclass(kind):
        defaults = {part.name: _default(part) for part in dataclasses.fields(kind)}
    else:
        defaults = {name: kind._field_defaults.get(name) for name in kind._fields}
    return kind(**{name: stored.get(name, default) for name, default in defaults.items()})


def _default(part: dataclasses.Field[Any]) -> Any:
    if part.default_factory is not dataclasses.MISSING:
        return part.default_factory()
    return None if part.default is dataclasses.MISSING else part.default


def _decode_random_state(state: dict[str, Any]) -> np.random.RandomState:
    key, position = state["key"], state["pos"]
    # NumPy takes both at their word, and would read beyond its state.
    if key.shape != (624,) or key.dtype != np.uint32 or not 0 <= int(position) <= 624:
        raise ValueError("its random state is not one of the Mersenne twister's")
    random = np.random.RandomState(0)
    random.set_state(
        ("MT19937", key, int(position), int(state["has_gauss"]), float(state["gauss"]))
    )
    return random


def check_fields(kind: type, fields: Mapping[str, Any]) -> None:
    """Raise ValueError if a field has the wrong type; None means unknown at the time.

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
