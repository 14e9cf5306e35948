"""Atomic writes: a file is the old one or the new one, whole."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from halfseen.data.messages import setting


def write_whole(path: str | os.PathLike[str], data: bytes, *, overwrite: bool) -> None:
    """Write ``data`` to ``path`` atomically."""
    with whole_file(path, overwrite=overwrite) as file:
        file.write(data)


@contextmanager
def whole_file(path: str | os.PathLike[str], *, overwrite: bool) -> Iterator[BinaryIO]:
    """A temporary file in the same folder that is renamed to ``path`` at the end.

    A process that is killed on the way leaves at worst a hidden ``.halfseen-….tmp`` behind.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"The folder {target.parent} does not exist. Create it first.")
    if target.exists() and not overwrite:
        raise FileExistsError(
            f"{path} is there already. Use "
            + setting(overwrite=True)
            + " to replace it, or choose another name."
        )
    temporary = target.with_name(f".halfseen-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            if target.exists():  # before there is something to read for those who may not
                shutil.copymode(target, temporary)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            _name(error, temporary, path)
        raise
    _flush_folder(target.parent)


def _name(error: OSError, temporary: Path, path: str | os.PathLike[str]) -> None:
    """Add the name of the requested file to an error."""
    if error.strerror and error.filename in (None, str(temporary)):
        error.filename = os.fspath(path)


def _flush_folder(folder: Path) -> None:
    """Flush the folder, so that the renaming survives a loss of power."""
    if os.name != "posix":
        return  # elsewhere folders cannot be opened
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_not_input(out: str | os.PathLike[str], *inputs: str | os.PathLike[str]) -> None:
    """Refuse to overwrite an input file, or a file in an input folder.

    Links and other names of one file are the same file.
    """
    target = Path(out)
    if not target.exists():
        return
    for given in map(Path, inputs):
        files = given.iterdir() if given.is_dir() else [given]
        if any(file.exists() and file.samefile(target) for file in files):
            raise ValueError(
                f"{out} is read ({given}), and would be written over. Choose another name for the "
                "result."
            )
