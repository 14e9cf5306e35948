"""A model of columns of words: fitted, asked, filled and stored from whatever holds the table."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import DroppedFeatureWarning, GaussianMixture, UnseenCategoryWarning, load
from halfseen.cli.app import app
from halfseen.data.errors import ModelFileError
from halfseen.models.latent_class import LatentClass
from tests.io.mixed_tables import CONTAINERS, IN_BATCHES, LABELS, LEFT_OUT, TABLE

FEW = {name: cells for name, cells in TABLE.items() if name != "empty"}
WORDED = [name for name in FEW if name in LABELS]


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LatentClass(2, random_state=0).fit(pd.DataFrame(FEW))


def as_frame(filled):
    if isinstance(filled, list):
        return pd.concat([as_frame(one) for one in filled], ignore_index=True)
    if hasattr(filled, "compute"):
        return filled.compute()
    return filled if isinstance(filled, pd.DataFrame) else filled.to_pandas()


def test_what_was_said_at_the_door_is_not_said_again():
    with pytest.warns(DroppedFeatureWarning) as said:
        LatentClass(1).fit(pd.DataFrame(FEW))
    dropped = [one for one in said if issubclass(one.category, DroppedFeatureWarning)]
    assert len(dropped) == 1
    assert "never observed" not in str(dropped[0].message)


@pytest.mark.parametrize("given", CONTAINERS.values(), ids=CONTAINERS)
def test_gaps_are_filled_with_the_same_words_in_every_container(model, given, tmp_path):
    whole = as_frame(model.impute(pd.DataFrame(FEW)))
    X = given(FEW, tmp_path)
    if given in IN_BATCHES.values():
        X = [batch for batch in X if len(batch)]
    filled = as_frame(model.impute(X)).reset_index(drop=True)
    for name in FEW:
        before, after = FEW[name], filled[name].tolist()
        if name in LABELS:
            assert list(map(str, after)) == list(map(str, whole[name]))
            assert set(map(str, after)) <= set(LABELS[name])
        if name not in LEFT_OUT:
            assert all(a == b for a, b in zip(after, before, strict=True) if b is not None) or (
                name == "smokes"  # Dask makes words of objects
            )
    np.testing.assert_array_equal(
        np.asarray(model.predict(X)), np.asarray(model.predict(pd.DataFrame(FEW)))
    )


def test_a_word_that_the_fit_did_not_see_is_not_filled_and_said_once(model):
    new = pd.DataFrame(FEW)
    new.loc[3, "colour"] = "Ada"
    for X in (new, [new[:2], new[2:]]):
        with pytest.warns(UnseenCategoryWarning) as said:
            filled = as_frame(model.impute(X))
        assert len(said) == 1
        assert filled["colour"][3] == "Ada"
    with pytest.warns(UnseenCategoryWarning) as said:
        model.predict(new)
    assert len(said) == 1


def test_a_category_is_filled_with_the_likeliest_and_not_with_one_between():
    rng = np.random.default_rng(0)
    ill = rng.random(600) < 0.5
    words = np.where(ill, rng.choice(["a", "c"], 600, p=[0.55, 0.45]), "b")
    table = pd.DataFrame({"word": words})
    table["code"] = table["word"].map({"a": 0.0, "b": 1.0, "c": 2.0})
    table["heat"] = rng.normal(np.where(ill, 9.0, 0.0))
    table["pulse"] = rng.normal(np.where(ill, -9.0, 0.0))
    model = LatentClass(2, kinds={"code": "categorical"}, random_state=0).fit(table)
    new = pd.DataFrame({"word": [None] * 2, "code": np.nan, "heat": [9.0, 0], "pulse": [-9.0, 0]})
    for possible in (False, True):
        filled = model.impute(new, possible=possible)
        assert filled["word"].tolist() == ["a", "b"]
        assert filled["code"].tolist() == [0.0, 1.0]


def test_a_path_as_text_is_filled_as_any_path(tmp_path):
    table = pd.DataFrame(FEW)[WORDED]
    table.to_csv(tmp_path / "it.csv", index=False)
    fitted = LatentClass(1).fit(tmp_path / "it.csv")
    assert fitted.impute(str(tmp_path / "it.csv")).equals(fitted.impute(tmp_path / "it.csv"))


def test_draws_are_words_and_spreads_are_numbers(model):
    X = pd.DataFrame(FEW)
    first, second = model.impute(X, draws=2)
    for name in WORDED:
        assert set(map(str, first[name])) <= set(LABELS[name])
    assert not first[WORDED].equals(second[WORDED])
    _, spread = model.impute(X, return_std=True)
    gaps = X["colour"].isna()
    assert (spread["colour"][gaps] > 0).all()
    assert (spread["colour"][~gaps] == 0).all()


def test_the_model_file_keeps_the_coding(model, tmp_path):
    model.save(tmp_path / "it.halfseen")
    again = load(tmp_path / "it.halfseen")
    assert again.coding_ == model.coding_
    X = pd.DataFrame(FEW)
    np.testing.assert_array_equal(again.predict(X[X.columns[::-1]]), model.predict(X))


def test_kinds_of_columns_without_names_are_stored_by_number(tmp_path):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), rng.integers(0, 4, 60)])
    LatentClass(1, kinds={1: "ordinal"}).fit(X).save(tmp_path / "it.halfseen")
    again = load(tmp_path / "it.halfseen")
    assert again.kinds == {1: "ordinal"}
    assert again.coding_.kinds == ("number", "ordinal")


def with_sex(coding, labels):
    return (*coding.labels[:2], labels, *coding.labels[3:])


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("labels", lambda c: with_sex(c, ("male", "male")), "has a label of 'sex' twice"),
        ("labels", lambda c: with_sex(c, (1, 2)), "'labels' of its Coding is not"),
        ("labels", lambda c: with_sex(c, ("male",)), "lacks labels of values"),
        ("labels", lambda c: c.labels[1:], "does not say the same of as many columns"),
        ("kinds", lambda c: ("wild", *c.kinds[1:]), "'age' is of a kind that there is not"),
        ("kinds", lambda c: ("ignored", *c.kinds[1:]), "a feature is not used, and it uses it"),
        ("names", lambda c: ("other", *c.names[1:]), "is of other columns than it was fitted to"),
    ],
)
def test_a_file_whose_coding_cannot_be_is_refused(model, field, value, said, tmp_path):
    wrong = copy.copy(model)
    wrong.coding_ = copy.copy(model.coding_)
    object.__setattr__(wrong.coding_, field, value(model.coding_))
    with pytest.raises(ModelFileError, match=said):
        wrong.save(tmp_path / "it.halfseen")


def test_new_rows_may_hold_nothing_but_words_for_gaps_where_the_fit_found_numbers():
    table = pd.DataFrame({"lab": ["-", "1.5", "2", "3.5"] * 10, "sex": ["f", "m", "m", "f"] * 10})
    model = LatentClass(1).fit(table)
    new = pd.DataFrame({"lab": ["-", "-"], "sex": ["f", "m"]})
    alone = model.score_samples(new.assign(lab=[np.nan, np.nan]))
    np.testing.assert_allclose(model.score_samples(new), alone)


@pytest.mark.parametrize("kind", [LatentClass, GaussianMixture])
def test_so_may_new_rows_in_a_file(kind, tmp_path):
    table = pd.DataFrame({"lab": ["-", "1.5", "2", "3.5"] * 10, "age": [40, 51, 62.5, 38] * 10})
    table.to_csv(tmp_path / "all.csv", index=False)
    (tmp_path / "new.csv").write_text("age,lab\n41,-\n42,unknown\n")
    (tmp_path / "gaps.csv").write_text("age,lab\n41,\n42,\n")
    model = kind(1).fit(tmp_path / "all.csv")
    model.save(tmp_path / "m.halfseen")
    alone = model.score_samples(tmp_path / "gaps.csv")
    np.testing.assert_allclose(model.score_samples(tmp_path / "new.csv"), alone)
    for name in ("new", "gaps"):
        call = ["impute", tmp_path / "m.halfseen", tmp_path / f"{name}.csv"]
        result = CliRunner().invoke(
            app, [str(one) for one in (*call, "--out", tmp_path / f"filled-{name}.csv")]
        )
        assert result.exit_code == 0, result.output
    filled = [(tmp_path / f"filled-{name}.csv").read_text() for name in ("new", "gaps")]
    assert filled[0] == filled[1]


def _dictionary(frame):
    pa = pytest.importorskip("pyarrow")
    return pa.table({"a": frame["a"], "b": pa.array(frame["b"]).dictionary_encode()})


def _polars(frame):
    pl = pytest.importorskip("polars")
    return pl.DataFrame(frame).with_columns(pl.col("b").cast(pl.Categorical))


@pytest.mark.parametrize(
    "given", [_dictionary, _polars, lambda f: pd.DataFrame(f).astype({"b": "category"})]
)
def test_gaps_among_categories_that_are_numbers_are_gaps(given):
    """Arrow's places of a dictionary, as an array, have the last value where there is none."""
    frame = {
        "a": [None, 1.0, 2.0, 4.0, 3.0, None],
        "b": ["0.5", "8.25", "-1.5", None, None, "2.0"],
    }
    table = given(frame)
    model = GaussianMixture(1).fit(table)
    np.testing.assert_allclose(model.means_, [[2.5, 2.3125]], rtol=1e-6)
    filled = model.impute(table)["b"]
    cells = filled.to_pylist() if hasattr(filled, "to_pylist") else list(filled)
    np.testing.assert_allclose(np.array(cells, float)[[0, 1, 2, 5]], [0.5, 8.25, -1.5, 2.0])
    assert np.isfinite(np.array(cells, float)).all()
