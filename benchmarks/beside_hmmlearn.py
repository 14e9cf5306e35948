"""The same chains as hmmlearn, on complete tables: how likely, and how long it takes.

Run ``python -m benchmarks.beside_hmmlearn --sequences 1000 --length 100`` with hmmlearn installed:
continuous columns beside its ``GaussianHMM`` (diagonal), one column of categories beside its
``CategoricalHMM``. hmmlearn climbs from ten of its random starts, to the same gain a row, and the
best is kept; ours is one call. Both on one thread, by seconds of the processor.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np

from benchmarks import results_file
from benchmarks.markov_tables import chain, draw
from halfseen import HiddenMarkov

N_STARTS = 10


def table(kind: str, seed: int, k: int, n: int, length: int) -> Any:
    """Rows without gaps."""
    rng = np.random.default_rng([seed, k])
    of = chain(rng, k, 6)
    X, states = draw(rng, of, n, length)
    if kind == "continuous":
        return X
    shares = rng.dirichlet(0.5 * np.ones(8), size=k)
    below = np.cumsum(shares, axis=1)
    chance = rng.random(len(states))[:, None]
    return np.minimum((below[states] < chance).sum(axis=1), 7)[:, None].astype(float)


def theirs(kind: str, X: Any, lengths: list[int], k: int, tol: float) -> tuple[float, float]:
    """Log-likelihood a row of the best of ten starts, and seconds."""
    from hmmlearn import hmm

    begun, best = time.process_time(), -np.inf
    for seed in range(N_STARTS):
        options = {"n_iter": 500, "tol": tol * len(X), "random_state": seed}
        if kind == "continuous":
            model = hmm.GaussianHMM(k, covariance_type="diag", **options)
        else:
            model = hmm.CategoricalHMM(k, **options)
            X = X.astype(int)
        model.fit(X, lengths)
        best = max(best, model.score(X, lengths) / len(X))
    return best, time.process_time() - begun


def ours(kind: str, X: Any, lengths: list[int], k: int, tol: float) -> tuple[float, float]:
    """The same of one call."""
    kinds = {} if kind == "continuous" else {"0": "categorical"}
    begun = time.process_time()
    model = HiddenMarkov(k, kinds=kinds or "auto", outliers=None, tol=tol, random_state=0)
    model.fit(X, lengths=lengths)
    seconds = time.process_time() - begun
    return model.score(X, lengths=lengths), seconds


def main() -> None:
    """Print the figures, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=1000)
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--states", type=int, nargs="*", default=[3])
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--tol", type=float, default=1e-7)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    lengths = [asked.length] * asked.sequences
    figures: dict[str, Any] = {}
    for kind in ("continuous", "categories"):
        ours(kind, table(kind, 0, 2, 20, 20), [20] * 20, 2, asked.tol)  # compiles
        for k in asked.states:
            X = table(kind, asked.seed, k, asked.sequences, asked.length)
            mine, other = (f(kind, X, lengths, k, asked.tol) for f in (ours, theirs))
            figures[f"{kind}, {k} states"] = {
                "nats a row above theirs": mine[0] - other[0],
                "seconds": mine[1],
                "their seconds": other[1],
                "times faster": other[1] / mine[1],
                "times faster than one of their starts": other[1] / mine[1] / N_STARTS,
            }
            print(kind, k, figures[f"{kind}, {k} states"], flush=True)
    if asked.keep:
        command = (
            f"python -m benchmarks.beside_hmmlearn --sequences {asked.sequences} --length "
            f"{asked.length}"
        )
        results_file.write("beside_hmmlearn", command, figures)


if __name__ == "__main__":
    main()
