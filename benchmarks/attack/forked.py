"""Commands in a process forked from this one, which has everything loaded: to be hurt."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from halfseen.cli.app import app


class Ended(NamedTuple):
    """How a process ended."""

    code: int | None  # None if a signal ended it
    signal: int | None
    told: str  # what it wrote to stderr


def begin(words: Sequence[object], told: Path, before: Callable[[], None] | None = None) -> int:
    """Start a command; ``before`` runs first in its process. Its number."""
    process = os.fork()
    if process:
        return process
    code = 9
    try:
        errors, null = os.open(told, os.O_WRONLY | os.O_CREAT), os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(errors, 2)
        if before is not None:
            before()
        app([str(word) for word in words])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 9
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def end(process: int, told: Path, seconds: float) -> Ended | None:
    """Wait for a process; None if it does not end in time, after which it is killed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            stopped = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
            return Ended(code, stopped, told.read_text("utf-8", "replace") if told.exists() else "")
        time.sleep(0.002)
    os.kill(process, 9)
    os.waitpid(process, 0)
    return None
