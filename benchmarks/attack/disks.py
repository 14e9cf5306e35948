"""A disk that is full, at any byte: nothing is written, the old file stays, and it is said."""

import resource
from pathlib import Path

import numpy as np

from benchmarks.attack import forked, workplace
from benchmarks.attack.defect import check

LARGEST = {"fit": 8_000, "impute": 8_000, "predict": 20_000, "report": 60_000}
"""About as many bytes as a command writes."""
ready = workplace.ready


def attack(seed: int, folder: Path) -> str:
    """One command that may write so many bytes and no more."""
    rng = np.random.default_rng(seed)
    name = list(workplace.COMMANDS)[rng.integers(len(workplace.COMMANDS))]
    command, room = workplace.COMMANDS[name], int(rng.uniform(0, LARGEST[name]))
    workplace.furnish(folder)
    out, told = folder / command.out, folder / "told"
    out.write_bytes(b"old")

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    process = forked.begin(workplace.words_of(command, folder, "--force"), told, fill)
    ended = forked.end(process, told, workplace.PATIENCE)
    check(ended is not None and ended.signal is None, f"a full disk ends {name}", ended)
    assert ended is not None
    check("Traceback" not in ended.told, f"a full disk makes {name} show a traceback", ended.told)
    check(not workplace.left_over(folder), f"a full disk has {name} leave something behind")
    if ended.code == 0:
        check(command.whole(out), f"{name} says it is done, and is not", room)
        return "there was room"
    check(out.read_bytes() == b"old", f"a full disk costs {name} the old file", room)
    check(ended.code in (1, 2), f"a full disk ends {name} with another code", ended)
    # What is said is cut off by the same limit, if there is no room for a sentence.
    known = command.out in ended.told or room < len("Error: ") + len(str(out))
    check(known, f"a full disk: {name} does not name the file", ended.told)
    return "no room"
