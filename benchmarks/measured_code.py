"""Which code a result was measured on, by what Git says of the sources."""

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parents[1] / "src" / "halfseen"


def git(*arguments: str, folder: Path = SOURCES, lines: Iterable[str] = ()) -> str | None:
    """The output of a Git command in a folder, given lines of input; None if it fails."""
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def commits_by_tree(folder: Path = SOURCES) -> dict[str, str]:
    """Newest commit of this history with each content of the sources, by the name of their tree."""
    commits = (git("rev-list", "--reverse", "HEAD", "--", ".", folder=folder) or "").splitlines()
    prefix = git("rev-parse", "--show-prefix", folder=folder) or ""
    asked = [f"{commit}:{prefix}" for commit in commits]
    trees = git("cat-file", "--batch-check=%(objectname)", folder=folder, lines=asked) or ""
    return dict(zip(trees.splitlines(), commits, strict=True))


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
