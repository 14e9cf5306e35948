"""The files that a command is asked to read, and what is said of them."""

from collections.abc import Sequence
from glob import has_magic
from pathlib import Path
from shlex import quote
from typing import Any

from halfseen.tables.files import STANDARD_INPUT, Files, is_address

OPTIONS = {"encoding": "--encoding", "skip": "--skip", "table": "--table"}


def asked_files(data: Sequence[str], missing: Sequence[str] = (), **said: Any) -> Files:
    """Files by their names, patterns, connection strings, or ``-``, as a command is given them."""
    for path in data:
        elsewhere = path == STANDARD_INPUT or is_address(path) or has_magic(path)
        if not elsewhere and not Path(path).exists():
            raise ValueError(f"{path} does not exist. Check its name and folder.")
    several = [path if is_address(path) else Path(path) for path in data]
    one = several[0] if len(several) == 1 else several
    return Files(one, missing_values=tuple(missing), **said)


def written(files: Files) -> list[Path]:
    """Those that are files, which are not to be written over."""
    names = (str(path) for path in files.paths)
    return [Path(name) for name in names if name != STANDARD_INPUT and not is_address(name)]


def as_arguments(files: Files) -> str:
    """What to write on the command line to have the same files read in the same way.

    >>> as_arguments(Files("my table.xlsx", table="Ward 3", header=False))
    "'my table.xlsx' --table 'Ward 3' --no-header"
    """
    words = [quote(str(path)) for path in files.paths]
    for name, option in OPTIONS.items():
        value = getattr(files, name)
        words += [] if value is None else [f"{option} {quote(str(value))}"]
    if files.header is not None:
        words.append("--header" if files.header else "--no-header")
    if isinstance(files.vocabulary, str | Path):
        words.append(f"--vocabulary {quote(str(files.vocabulary))}")
    return " ".join(words)
