"""Counts of long attacks, which add over runs of other seeds."""

from typing import Any

from benchmarks import results_file
from benchmarks.attack.watch import Tally

NAME = "attack"
COMMAND = "python -m benchmarks.attack KIND --number N --seed FIRST --jobs 2 --keep"


def keep(tally: Tally, seed: int) -> None:
    """Add what came of attacks from a seed on to what is kept of their kind."""
    known = results_file.figures(NAME) if (results_file.FOLDER / f"{NAME}.json").exists() else {}
    results_file.write(
        NAME, COMMAND, known | {tally.kind: added(known.get(tally.kind), tally, seed)}
    )


def added(known: dict[str, Any] | None, tally: Tally, seed: int) -> dict[str, Any]:
    """The counts of one kind, with those of another run."""
    known = known or {"attacks": 0, "defects": 0, "slowest": 0.0, "runs": [], "outcomes": {}}
    words = {**dict.fromkeys(known["outcomes"], 0), **dict.fromkeys(tally.words, 0)}
    return {
        "attacks": known["attacks"] + tally.number,
        "defects": known["defects"] + len(tally.defects),
        "slowest": max(known["slowest"], round(tally.most_work, 1)),  # seconds of processor
        "runs": [*known["runs"], {"seed": seed, "attacks": tally.number}],
        "outcomes": {word: known["outcomes"].get(word, 0) + tally.words[word] for word in words},
    }
