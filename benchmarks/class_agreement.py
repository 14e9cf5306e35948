"""Whether one call finds what many random starts find, on tables of categories.

Run ``python -m benchmarks.class_agreement``: the tables of ``benchmarks.class_tables`` that are at
hand, two to five classes, five seeds. Beside, plain EM without a prior climbs from fifty random
starts (``benchmarks.plain_em``). ``nats more`` are those of a fit's log-likelihood of all rows than
the best of these; a fit is at the best if it is at most .01 lower. Starts were tuned on the tables
in ``TUNED``, with seeds from 10 on. Seconds are of the processor.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np

from benchmarks import results_file
from benchmarks.class_tables import TABLES, Array
from benchmarks.plain_em import log_likelihoods
from halfseen import LatentClass

NUMBERS = (2, 3, 4, 5)
NATS = 0.01
TUNED = ("CES11", "HELPrct", "cheating", "mammo", "medpar", "penguins", "titanic")


def compared(table: Array, k: int, n_random: int, n_seeds: int) -> dict[str, Any]:
    """The default fit of several seeds beside the best of many random starts."""
    random = log_likelihoods(table, k, n_random, seed=0)
    kinds = dict.fromkeys(range(table.shape[1]), "categorical")
    heights, seconds = [], []
    for seed in range(n_seeds):
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LatentClass(k, kinds=kinds, random_state=seed).fit(table)
        seconds.append(time.process_time() - start)
        heights.append(float(model.score_samples(table).sum()))
    return {
        "nats more": [round(height - float(random.max()), 5) for height in heights],
        "random starts at the best": int(np.sum(random > random.max() - NATS)),
        "seconds": round(float(np.median(seconds)), 3),
    }


def summary(tables: list[dict[str, Any]]) -> dict[str, float]:
    """How often fits are at the best."""
    more = np.array([row["nats more"] for table in tables for row in table["classes"].values()])
    return {
        "tables": len(tables),
        "fits": more.size,
        "at the best %": float(100 * np.mean(more >= -NATS)),
        "least nats more": float(more.min()),
    }


def main() -> None:
    """Print the figures, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--numbers", nargs="+", type=int, default=list(NUMBERS), metavar="K")
    parser.add_argument("--starts", type=int, default=50, help="random ones")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    found = {}
    for name in asked.tables:
        try:
            table = TABLES[name]()
        except FileNotFoundError as error:
            print(error)
            continue
        classes = {}
        for k in asked.numbers:
            classes[str(k)] = compared(table, k, asked.starts, asked.seeds)
            print(name, k, classes[str(k)], flush=True)
        distinct = np.unique(np.where(np.isnan(table), -1, table), axis=0)
        shape = dict(zip(("rows", "columns"), table.shape, strict=True))
        found[name] = shape | {"distinct rows": len(distinct), "classes": classes}
    figures: dict[str, Any] = {"all": summary(list(found.values()))}
    if others := [table for name, table in found.items() if name not in TUNED]:
        figures["not tuned on"] = summary(others)
    print(figures)
    if asked.keep:
        command = f"python -m benchmarks.class_agreement --starts {asked.starts}"
        figures["by table"] = found
        results_file.write("class_agreement", command, figures)


if __name__ == "__main__":
    main()
