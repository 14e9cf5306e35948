"""The accuracy of fills that ``halfseen impute`` prints, beside the accuracy that they have.

Run ``python -m benchmarks.printed_accuracy``. In a random quarter of the rows of a table, known
cells are hidden where another row of the table misses something: columns that are missing together
are hidden together. These cells are the truth, which the imputer never sees. Of the table with both
kinds of gaps it says, column by column, how much of the variance its fills explain, or how many
categories they get right; and this is compared with what its fills of the hidden cells have. Columns
with fewer than 50 hidden cells are left out. Values that are missing on purpose in one table of the
project, "?", are gaps.

Rules of the measurement were tried on ``TUNED``, with seeds from 100 on; figures are of ``TABLES``
with other seeds. Tables that are not at hand are left out.
"""

import argparse
import warnings
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks import results_file
from benchmarks.real_tables import find
from halfseen import Imputer

TABLES = ("nafld1", "support2", "icu", "ames", "election", "mammo", "HELPrct", "pbc", "bfi", "gss_cat")
TUNED = ("boys", "thyroid", "titanic")
HIDDEN = 0.25
"""Of the rows get the gaps of another row as well."""
FEWEST = 50
"""Hidden cells by which a column is judged."""
NEAR = 0.1
"""R², or share of right categories, by which the two may differ."""
MOST_ROWS = 6000
FIRST_SEED, N_SEEDS = 1, 3


def read(name: str, rng: np.random.Generator) -> Any:
    """A table, some of its rows if there are many."""
    pd = import_module("pandas")
    frame = pd.read_csv(find(f"{name}.csv"), na_values=["?"])
    some = np.sort(rng.permutation(len(frame))[:MOST_ROWS])
    return frame.iloc[some].reset_index(drop=True)


def hidden_cells(known: Any, rng: np.random.Generator) -> Any:
    """Known cells (n, d) of some rows where another row misses something."""
    with_gaps = np.flatnonzero(~known.all(axis=1))
    chosen = rng.random(len(known)) < HIDDEN
    pattern = ~known[rng.choice(with_gaps, len(known))]
    return known & pattern & chosen[:, None]


def measured(true: Any, filled: Any, numbers: bool) -> float:
    """R² of numbers, the share that is right of others."""
    if not numbers:
        return float(np.mean([a == b for a, b in zip(true, filled, strict=True)]))
    true, filled = np.asarray(true, float), np.asarray(filled, float)
    around = float(((true - true.mean()) ** 2).sum())
    return 1 - float(((true - filled) ** 2).sum()) / around if around else 0.0


def compared(name: str, seed: int) -> list[dict[str, Any]]:
    """Of each column of a table what is printed, and what is true."""
    rng = np.random.default_rng(seed)
    frame = read(name, rng)
    hidden = hidden_cells(frame.notna().to_numpy(), rng)
    gappy = frame.mask(hidden)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        imputer = Imputer(random_state=seed).fit(gappy)
        filled = imputer.transform(gappy)
    printed, found = imputer.learned_.accuracy, []
    for j, column in enumerate(frame.columns):
        own = hidden[:, j]
        if own.sum() < FEWEST or not printed.n_cells[j]:
            continue
        numbers = bool(np.isfinite(printed.variance[j]))
        true = measured(frame.loc[own, column], filled.loc[own, column], numbers)
        found.append(
            {
                "column": column,
                "measure": "R²" if numbers else "right",
                "printed": round(float((printed.variance if numbers else printed.right)[j]), 3),
                "measured": round(true, 3),
                "one at a time": round(float(one_at_a_time(imputer)[j]), 3),
                "hidden": int(own.sum()),
            }
        )
    return found


def one_at_a_time(imputer: Any) -> Any:
    """What was printed before: of variance or log-loss, cells being hidden one at a time; (d,)."""
    learned = imputer.learned_
    found = np.full(len(learned.kept), np.nan)
    found[learned.kept] = learned.filler.explained
    return found


def near(one: dict[str, Any], claim: str = "printed") -> bool:
    """Whether they agree; what is below 0 is printed as 0, which is no better than the mean."""
    return bool(abs(max(one[claim], 0.0) - max(one["measured"], 0.0)) <= NEAR)


def summary(columns: list[dict[str, Any]]) -> dict[str, Any]:
    """How many columns of some tables agree."""
    numbers = [one for one in columns if one["measure"] == "R²"]
    return {
        "columns": len(columns),
        "near": _share([near(one) for one in columns]),
        "R² near": _share([near(one) for one in numbers]),
        "R² near, one at a time": _share([near(one, "one at a time") for one in numbers]),
    }


def _share(true: list[bool]) -> float | None:
    return round(float(np.mean(true)), 3) if true else None


def main() -> None:
    """Print the figures of each table, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    parser.add_argument("--seed", type=int, default=FIRST_SEED, help="The first seed.")
    parser.add_argument("--seeds", type=int, default=N_SEEDS, help="How many of them.")
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    figures: dict[str, Any] = {}
    every: list[dict[str, Any]] = []
    for name in asked.tables:
        if find(f"{name}.csv") is None:
            continue
        own = [one for i in range(asked.seeds) for one in compared(name, asked.seed + i)]
        every += own
        figures[name] = {**summary(own), "off": [one for one in own if not near(one)]}
        print(name, summary(own), flush=True)
        for one in own:
            print("  " if near(one) else "! ", one)
    figures["all"] = summary(every)
    print("all", figures["all"])
    if asked.keep:
        results_file.write("printed_accuracy", "python -m benchmarks.printed_accuracy", figures)


if __name__ == "__main__":
    main()
