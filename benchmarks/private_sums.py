"""What differential privacy costs: error of the means of groups against ε, by number of rows.

Run ``python -m benchmarks.private_sums``: three groups in six columns, of which one is observed in
60 % of the rows, summed in three places with the noise of each. The error is the root mean square
of how far means are off, in units of how far groups are from their middle; groups of sums that no
model could be read off count as found at the middle. ``--keep`` keeps the figures and the picture
of the guide. Origins, scales and the norm were looked at with seeds 0 to 4; these are others.
"""

import argparse
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks import results_file
from halfseen import GaussianMixture, Plan, simulate, summed
from halfseen.data.errors import DataError

FIRST_SEED = 7000
D, K = 6, 3
ROWS = (3_000, 30_000, 300_000)
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
PICTURE = Path(__file__).parents[1] / "docs" / "guide" / "privacy.png"


def drawn(seed: int, n: int) -> tuple[Any, Any]:
    """Means (k, d) and rows with gaps."""
    rng = np.random.default_rng(seed)
    means = rng.normal(0, 2, (K, D))
    X, _ = simulate.gaussian_mixture(n, [0.4, 0.35, 0.25], means, 1.0, rng)
    return means, simulate.independent_gaps(X, [1.0] * (D - 1) + [0.6], rng)


def plan_for(X: Any) -> Plan:
    """As people would agree on it: scales and origins of a digit, and everybody's range."""
    plan = Plan.of(X[:1000], GaussianMixture(K))
    return replace(plan, columns=tuple(replace(c, low=-20.0, high=20.0) for c in plan.columns))


def error(seed: int, n: int, epsilon: float | None) -> float:
    """Of the means, from sums of three places."""
    means, X = drawn(seed, n)
    plan = plan_for(X)
    if epsilon is not None:
        plan = plan.noised(epsilon)
    parts = X[: n // 2], X[n // 2 : 4 * n // 5], X[4 * n // 5 :]
    one, two, three = (
        summed(part, plan, random_state=1000 * seed + i) for i, part in enumerate(parts)
    )
    middle = means.mean(axis=0)
    try:
        found = GaussianMixture(K).fit(one + two + three).means_
        found = np.where(np.isfinite(found), found, middle)  # of columns that noise leaves nothing
        apart = np.linalg.norm(means[:, None] - found, axis=2)
        found = found[linear_sum_assignment(apart)[1]]
    except (DataError, ArithmeticError, np.linalg.LinAlgError):
        found = np.tile(middle, (K, 1))
    off = np.sqrt(np.mean((found - means) ** 2) / np.mean((means - middle) ** 2))
    return float(min(off, 1.0))


def measured(n_tables: int) -> dict[str, Any]:
    """Median errors by rows and ε; ``none`` is without noise."""
    seeds = range(FIRST_SEED, FIRST_SEED + n_tables)
    found: dict[str, Any] = {}
    for n in ROWS:
        row = {f"{e:g}": float(np.median([error(s, n, e) for s in seeds])) for e in EPSILONS}
        row["none"] = float(np.median([error(s, n, None) for s in seeds]))
        found[str(n)] = row
        print(n, {key: round(value, 4) for key, value in row.items()}, flush=True)
    return found


def draw(by_rows: dict[str, Any]) -> None:
    """The picture of the guide."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    for colour, (n, row) in zip(("#4477aa", "#ee6677", "#228833"), by_rows.items(), strict=True):
        label = f"{int(n):,} rows"
        ax.plot(EPSILONS, [row[f"{e:g}"] for e in EPSILONS], "o-", color=colour, label=label)
        ax.axhline(row["none"], color=colour, linestyle="--", linewidth=0.8)
    ax.set(xscale="log", yscale="log", xlabel="ε of each place (δ = 10⁻⁶)")
    ax.set_ylabel("error of the means (1: nothing was learned)")
    ax.legend()
    plt.savefig(PICTURE, dpi=110)


def main() -> None:
    """Print medians over tables, and keep them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tables", type=int, default=10)
    options.add_argument("--keep", action="store_true")
    asked = options.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_rows = measured(asked.tables)
    most = str(ROWS[-1])
    figures = {
        "by_rows": by_rows,
        "n_rows_at_1": ROWS[-1],
        "times_at_1": by_rows[most]["1"] / by_rows[most]["none"],
    }
    print(figures)
    if asked.keep:
        draw(by_rows)
        command = f"python -m benchmarks.private_sums --tables {asked.tables}"
        print(results_file.write("private_sums", command, figures))


if __name__ == "__main__":
    main()
