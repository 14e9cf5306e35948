"""What is read is never written over."""

import os
from pathlib import Path


def check_not_input(out: str | os.PathLike[str], *inputs: str | os.PathLike[str]) -> None:
    """Refuse to write over a file that is read, or over one in a folder that is, whatever its name.

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
