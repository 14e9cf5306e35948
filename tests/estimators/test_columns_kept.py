"""What became of each column is kept by a fit, whichever door the table came through."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from halfseen import DroppedFeatureWarning, Files, GaussianMixture, LatentClass, load

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "age": RNG.normal(60, 9, 60).round(2),
        "one": 1.0,
        "sex": RNG.choice(["f", "m"], 60),
        "note": [f"text number {i} of many" for i in range(60)],
    }
)
DONE = {
    "age": ("number", ""),
    "one": ("number", "Column 'one' was ignored: it is 1 wherever it is known."),
    "sex": ("binary", ""),
    "note": (
        "identifier",
        "Column 'note' was ignored: nearly all of its texts are different, as names and notes are.",
    ),
}
DOORS = {
    "pandas": lambda folder: TABLE,
    "polars": lambda folder: pl.from_pandas(TABLE),
    "arrow": lambda folder: pa.Table.from_pandas(TABLE),
    "batches": lambda folder: [TABLE[:25], TABLE[25:]],
    "dask": lambda folder: dd.from_pandas(TABLE, npartitions=2),
    "a path": lambda folder: folder / "t.csv",
    "parquet": lambda folder: str(folder / "t.parquet"),
    "files": lambda folder: Files(folder / "t.csv", memory=64),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("doors")
    TABLE.to_csv(folder / "t.csv", index=False)
    TABLE.to_parquet(folder / "t.parquet")
    return folder


@pytest.mark.parametrize("door", DOORS)
def test_every_door_tells_the_same_of_each_column(door, folder):
    with pytest.warns(DroppedFeatureWarning):
        model = LatentClass(1).fit(DOORS[door](folder))
    kept = model.diagnostics_.columns
    told = zip(kept.kinds, kept.sentences, strict=True)
    found = dict(zip(kept.names, told, strict=True))
    # What is not used has no kind of its own any more.
    assert found == DONE | {"one": ("ignored", DONE["one"][1])}


@pytest.mark.parametrize("door", ["pandas", "batches", "a path"])
def test_models_of_numbers_tell_too(door, folder, tmp_path):
    given = DOORS[door](folder)
    if door != "a path":
        given = TABLE[["age", "one"]] if door == "pandas" else [TABLE[["age", "one"]]]
    with pytest.warns(DroppedFeatureWarning):
        model = GaussianMixture(1).fit(given)
    kept = model.diagnostics_.columns
    found = dict(zip(kept.names, kept.sentences, strict=True))
    assert found["age"] == ""
    assert found["one"] == DONE["one"][1]
    assert ("sex" in found) == (door == "a path")
    model.save(tmp_path / "m.halfseen")
    assert load(tmp_path / "m.halfseen").diagnostics_.columns == kept


def test_arrays_have_no_names_to_tell_of():
    assert GaussianMixture(1).fit(TABLE[["age"]].to_numpy()).diagnostics_.columns is None


def test_the_next_fit_tells_of_its_own_table(folder):
    model = GaussianMixture(1)
    with pytest.warns(DroppedFeatureWarning):
        model.fit(folder / "t.csv")
    assert model.fit(TABLE[["age"]]).diagnostics_.columns.names == ("age",)
