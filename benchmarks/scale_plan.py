"""The arithmetic of fits on many workers: passes over the data, and what they move.

A pass is a task a partition, each of which gives sums; the sums are added in a tree, and what the
last addition (and what is made of it) leaves is sent to the client. ``d`` features, of which ``t``
are incomplete; ``k`` components.
"""

from typing import NamedTuple

from halfseen.moments import symmetric_tensors
from halfseen.moments.whitening import SPARE

TRIPLES = "triples of features"
NUMBER = 8
"""Bytes of a double."""

ENVELOPE = 700
"""Bytes that Dask itself sends to the client for each result: its state, and how it is packed."""


CHATTER = 90
"""Bytes a second that a client hears from a scheduler however idle both are."""


class Pass(NamedTuple):
    """Passes over the data of one kind."""

    stage: str
    what: str
    times: int
    sums: int  # bytes of a partition's sums, of which workers pass on one a partition
    to_worker: int  # bytes that every worker needs before it starts
    result: int  # bytes of what is made of the sum of all

    @property
    def to_client(self) -> int:
        """Bytes sent to the client in all."""
        return self.times * (self.result + ENVELOPE)


def heard(passes: list[Pass], seconds: dict[str, float]) -> dict[str, float]:
    """Bytes that reach the client in each stage, which takes so many seconds."""
    sent = {p.stage: 0.0 for p in passes if p.times}
    for planned in passes:
        if planned.times:
            sent[planned.stage] += planned.to_client
    return {stage: size + CHATTER * seconds[stage] for stage, size in sent.items()}


def mixture(
    d: int,
    k: int,
    t: int,
    *,
    n_steps: int,
    route: str = "implicit",
    n_masks: int = 0,
    n_sampled: int = 0,
) -> list[Pass]:
    """A spherical Gaussian mixture by moments about the mean, and EM in ``n_steps``.

    It takes every value at its word (``outliers=None``); starts are tried on ``n_sampled`` rows.

    The centred form has a signal of rank k - 1. The ``route`` to the third moment is as in
    ``diagnostics_``; by least squares the ``n_masks`` different patterns of gaps go to the client.
    """
    r = k - 1
    steps = NUMBER * k * (2 * d + 2)
    masks = n_masks * (-(-t // 8) + NUMBER)
    triples = {
        "implicit": _triples("projected products", r**3 + d * r + d, d * r + 2 * d),
        "explicit": _triples("products", 2 * symmetric_tensors.size(d), 2 * d * d + d * r, r**3),
        "least squares": Pass(
            TRIPLES, "patterns", 1, NUMBER * r**3 + masks, NUMBER * d * r, NUMBER * r**3 + masks
        ),
    }
    passes = [
        _features(d),
        _pass("pairs of features", "counts and products", 2 * d * d, d),
        triples[route],
        _pass("polishing", "some rows", n_sampled * (d + 2), 0),
        Pass("polishing", "an EM step", n_steps, steps, 3 * NUMBER * k * d, steps),
    ]
    passes = [one for one in passes if one.what != "some rows" or n_sampled]
    if t:
        passes.insert(3, _regression(t, k, d, extra=1))
    return passes


def topics(d: int, k: int, t: int, *, n_products: int, n_parts: int) -> list[Pass]:
    """Gamma-Poisson topics of so many words that no array of all pairs is formed.

    ``n_products`` of the second moment with a few vectors more than k find its leading
    eigenvectors; words are observed in ``n_parts`` patterns.
    """
    width = k + SPARE
    passes = [
        _features(d),
        _pass("pairs of features", "fingerprints of gaps", 5 * d, d),
        _pass("pairs of features", "joint counts of parts", n_parts**2, n_parts),
        _pass(
            "pairs of features", "a product with a few vectors more than k", d * width, d * width
        )._replace(times=n_products),
        _triples("projected products", k**3 + d * k + d, d * k + 2 * d),
        _pass("decomposition", "a product with k vectors", d * k, d * k),
    ]
    if t:
        passes.append(_regression(t, k, d, extra=0))
    return passes


def _triples(what: str, sums: int, to_worker: int, result: int | None = None) -> Pass:
    return _pass(TRIPLES, what, sums, to_worker, result)


def _features(d: int) -> Pass:
    size = 6 * NUMBER * d + 2 * d
    return Pass("features", "counts, sums and ranges", 1, size, 0, size)


def _regression(t: int, k: int, d: int, extra: int) -> Pass:
    sums, result = t * (k * k + k + 2), t * (k + extra)
    return _pass("incomplete features", "normal equations", sums, 2 * k * d, result)


def _pass(stage: str, what: str, sums: int, to_worker: int, result: int | None = None) -> Pass:
    """One pass, of numbers."""
    made = sums if result is None else result
    return Pass(stage, what, 1, NUMBER * sums, NUMBER * to_worker, NUMBER * made)
