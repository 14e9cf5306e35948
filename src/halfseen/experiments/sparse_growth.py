"""How the time of a fit grows with what a sparse table holds.

Run ``python -m halfseen.experiments.sparse_growth``: documents of 20,000 words with blocks of words
that were not looked for, each table with twice the rows of the one before. ``--keep`` also draws
``sparse_growth.png`` next to the figures.
"""

import argparse
import time
from typing import Any

import numpy as np

from halfseen.experiments import results_file
from halfseen.experiments.sparse_topics import documents, fit

N_WORDS, N_TOPICS = 20_000, 20


def measure(n_doublings: int, first: int, n_words: int, repeats: int) -> list[dict[str, Any]]:
    """Stored counts and the seconds of the fastest of a few fits, for each number of rows."""
    fit(documents(2000, 600, 2))  # compile
    tables = [documents(first * 2**step, n_words, N_TOPICS) for step in range(n_doublings + 1)]
    seconds = np.full((repeats, len(tables)), np.inf)
    for repeat in range(repeats):  # in turns, so that a slow minute is not one table's
        for number, table in enumerate(tables):
            start = time.perf_counter()
            fit(table)
            seconds[repeat, number] = time.perf_counter() - start
    return [
        {"rows": table.counts.shape[0], "stored": int(table.counts.nnz), "s": float(best)}
        for table, best in zip(tables, seconds.min(axis=0), strict=True)
    ]


def draw(figures: list[dict[str, Any]]) -> None:
    """The picture of what was measured."""
    from matplotlib.figure import Figure

    stored = np.array([row["stored"] for row in figures]) / 1e6
    seconds = np.array([row["s"] for row in figures])
    figure = Figure(figsize=(6, 4), layout="constrained")
    ax = figure.subplots()
    ax.loglog(stored, seconds, "o-", color="#0072B2", label="whole fit")
    ax.loglog(
        stored, seconds[-1] * stored / stored[-1], "--", color="#777777", label="in proportion"
    )
    for x, y, ratio in zip(stored[1:], seconds[1:], seconds[1:] / seconds[:-1], strict=True):
        ax.annotate(
            f"× {ratio:.2f}", (x, y), textcoords="offset points", xytext=(-8, 8), ha="right"
        )
    ax.set_xlabel("stored counts (millions)")
    ax.set_ylabel("time of a fit (seconds)")
    ax.set_xticks(stored, [f"{x:.1f}" for x in stored])
    ax.set_yticks(seconds, [f"{y:.1f}" for y in seconds])
    ax.minorticks_off()
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    figure.savefig(results_file.FOLDER / "sparse_growth.png", dpi=110)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--doublings", type=int, default=5)
    parser.add_argument("--first", type=int, default=25_000)
    parser.add_argument("--words", type=int, default=N_WORDS)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    figures = measure(options.doublings, options.first, options.words, options.repeats)
    for before, row in zip([None, *figures], figures, strict=False):
        ratio = f"  × {row['s'] / before['s']:.2f}" if before else ""
        print(f"{row['rows']:>9,} rows {row['stored']:>12,} stored {row['s']:8.2f} s{ratio}")
    if options.keep:
        command = f"python -m halfseen.experiments.sparse_growth --doublings {options.doublings}"
        command += f" --first {options.first} --words {options.words} --repeats {options.repeats}"
        results_file.write("sparse_growth", command, figures)
        draw(figures)


if __name__ == "__main__":
    main()
