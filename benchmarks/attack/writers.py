"""Two commands that write one file at once: it is what one of them wrote, whole."""

import time
from pathlib import Path

import numpy as np

from benchmarks.attack import forked, workplace
from benchmarks.attack.defect import check

ready = workplace.ready


def attack(seed: int, folder: Path) -> str:
    """The same command twice, a little apart."""
    rng = np.random.default_rng(seed)
    name = list(workplace.COMMANDS)[rng.integers(len(workplace.COMMANDS))]
    command, force = workplace.COMMANDS[name], ["--force"] if rng.random() < 0.7 else []
    workplace.furnish(folder)
    told = [folder / f"told{i}" for i in range(2)]
    processes = []
    for one in told:
        processes.append(forked.begin(workplace.words_of(command, folder, *force), one))
        time.sleep(rng.uniform(0, 0.05))
    ended = [forked.end(p, t, workplace.PATIENCE) for p, t in zip(processes, told, strict=True)]
    for done in ended:
        check(done is not None, f"two of {name} wait for each other")
        assert done is not None
        check(done.code in ((0,) if force else (0, 2)), f"one of two {name} fails", done)
        check("Traceback" not in done.told, f"one of two {name} shows a traceback", done.told)
    check(
        any(done is not None and done.code == 0 for done in ended), f"neither {name} is done", ended
    )
    check(command.whole(folder / command.out), f"two of {name} leave a file that is not whole")
    check(not workplace.left_over(folder), f"two of {name} leave something behind")
    return "whole"
