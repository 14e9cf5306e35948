"""Compiled functions, whose machine code is kept on the disk if there is a place for it.

Where there is none, as in a read-only installation without a home, or where the disk is full, they
are compiled anew in every process: slower, and the same numbers.
"""

import pickle
from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

UNUSABLE = (OSError, EOFError, pickle.UnpicklingError)
"""What a cache raises that cannot be written, or that was cut short."""


def njit(*, cache: bool = True, **options: Any) -> Callable[[F], F]:
    """``numba.njit`` for which a cache is a help and no condition."""

    def compiled(function: F) -> F:
        if not cache:
            return _without_cache(function, options)
        try:
            kept: F = numba.njit(cache=True, **options)(function)
        except (RuntimeError, OSError):  # no folder for it can be written to
            return _without_cache(function, options)
        _forgive(kept)
        return kept

    return compiled


def _without_cache(function: F, options: dict[str, Any]) -> F:
    plain: F = numba.njit(**options)(function)
    return plain


def _forgive(kept: Any) -> None:
    """Have a function work on if what is kept of it cannot be read or written."""
    place = getattr(kept, "_cache", None)
    for verb in ("load_overload", "save_overload"):
        if hasattr(place, verb):
            setattr(place, verb, _or_nothing(getattr(place, verb)))


def _or_nothing(verb: Callable[..., Any]) -> Callable[..., Any]:
    def tried(*given: Any) -> Any:
        try:
            return verb(*given)
        except UNUSABLE:
            return None

    return tried
