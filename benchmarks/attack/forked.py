"""Commands in a process forked from this one, which has everything loaded: to be hurt."""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from halfseen.cli import main


class Ended(NamedTuple):
    """How a process ended."""

    code: int | None  # None if a signal ended it
    signal: int | None
    told: str  # what it wrote to stderr


def begin(words: Sequence[object], told: Path, before: Callable[[], None] | None = None) -> int:
    """Start a command; ``before`` runs first in its process. Its number."""
    early = {signal.SIGINT}  # is heard when the command begins, not while Python forks
    signal.pthread_sigmask(signal.SIG_BLOCK, early)
    process = os.fork()
    if process:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, early)
        return process
    code = 9
    try:
        errors, null = os.open(told, os.O_WRONLY | os.O_CREAT), os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(errors, 2)
        if before is not None:
            before()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which may be ignored here
        sys.argv = ["halfseen", *map(str, words)]
        signal.pthread_sigmask(signal.SIG_UNBLOCK, early)
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 9
    except KeyboardInterrupt as interrupt:
        _tell(interrupt, unless_before=True)
    except BaseException as error:
        _tell(error)
    finally:
        os._exit(code)


def _tell(error: BaseException, unless_before: bool = False) -> None:
    """Write a traceback as the interpreter would, but for what was before the command began."""
    inside = traceback.extract_tb(error.__traceback__)[:-1]
    began = any(frame.name == main.__name__ for frame in inside)
    if began or not unless_before:
        os.write(2, "".join(traceback.format_exception(error)).encode())


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
