"""Whether one call finds what many random starts find, on a survey of twelve answers.

Run ``python -m benchmarks.class_agreement``: the twelve questions on two candidates of
``election.csv`` (1,785 people, some answers missing), two to four classes. Beside the default fit,
EM climbs from as many random starts as are asked for, on the same objective. Heights are
log-likelihoods of all rows, with the prior of a thousandth of a row.
"""

import argparse
from typing import Any

import numpy as np

from benchmarks import results_file
from benchmarks.class_filling import coded, read
from benchmarks.class_starts import heights

TABLE = "election"
N_ITEMS = 12
"""The first columns are the questions."""


def compared(k: int, n_random: int) -> dict[str, Any]:
    """The default beside the best of many random starts."""
    frame = read(TABLE, np.random.default_rng(0)).iloc[:, :N_ITEMS]
    X, kinds = coded(frame)
    found = heights(X, k, dict(enumerate(kinds)), n_random)
    best = max(found.random)
    return {
        "items": X.shape[1],
        "nats more": found.ours - best,
        "random starts at the best": int(np.sum(np.array(found.random) > best - 0.01)),
        "passes": float(found.work),
        "theirs": found.random_work,
    }


def main() -> None:
    """Print the figures, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=50, help="random ones")
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    figures = {}
    for k in (2, 3, 4):
        figures[f"{k} classes"] = compared(k, asked.starts)
        print(k, figures[f"{k} classes"], flush=True)
    if asked.keep:
        command = f"python -m benchmarks.class_agreement --starts {asked.starts}"
        results_file.write("class_agreement", command, figures)


if __name__ == "__main__":
    main()
