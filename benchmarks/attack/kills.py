"""Signals while a command runs: files are the old or the new, whole, and it ends at once."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from benchmarks.attack import forked, workplace
from benchmarks.attack.defect import check

PROMPT = 5.0
"""Seconds in which a command that got a signal has ended."""
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
ready = workplace.ready


def attack(seed: int, folder: Path) -> str:
    """One command, one signal, at any moment."""
    rng = np.random.default_rng(seed)
    name = list(workplace.COMMANDS)[rng.integers(len(workplace.COMMANDS))]
    command, blow = workplace.COMMANDS[name], SIGNALS[rng.integers(len(SIGNALS))]
    workplace.furnish(folder)
    out, told = folder / command.out, folder / "told"
    old = b"old" if rng.random() < 0.7 else None
    if old is not None:
        out.write_bytes(old)
    moment = rng.uniform(0, 1.1) * workplace.seconds(name)
    process = forked.begin(workplace.words_of(command, folder, "--force"), told)
    time.sleep(moment)
    os.kill(process, blow)
    ended = forked.end(process, told, PROMPT)
    check(ended is not None, f"{blow.name} does not end {name}", f"after {moment:.2f} s")
    assert ended is not None
    if out.exists():
        same = old is not None and out.read_bytes() == old
        check(same or command.whole(out), f"{name} leaves a file that is not whole")
    else:
        check(old is None, f"{name} loses the old file")
    # An interrupt that falls into another library's callback is told of and lost there.
    shown = "Traceback" in ended.told and "Exception ignored in" not in ended.told
    check(not shown, f"{blow.name} shows a traceback", ended.told[-300:])
    if blow is signal.SIGINT:
        check(not workplace.left_over(folder), f"{blow.name} leaves something behind")
    if ended.code == 0:
        check(out.exists() and command.whole(out), f"{name} says it is done, and is not")
        return "was done before"
    return f"ended by {blow.name}"
