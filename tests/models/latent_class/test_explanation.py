"""What classes are told by: surprisal, dependence and explanation, as users call them."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from halfseen import LatentClass, load
from halfseen.data.rows import Block
from halfseen.distributions.cell_densities import surprisal

pytestmark = pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning")
N = 1500


def people(n=N, seed=0):
    """Children, workers and pensioners, and two columns that know nothing of it."""
    rng = np.random.default_rng(seed)
    z = rng.choice(3, n, p=[0.2, 0.5, 0.3])
    frame = pd.DataFrame(
        {
            "age": rng.normal(np.array([9.0, 42.0, 74.0])[z], 5.0),
            "income": np.where(
                rng.random(n) < np.array([0.95, 0.1, 0.3])[z], 0.0, rng.normal(30 + 5 * z, 4.0)
            ),
            "visits": rng.poisson(np.array([1.0, 0.5, 4.0])[z]),
            "job": np.array(["pupil", "office", "farm", "none"])[
                (rng.random(n)[:, None] > np.array([[1, 1, 1], [0.1, 0.7, 0.9], [0, 0, 0.1]])[z])
                .sum(axis=1)
            ],
            "owns": np.where(rng.random(n) < np.array([0.02, 0.5, 0.8])[z], "yes", "no"),
            "blood": rng.choice(["0", "A", "B"], n),
            "coin": rng.choice(["heads", "tails"], n),
        }
    )  # fmt: skip
    for name in frame:
        frame.loc[rng.random(n) < 0.15, name] = None
    return frame


@pytest.fixture(scope="module")
def model():
    return LatentClass(3, random_state=0).fit(people())


def test_surprisal_has_the_names_and_gaps_of_a_frame(model):
    X = people()
    found = model.surprisal(X)
    assert list(found.columns) == list(X.columns)
    pd.testing.assert_index_equal(found.index, X.index)
    np.testing.assert_array_equal(found.isna(), X.isna())


@pytest.mark.parametrize("kind", ["polars", "batches", "file", "dask"])
def test_surprisal_is_the_same_of_every_container(model, kind, tmp_path):
    X = people(300, seed=1)
    expected = model.surprisal(X).to_numpy()
    if kind == "polars":
        found = model.surprisal(pl.from_pandas(X))
        assert isinstance(found, pl.DataFrame)
        found = found.to_numpy()
    elif kind == "batches":
        found = model.surprisal([X[:100], X[100:]])
    elif kind == "file":
        X.to_parquet(tmp_path / "x.parquet")
        found = model.surprisal(tmp_path / "x.parquet")
    else:
        dask = pytest.importorskip("dask.dataframe")
        found = model.surprisal(dask.from_pandas(X, npartitions=2)).compute().to_numpy()
    np.testing.assert_allclose(found, expected)


def test_surprisal_of_numbers_is_that_of_the_structure():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)) + 4 * rng.integers(2, size=(600, 1))
    X[::5, 1] = np.nan
    fitted = (model := LatentClass(2, random_state=0).fit(X)).fitted
    expected = surprisal(Block.from_table(X), fitted.model.emission, fitted.parameters)
    np.testing.assert_allclose(model.surprisal(X), expected)
    assert np.isnan(model.surprisal(np.full((2, 3), np.nan))).all()


def test_columns_that_are_not_used_have_no_surprisal_and_no_dependence():
    X = people(400).assign(same=3.0)
    model = LatentClass(2, kinds={"coin": "ignored"}, random_state=0).fit(X)
    found, pairs = model.surprisal(X), model.dependence()
    assert found[["same", "coin"]].isna().all().all()
    unused = [X.columns.get_loc(name) for name in ("same", "coin")]
    assert np.isnan(pairs.values[unused]).all()
    assert np.isnan(pairs.values[:, unused]).all()
    explained = model.explain()
    assert np.isnan(explained.information[unused]).all()
    assert not {"same", "coin"} & set(explained.tells_nothing)
    assert "coin" not in str(explained)


def test_an_odd_cell_is_the_most_surprising_of_its_row(model):
    row = people(3, seed=5)[:1].copy()
    row.loc[row.index[0]] = [8.0, 0.0, 1, "pupil", "yes", "A", "heads"]
    found = model.surprisal(row).drop(columns=["age", "income"])
    assert found.iloc[0].idxmax() == "owns"


def test_dependence_is_named_symmetric_and_an_array(model):
    found = model.dependence()
    assert found.names == tuple(people(3).columns)
    array = np.asarray(found)
    assert array.shape == (7, 7)
    np.testing.assert_array_equal(array, array.T)
    assert np.isnan(np.diag(array)).all()
    (first, second, nats), *_ = found.strongest(3)
    assert {first, second} == {"age", "job"}
    assert nats == np.nanmax(array)
    assert str(found).splitlines()[0] == f"{nats:.3f} nats  age and job"
    assert np.asarray(found, dtype=np.float32).dtype == np.float32


def test_one_class_has_no_dependence_and_nothing_to_tell():
    X = people(400)
    model = LatentClass(1).fit(X)
    assert str(model.dependence()) == "No column tells anything of another."
    found = model.explain(X)
    assert found.entropy == 0
    assert set(found.tells_nothing) == set(X.columns)
    assert str(found).splitlines()[0] == "There is one class, so that no column tells of it."


def test_columns_that_know_nothing_of_the_class_are_named(model):
    found = model.explain(people())
    assert set(found.tells_nothing) == {"blood", "coin"}
    assert (found.low <= found.information).all()
    assert (found.information <= found.high).all()
    assert (found.low >= 0).all()
    assert (found.high <= found.entropy).all()
    np.testing.assert_allclose(found.share, found.information / found.entropy)
    assert "Telling nothing: blood, coin." in str(found)


def test_intervals_hold_what_a_large_table_tells():
    large = LatentClass(3, random_state=0).fit(people(60_000, seed=9)).explain()
    inside = []
    for seed in range(6):
        X = people(800, seed=seed)
        found = LatentClass(3, random_state=0).fit(X).explain(X)
        inside.append((found.low <= large.information) & (large.information <= found.high))
    assert np.mean(inside) > 0.85


def test_classes_are_told_in_the_words_of_the_table(model):
    found = model.explain()
    assert found.low is found.high is None
    titles = [told.title for told in found.classes]
    assert titles == ["Class 1: 48% of rows", "Class 2: 32% of rows", "Class 3: 20% of rows"]
    np.testing.assert_array_equal(found.order, np.argsort(-model.weights_))
    old, young = found.classes[1].lines, found.classes[2].lines
    assert any(line.startswith("age higher than average: 73") for line in old)
    assert any(line.startswith("visits higher than average: 3.99") for line in old)
    assert any(line.startswith("job: 'pupil' >99% (27% of all)") for line in young)
    assert any(line.startswith("owns: 'no' 9") for line in young)
    assert not any("blood" in line or "coin" in line for line in [*old, *young])
    text = str(found)
    assert text.startswith("How much each column tells of the class (1.0")
    assert "\n\nClass 1: 48% of rows\n  - " in text


def test_a_level_that_is_none_is_refused(model):
    with pytest.raises(ValueError, match="level must be a number above 0 and below 1"):
        model.explain(level=95)


def test_a_fit_by_moments_alone_has_no_intervals():
    X = people()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LatentClass(3, refine=None).fit(X)
    assert model.explain().low is None
    with pytest.raises(ValueError, match="have no intervals"):
        model.explain(X)


def test_a_model_from_a_file_says_the_same(model, tmp_path):
    model.save(tmp_path / "people.halfseen")
    again = load(tmp_path / "people.halfseen")
    assert str(again.explain()) == str(model.explain())
    assert str(again.dependence()) == str(model.dependence())
    X = people(50, seed=2)
    shuffled = X[X.columns[::-1]]
    pd.testing.assert_frame_equal(again.surprisal(shuffled), model.surprisal(X)[shuffled.columns])
