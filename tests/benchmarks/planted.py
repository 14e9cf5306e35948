"""Attacks on processes, by turns, and commands that break what commands promise."""

import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.attack import disks, forked, kills, memory, workplace, writers
from benchmarks.attack.worker import outcome

LONG = 30


ready = workplace.ready


def processes(seed, folder):
    """Signals, writers, disks and memory by turns, in one process that has everything loaded."""
    return (kills, writers, kills, disks, kills, memory)[seed % 6].attack(seed, folder)


def _out(words):
    return Path(words[words.index("--out") + 1])


def _half_for_a_while(words):
    _out(words).write_bytes(b"half")
    time.sleep(0.3)
    _out(words).write_bytes(b"whole")
    sys.exit(0)


def _deaf(words):
    try:
        _half_for_a_while([*words[:-1], "--out", os.devnull])
    finally:
        time.sleep(LONG)


def _with_a_traceback(words):
    raise ZeroDivisionError("not told in a sentence")


def _in_place(words):
    try:
        with _out(words).open("wb") as file:
            file.write(b"x" * 10**6)
        sys.exit(0)
    except OSError as error:
        print(f"Error: {_out(words)}: {error.strerror}", file=sys.stderr)
        sys.exit(2)


def _abort(words):
    os.abort()


def _says_done(words):
    sys.exit(0)


def _leaves_temporary(words):
    _out(words).write_bytes(b"whole")
    (_out(words).parent / ".halfseen-left.tmp").write_bytes(b"")
    sys.exit(0)


def _careless(attack, app):
    """An attack on a command that does not keep its promises."""

    def attacked(seed, folder):
        forked.main = lambda: app(sys.argv)
        workplace.furnish = lambda place: (place / "t.csv").write_text("a\n1\n")
        workplace.seconds = lambda name: 0.2
        workplace.PATIENCE = kills.PROMPT = 1.0
        whole = workplace.Command(("fit", "t.csv"), "out", lambda p: p.read_bytes() == b"whole")
        workplace.COMMANDS = {"fit": whole}
        disks.LARGEST = {"fit": 1000}
        return attack(seed, folder)

    return attacked


CARELESS = {
    "fit leaves a file that is not whole": (kills, _half_for_a_while),
    "SIGINT does not end fit": (kills, _deaf),
    "one of two fit fails": (writers, _abort),
    "two of fit leave a file that is not whole": (writers, _in_place),
    "two of fit leave something behind": (writers, _leaves_temporary),
    "a full disk costs fit the old file": (disks, _in_place),
    "a full disk makes fit show a traceback": (disks, _with_a_traceback),
    "fit says it is done, and is not": (disks, _says_done),
    "fit crashes without memory": (memory, _abort),
    "fit shows a traceback without memory": (memory, _with_a_traceback),
    "fit says it is done and writes nothing": (memory, _says_done),
}
"""Laws, and who breaks them."""


def main():
    """Say for each careless command whether the law that it breaks is told."""
    for law, (module, app) in CARELESS.items():
        found = set()
        for seed in range(8):
            with tempfile.TemporaryDirectory() as folder:
                found.add(outcome(_careless(module.attack, app), seed, Path(folder))[0])
            if law in found:
                break
        print(law if law in found else f"not {law}: {found}")


if __name__ == "__main__":
    main()
