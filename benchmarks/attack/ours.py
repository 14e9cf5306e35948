"""Which errors are ours: raised on purpose, with a sentence, by a line that says ``raise``."""

import ast
import traceback
from functools import cache
from pathlib import Path

import sklearn
from sklearn.exceptions import NotFittedError

import halfseen

MEANT = (
    ValueError,
    TypeError,
    NotFittedError,
    FileExistsError,
    FileNotFoundError,
    MemoryError,
)
"""Exactly these types, or those of the package: what another library derives is not ours."""
OURS = str(Path(halfseen.__file__).parent)
CHECKS = str(Path(sklearn.__file__).parent / "utils")
"""Whose words about shapes, names and seeds are those that users of estimators know."""
FEWEST_LETTERS = 20


def is_ours(error: BaseException) -> bool:
    """Whether an error was meant."""
    frames = traceback.extract_tb(error.__traceback__)
    meant = type(error) in MEANT or type(error).__module__.startswith("halfseen.")
    if not meant or not frames or len(str(error)) < FEWEST_LETTERS:
        return False
    file, line = frames[-1].filename, frames[-1].lineno or 0
    return file.startswith(CHECKS) or (file.startswith(OURS) and line in raising_lines(file))


@cache
def raising_lines(file: str) -> frozenset[int]:
    """The lines of a module that are part of a ``raise``.

    NumPy's errors have no frame of their own: a line that fails by chance is told from one that
    refuses by what is written on it.
    """
    found: set[int] = set()
    for node in ast.walk(ast.parse(Path(file).read_text("utf-8"))):
        if isinstance(node, ast.Raise):
            found |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(found)


def where(error: BaseException) -> str:
    """What was raised, and the last line of ours on the way there."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(OURS)]
    place = f"{Path(frames[-1].filename).relative_to(OURS)}:{frames[-1].lineno}" if frames else "?"
    return f"{place} {' '.join(str(error).split())[:200]}"
