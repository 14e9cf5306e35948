"""What may speak against a chain of states."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from halfseen.doubt.concerns.case import Case
from halfseen.doubt.concerns.concern import Concern, Gravity
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block
from halfseen.structures.chain.kernels import begins_of
from halfseen.structures.chain.law import CHAIN
from halfseen.structures.chain.smoothing import smoothed
from halfseen.structures.one_class.e_step import posterior

FEWEST = 10.0
"""Rows in a state, or sequences, below which nothing is said of it."""
LEFT = 0.5
"""Times that a state is left, by all rows, below which it is never left."""
THRESHOLD, DRIFT = 5.0, 0.05
"""Standard errors, and shares of rows, beyond which a change is told."""
SHORTEST = 4
"""Rows of sequences that have halves to compare."""
ALIKE = 0.02
"""Nats a row that knowing the row before must bring, for rows to need neighbours."""


def never_left(case: Case) -> Iterator[Concern]:
    """A state that sequences do not leave again."""
    if not _suits(case):
        return
    moves = _moved(case)[0]
    for i in np.flatnonzero(moves.sum(axis=1) >= FEWEST):
        left = float(moves[i].sum() - moves[i, i])
        if left < LEFT:
            yield Concern(
                "never_left",
                f"{case.called(int(i)).capitalize()} is never left once it is entered "
                f"({moves[i].sum():,.0f} steps from it). It may be an end, such as death or "
                "discharge, or a kind of sequence rather than a state that passes: look at who is "
                "in it.",
                gravity=Gravity.KNOW,
            )


def not_stationary(case: Case) -> Iterator[Concern]:
    """Sequences that change from beginning to end by more than the chain's own course."""
    if not _suits(case):
        return
    _, halves, squares, n = _moved(case)
    if n < FEWEST:
        return
    mean = halves / n
    variance = np.maximum(squares / n - mean**2, 1e-12) / n
    away = mean / np.sqrt(variance)
    worst = int(np.abs(away).argmax())
    if abs(away[worst]) > THRESHOLD and abs(mean[worst]) > DRIFT:
        yield Concern(
            "not_stationary",
            f"Sequences change beyond what the model has: {case.called(worst)} is "
            f"{abs(mean[worst]):.0%} of rows {'more' if mean[worst] > 0 else 'less'} common half "
            "way through them than its transitions say. How states follow each other may depend "
            "on time: learn early and late rows apart, or add time as a column.",
            gravity=Gravity.CARE,
        )


def rows_alone(case: Case) -> Iterator[Concern]:
    """States that rows alone tell as well: nothing is gained by their order."""
    fitted = case.fitted
    if fitted.n_components < 2 or not case.rows.sequenced:
        return
    gain, error = _gain(case)
    if gain < ALIKE and gain < 5 * error:
        yield Concern(
            "rows_alone",
            f"The order of rows tells next to nothing: knowing the rows before one makes it "
            f"{max(gain, 0.0):.3f} nats likelier. A model of rows alone, LatentClass, says the "
            "same more simply.",
            gravity=Gravity.KNOW,
        )


def _suits(case: Case) -> bool:
    return case.fitted.n_components > 1 and case.rows.sequenced


def _moved(case: Case) -> tuple[Array, Array, Array, float]:
    """Moves (k, k), and of sequences: unexpected shares of states half way through them.

    Expected is what transitions make of the state of the first row.
    """
    emission: Any = case.fitted.model.emission  # type: ignore[attr-defined]
    parameters, k = case.fitted.parameters, case.fitted.n_components

    def summarise(block: Block) -> Array:
        _, shares, _, moves = smoothed(block, emission, parameters)
        begins = begins_of(block.sequence, len(block))
        drifts = [np.zeros((0, k))]
        for first, last in pairwise(begins):
            if last - first >= SHORTEST:
                middle = (first + last) // 2
                ahead = np.linalg.matrix_power(parameters.transition, int(middle - first))
                drifts.append((shares[middle] - shares[first] @ ahead)[None])
        drift = np.vstack(drifts)
        parts = moves.ravel(), drift.sum(axis=0), (drift**2).sum(axis=0), [len(drift)]
        return np.concatenate(parts)

    found = case.rows.select(case.fitted.kept).accumulate(summarise)
    moves, total, square, n = np.split(found, np.cumsum([k * k, k, k]))
    return moves.reshape(k, k), total, square, float(n[0])


def _gain(case: Case) -> tuple[float, float]:
    """Nats a row that the chain has over rows alone of the same states, and its error."""
    emission: Any = case.fitted.model.emission  # type: ignore[attr-defined]
    parameters = case.fitted.parameters

    def summarise(block: Block) -> Array:
        height = CHAIN.posterior(block, emission, parameters).log_likelihood
        more = height - posterior(block, emission, parameters).log_likelihood
        return np.array([len(block), more.sum(), (more**2).sum()])

    n, total, square = case.rows.select(case.fitted.kept).accumulate(summarise)
    gain = total / max(n, 1.0)
    return float(gain), float(np.sqrt(max(square / max(n, 1.0) - gain**2, 0.0) / max(n, 1.0)))


CHECKS: tuple[Callable[[Any], Iterator[Any]], ...] = (never_left, not_stationary, rows_alone)
