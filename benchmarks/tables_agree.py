"""Two studies that share columns: whether a shift between them is told of, and taken out.

Run ``python -m benchmarks.tables_agree``: 100 pairs of tables of 1,500 rows, six columns in both
and two of its own in each, three components. Each pair is fitted as it is, and with two shared
columns of the second table higher by half a standard deviation. Told of: the concern
``tables_differ``. False alarms: that, or ``shares_differ``, where nothing was planted. Errors are
root mean squares of component means against the truth, which is that of the first table. Levels
were set on seeds below 1000.

``--shares`` measures what ``adjust="location"`` does where it should not be used: the components
are as common in the second table as in the first in reverse order, and nothing is shifted.
"""

import argparse
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

from benchmarks import results_file
from halfseen import GaussianMixture, recovery, simulate, together
from halfseen.data.arrays import Array
from halfseen.diagnostics.concerns import tables

FIRST_SEED = 1000
N_ROWS, N_SHARED, N_OWN, K, SHIFT = 1_500, 6, 2, 3, 0.5
SHARED = [f"c{i}" for i in range(N_SHARED)]
FIRST, SECOND = [f"a{i}" for i in range(N_OWN)], [f"b{i}" for i in range(N_OWN)]


def studies(
    rng: np.random.Generator, first: Array | None = None, second: Array | None = None
) -> tuple[Any, Any, Array]:
    """Two tables, and the means of their components (K, d), columns of both first."""
    d = N_SHARED + 2 * N_OWN
    means, weights = rng.normal(0, 1.5, (K, d)), 0.15 + 0.55 * rng.dirichlet(np.ones(K))
    drawn = [
        simulate.gaussian_mixture(N_ROWS, weights if own is None else own, means, 1.0, rng)[0]
        for own in (first, second)
    ]
    both = [pd.DataFrame(X, columns=[*SHARED, *FIRST, *SECOND]) for X in drawn]
    return both[0].drop(columns=SECOND), both[1].drop(columns=FIRST), means


def shifted(table: Any) -> Any:
    """Two shared columns higher by half a standard deviation."""
    moved = {name: table[name] + SHIFT * table[name].std() for name in SHARED[:2]}
    return table.assign(**moved)


def told(model: GaussianMixture, X: Any) -> set[str]:
    """The kinds of concerns about tables."""
    case = model.case(X)
    checks = (tables.columns_differ, tables.shares_differ)
    return {concern.kind for check in checks for concern in check(case)}


def error(model: GaussianMixture, means: Array) -> float:
    """Of component means, matched to the truth."""
    order = recovery.match(model.means_, means)
    return float(np.sqrt(np.mean((model.means_[order] - means) ** 2)))


def measured(seed: int) -> dict[str, float]:
    """One pair of tables, as it is and with a shift."""
    a, b, means = studies(np.random.default_rng(FIRST_SEED + seed))
    mixture = GaussianMixture(K, random_state=0)
    alike, apart = together(a, b), together(a, shifted(b))
    plain = mixture.fit(alike)
    found = {"alarm": float(bool(told(plain, alike))), "error": error(plain, means)}
    moved = mixture.fit(apart)
    found |= {"told": float("tables_differ" in told(moved, apart)), "shifted": error(moved, means)}
    adjusted = mixture.fit(together(a, shifted(b), adjust="location"))
    found["adjusted"] = error(adjusted, means)
    found["adjusted in vain"] = error(mixture.fit(together(a, b, adjust="location")), means)
    return found


def with_other_shares(seed: int) -> dict[str, float]:
    """A pair of tables in which components are not alike common, and nothing else differs."""
    rng = np.random.default_rng(FIRST_SEED + seed)
    shares = np.array([0.6, 0.25, 0.15])
    a, b, means = studies(rng, shares, shares[::-1])
    X = together(a, b)
    plain = GaussianMixture(K, random_state=0).fit(X)
    kinds = told(plain, X)
    adjusted = GaussianMixture(K, random_state=0).fit(together(a, b, adjust="location"))
    return {
        "shares told": float("shares_differ" in kinds),
        "error": error(plain, means),
        "adjusted": error(adjusted, means),
    }


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--shares", action="store_true", help="components of other shares")
    parser.add_argument("--first", type=int, default=0, help="tables are drawn from this seed on")
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    one = with_other_shares if options.shares else measured
    runs = [one(options.first + seed) for seed in range(options.seeds)]
    figures: dict[str, Any] = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    if not options.shares:
        figures["adjusted, of no shift"] = figures["adjusted"] / figures["error"]
    figures["tables"] = options.seeds
    print("  ".join(f"{name} {value:.3g}" for name, value in figures.items()))
    if options.keep:
        what = " --shares" if options.shares else ""
        command = f"python -m benchmarks.tables_agree{what} --seeds {options.seeds}"
        name = "tables_agree_shares" if options.shares else "tables_agree"
        results_file.write(name, command, figures)


if __name__ == "__main__":
    main()
