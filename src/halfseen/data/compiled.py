"""Compiled functions, whose machine code is kept on the disk if there is a place for it.

Where there is none, as in a read-only installation without a home, or where the disk is full, they
are compiled anew in every process: slower, and the same numbers.

Numba compiles a function again for arrays that may not be written to, as those of a model are once
it is learned. Functions here write only to arrays that are made for it, so that the code is the
same: it is made once for both. And a function that Numba sends to another process, as Dask does,
forgets its cache and is compiled there in every process: here it is sent by its name.
"""

import mmap
import pickle
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core.runtime.nrt import rtsys

F = TypeVar("F", bound=Callable[..., Any])

UNUSABLE = (OSError, EOFError, pickle.UnpicklingError)
"""What a cache raises that cannot be written, or that was cut short."""
ROOM = 64 << 20
"""Bytes of address space that code may take while it is made: LLVM ends the process, or never ends,
if it gets none. Of what is loaded from the disk 32 MB are enough, of what is compiled 48."""


_njit: Any = numba.njit  # whose stubs lack options that it has


def njit(*, cache: bool = True, **options: Any) -> Callable[[F], F]:
    """``numba.njit`` for which a cache is a help and no condition.

    Without a way for C to call the function, which nothing needs and a tenth of the time goes to.
    """

    def compiled(function: F) -> F:
        if not cache:
            return _without_cache(function, options)
        try:
            kept: F = _njit(cache=True, no_cfunc_wrapper=True, **options)(function)
        except (RuntimeError, OSError):  # no folder for it can be written to
            return _without_cache(function, options)
        _load_at_once(kept)
        _forgive(kept)
        return _prepared(kept)

    return compiled


def _without_cache(function: F, options: dict[str, Any]) -> F:
    plain: F = _njit(no_cfunc_wrapper=True, **options)(function)
    return _prepared(plain)


def _prepared(function: F) -> F:
    """A function as it is used here. Costs nothing but once for each type of arguments."""
    if hasattr(function, "compile"):  # else Numba was told to compile nothing
        _with_room(function)
        _whether_read_only_or_not(function)
        _sent_by_name(function)
    return function


def _with_room(dispatcher: Any) -> None:
    """Have a function say that there is no memory for its code before LLVM ends the process."""
    compiled = dispatcher.compile

    def with_room(*given: Any, **named: Any) -> Any:
        check_room()
        return compiled(*given, **named)

    dispatcher.compile = with_room


def _whether_read_only_or_not(dispatcher: Any) -> None:
    """Have a function called with arrays that are read-only use the code for others."""
    compiled_for = dispatcher._compile_for_args

    def for_either(*values: Any) -> Any:
        if not any(map(_read_only, values)):
            return compiled_for(*values)
        kinds = [dispatcher.typeof_pyval(value) for value in values]
        code = dispatcher.compile(
            tuple(
                kind.copy(readonly=False) if _read_only(value) else kind
                for kind, value in zip(kinds, values, strict=True)
            )
        )
        dispatcher._insert([kind._code for kind in kinds], code, False)  # the next call finds it
        return code

    dispatcher._compile_for_args = for_either


def _read_only(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not value.flags.writeable


def _sent_by_name(dispatcher: Any) -> None:
    """Have a function be found by other processes where it is written, with its cache."""
    home, name = dispatcher.__module__, dispatcher.__qualname__
    as_numba_does = dispatcher.__reduce_ex__

    def reduced(protocol: Any) -> Any:
        if getattr(sys.modules.get(home), name, None) is dispatcher:
            return _found, (home, name)
        return as_numba_does(protocol)  # within another function

    dispatcher.__reduce_ex__ = reduced


def _found(home: str, name: str) -> Any:
    return getattr(import_module(home), name)


def check_room() -> None:
    """Raise MemoryError unless so much memory can be had as code may take while it is made."""
    try:
        mmap.mmap(-1, ROOM).close()
    except OSError:
        raise MemoryError(
            f"compiled functions need {ROOM >> 20} MB of address space to be loaded"
        ) from None


def _load_at_once(kept: Any) -> None:
    """Have code that is on the disk loaded without getting ready to compile.

    Numba learns all functions of Python and NumPy that it knows before it looks at its cache, a
    quarter of a second that a process in which everything is compiled never needs. Code counts on
    nothing of it but what allocates arrays. What is not on the disk is compiled as ever.
    """
    place: Any = getattr(kept, "_cache", None)
    if not hasattr(place, "_load_overload"):
        return

    def load(signature: Any, context: Any) -> Any:
        rtsys.initialize(context)
        with place._guard_against_spurious_io_errors():
            return place._load_overload(signature, context)

    place.load_overload = load


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
