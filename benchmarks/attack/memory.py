"""Too little memory: it is said, or it is enough; no crash, and no file that is not whole."""

import resource
from pathlib import Path

import numpy as np

from benchmarks.attack import forked, workplace
from benchmarks.attack.defect import check

MEGABYTE = 2**20
LONGER = (100, 2000)
"""How many times the rows of the table are there."""
ready = workplace.ready


def attack(seed: int, folder: Path) -> str:
    """One command on a larger table, with a little more memory than there is in use."""
    rng = np.random.default_rng(seed)
    name = list(workplace.COMMANDS)[rng.integers(len(workplace.COMMANDS))]
    command, more = workplace.COMMANDS[name], int(2 ** rng.uniform(-6, 4) * MEGABYTE)
    workplace.furnish(folder)
    head, *rows = (folder / "t.csv").read_text().splitlines()
    (folder / "t.csv").write_text(
        "\n".join([head, *rows * int(rng.choice([100, 2000, 4000]))]) + "\n"
    )
    out, told = folder / command.out, folder / "told"

    def narrow() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (in_use() + more,) * 2)

    process = forked.begin(workplace.words_of(command, folder), told, narrow)
    ended = forked.end(process, told, workplace.PATIENCE)
    check(ended is not None, f"{name} hangs without memory", more)
    assert ended is not None
    check(ended.signal is None, f"{name} crashes without memory", f"{more} {ended}")
    check("Traceback" not in ended.told, f"{name} shows a traceback without memory", ended.told)
    check(not workplace.left_over(folder), f"{name} leaves something behind without memory")
    if ended.code == 0:
        check(out.exists(), f"{name} says it is done and writes nothing")
        return "enough memory"
    check(ended.code in (1, 2), f"{name} ends with another code without memory", ended)
    check(not out.exists(), f"{name} fails and writes without memory")
    return "too little memory"


def in_use() -> int:
    """Bytes of address space of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()
