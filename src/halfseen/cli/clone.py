"""Commands that run from a clone of the project: what measures halfseen is not in the wheel."""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import halfseen

MODULES = {"bench": "benchmarks.bench.command", "reproduce": "benchmarks.reproduce.command"}
"""Where each of these commands is, in a clone."""


def load_command(name: str) -> ModuleType:
    """Import the module of a command from the clone, or say how to get one.

    Others have packages called ``benchmarks`` too. Only that beside our own sources is imported.
    """
    module = MODULES[name]
    for folder in (Path.cwd(), Path(halfseen.__file__).parents[2]):
        if _is_clone(folder, module):
            sys.path.insert(0, str(folder))
            loaded = import_module(module)
            if Path(str(loaded.__file__)).is_relative_to(folder):
                return loaded
    raise ValueError(
        f"What 'halfseen {name}' measures is not part of what pip installs. Get the sources of "
        f"halfseen {halfseen.__version__}, and call it in their folder, which holds 'benchmarks'."
    )


def _is_clone(folder: Path, module: str) -> bool:
    files = ("src/halfseen/__init__.py", f"{module.replace('.', '/')}.py")
    return all((folder / file).is_file() for file in files)
