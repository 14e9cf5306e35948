"""How the time of a fit grows with what a sparse table holds.

Run ``python -m benchmarks.sparse_growth``: short documents of 2,000 words with blocks of
words that were not looked for, each table with twice the rows of the one before. More rows make for
less noise, so that the eigenvectors of the second moment take fewer products to find and a fit gets
cheaper a row; a second series holds the number of products at six, which shows what each costs.
``--keep`` also draws ``sparse_growth.png`` next to the figures.
"""

import argparse
import time
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import Any
from unittest import mock

import numpy as np

from benchmarks import results_file
from benchmarks.sparse_topics import Documents, documents, fit
from halfseen.moments import whitening

N_TOPICS, LENGTH = 10, 25.0
AS_IT_IS, HELD = "as it is", "six products"


def _as_it_is() -> AbstractContextManager[Any]:
    return nullcontext()


def _six_products() -> AbstractContextManager[Any]:
    return mock.patch.multiple(whitening, TOLERANCE=0.0, DEEPEST=6)


SERIES = {AS_IT_IS: _as_it_is, HELD: _six_products}


def measure(n_doublings: int, first: int, n_words: int, repeats: int) -> list[dict[str, Any]]:
    """Stored counts and the seconds of the fastest of a few fits, for each number of rows."""
    fit(documents(2000, 600, 2))  # compile
    tables = [
        documents(first * 2**step, n_words, N_TOPICS, length=LENGTH)
        for step in range(n_doublings + 1)
    ]
    return [
        {"rows": table.counts.shape[0], "stored": int(table.counts.nnz), **row}
        for table, row in zip(tables, _fastest(tables, repeats), strict=True)
    ]


def _fastest(tables: list[Documents], repeats: int) -> list[dict[str, float]]:
    fastest = [dict.fromkeys(SERIES, np.inf) for _ in tables]
    for _ in range(repeats):  # in turns, so that a slow minute is not one table's
        for row, table in zip(fastest, tables, strict=True):
            for name, setting in SERIES.items():
                with setting():
                    start = time.perf_counter()
                    fit(table)
                    row[name] = min(row[name], time.perf_counter() - start)
    return fastest


def ratios(figures: list[dict[str, Any]], series: str) -> list[float]:
    """How many times longer each fit took than the one before."""
    seconds = [row[series] for row in figures]
    return [after / before for before, after in pairwise(seconds)]


def draw(figures: list[dict[str, Any]]) -> None:
    """The picture of what was measured."""
    from matplotlib.figure import Figure

    stored = np.array([row["stored"] for row in figures]) / 1e6
    figure = Figure(figsize=(6.5, 4.2), layout="constrained")
    ax = figure.subplots()
    for series, colour, marker in ((HELD, "#D55E00", "s"), (AS_IT_IS, "#0072B2", "o")):
        seconds = np.array([row[series] for row in figures])
        ax.loglog(stored, seconds, f"{marker}-", color=colour, label=f"whole fit, {series}")
        side = 1 if series == HELD else -1
        for x, y, ratio in zip(stored[1:], seconds[1:], ratios(figures, series), strict=True):
            ax.annotate(
                f"× {ratio:.2f}",
                (x, y),
                textcoords="offset points",
                xytext=(-9 * side, 7 * side) if side > 0 else (0, -10),
                ha="right" if side > 0 else "center",
                va="bottom" if side > 0 else "top",
                color=colour,
            )
    start = figures[0][HELD]
    ax.loglog(stored, start * stored / stored[0], ":", color="#555555", label="in proportion")
    ax.set_xlabel("stored counts (millions)")
    ax.set_ylabel("time (seconds)")
    ax.set_xticks(stored, [f"{x:.0f}" for x in stored])
    ticks = start * 2.0 ** np.arange(-1, len(stored) + 1)
    ax.set_yticks(ticks, [f"{y:.1f}" for y in ticks])
    ax.minorticks_off()
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    figure.savefig(results_file.FOLDER / "sparse_growth.png", dpi=110)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--doublings", type=int, default=4)
    parser.add_argument("--first", type=int, default=200_000)
    parser.add_argument("--words", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    figures = measure(options.doublings, options.first, options.words, options.repeats)
    for row in figures:
        times = "  ".join(f"{name} {row[name]:6.2f} s" for name in SERIES)
        print(f"{row['rows']:>9,} rows {row['stored']:>12,} stored  {times}")
    for name in SERIES:
        print(f"{name}: " + " ".join(f"× {ratio:.2f}" for ratio in ratios(figures, name)))
    if options.keep:
        command = f"python -m benchmarks.sparse_growth --doublings {options.doublings}"
        command += f" --first {options.first} --words {options.words} --repeats {options.repeats}"
        results_file.write("sparse_growth", command, figures)
        draw(figures)


if __name__ == "__main__":
    main()
