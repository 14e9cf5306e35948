"""Whether anything has become slower: a small fixed set, in passes of a NumPy reference.

Run ``make bench-guard``. Each fit is timed in turn with a plain NumPy pass over a table (three
products and an exponential), both by seconds of the processor, one thread, the least of several
rounds: that ratio hardly depends on how busy the machine is. One that is more than 25 % above what
is kept, in three attempts, fails. ``--keep`` keeps today's, for a change that is worth its time or
for another machine, whose NumPy may be faster beside its Python.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import class_speed, markov_tables, results_file
from halfseen import GammaPoisson, GaussianMixture, HiddenMarkov, Imputer, LatentClass, simulate
from halfseen.data.arrays import Array

NAME, SLOWER, ATTEMPTS, ROUNDS = "bench_guard", 1.25, 3, 4


def groups(n: int, d: int, k: int) -> Array:
    """Rows of components that overlap, with 20 % of gaps."""
    rng = np.random.default_rng(n)
    X = rng.normal(rng.normal(scale=1.5, size=(k, d))[rng.integers(k, size=n)])
    return np.where(rng.random(X.shape) < 0.8, X, np.nan)


def reference() -> Callable[[], object]:
    """One E-step of five components of 50,000 × 20, as NumPy does it."""
    rng = np.random.default_rng(0)
    X, mask = rng.normal(size=(50_000, 20)), rng.random((50_000, 20))
    means = rng.normal(size=(5, 20))

    def one_pass() -> Any:
        heights = X @ means.T - 0.5 * (mask @ (means**2).T)
        shares = np.exp(heights - heights.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return shares.T @ X

    return one_pass


def fits() -> dict[str, Callable[[], object]]:
    """What is guarded."""
    rng = np.random.default_rng(1)
    tall, middle, small = groups(100_000, 20, 5), groups(20_000, 10, 4), groups(1_000, 5, 2)
    mixed = class_speed.mixed(rng, 5_000, 3)
    kinds = dict(enumerate(class_speed.KINDS))
    chain, _ = markov_tables.draw(rng, markov_tables.chain(rng, 3, 6), 200, 50)
    topics = rng.dirichlet(np.full(60, 0.2), 4)
    counts, _ = simulate.gamma_poisson(5_000, topics, np.ones(4), 0.04, rng)
    numbers = groups(500, 8, 3)
    fixed: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
    return {
        "moments of 100,000 × 20": lambda: GaussianMixture(5, refine=None, **fixed).fit(tall),
        "mixture of 20,000 × 10": lambda: GaussianMixture(4, covariance_type="diag", **fixed).fit(
            middle
        ),
        "full mixture of 20,000 × 10": lambda: GaussianMixture(
            4, covariance_type="full", **fixed
        ).fit(middle),
        "mixture of 1,000 × 5": lambda: GaussianMixture(2, covariance_type="diag", **fixed).fit(
            small
        ),
        "classes of 5,000 × 20": lambda: LatentClass(3, kinds=kinds, **fixed).fit(mixed),
        "chain of 200 × 50 rows": lambda: HiddenMarkov(3, **fixed).fit(chain, lengths=[50] * 200),
        "topics of 5,000 × 60": lambda: GammaPoisson(4, **fixed).fit(counts),
        "imputer of 500 × 8": lambda: Imputer(**fixed).fit_transform(numbers),
    }


def measured(names: list[str]) -> dict[str, float]:
    """How many reference passes each takes."""
    every, plain = fits(), reference()
    found = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            every[name]()  # compiles
            pairs = [(_passes(plain), _seconds(every[name])) for _ in range(ROUNDS)]
            least, own = (min(times) for times in zip(*pairs, strict=True))
            found[name] = round(own / least, 2)
    return found


def _seconds(call: Callable[[], object]) -> float:
    begun = time.process_time()
    call()
    return time.process_time() - begun


def _passes(plain: Callable[[], object]) -> float:
    return min(_seconds(plain) for _ in range(10))


def slower(found: Mapping[str, float], kept: Mapping[str, float]) -> list[str]:
    """Names of what takes more than 25 % more passes than is kept, and of what is not kept."""
    return [name for name, ratio in found.items() if ratio > SLOWER * kept.get(name, 0.0)]


def main() -> None:
    """Measure, and fail if anything became slower."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    names = list(fits())
    found = measured(names)
    if asked.keep:
        print(results_file.write(NAME, "make bench-guard GUARD=--keep", found))
        return
    kept = results_file.kept(NAME)
    for _ in range(ATTEMPTS - 1):
        once_more = slower(found, kept)
        if not once_more:
            break
        found |= {name: min(ratio, found[name]) for name, ratio in measured(once_more).items()}
    for name, ratio in found.items():
        print(f"{name:<30} {ratio:8.1f} passes; kept {kept.get(name, float('nan')):.1f}")
    late = slower(found, kept)
    if late:
        sys.exit(
            f"More than 25 % slower than kept: {', '.join(late)}. Find what costs it, or, if it "
            "is worth it, keep today's with: make bench-guard GUARD=--keep"
        )


if __name__ == "__main__":
    main()
