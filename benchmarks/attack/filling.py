"""Have an imputer learn an odd table, and hold what it fills to the laws."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack import containers, learning, options, tables
from benchmarks.attack.defect import check
from benchmarks.attack.filled import (
    check_chances,
    check_filled,
    check_spread,
    gaps_in,
    possible_ends,
)
from benchmarks.attack.laws import asked
from benchmarks.attack.word_containers import as_cells
from halfseen import Imputer

Rng = np.random.Generator
FILLED = "filled"


def attack(seed: int, folder: Path) -> str:
    """One table, some options."""
    rng = np.random.default_rng(seed)
    X = tables.draw(rng, counts=bool(rng.random() < 0.3))
    chosen = drawn_options(rng)
    given, X = learning.contained(rng, X, Imputer.takes_kinds)
    if rng.random() < learning.DECLARED_SHARE:
        chosen["kinds"] = options.kinds(rng, containers.names_in(given, X))
    imputer = Imputer(**chosen).fit(given)
    hold_to_laws(rng, imputer, given, X)
    return FILLED


def ready() -> None:
    """Have everything compiled."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.poisson(3.0, 200), rng.integers(3, size=200)])
    X[::7, 0] = X[::5, 2] = np.nan
    imputer = Imputer(draws=2).fit(X)
    imputer.transform(X)
    imputer.draw(X)


def drawn_options(rng: Rng) -> dict[str, Any]:
    """A few that are not the usual ones, and rarely one that is wrong."""
    known = options.documented(Imputer)
    chosen = {
        option: choices[rng.integers(len(choices))]
        for option, choices in known.items()
        if choices and rng.random() < options.OFTEN_CHANGED
    }
    if rng.random() < options.WRONG_SHARE:
        chosen[list(known)[rng.integers(len(known))]] = options.wrong(rng)
    return chosen


def hold_to_laws(rng: Rng, imputer: Any, given: Any, X: Any) -> None:
    """What every imputer does to the table that it learned, and to others."""
    if hasattr(given, "tocsr"):  # zeros of sparse tables are values, not gaps
        given = X
    table = given if rng.random() < 0.5 else X
    filled = asked("transform", imputer.transform, table)
    check_filled(X, without_indicators(imputer, filled, X.shape[1]), *known_of(imputer))
    if rng.random() < 0.3:
        plain = asked("transform", imputer.transform, X, return_std=True)
        check_spread(X, plain[1], known_of(imputer)[0], imputer.coding_)
    if imputer.draws is not None:
        for one in asked("draw", imputer.draw, X):
            check_filled(X, without_indicators(imputer, one, X.shape[1]), *known_of(imputer))
    if rng.random() < 0.5:
        check_chances(asked("probabilities", imputer.probabilities, X), len(X))
        n_columns = len(asked("names", imputer.get_feature_names_out))
        check(as_cells(filled).shape[1] == n_columns, "there are other columns than names")
    far = learning.drawn_far_rows(rng, X)
    other = asked("transform of far rows", imputer.transform, far, may_refuse=True)
    if other is not None:
        there = ~gaps_in(far, imputer.coding_)
        other = as_cells(without_indicators(imputer, other, X.shape[1]))
        check(not gaps_in(other[there]).any(), "transform loses far cells", far)
    if rng.random() < 0.1:
        again = asked("pickle", lambda: pickle.loads(pickle.dumps(imputer)).transform(X))
        ours = asked("transform", imputer.transform, X)
        pairs = zip(as_cells(ours).flat, as_cells(again).flat, strict=True)
        alike = all(str(one) == str(other) for one, other in pairs)
        check(alike, "a pickled imputer differs")


def known_of(imputer: Any) -> tuple[Any, Any, Any]:
    """Which columns have anything to be filled with, from where to where, and what words are."""
    learned = imputer.learned_
    ends = possible_ends(learned.possible)
    return learned.kept | ~np.isnan(learned.constants), ends, imputer.coding_


def without_indicators(imputer: Any, filled: Any, d: int) -> Any:
    """The columns that were there, without those that say where gaps were."""
    if not imputer.add_indicator:
        return filled
    parts = [as_cells(part)[:, :d] for part in filled] if learning.in_batches(filled) else None
    return np.concatenate(parts) if parts else as_cells(filled)[:, :d]
