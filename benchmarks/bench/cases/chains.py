"""States of rows that follow each other, from complete sequences, as peers take no gaps."""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from benchmarks.bench.case import OURS, Case, Entrant, Errors, Setting
from benchmarks.markov_tables import Chain, chain, draw
from halfseen import HiddenMarkov
from halfseen.data.arrays import Array

GAIN, SEED, D, N_STARTS = 1e-7, 4000, 6, 10


class Sequences(NamedTuple):
    """Sequences of one length, one after the other."""

    X: Array  # (n · length, d)
    length: int
    k: int

    @property
    def lengths(self) -> list[int]:
        """One for each sequence."""
        return [self.length] * (len(self.X) // self.length)


def drawn(sequences: int, length: int, states: int) -> Sequences:
    """States that last a while."""
    rng = np.random.default_rng([SEED, states])
    X, _ = draw(rng, chain(rng, states, D), sequences, length)
    return Sequences(X, length, states)


def ours(data: Sequences, threads: int) -> Chain:
    """One call."""
    model = HiddenMarkov(
        data.k,
        kinds=dict.fromkeys(range(D), "continuous"),
        outliers=None,
        tol=GAIN,
        random_state=0,
        n_jobs=threads,
    ).fit(data.X, lengths=data.lengths)
    theirs = model.to_hmmlearn()
    stds = np.sqrt(np.array([np.diag(one) for one in theirs.covars_]))
    return Chain(theirs.startprob_, theirs.transmat_, theirs.means_, stds)


def hmmlearn(data: Sequences, threads: int, starts: int = 1) -> Chain:
    """The best of some of its random starts, to the same gain a row."""
    kind = import_module("hmmlearn.hmm").GaussianHMM
    best: Any = None
    for seed in range(starts):
        model = kind(
            data.k,
            covariance_type="diag",
            n_iter=500,
            tol=GAIN * len(data.X),
            random_state=seed,
            implementation="scaling",
        ).fit(data.X, data.lengths)
        if best is None or model.monitor_.history[-1] > best.monitor_.history[-1]:
            best = model
    stds = np.sqrt(np.array([np.diag(one) for one in best.covars_]))
    return Chain(best.startprob_, best.transmat_, best.means_, stds)


def hmmlearn_ten(data: Sequences, threads: int) -> Chain:
    """What its guide advises: several starts."""
    return hmmlearn(data, threads, N_STARTS)


def pomegranate(data: Sequences, threads: int) -> Chain:
    """Of torch."""
    torch = import_module("torch")
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    normal = import_module("pomegranate.distributions").Normal
    parts = [normal(covariance_type="diag") for _ in range(data.k)]
    X = torch.tensor(data.X.reshape(-1, data.length, D), dtype=torch.float32)
    model = (
        import_module("pomegranate.hmm")
        .DenseHMM(parts, tol=GAIN * len(data.X), max_iter=500, random_state=0)
        .fit(X)
    )
    start = np.exp(np.asarray(model.starts.detach().numpy(), dtype=float))
    moved = np.exp(np.asarray(model.edges.detach().numpy(), dtype=float))
    means = np.array([one.means.detach().numpy() for one in model.distributions], dtype=float)
    spreads = np.array([one.covs.detach().numpy() for one in model.distributions], dtype=float)
    moved /= moved.sum(axis=1, keepdims=True)  # without the end, which it may learn
    return Chain(start / start.sum(), moved, means, np.sqrt(spreads))


def judge(data: Sequences, found: Chain) -> Errors:
    """Minus the log-likelihood a row, forward through all sequences at once."""
    cells = (data.X[:, None] - found.means) / found.stds
    heights = -0.5 * (cells**2 + np.log(2 * np.pi * found.stds**2)).sum(axis=2)
    steps = heights.reshape(-1, data.length, data.k).swapaxes(0, 1)  # (length, n, k)
    with np.errstate(divide="ignore"):
        start, moved = np.log(found.start), np.log(found.transition)
    ahead = start + steps[0]
    for step in steps[1:]:
        ahead = logsumexp(ahead[:, :, None] + moved, axis=1) + step
    return {"nats a row": -float(logsumexp(ahead, axis=1).sum()) / len(data.X)}


def _setting(sequences: int, length: int, states: int, quick: bool = False) -> Setting:
    values = {"sequences": sequences, "length": length, "states": states}
    return Setting(f"{sequences:,} × {length} rows, {states} states", values, quick)


CHAINS = Case(
    name="chains",
    asks="Hidden Markov models of six normal columns: how likely, and how fast?",
    draw=drawn,
    settings=(
        _setting(30, 50, 3, quick=True),
        _setting(200, 50, 3, quick=True),
        _setting(1000, 100, 3),
        _setting(1000, 100, 6),
        _setting(10_000, 100, 3),
    ),
    entrants={
        OURS: Entrant(OURS, ours, "defaults, without outliers"),
        "hmmlearn": Entrant("hmmlearn", hmmlearn, "one start, our tolerance, scaling in C++"),
        "hmmlearn, ten": Entrant("hmmlearn", hmmlearn_ten, "the best of ten starts"),
        "pomegranate": Entrant("pomegranate", pomegranate, "our tolerance, float32"),
    },
    judge=judge,
    metric="nats a row",
    close=1e-4,
    warm={"sequences": 20, "length": 20, "states": 2},
)
