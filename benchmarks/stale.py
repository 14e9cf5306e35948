"""Which kept results are older than the code that they measure.

Run ``python -m benchmarks.stale``: a line for each result that was not measured on today's sources,
oldest first, and which parts of them have changed since. ``--all`` lists the others too. What a
change of a part changes in a figure, it does not know: that is for you to say.
"""

import argparse
import json
from pathlib import Path
from typing import NamedTuple

from benchmarks.measured_code import SOURCES, commits_by_tree, git
from benchmarks.results_file import FOLDER


class Age(NamedTuple):
    """How old a result is."""

    name: str
    n_commits: float  # to the sources since, or at least so many; infinite if nobody knows
    sentence: str


class History(NamedTuple):
    """The commits that sources went through."""

    sources: Path
    today: str | None  # the tree of the sources
    commits: dict[str, str]  # by tree

    @classmethod
    def of(cls, sources: Path) -> "History":
        """The history of a folder of sources."""
        today = git("rev-parse", "HEAD:./", folder=sources)
        return cls(sources, today, commits_by_tree(sources))

    def n_commits_since(self, commit: str) -> int:
        """The number of commits that changed the sources since."""
        counted = ("rev-list", "--count", f"{commit}..HEAD", "--", ".")
        return int(git(*counted, folder=self.sources) or 0)

    def parts_changed_since(self, commit: str) -> str:
        """The rooms whose files are others than they were."""
        compared = (commit, "HEAD", "--", ".")
        files = git("diff", "--name-only", "--relative", *compared, folder=self.sources) or ""
        return ", ".join(sorted({file.split("/")[0] for file in files.splitlines()}))


def ages(results: Path = FOLDER, sources: Path = SOURCES) -> list[Age]:
    """Of all kept results, oldest first."""
    history = History.of(sources)
    found = [age(path, history) for path in sorted(results.glob("*.json"))]
    return sorted(found, key=lambda one: -one.n_commits)


def age(path: Path, history: History) -> Age:
    """Of the result in a file.

    Commits are rewritten when they are put on top of others; what the result was measured on is
    then found by its tree. A tree that was never committed as it was measured has no commit: all
    that is known is when the result itself was committed.
    """
    name, content = path.stem, json.loads(path.read_text(encoding="utf-8"))
    code = content.get("code") or {}
    if not code:
        version = content.get("versions", {}).get("halfseen", "of no known version")
        return _kept(path, history, f"unknown commit, halfseen {version}")
    commit = code["commit"][:9]
    if code["dirty"]:
        return _kept(path, history, f"{commit} with changes that were not committed")
    if code["tree"] == history.today:
        return Age(name, 0, f"{commit}, as the sources are today")
    landed = history.commits.get(code["tree"])
    if landed is None:
        return _kept(path, history, f"{commit}, whose sources are not in this history")
    n_commits, parts = history.n_commits_since(landed), history.parts_changed_since(landed)
    rewritten = "" if landed.startswith(commit) else f", rewritten as {landed[:9]}"
    return Age(name, n_commits, f"{commit}{rewritten}, {n_commits} commits ago: {parts}")


def _kept(path: Path, history: History, measured_on: str) -> Age:
    """Of a result that was measured on sources nobody has: as old as its file, or older."""
    commit = git("log", "-1", "--format=%H", "--", path.name, folder=path.parent)
    if not commit:
        return Age(path.stem, float("inf"), measured_on)
    n_commits = history.n_commits_since(commit)
    said = f"{measured_on}; kept by {commit[:9]}, {n_commits} commits ago"
    return Age(path.stem, max(n_commits, 1), said)


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
