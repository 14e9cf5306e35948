"""Compile functions with numba, and cache their machine code where possible.

Where there is none, as in a read-only installation without a home, or where the disk is full, they
are compiled anew in every process: slower, and the same numbers.
"""

import copyreg
import mmap
from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

ROOM = 64 << 20
"""Bytes of address space that code may take while it is made: LLVM ends the process, or never ends,
if it gets none. Of what is loaded from the disk 32 MB are enough, of what is compiled 48."""


def njit(*, cache: bool = True, **options: Any) -> Callable[[F], F]:
    """``numba.njit`` with a cache where the file system allows one."""
    # Nothing here is called from C, and the wrapper for that takes a tenth of the time.
    jit: Any = numba.njit
    options["no_cfunc_wrapper"] = True

    def compiled(function: F) -> F:
        try:
            found = jit(cache=cache, **options)(function)
        except (RuntimeError, OSError):  # no folder for a cache can be written to
            found = jit(**options)(function)
        if hasattr(found, "compile"):  # else Numba was told to compile nothing
            found.compile = _with_room(found.compile)
            copyreg.pickle(type(found), _by_name)
        checked: F = found
        return checked

    return compiled


def _with_room(compile_for: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Raise MemoryError before LLVM would end the process."""

    def compiled(signature: Any) -> Any:
        check_room()
        try:
            return compile_for(signature)
        except OSError:  # the disk is full: what was compiled is there, but not kept
            return compile_for(signature)

    return compiled


def check_room() -> None:
    """Raise MemoryError unless the memory that compilation may take is available."""
    try:
        mmap.mmap(-1, ROOM).close()
    except OSError:
        raise MemoryError(
            f"compiled functions need {ROOM >> 20} MB of address space to be loaded"
        ) from None


def _by_name(function: Any) -> Any:
    """Send this package's functions by name: Numba's own way forgets the cache of the receiver."""
    home, name = str(function.__module__), function.__qualname__
    ours = home.startswith("halfseen.") and "<locals>" not in name
    return name if ours else function.__reduce__()
