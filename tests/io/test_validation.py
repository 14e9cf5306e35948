"""Tables in memory that scikit-learn would misread, or refuse in words of its own."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from halfseen import DataError, GammaPoisson, GaussianMixture

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(60, 3)) + np.arange(60)[:, None] % 2 * 5
GAPS = RNG.random(VALUES.shape) < 0.2
OPEN = np.where(GAPS, np.nan, VALUES)
MASKED = np.ma.array(np.where(GAPS, -999.0, VALUES), mask=GAPS)
DAYS = np.array(RNG.integers(0, 10**6, (60, 2)), dtype="M8[us]")

MASKS = {
    "an array": MASKED,
    "rows of arrays": list(MASKED),
    "batches": [MASKED[:30], MASKED[30:]],
    "float32": MASKED.astype(np.float32),
}


@pytest.mark.parametrize("how", MASKS)
def test_what_is_masked_is_a_gap(how):
    expected = GaussianMixture(2, complete_above=0.5).fit(OPEN)
    model = GaussianMixture(2, complete_above=0.5).fit(MASKS[how])
    np.testing.assert_allclose(model.means_, expected.means_, rtol=1e-5)
    np.testing.assert_array_equal(model.observed_fraction_, expected.observed_fraction_)


def test_masked_whole_numbers_are_gaps():
    counts = RNG.poisson(np.outer(RNG.gamma(1.0, 4.0, 80), [1.0, 1.5, 2.0]))
    masked = np.ma.array(np.where(counts > 20, -9, counts), mask=counts > 20)
    expected = GammaPoisson(1).fit(np.where(counts > 20, np.nan, counts))
    np.testing.assert_array_equal(GammaPoisson(1).fit(masked).components_, expected.components_)


def test_masked_cells_are_filled_and_others_left_alone():
    model = GaussianMixture(2, complete_above=0.5).fit(OPEN)
    np.testing.assert_array_equal(model.impute(MASKED), model.impute(OPEN))
    np.testing.assert_array_equal(model.predict_proba(MASKED), model.predict_proba(OPEN))
    np.testing.assert_array_equal(model.impute(MASKED)[~GAPS], VALUES[~GAPS])


def test_masked_weights_are_refused():
    weights = np.ma.array(np.ones(60), mask=np.arange(60) < 3)
    with pytest.raises(ValueError, match=r"'sample_weight' of GaussianMixture.fit is masked in so"):
        GaussianMixture(2, complete_above=0.5).fit(OPEN, sample_weight=weights)


@pytest.mark.parametrize("kind", ["datetime64[us]", "timedelta64[us]"])
def test_dates_and_spans_of_time_in_an_array_are_refused(kind):
    given = DAYS if kind.startswith("date") else DAYS - DAYS[0, 0]
    for X in (given, list(given), np.ma.array(given)):
        with pytest.raises(DataError, match=r"The table holds (date|time).*64\[us\], not numbers"):
            GaussianMixture(1).fit(X)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("number", [{}, {"age": VALUES[:, 0]}])
def test_dates_in_a_frame_are_refused_by_name(frame, number):
    X = frame({"born": DAYS[:, 0], "seen": DAYS[:, 1]} | number)
    with pytest.raises(DataError, match=r"'born' and 'seen' cannot be read as numbers. Leave out"):
        GaussianMixture(1).fit(X)


def test_a_lazy_frame_is_to_be_collected():
    X = pl.LazyFrame({"a": VALUES[:, 0], "b": VALUES[:, 1]})
    with pytest.raises(DataError, match=r"A LazyFrame holds no rows yet.* Call its collect\(\) fi"):
        GaussianMixture(1).fit(X)
    model = GaussianMixture(1).fit(X.collect())
    with pytest.raises(DataError, match=r"A LazyFrame holds no rows yet"):
        model.predict(X)


@pytest.mark.parametrize(
    "X",
    [
        pa.table([VALUES[:, 0], VALUES[:, 1]], names=["age", "age"]),
        pd.DataFrame(VALUES[:, :2], columns=["age", "age"]),
    ],
)
def test_a_name_twice_is_named(X):
    with pytest.raises(DataError, match=r"has several columns named 'age'. Give each its own name"):
        GaussianMixture(1).fit(X)


def test_a_whole_number_beyond_floats_is_refused():
    with pytest.raises(DataError, match=r"a whole number that is too large for a float"):
        GaussianMixture(1).fit([[10**400, 1], [2, 3]])


def test_complex_numbers_are_refused_without_showing_the_table():
    for X in (VALUES + 1j, sparse.csr_array(VALUES + 1j)):
        with pytest.raises(
            DataError, match=r"^Complex data not supported. .* holds complex128. Give the "
        ):
            GammaPoisson(1).fit(X)


@pytest.mark.parametrize("n_jobs", [0, "all", 1.5])
def test_a_number_of_threads_that_cannot_be_is_refused(n_jobs):
    with pytest.raises(ValueError, match=r"'n_jobs' parameter of GaussianMixture must be an int o"):
        GaussianMixture(1, n_jobs=n_jobs).fit(OPEN)


@pytest.mark.parametrize("seed", [-1, 2**32, "a", 1.5, np.random.default_rng(0)])
@pytest.mark.parametrize("kind", [GaussianMixture, GammaPoisson])
def test_a_seed_that_cannot_be_is_refused(seed, kind):
    with pytest.raises(ValueError, match=r"'random_state' parameter of \w+ must be an int from 0 "):
        kind(1, random_state=seed).fit(np.ones((9, 2)))
