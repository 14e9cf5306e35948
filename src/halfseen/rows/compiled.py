"""Compiled functions, whose machine code is kept on the disk if there is a place for it.

Where there is none, as in a read-only installation without a home, or where the disk is full, they
are compiled anew in every process: slower, and the same numbers.
"""

import mmap
import pickle
from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

UNUSABLE = (OSError, EOFError, pickle.UnpicklingError)
"""What a cache raises that cannot be written, or that was cut short."""
ROOM = 64 << 20
"""Bytes of address space that code may take while it is made: LLVM ends the process, or never ends,
if it gets none. Of what is loaded from the disk 32 MB are enough, of what is compiled 48."""


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
        return _with_room(kept)

    return compiled


def _without_cache(function: F, options: dict[str, Any]) -> F:
    plain: F = numba.njit(**options)(function)
    return _with_room(plain)


def _with_room(function: F) -> F:
    """Have a function say that there is no memory for its code before LLVM ends the process.

    Costs nothing but where code is loaded or made: once for each type of arguments.
    """
    dispatcher: Any = function
    if not hasattr(dispatcher, "compile"):  # Numba was told to compile nothing
        return function
    compiled = dispatcher.compile

    def with_room(*given: Any, **named: Any) -> Any:
        check_room()
        return compiled(*given, **named)

    dispatcher.compile = with_room
    return function


def check_room() -> None:
    """Raise MemoryError unless so much memory can be had as code may take while it is made."""
    try:
        mmap.mmap(-1, ROOM).close()
    except OSError:
        raise MemoryError(
            f"compiled functions need {ROOM >> 20} MB of address space to be loaded"
        ) from None


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
