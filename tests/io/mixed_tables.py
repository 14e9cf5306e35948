"""A table of mixed columns in every container that fit takes, and an estimator that only reads."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from sklearn.base import BaseEstimator

from halfseen import Files
from halfseen.data.rows import whole_table
from halfseen.estimators.reading import opened, take_names
from halfseen.io.source import open_table
from halfseen.io.table import Reading

N = 240
RNG = np.random.default_rng(0)


def holed(values, share=0.2):
    return [None if gap else v for v, gap in zip(values, RNG.random(N) < share, strict=True)]


AGES = RNG.normal(50, 10, N).round(2)
TABLE = {
    "age": holed(AGES.tolist()),
    "visits": RNG.poisson(3, N).tolist(),
    "sex": holed(RNG.choice(["male", "female"], N).tolist()),
    "colour": holed(RNG.choice(["red", "green", "blue"], N).tolist()),
    "answer": holed(RNG.choice(["10 Very well", "2 Not well", "1 Not at all"], N).tolist()),
    "smokes": holed(RNG.choice([True, False], N).tolist()),
    "note": [f"note {i} of a person" for i in range(N)],
    "town": RNG.permutation([f"town {i % 110}" for i in range(N)]).tolist(),
    "patient_id": RNG.permutation(9 * N)[:N].tolist(),
    "row": list(range(1, N + 1)),
    "day": [f"2024-0{1 + i % 9}-11" for i in range(N)],
    "empty": [None] * N,
}
KINDS = {
    "age": "number",
    "visits": "number",
    "sex": "binary",
    "colour": "categorical",
    "answer": "categorical",
    "smokes": "binary",
    "note": "identifier",
    "town": "ignored",
    "patient_id": "identifier",
    "row": "identifier",
    "day": "ignored",
    "empty": "number",
}
LABELS = {
    "sex": ("female", "male"),
    "colour": ("blue", "green", "red"),
    "answer": ("1 Not at all", "2 Not well", "10 Very well"),
    "smokes": ("False", "True"),
}
LEFT_OUT = [name for name, kind in KINDS.items() if kind in ("identifier", "ignored")]


def naive(table=TABLE):
    """The floats that the table should become, cell by cell; NaN in columns that are not used."""
    rows = []
    for i in range(len(table["age"])):
        row = []
        for name in TABLE:
            cell = table[name][i]
            if cell is None or name in LEFT_OUT:
                row.append(np.nan)
            elif name in LABELS:
                known = str(cell) in LABELS[name]
                row.append(LABELS[name].index(str(cell)) if known else np.nan)
            else:
                row.append(float(cell))
        rows.append(row)
    return np.array(rows, dtype=float)


class Reader(BaseEstimator):
    takes_kinds = True

    def __init__(self, kinds="auto", n_jobs=None, verbose=0):
        self.kinds = kinds
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y=None):
        opened(self, X)
        return self


def as_pandas(table, folder):
    return pd.DataFrame(table)


def as_object_pandas(table, folder):
    return pd.DataFrame(table, dtype=object)


def as_pandas_categories(table, folder):
    return pd.DataFrame(table).astype({"sex": "category", "colour": "category"})


def as_polars(table, folder):
    return pl.DataFrame(table)


def as_polars_categories(table, folder):
    return pl.DataFrame(table, schema_overrides={"sex": pl.Categorical, "colour": pl.Categorical})


def as_arrow(table, folder):
    return pa.table(table)


def as_arrow_dictionaries(table, folder):
    given = pa.table(table)
    for place in (2, 3):
        words = given.column(place).dictionary_encode()
        given = given.set_column(place, given.column_names[place], words)
    return given


def as_batches(table, folder):
    frame = pd.DataFrame(table, dtype=object)
    return [frame[:7], frame[7:7], frame[7:120], frame[120:]]


def as_polars_batches(table, folder):
    frame = pl.DataFrame(table)
    return [frame[:100], frame[100:]]


def as_record_batches(table, folder):
    return pa.table(table).to_batches(max_chunksize=50)


def as_dask(table, folder):
    import dask.dataframe

    return dask.dataframe.from_pandas(pd.DataFrame(table), npartitions=3)


def written(ending, write, several=1):
    def given(table, folder):
        frame, place = pd.DataFrame(table), folder / ending.strip(".")
        place.mkdir()
        for number, rows in enumerate(np.array_split(np.arange(len(frame)), several)):
            write(frame.iloc[rows], place / f"{number}{ending}")
        return place if several > 1 else place / f"0{ending}"

    return given


def write_csv(frame, path):
    frame.to_csv(path, index=False)


def write_tsv(frame, path):
    frame.to_csv(path, index=False, sep="\t")


def write_parquet(frame, path):
    pa.parquet.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, 50)


def write_categories(frame, path):
    write_parquet(frame.astype({"sex": "category", "colour": "category"}), path)


def write_arrow(frame, path):
    pa.feather.write_feather(frame.reset_index(drop=True), path, chunksize=60)


def on_workers(given):
    return lambda table, folder: Files(given(table, folder), dask=True)


IN_MEMORY = {
    "pandas": as_pandas,
    "pandas objects": as_object_pandas,
    "pandas categories": as_pandas_categories,
    "polars": as_polars,
    "polars categories": as_polars_categories,
    "Arrow": as_arrow,
    "Arrow dictionaries": as_arrow_dictionaries,
}
IN_BATCHES = {
    "batches": as_batches,
    "batches of polars": as_polars_batches,
    "record batches": as_record_batches,
}
IN_FILES = {
    "CSV": written(".csv", write_csv),
    "TSV": written(".tsv", write_tsv),
    "a folder of CSV": written(".csv", write_csv, 3),
    "Parquet": written(".parquet", write_parquet),
    "a folder of Parquet": written(".parquet", write_parquet, 3),
    "Parquet categories": written(".parquet", write_categories, 2),
    "Arrow file": written(".arrow", write_arrow),
    "Feather": written(".feather", write_arrow),
    "Parquet on workers": on_workers(written(".parquet", write_parquet, 2)),
    "CSV on workers": on_workers(written(".csv", write_csv, 3)),
}
CONTAINERS = {**IN_MEMORY, **IN_BATCHES, "Dask": as_dask, **IN_FILES}


def read(X, coding=None, kinds="auto"):
    """The estimator that read X, and the floats that it became."""
    reader = Reader(kinds)
    table = open_table(X, Reading.of(reader, coding))
    take_names(reader, len(table.rows.names), table.names)
    reader.coding_ = table.coding
    return reader, whole_table(table.rows)
