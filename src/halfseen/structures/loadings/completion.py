"""How likely half of rows' items are given what the other half says of their topics."""

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.nonzeros import Nonzeros
from halfseen.rows.rows import Block, Rows
from halfseen.structures.loadings.law import LoadingLaw, Rest, exposures
from halfseen.structures.loadings.posterior import mean_field

SEED = 0
N_JUDGED = 300
"""Rows that tell what polishing gained."""


def completed(block: Block, law: LoadingLaw, rest: Rest | None = None) -> tuple[Array, Array]:
    """Log-probabilities of half the items of rows, and how many they are; (n,) each.

    They are given shares of topics that the other half implies, with half of the ``rest`` that was
    not recorded, if that is known.
    """
    counts = block.nonzeros()
    known = _half(counts, block.start)
    rates = np.ascontiguousarray(exposures(block, law, rest))
    half = None if rest is None else rest._replace(counts=rest.counts / 2)
    means = mean_field(counts._replace(counts=known), law, rates, half)
    shares = means / means.sum(axis=1, keepdims=True)
    seen = block.presence().onto(np.ascontiguousarray(law.topics.T))
    others = counts.counts - known
    chance = np.einsum("mk,mk->m", shares[counts.rows], law.topics.T[counts.features])
    chance /= np.einsum("nk,nk->n", shares, seen)[counts.rows]
    return counts.row_sums(others * np.log(np.maximum(chance, 1e-300))), counts.row_sums(others)


def gained(rows: Rows, n_rows: float, before: LoadingLaw, after: LoadingLaw) -> float:
    """How much likelier items became in the mean, in nats, by some of the ``n_rows`` rows."""
    stride = max(int(n_rows // N_JUDGED), 1)

    def summarise(block: Block) -> Array:
        chosen = np.flatnonzero((block.start + np.arange(len(block))) % stride == 0)
        part = block.rows(chosen)
        (then, items), (now, _) = completed(part, before), completed(part, after)
        return np.array([then.sum(), now.sum(), items.sum()])

    then, now, items = rows.accumulate(summarise)
    return float((now - then) / max(items, 1.0))


def _half(counts: Nonzeros, start: int) -> Array:
    """Half of each row's items, at random, the same whenever asked for; (nnz,)."""
    random = np.random.default_rng([SEED, start])
    known: Array = random.binomial(counts.counts.astype(np.int64), 0.5).astype(float)
    return known
