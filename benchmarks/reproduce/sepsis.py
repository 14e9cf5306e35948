"""The sepsis table of the PhysioNet/CinC Challenge 2019, where it is at hand.

Reyna et al. 2020, doi 10.13026/v64v-d857, CC BY 4.0: ICU stays in four-hour windows.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.reproduce import data_folder
from halfseen.data.arrays import Array, Labels

FILE = "sepsis_icu.parquet"
NOT_FEATURES = ("patient", "win", "ICULOS", "Gender", "SepsisLabel")
SKEWED = (
    "AST",
    "Bilirubin_total",
    "Alkalinephos",
    "BUN",
    "Creatinine",
    "Glucose",
    "Lactate",
    "WBC",
    "Platelets",
    "PTT",
)
LIMIT = 6.0  # standard deviations beyond which a measurement is clipped


@dataclass(frozen=True, eq=False)
class Stays:
    """Measurements in four-hour windows, and whose they are."""

    names: tuple[str, ...]
    values: Array  # (n, d)  skewed ones as logarithms
    patients: Labels  # (n,)


def load() -> Stays:
    """The table; raises if it is not at hand."""
    path = data_folder.require(FILE)
    import pyarrow.parquet as parquet

    read = parquet.read_table(path)
    names = tuple(name for name in read.column_names if name not in NOT_FEATURES)
    columns = [read[name].to_numpy().astype(float) for name in names]
    logged = [
        np.log(np.maximum(column, 1e-3)) if name in SKEWED else column
        for name, column in zip(names, columns, strict=True)
    ]
    return Stays(names, np.column_stack(logged), read["patient"].to_numpy())


def split_by_patient(stays: Stays, test: float, seed: int) -> tuple[Array, Array]:
    """Standardised training and test rows; no patient is in both."""
    rng = np.random.default_rng(seed)
    who = np.unique(stays.patients)
    tested = rng.choice(who, size=round(test * len(who)), replace=False)
    is_test = np.isin(stays.patients, tested)
    train = stays.values[~is_test]
    mean, spread = np.nanmean(train, axis=0), np.nanstd(train, axis=0)
    standard = np.clip((stays.values - mean) / spread, -LIMIT, LIMIT)
    return standard[~is_test], standard[is_test]
