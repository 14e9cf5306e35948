"""How often the right number of topics is chosen, and what scikit-learn's BIC would choose.

Run ``python -m benchmarks.number_of_components``: 100 tables of 10,000 rows for each
pattern of gaps, with 2, 3 or 4 topics in turn. Groups: ``benchmarks.number_of_groups``.
"""

import argparse
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.mixture import GaussianMixture as PeerMixture

from benchmarks import results_file
from halfseen import GammaPoisson, choose_components, simulate
from halfseen.data.arrays import Array

N_FEATURES, N_COMPLETE = 10, 6
PATTERNS = {
    "low": (0.05, 0.05, 0.05, 0.05),
    "wide": (0.03, 0.1, 0.3, 0.9),
    "high": (0.8, 0.8, 0.8, 0.8),
}
NUMBERS = (2, 3, 4)
MOST = 6
FIRST_SEED = 1000
"""The seeds below were looked at while the rule was made."""


def topics(k: int, n: int, rng: np.random.Generator) -> Array:
    """Topics ~ Dir(1), shapes of one, rows of 100 counts in the mean."""
    shares = rng.dirichlet(np.ones(N_FEATURES), k)
    return simulate.gamma_poisson(n, shares, np.ones(k), k / 100, rng)[0]


WORLDS: dict[str, tuple[Callable[..., Array], Callable[[], Any]]] = {
    "gamma-Poisson": (topics, GammaPoisson),
}


def choices(world: str, pattern: str, n: int, seed: int) -> dict[str, int]:
    """What each way of choosing makes of one table."""
    rng = np.random.default_rng(seed)
    draw, estimator = WORLDS[world]
    k = NUMBERS[seed % len(NUMBERS)]
    observed = np.concatenate([np.ones(N_COMPLETE), PATTERNS[pattern]])
    X = simulate.independent_gaps(draw(k, n, rng), observed, rng)
    choice = choose_components(X, model=estimator(), max_components=MOST)
    return {
        "true": k,
        "halfseen": choice.n_components,
        "spectrum alone": choice.tests[-1].n_components,
        "BIC, spherical": _by_bic(X, "spherical"),
        "BIC, full": _by_bic(X, "full"),
    }


def _by_bic(X: Array, covariance_type: str) -> int:
    """scikit-learn's mixture with the lowest BIC, after gaps are filled with means."""
    filled = SimpleImputer().fit_transform(X)

    def bic(k: int) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            peer = PeerMixture(k, covariance_type=covariance_type, random_state=0).fit(filled)
        return float(peer.bic(filled))

    return min(range(1, MOST + 1), key=bic)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--world", choices=WORLDS, help="only this one; others stay as they are")
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    figures: dict[str, dict[str, Any]] = {}
    for world in WORLDS if options.world is None else [options.world]:
        for pattern in PATTERNS:
            found = Parallel(options.jobs)(
                delayed(choices)(world, pattern, options.rows, FIRST_SEED + seed)
                for seed in range(options.sets)
            )
            figures[f"{world}, {pattern}"] = summary = _summary(found)
            print(world, pattern, summary, flush=True)
    if options.keep:
        command = f"python -m benchmarks.number_of_components --rows {options.rows}"
        before = results_file.figures("number_of_components") if options.world else {}
        results_file.write(
            "number_of_components", f"{command} --sets {options.sets}", before | figures
        )


def _summary(found: list[dict[str, int]]) -> dict[str, Any]:
    """Shares of exact choices, for all and for each true number, and errors by size."""
    summary: dict[str, Any] = {}
    for way in found[0]:
        if way == "true":
            continue
        errors = [one[way] - one["true"] for one in found]
        summary[way] = {
            "exact": float(np.mean([error == 0 for error in errors])),
            "errors": {str(e): n for e, n in sorted(Counter(errors).items())},
            **{
                f"exact of {k}": float(np.mean([o[way] == k for o in found if o["true"] == k]))
                for k in NUMBERS
            },
        }
    return summary


if __name__ == "__main__":
    main()
