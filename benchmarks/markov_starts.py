"""How often fits of sequences end at the best optimum that anybody finds.

Run ``python -m benchmarks.markov_starts --sequences 100 --length 50 --tables 10``: chains of
``benchmarks.markov_tables`` with 2 to 5 states and 4 to 12 columns, each observed in 10 to 100 % of
rows. The default fit, EM from the moments alone and EM from ten random starts (K random rows; a
state has half of the row's own values and half of the table's) climb with the same EM. A fit is
worse if its log-likelihood of all rows, with the prior, is lower by more than one nat. Time is
that a processor took, of the whole default fit and of the ten climbs.
"""

import argparse
import time
import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from benchmarks import results_file
from benchmarks.markov_tables import chain, draw, fast, matched, with_gaps
from halfseen import HiddenMarkov
from halfseen.data.arrays import Array
from halfseen.data.progress import Stages
from halfseen.estimators.reading import opened as open_for
from halfseen.inference.fit import fit_rows
from halfseen.inference.method_of_moments import moment_start
from halfseen.inference.parameters import reordered
from halfseen.inference.plan import planned, routes
from halfseen.io.sequences import Sequenced
from halfseen.latent.initialisation import Seeding
from halfseen.moments.survey import survey

NATS = 1.0
N_RANDOM = 10
FIRST_SEED = 1000
MOST_PASSES = 2000


class Heights(NamedTuple):
    """Log-likelihoods of all rows, with the prior."""

    ours: float
    moments: float
    random: list[float]
    seconds: float
    random_seconds: float


def heights(X: Array, lengths: Any, k: int, n_random: int = N_RANDOM) -> Heights:
    """All ways on one table."""
    estimator: Any = HiddenMarkov(k, random_state=0)
    settings, _ = estimator.checked()
    opened = open_for(estimator, Sequenced(X, lengths)).rows
    rows: Any = opened
    seen = survey(rows, 0.95)
    part, kept = rows.select(seen.kept), seen.of_kept()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model: Any = estimator._model()
        begun = time.process_time()
        fit = fit_rows(settings, model, part, kept, k, Stages())
        seconds = time.process_time() - begun
        model = model.adapted_to(part, kept)
        plan = planned(settings, model, kept, k)
        start = moment_start(model, part, plan, routes(plan, model, part), Stages()).found
        rng = np.random.default_rng(0)
        seeding = Seeding.of(*model.emission.as_numbers(part.table))
        like = model.structure.uninformed(reordered(start, np.arange(k) % len(start.weights)))
        starts = [
            start,
            *(model.emission.about(seeding.any_rows(k, rng), like) for _ in range(n_random)),
        ]
        if fit.parameters.plain:
            starts = [replace(one, outlier_share=0.0) for one in starts]
        first = model.run_em(part, starts[0], MOST_PASSES)
        begun = time.process_time()
        climbs = [model.run_em(part, one, MOST_PASSES) for one in starts[1:]]
        random_seconds = time.process_time() - begun
        again = model.run_em(part, fit.parameters, 1)
    n, every = len(X), (again, first, *climbs)
    ours, moments, *random = (n * (one.convergence.log_likelihood or 0.0) for one in every)
    return Heights(ours, moments, random, seconds, random_seconds)


def summary(found: list[Heights]) -> dict[str, float]:
    """How often each way is worse than the best, and the default than the random starts."""
    best = np.array([max(one.ours, one.moments, *one.random) for one in found])
    ours = np.array([one.ours for one in found])
    random = np.array([max(one.random) for one in found])
    moments = np.array([one.moments for one in found])
    single = np.mean(
        [[h >= b - NATS for h in one.random] for one, b in zip(found, best, strict=True)]
    )
    return {
        "tables": len(found),
        "moments alone at the best %": float(100 * np.mean(moments >= best - NATS)),
        "one random start at the best %": float(100 * single),
        "default at the best %": float(100 * np.mean(ours >= best - NATS)),
        "default worse than the random starts %": float(100 * np.mean(ours < random - NATS)),
        "default better than the random starts %": float(100 * np.mean(ours > random + NATS)),
        "time / theirs": float(
            sum(one.seconds for one in found) / sum(one.random_seconds for one in found)
        ),
    }


def start_error(seed: int, n_sequences: int = 100, length: int = 100) -> float:
    """Of the means that the moments tell alone, root mean square in standard deviations.

    The fast-mixing setting: 3 states, 8 columns, three of them observed in 30 % of rows.
    """
    rng = np.random.default_rng([seed, 77])
    of = fast(rng)
    X, _ = draw(rng, of, n_sequences, length)
    X[:, :3] = np.where(rng.random((len(X), 3)) < 0.3, X[:, :3], np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = HiddenMarkov(3, refine=None, outliers=None, random_state=0)
        found.fit(X, lengths=[length] * n_sequences)
    means = found.means_[matched(found.means_, of.means)]
    return float(np.sqrt(np.mean((means - of.means)[:, 3:] ** 2)))


def main() -> None:
    """Print the figures by number of states, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=100)
    parser.add_argument("--length", type=int, default=50)
    parser.add_argument("--tables", type=int, default=10, help="for each number of states")
    parser.add_argument("--states", type=int, nargs="*", default=[2, 3, 4, 5])
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--random", type=int, default=N_RANDOM, help="random starts")
    parser.add_argument("--errors", type=int, default=20, help="tables of the fast-mixing setting")
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    figures: dict[str, Any] = {}
    every = []
    heights(draw(np.random.default_rng(0), chain(np.random.default_rng(0), 2, 4), 9, 9)[0], [81], 2)
    for k in asked.states:
        found = []
        for seed in range(asked.seed, asked.seed + asked.tables):
            rng = np.random.default_rng([seed, k])
            X, _ = draw(rng, chain(rng, k, int(rng.integers(4, 13))), asked.sequences, asked.length)
            lengths = [asked.length] * asked.sequences
            found.append(heights(with_gaps(rng, X), lengths, k, asked.random))
        every += found
        figures[f"{k} states"] = summary(found)
        print(k, figures[f"{k} states"], flush=True)
    figures["all"] = summary(every)
    print("all", figures["all"], flush=True)
    if asked.errors:
        errors = [start_error(seed) for seed in range(asked.seed, asked.seed + asked.errors)]
        figures["start error, fast mixing"] = {
            "mean": float(np.mean(errors)),
            "median": float(np.median(errors)),
        }
        print(figures["start error, fast mixing"])
    if asked.keep:
        n = asked.sequences * asked.length
        command = (
            f"python -m benchmarks.markov_starts --sequences {asked.sequences} --length "
            f"{asked.length} --tables {asked.tables} --random {asked.random}"
        )
        results_file.write(f"markov_starts_{n}", command, figures)


if __name__ == "__main__":
    main()
