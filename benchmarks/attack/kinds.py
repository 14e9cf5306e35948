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


def loaded(home: str) -> Attack:
    """The function of a kind, after what its module does to be ready.

    Code is compiled when it is first run, which is no attack's fault.
    """
    name, _, function = home.partition(":")
    module = import_module(name)
    if hasattr(module, "ready"):
        module.ready()
    attack: Attack = getattr(module, function)
    return attack


HERE = "benchmarks.attack"
KINDS = {
    "tables": Kind(f"{HERE}.learning:attack", "odd tables, containers and options", 100_000),
    "gaps": Kind(f"{HERE}.filling:attack", "odd tables for imputers", 10_000),
    "files": Kind(f"{HERE}.files:attack", "files that are damaged and oddly written", 2_000),
    "models": Kind(f"{HERE}.model_files:attack", "model files that are inconsistent", 5_000),
    "kills": Kind(f"{HERE}.kills:attack", "commands that get a signal while they run", 150),
    "writers": Kind(f"{HERE}.writers:attack", "two commands that write one file", 40),
    "disks": Kind(f"{HERE}.disks:attack", "disks that are full", 40),
    "memory": Kind(f"{HERE}.memory:attack", "too little memory", 40),
}
