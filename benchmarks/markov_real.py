"""Stays in intensive care and visits of liver patients: what states that last add.

Run ``python -m benchmarks.markov_real DATA`` with the folder that holds ``icu_seq.csv`` and
``pbcseq.csv``. Patients are halved: models learn from one half, the other is scored (mean
log-likelihood a row, columns in standard deviations) and one tenth of its known cells is hidden
and filled: by means, by the last value known before, by rows alone (``LatentClass``), by states
that last, by the last value and the states together, mixed by least squares on cells hidden from
the first half, and by ``HiddenMarkov`` as it is, whose gaps lean on values before and after. Errors
are mean absolute ones in standard deviations of each column, of all columns and of continuous ones
(categories are filled with the likeliest one); coverage is how often these are within 1.96 of the
model's own standard deviations.
"""

import argparse
import warnings
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

from benchmarks import results_file
from halfseen import HiddenMarkov, LatentClass
from halfseen.data.arrays import Array

HIDDEN = 0.1


class Source(NamedTuple):
    """A table of sequences."""

    file: str
    sequence: str
    order: str
    left_out: tuple[str, ...]
    states: int


SOURCES = {
    "icu": Source("icu_seq.csv", "RecordID", "block", ("In-hospital_death", "MechVent"), 8),
    "pbc": Source(
        "pbcseq.csv", "id", "day",
        ("rownames", "futime", "status", "trt", "age", "sex"), 4,
    ),
}  # fmt: skip


def read(folder: Path, source: Source, most: int) -> tuple[Array, Any]:
    """Columns in standard deviations, and the patient of each row, in order."""
    table = pd.read_csv(folder / source.file).sort_values([source.sequence, source.order])
    who = pd.factorize(table[source.sequence])[0]
    table, who = table[who < most], who[who < most]
    numbers = table.drop(columns=[source.sequence, source.order, *source.left_out]).to_numpy(float)
    skewed = np.nanmin(numbers, axis=0) >= 0
    numbers = np.where(skewed, np.log1p(np.where(skewed, numbers, 0.0)), numbers)
    return (numbers - np.nanmean(numbers, axis=0)) / np.nanstd(numbers, axis=0), who


def carried(X: Array, who: Any) -> Array:
    """The last value known before in the same sequence, NaN if there is none."""
    frame = pd.DataFrame(X)
    return np.asarray(frame.groupby(who).transform(lambda part: part.ffill().shift(1)))


def lengths_of(who: Any) -> list[int]:
    """How many rows each patient has."""
    return [int(n) for n in pd.Series(who).value_counts(sort=False).sort_index() if n]


def compared(X: Array, who: Any, k: int) -> dict[str, float]:
    """All figures of one table."""
    rng = np.random.default_rng(0)
    first = rng.random(who.max() + 1)[who] < 0.5
    train, test = X[first], X[~first]
    train_who, test_who = who[first], who[~first]
    by_states, one, by_rows = (
        HiddenMarkov(k, random_state=0).fit(train, lengths=lengths_of(train_who)),
        LatentClass(1, random_state=0).fit(train),
        LatentClass(k, random_state=0).fit(train),
    )

    alone = deepcopy(by_states)
    alone.lasting_ = np.zeros_like(alone.lasting_)  # gaps lean on nothing

    def hiding(part: Array) -> tuple[Any, Array]:
        hidden = ~np.isnan(part) & (rng.random(part.shape) < HIDDEN)
        return hidden, np.where(hidden, np.nan, part)

    def fills(hidden: Any, gappy: Array, of: Any) -> tuple[Array, Array, Array]:
        last = carried(gappy, of)[hidden]
        states = alone.impute(gappy, lengths=lengths_of(of))[hidden]
        rows = by_rows.impute(gappy)[hidden]
        return np.where(np.isnan(last), 0.0, last), states, rows

    def design(last: Array, states: Array, rows: Array) -> Array:
        return np.column_stack([last, last == 0.0, states, rows, states * (last == 0.0)])

    hidden, gappy = hiding(train)
    parts = fills(hidden, gappy, train_who)
    mix = np.linalg.lstsq(design(*parts), train[hidden], rcond=None)[0]
    hidden, gappy = hiding(test)
    true, (last, states, rows) = test[hidden], fills(hidden, gappy, test_who)
    fill, spread = by_states.impute(gappy, lengths=lengths_of(test_who), return_std=True)
    ways = {
        "means": np.zeros(len(true)),
        "last value": last,
        "rows alone": rows,
        "states": states,
        "last value and states": design(last, states, rows) @ mix,
        "leaning": fill[hidden],
    }
    continuous = np.isfinite(by_states.lasting_)[np.nonzero(hidden)[1]]
    errors = {f"MAE {name}": float(np.abs(true - way).mean()) for name, way in ways.items()}
    errors |= {
        f"MAE {name}, continuous": float(np.abs(true - way)[continuous].mean())
        for name, way in ways.items()
    }
    inside = np.abs(true - fill[hidden]) < 1.96 * spread[hidden]
    errors["coverage %, leaning, continuous"] = float(100 * inside[continuous].mean())
    return {
        "held-out nats a row, one state": one.score(test),
        "held-out nats a row, rows alone": by_rows.score(test),
        "held-out nats a row, states": by_states.score(test, lengths=lengths_of(test_who)),
        **errors,
    }


def main() -> None:
    """Print the figures, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--patients", type=int, default=10_000)
    parser.add_argument("--tables", nargs="*", default=list(SOURCES))
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    figures = {}
    for name in asked.tables:
        X, who = read(asked.data, SOURCES[name], asked.patients)
        figures[name] = compared(X, who, SOURCES[name].states)
        print(name, figures[name], flush=True)
    if asked.keep:
        command = f"python -m benchmarks.markov_real DATA --patients {asked.patients}"
        results_file.write("markov_real", command, figures)


if __name__ == "__main__":
    main()
