"""Filling gaps in the sepsis table, beside column means and scikit-learn's iterative imputer.

Run ``python -m benchmarks.imputation``: patients are split into training and test, a
tenth of the test rows' observed cells is hidden, and each method, fitted to the training rows,
fills them in. Errors are in standard deviations of the training rows.
"""

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks import results_file
from benchmarks.reproduce import sepsis
from halfseen import GaussianMixture
from halfseen.data.arrays import Array

Imputer = Callable[[Array, Array], Array]
"""From training rows and gappy test rows to filled test rows."""


def column_means(train: Array, test: Array) -> Array:
    """Every gap is filled with its feature's mean."""
    return np.where(np.isnan(test), np.nanmean(train, axis=0), test)


def iterative(train: Array, test: Array) -> Array:
    """Each feature regressed on all others, round and round; defaults."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        filled: Array = IterativeImputer().fit(train).transform(test)
    return filled


def mixture(n_components: int, covariance_type: str) -> Imputer:
    """A Gaussian mixture with our defaults."""

    def impute(train: Array, test: Array) -> Array:
        model = GaussianMixture(n_components, covariance_type=covariance_type, tol=1e-5)
        filled: Array = model.fit(train).impute(test)
        return filled

    return impute


IMPUTERS: dict[str, Imputer] = {
    "column means": column_means,
    "mixture, K=6": mixture(6, "tied_spherical"),
    "mixture, K=6, diag": mixture(6, "diag"),
    "mixture, K=18": mixture(18, "tied_spherical"),
    "iterative imputer": iterative,
}


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    train, test = sepsis.split_by_patient(sepsis.load(), 0.2, options.seed)
    rng = np.random.default_rng(options.seed + 1)
    hidden = (rng.random(test.shape) < 0.1) & ~np.isnan(test)
    gappy = np.where(hidden, np.nan, test)
    figures = {}
    for name, imputer in IMPUTERS.items():
        start = time.perf_counter()
        filled = imputer(train, gappy)
        seconds = time.perf_counter() - start
        rmse = float(np.sqrt(np.mean((filled - test)[hidden] ** 2)))
        figures[name] = {"rmse": rmse, "seconds": seconds}
        print(f"{name:>20}  rmse {rmse:.4f}  seconds {seconds:.1f}")
    if options.keep:
        results_file.write("imputation", "python -m benchmarks.imputation", figures)


if __name__ == "__main__":
    main()
