"""What cannot be computed with is refused, with the column, the value and what to do."""

import numpy as np
import pandas as pd
import pytest

from halfseen import DataError, GammaPoisson, GaussianMixture
from halfseen.data.engines.memory import MemoryRows
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.inference.parameters import check_finite
from halfseen.moments.survey import FILL_VALUES, numerical_errors_explained, survey

rng = np.random.default_rng(0)
N = 120
TABLE = pd.DataFrame(
    rng.normal(size=(N, 4)) + (np.arange(N) % 2 * 5)[:, None], columns=["age", "mass", "dose", "ph"]
)
KINDS = [
    {},
    {"refine": None},
    {"covariance_type": "diag"},
    {"covariance_type": "tied_diag"},
    {"covariance_type": "spherical", "outliers": None},
    {"scale": "robust"},
    {"form": "raw"},
    {"form": "raw", "refine": None},
]


def with_column(column, values):
    return TABLE.assign(**{column: values})


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("power", [-320, -300, -150, -65, 65, 120, 155, 200, 307])
def test_columns_of_huge_or_tiny_values_are_refused_by_name(power, kind):
    table = with_column("mass", TABLE["mass"] * float(f"1e{power}"))
    said = "too large" if power > 0 else "too much alike"
    with pytest.raises(DataError, match=f"Values in 'mass' are {said} to compute with: .* unit"):
        GaussianMixture(2, **kind).fit(table)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("power", [-58, -30, 30, 58])
def test_columns_short_of_that_are_learned(power, kind):
    table = with_column("mass", TABLE["mass"] * 10.0**power)
    model = GaussianMixture(2, random_state=0, **kind).fit(table)
    assert np.isfinite(model.means_).all()
    np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1.0)
    assert np.isfinite(model.score_samples(table)).all()
    for interval in model.intervals(table, n_replicates=50).values():
        assert np.isfinite(interval).all()


def test_a_constant_column_may_be_of_any_size():
    with pytest.warns(UserWarning, match="constant"):
        GaussianMixture(2).fit(with_column("mass", 1e200))


@pytest.mark.parametrize("fill", FILL_VALUES, ids=lambda fill: fill.writer)
@pytest.mark.parametrize("container", [np.asarray, np.float32])
def test_fill_values_are_known_by_who_writes_them(fill, container):
    table = TABLE.copy()
    table.loc[::7, "mass"] = fill.value
    if container is np.float32 and abs(fill.value) > 1e300:
        return  # no single holds it
    X = table.astype(np.float32) if container is np.float32 else table
    with pytest.raises(DataError, match=r"'mass' holds .*, which is .* Put NaN in its place"):
        GaussianMixture(2).fit(X)


def test_the_fill_value_of_netcdf_is_known_as_ncdump_writes_it():
    table = TABLE.copy()
    table.loc[3, "dose"] = float("9.96921e+36")
    with pytest.raises(DataError, match=r"'dose' holds 9.96921e\+36, which is netCDF's fill value"):
        GaussianMixture(2).fit(table)


def test_rows_that_come_in_batches_are_held_to_the_same():
    model = GaussianMixture(2, refine=None, outliers=None)
    with pytest.raises(DataError, match="Values in 'mass' are too large"):
        model.partial_fit(with_column("mass", TABLE["mass"] * 1e120))


@pytest.mark.filterwarnings("ignore:Features are on very different scales")
@pytest.mark.parametrize("refine", ["em", None])
@pytest.mark.parametrize(
    "table",
    [
        TABLE + 1e9,
        with_column("dose", TABLE["dose"] + 1e9),
        with_column("dose", 1 + 1e-9 * TABLE["dose"]),
    ],
    ids=["all far", "one far", "nearly constant"],
)
def test_moments_about_zero_of_columns_far_from_it_are_refused_by_name(table, refine):
    with pytest.raises(DataError, match=r"form='raw' takes moments about zero, .*'dose'.* so far"):
        GaussianMixture(2, form="raw", refine=refine).fit(table)


@pytest.mark.parametrize("count", [2.0**51, 1e19, 1e36])
def test_more_than_can_be_counted_is_refused_by_name(count):
    counts = pd.DataFrame(rng.poisson(3.0, (N, 3)).astype(float), columns=["a", "b", "c"])
    model = GammaPoisson(1, outliers=None).fit(counts)
    counts.loc[4, "b"] = count
    for verb in (GammaPoisson(1).fit, model.transform, model.score_samples):
        with pytest.raises(DataError, match=r"'b' should hold counts, but 'b' holds .* NaN"):
            verb(counts)


@pytest.mark.filterwarnings("ignore:The likelihoods")
def test_as_many_as_can_be_counted_are_counted():
    counts = rng.poisson(rng.gamma(1, 5, (N, 2)) @ rng.dirichlet(np.ones(4), 2)).astype(float)
    model = GammaPoisson(2, outliers=None).fit(counts)
    counts[0] = [2.0**50, 0, 2.0**50, 1]
    assert np.isfinite(model.transform(counts)).all()
    assert np.isfinite(model.score_samples(counts)).all()


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_rows_however_far_out_have_shares_that_sum_to_one(kind):
    model = GaussianMixture(2, random_state=0, **kind).fit(TABLE)
    values = [1e10, 1e15, 1e60, 1e100, 1e155, 1e200, 1.7e308, -1.7e308]
    far = np.array([[0, 0, 0, v] for v in values] + [[v] * 4 for v in values])
    far = pd.DataFrame(far, columns=TABLE.columns)
    np.testing.assert_allclose(model.predict_proba(far).sum(axis=1), 1.0)
    assert np.isfinite(model.score_samples(far)).all()


def test_a_failure_of_arithmetic_names_the_column_that_stands_out():
    table = with_column("mass", TABLE["mass"] * 1e40).to_numpy()
    seen = survey(MemoryRows(table, tuple(TABLE.columns)), 0.95)
    with (
        pytest.raises(DataError, match=r"\(SVD did not converge\). Of its columns 'mass' stands"),
        numerical_errors_explained(seen),
    ):
        raise np.linalg.LinAlgError("SVD did not converge.")


def test_what_is_learned_is_finite_or_refused():
    whole = MixtureParameters(np.ones(1), np.zeros((1, 2)), np.ones((1, 2)))
    check_finite(whole)
    with pytest.raises(FloatingPointError, match="means_ would not be finite"):
        check_finite(MixtureParameters(np.ones(1), np.array([[0.0, np.nan]]), np.ones((1, 2))))


@pytest.mark.filterwarnings("ignore")
def test_wild_counts_may_be_all_that_two_columns_have_together():
    """What is left out of the moments is not seen there, and is said so."""
    counts = np.full((40, 3), np.nan)
    counts[:, 0] = rng.poisson(4.0, 40)
    counts[:20, 1], counts[20:, 2] = rng.poisson(4.0, 20), rng.poisson(4.0, 20)
    counts[0] = [4.0, 1e9, 3.0]
    model = GammaPoisson(1, refine=None).fit(counts)
    assert np.isfinite(model.components_).all()
