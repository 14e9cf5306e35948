"""Which code a result was measured on, by what Git says of the sources."""

import subprocess
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parents[1] / "src" / "halfseen"


def git(*arguments: str, folder: Path = SOURCES) -> str | None:
    """What Git says in a folder; None if it knows nothing of it."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def measured_code(sources: Path = SOURCES) -> dict[str, Any]:
    """The last commit that touched the sources, and whether they were changed since.

    ``tree`` is what Git calls the contents, which stays the same if commits are rewritten. Nothing,
    if the sources are not under version control.
    """
    commit = git("log", "-1", "--format=%H", "--", ".", folder=sources)
    if not commit:
        return {}
    changed = bool(git("status", "--porcelain", "--", ".", folder=sources))
    return {"commit": commit, "tree": git("rev-parse", "HEAD:./", folder=sources), "dirty": changed}
