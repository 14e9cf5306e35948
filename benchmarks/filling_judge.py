"""How far off fills are, and how long they took."""

import resource
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.class_filling import is_number
from benchmarks.filling_ways import LEAST, WAYS, Array, Said, is_at_hand

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


def tried(ways: Iterable[str], X: Array, hidden: Any, kinds: list[str]) -> dict[str, Any]:
    """Ways to fill what is hidden of a table: errors, and seconds of the processor."""
    gappy, found = np.where(hidden, np.nan, X), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for way in filter(is_at_hand, ways):
            begun = _seconds()
            said = WAYS[way](gappy, kinds)
            seconds = round(_seconds() - begun, 2)
            found[way] = {**judged(X, said, hidden, kinds), "seconds": seconds}
    return found


def warm_up() -> None:
    """Compile what is compiled when it is first needed, which is no part of anybody's time."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=(200, 3)), rng.poisson(2.0, 200), rng.integers(3, size=200)]
    )
    hidden = rng.random(X.shape) < 0.1
    tried(["imputer"], X, hidden, ["continuous"] * 3 + ["count", "categorical"])


def _seconds() -> float:
    """Of this process, and of those that it started and that are done."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)
