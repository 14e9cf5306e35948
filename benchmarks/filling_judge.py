"""How far off fills are, and how long they took."""

import resource
import warnings
from typing import Any

import numpy as np

from benchmarks.class_filling import is_number
from benchmarks.filling_ways import LEAST, WAYS, Array, Said

FURTHEST = 10.0
"""Standard deviations that a fill is counted to be off at most."""


def judged(X: Array, said: Said, hidden: Any, kinds: list[str]) -> dict[str, float]:
    """Errors of numbers in standard deviations, and log-loss of categories."""
    errors, losses = [], []
    for d, kind in enumerate(kinds):
        own = hidden[:, d]
        if not own.any():
            continue
        if is_number(kind):
            away = (said.values[own, d] - X[own, d]) / (np.nanstd(X[:, d]) or 1.0)
            errors.append(np.clip(away, -FURTHEST, FURTHEST))
        elif d in said.chances:
            each, chances = said.chances[d]
            right = X[own, d][:, None] == each
            losses.append(-np.log(np.maximum((chances[own] * right).sum(axis=1), LEAST)))
    found = {}
    if errors:
        found["rmse"] = float(np.sqrt(np.mean(np.concatenate(errors) ** 2)))
    if losses:
        found["log_loss"] = float(np.mean(np.concatenate(losses)))
    return found


def tried(way: str, X: Array, hidden: Any, kinds: list[str]) -> dict[str, float]:
    """One way to fill what is hidden of a table: errors, and seconds of the processor."""
    gappy, begun = np.where(hidden, np.nan, X), _seconds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = WAYS[way](gappy, kinds)
    seconds = _seconds() - begun
    return {**judged(X, said, hidden, kinds), "seconds": round(seconds, 2)}


def _seconds() -> float:
    """Of this process, and of those that it started and that are done."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)
