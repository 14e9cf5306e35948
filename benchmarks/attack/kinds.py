"""The kinds of attacks. Each is in a module of its own, which is loaded when it is run."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

Attack = Callable[[int, Path], str]
"""From a seed and an empty folder to what came of it: a word. Raises a defect, or any error."""


class Kind(NamedTuple):
    """One way to attack."""

    home: str  # module and function
    about: str
    number: int  # of attacks in a long run

    def load(self) -> Attack:
        """The function."""
        module, _, function = self.home.partition(":")
        attack: Attack = getattr(import_module(f"benchmarks.attack.{module}"), function)
        return attack


KINDS = {
    "tables": Kind("learning:attack", "odd tables, containers and options", 100_000),
    "files": Kind("files:attack", "files that are cut, damaged and oddly written", 2_000),
    "models": Kind("model_files:attack", "model files that are whole but inconsistent", 5_000),
    "kills": Kind("kills:attack", "commands that get a signal while they run", 150),
    "writers": Kind("writers:attack", "two commands that write one file", 40),
    "disks": Kind("disks:attack", "disks that are full", 40),
    "memory": Kind("memory:attack", "too little memory", 40),
}
