"""A table, a model of it, and commands that write: what is hurt while they do."""

import shutil
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.attack import commands, forked
from benchmarks.attack.defect import check
from halfseen import load
from halfseen.models import USUAL_MODEL

PATIENCE = 50.0
"""Seconds that a command that nobody disturbs may take."""
TEMPORARY = ".halfseen-"


class Command(NamedTuple):
    """A command that writes one file, and when that is whole."""

    words: tuple[str, ...]
    out: str
    whole: Callable[[Path], bool]


def _loads(path: Path) -> bool:
    return int(load(path).n_components_) > 0


def _is_page(path: Path) -> bool:
    return path.read_text("utf-8").rstrip().endswith("</html>")


def _has_rows(path: Path) -> bool:
    text = path.read_text("utf-8")
    return text.endswith("\n") and text.count("\n") == N_ROWS + 1


N_ROWS = 400
COMMANDS = {
    "fit": Command(("fit", "t.csv", "-k", "2", "--seed", "0"), "new.halfseen", _loads),
    "impute": Command(("impute", "m.halfseen", "t.csv"), "filled.csv", _has_rows),
    "predict": Command(("predict", "m.halfseen", "t.csv"), "said.csv", _has_rows),
    "report": Command(("report", "m.halfseen", "t.csv"), "page.html", _is_page),
}


def furnish(folder: Path) -> None:
    """The table and the model."""
    for path in _made().iterdir():
        shutil.copy(path, folder / path.name)


@cache
def _made() -> Path:
    """Made once."""
    folder = Path(tempfile.mkdtemp(prefix="attack-made-"))
    rng = np.random.default_rng(0)
    rates = np.array([[2.0, 9, 4, 12], [10, 3, 9, 2]])[np.arange(N_ROWS) % 2]
    cells = [[f"{v}" if rng.random() < 0.9 else "" for v in row] for row in rng.poisson(rates)]
    lines = ["age,pulse,lactate,sodium", *(",".join(row) for row in cells)]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    words = ("fit", folder / "t.csv", "-k", "2", "--model", USUAL_MODEL)
    commands.run(*words, "--out", folder / "m.halfseen")
    # In this process once: blows are to fall into the work, not into the loading.
    with tempfile.TemporaryDirectory(prefix="attack-") as place:
        for path in folder.iterdir():
            shutil.copy(path, Path(place) / path.name)
        for command in COMMANDS.values():
            result = commands.run(*words_of(command, Path(place)))
            check(result.exit_code == 0, f"a plain {command.words[0]} fails", result.stderr)
    return folder


def ready() -> None:
    """Have everything loaded and compiled."""
    _made()


def words_of(command: Command, folder: Path, *more: object) -> list[object]:
    """The command in a folder."""
    paths = ("t.csv", "m.halfseen")
    words = [folder / word if word in paths else word for word in command.words]
    return [*words, "--out", folder / command.out, *more]


@cache
def seconds(name: str) -> float:
    """How long a command takes if nobody disturbs it."""
    with tempfile.TemporaryDirectory(prefix="attack-") as place:
        folder = Path(place)
        furnish(folder)
        start = time.monotonic()
        process = forked.begin(words_of(COMMANDS[name], folder), folder / "told")
        done = forked.end(process, folder / "told", PATIENCE)
        check(done is not None and done.code == 0, f"a plain {name} fails", done)
        return time.monotonic() - start


def left_over(folder: Path) -> list[str]:
    """Files that were to be there only for a while."""
    return [path.name for path in folder.iterdir() if path.name.startswith(TEMPORARY)]
