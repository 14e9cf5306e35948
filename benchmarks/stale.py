"""Which kept results are older than the code that they measure.

Run ``python -m benchmarks.stale``: a line for each result that was not measured on today's sources,
oldest first, and which parts of them have changed since. ``--all`` lists the others too. What a
change of a part changes in a figure, it does not know: that is for you to say.
"""

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measured_code import SOURCES, git
from benchmarks.results_file import FOLDER


class Age(NamedTuple):
    """How old a result is."""

    name: str
    n_commits: float  # to the sources since; infinite if nobody knows
    sentence: str


def ages(results: Path = FOLDER, sources: Path = SOURCES) -> list[Age]:
    """Of all kept results, oldest first."""
    today = git("rev-parse", "HEAD:./", folder=sources)
    found = [
        age(path.stem, json.loads(path.read_text(encoding="utf-8")), today, sources)
        for path in sorted(results.glob("*.json"))
    ]
    return sorted(found, key=lambda one: -one.n_commits)


def age(name: str, content: dict[str, Any], today: str | None, sources: Path) -> Age:
    """Of one result, if the sources have the tree ``today``."""
    code = content.get("code") or {}
    commit = code.get("commit")
    if commit is None:
        version = content.get("versions", {}).get("halfseen", "of no known version")
        return Age(name, float("inf"), f"unknown commit, halfseen {version}")
    if code["dirty"]:
        return Age(name, float("inf"), f"{commit[:9]} with changes that were not committed")
    if code["tree"] == today:
        return Age(name, 0, f"{commit[:9]}, as the sources are today")
    since = git("rev-list", f"{commit}..HEAD", "--", ".", folder=sources)
    if since is None:
        return Age(name, float("inf"), f"{commit[:9]}, which is not in this history")
    files = git("diff", "--name-only", "--relative", commit, "HEAD", "--", ".", folder=sources)
    parts = sorted({file.split("/")[0] for file in (files or "").splitlines()})
    n_commits = len(since.splitlines())
    return Age(name, n_commits, f"{commit[:9]}, {n_commits} commits ago: {', '.join(parts)}")


def main() -> None:
    """Print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="also those of today's sources")
    asked = parser.parse_args()
    every = ages()
    stale = [one for one in every if one.n_commits]
    for one in every if asked.all else stale:
        print(f"{one.name:<24} {one.sentence}")
    print(f"{len(stale)} of {len(every)} results are not known to be of today's sources.")


if __name__ == "__main__":
    main()
