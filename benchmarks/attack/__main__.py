"""Attack, print what came of it, and fail on any defect."""

import argparse
import math
import time

from benchmarks.attack.kept import keep
from benchmarks.attack.kinds import KINDS
from benchmarks.attack.watch import LIMIT, Tally, attacked


def shown(tally: Tally, seconds: float) -> str:
    """Counts by outcome, the commonest first."""
    rate = tally.number / max(seconds, 1e-9)
    slow, seed = tally.slowest
    lines = [
        f"{tally.kind}: {tally.number} attacks in {seconds:.0f} s ({rate:.1f} a second), "
        f"{len(tally.defects)} defects; the slowest took {slow:.1f} s (seed {seed}), "
        f"the most work {tally.most_work:.1f} s"
    ]
    return "\n".join([*lines, *(f"  {n:7d} {word}" for word, n in tally.words.most_common())])


def main(words: list[str] | None = None) -> int:
    """Run the attacks that were asked for; how many were defects."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--number", type=int, help="of attacks of each kind")
    parser.add_argument("--minutes", type=float, help="for each kind")
    parser.add_argument("--seed", type=int, default=0, help="of the first attack")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds an attack may take")
    parser.add_argument("--keep", action="store_true", help="add to the counts that are kept")
    options = parser.parse_args(words)
    unknown = sorted(set(options.kinds) - set(KINDS))
    if unknown:
        parser.error(f"There is no kind {unknown[0]!r}. Choose from {', '.join(KINDS)}.")
    n_defects = 0
    for kind in options.kinds or KINDS:
        seconds = math.inf if options.minutes is None else 60 * options.minutes
        number = options.number or (KINDS[kind].number if options.minutes is None else 10**12)
        start = time.monotonic()
        tally = attacked(kind, number, seconds, options.seed, options.jobs, options.limit)
        print(shown(tally, time.monotonic() - start), flush=True)
        n_defects += len(tally.defects)
        if options.keep:
            keep(tally, options.seed)
    return min(n_defects, 1)


if __name__ == "__main__":
    raise SystemExit(main())
