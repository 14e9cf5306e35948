"""What users hand over: arrays and frames of many kinds, all giving the same model."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from halfseen import GammaPoisson, GaussianMixture, simulate

NAMES = ["age", "pulse", "lactate", "crp"]


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(1)
    X, _ = simulate.gamma_poisson(800, np.eye(2, 4) + 0.2, [1.0, 1.0], 0.2, rng)
    return simulate.independent_gaps(X, [1, 1, 1, 0.6], rng)


@pytest.fixture(scope="module")
def expected(counts):
    return GaussianMixture(2, random_state=0).fit(counts)


def as_nullable(counts):
    return pd.DataFrame(counts, columns=NAMES).astype("Int64")


def as_polars(counts):
    return pl.DataFrame(counts, schema=NAMES).fill_nan(None)


def as_polars_integers(counts):
    return as_polars(counts).cast(pl.Int32)


@pytest.mark.parametrize(
    "container",
    [
        lambda X: pd.DataFrame(X, columns=NAMES),
        lambda X: pd.DataFrame(X, columns=NAMES).astype("Float64"),
        lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(dtype_backend="pyarrow"),
        as_nullable,
        as_polars,
        as_polars_integers,
        lambda X: np.asfortranarray(X),
        lambda X: X.astype(object),
        lambda X: X.tolist(),
    ],
    ids=[
        "pandas",
        "pandas Float64",
        "pandas arrow",
        "pandas Int64",
        "polars",
        "polars Int32",
        "Fortran order",
        "objects",
        "lists",
    ],
)
def test_every_container_of_the_same_numbers_gives_the_same_model(container, counts, expected):
    model = GaussianMixture(2, random_state=0).fit(container(counts))
    np.testing.assert_allclose(model.means_, expected.means_, rtol=1e-12)


def test_float32_gives_the_model_of_the_same_numbers_in_double(counts, expected):
    model = GaussianMixture(2, random_state=0).fit(counts.astype(np.float32))
    np.testing.assert_allclose(model.means_, expected.means_, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, bool])
def test_integers_and_booleans_are_numbers(dtype):
    X = np.random.default_rng(0).integers(0, 2, size=(200, 4)).astype(dtype)
    np.testing.assert_array_equal(
        GaussianMixture(2, random_state=0).fit(X).means_,
        GaussianMixture(2, random_state=0).fit(X.astype(float)).means_,
    )


@pytest.mark.parametrize("frame", [as_nullable, as_polars])
@pytest.mark.parametrize("estimator", [GaussianMixture(2, random_state=0), GammaPoisson(2)])
def test_column_names_are_kept(frame, estimator, counts):
    assert list(estimator.fit(frame(counts)).feature_names_in_) == NAMES


def test_a_table_with_other_columns_is_refused_by_name(counts):
    model = GaussianMixture(2, random_state=0).fit(pd.DataFrame(counts, columns=NAMES))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame(counts, columns=[*NAMES[:3], "other"]))


def test_the_table_is_left_as_it_was(counts):
    before = counts.copy()
    GaussianMixture(2, random_state=0).fit(counts).impute(counts)
    GammaPoisson(2).fit(counts).impute(counts)
    np.testing.assert_array_equal(counts, before)


def test_verbose_says_what_runs_and_how_far_it_is(counts, capsys):
    GaussianMixture(2, verbose=1).fit(counts)
    shown = capsys.readouterr().err
    for stage in ("features", "pairs of features", "triples of features", "decomposition"):
        assert stage in shown
    assert "800 rows" in shown


def test_nothing_is_said_unless_asked(counts, capsys):
    GaussianMixture(2, random_state=0).fit(counts)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_threads_do_not_change_the_model(n_jobs, counts, expected):
    model = GaussianMixture(2, n_jobs=n_jobs, random_state=0).fit(counts)
    np.testing.assert_allclose(model.means_, expected.means_, rtol=1e-10)
