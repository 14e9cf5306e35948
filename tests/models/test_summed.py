"""Sums of rows that do not leave their place."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from halfseen import DataError, GammaPoisson, GaussianMixture, LatentClass, Plan, simulate, summed
from halfseen.federated.plan import AgreedColumn
from halfseen.inference.parameters import declared

MEANS = np.random.default_rng(3).normal(20, 3, (3, 5))


def gaussian(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    X, _ = simulate.gaussian_mixture(n, [0.5, 0.3, 0.2], MEANS, 1.0, rng)
    return simulate.independent_gaps(X, [1, 1, 1, 0.7, 0.5], rng)


def counts(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(5, 0.5), size=2)
    X, _ = simulate.gamma_poisson(n, topics, [1.0, 0.7], 0.05, rng)
    return simulate.independent_gaps(X, [1, 1, 1, 0.7, 0.5], rng)


def mixed(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    table = pd.DataFrame(
        {
            "temperature": rng.normal(np.where(ill, 39.0, 36.8), 0.5),
            "cough": np.where(rng.random(n) < np.where(ill, 0.9, 0.2), "yes", "no"),
            "ward": rng.choice(["a", "b", "c"], n),
            "visits": rng.poisson(np.where(ill, 4.0, 0.5)).astype(float),
            "grade": np.where(ill, rng.integers(2, 5, n), rng.integers(1, 4, n)),
        }
    )
    table.loc[rng.random(n) < 0.3, "cough"] = None
    table.loc[rng.random(n) < 0.2, "visits"] = np.nan
    return table


def parts(X):
    return X[:400], X[400:900], X[900:]


def of_all(X, plan, at=None):
    one, two, three = (summed(part, plan, at=at) for part in parts(X))
    return one + (two + three)


def learned(model):
    names = [one.name for one in declared(model.Parameters)]
    return [np.asarray(getattr(model, name), dtype=float) for name in names]


BY_MOMENTS = {
    "tied_spherical": (GaussianMixture(3), gaussian),
    "spherical": (GaussianMixture(3, covariance_type="spherical"), gaussian),
    "raw": (GaussianMixture(3, form="raw"), gaussian),
    "gamma-poisson": (GammaPoisson(2), counts),
}


@pytest.mark.parametrize(("like", "table"), BY_MOMENTS.values(), ids=BY_MOMENTS)
def test_sums_of_three_places_are_a_fit_to_all_rows_by_moments(like, table):
    X = table()
    plan = Plan.of(parts(X)[0], like)
    wide = tuple(replace(column, low=-500.0, high=500.0) for column in plan.columns)
    plan = replace(plan, columns=wide)
    found = type(like)(**like.get_params()).fit(of_all(X, plan))
    own = {"refine": None, "outliers": None, "incomplete_features": "divide"}
    wanted = type(like)(**(like.get_params() | own | {"third_moment": "explicit"})).fit(X)
    for ours, theirs in zip(learned(found), learned(wanted), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["tied_spherical", "diag", "full"])
def test_rounds_climb_as_all_rows_do_together(kind):
    X = gaussian()
    plan = Plan.of(X, GaussianMixture(3, covariance_type=kind))
    model, heights = GaussianMixture(3, covariance_type=kind).fit(of_all(X, plan)), []
    for _ in range(8):
        before = model
        model = GaussianMixture(3, covariance_type=kind).fit(of_all(X, plan, at=before))
        heights.append(before.score(X))
        assert model.lower_bound_ == pytest.approx(heights[-1], abs=1e-9)
    assert (np.diff(heights) > -1e-9).all()
    assert model.n_iter_ == 8


@pytest.mark.filterwarnings("ignore:.*'visits' (is|are) beyond the plan's range")
def test_classes_begin_by_four_rounds_and_climb_to_where_all_rows_lead():
    table, like = mixed(), LatentClass(2)
    plan = Plan.of(table, like)
    sums = of_all(table, plan)
    for _ in range(3):
        with pytest.raises(DataError, match="LatentClass asks for more sums than these"):
            LatentClass(2).fit(sums)
        sums = of_all(table, plan, at=sums)
    model = LatentClass(2).fit(sums)
    for _ in range(25):
        model = LatentClass(2).fit(of_all(table, plan, at=model))
    clipped = table.assign(visits=table["visits"].clip(upper=max(plan.columns[3].values)))
    wanted = LatentClass(2, outliers=None, kinds={"visits": "count"}).fit(clipped)
    assert model.score(clipped) == pytest.approx(wanted.score(clipped), abs=1e-6)
    assert model.kinds_ == wanted.kinds_


def test_a_column_that_a_place_lacks_is_a_gap_there():
    frame = pd.DataFrame(gaussian(), columns=list("abcde"))
    plan = Plan.of(frame, GaussianMixture(3))
    without = frame.assign(b=np.nan)[400:]
    both = summed(frame[:400], plan) + summed(without.drop(columns="b"), plan)
    expected = summed(frame[:400], plan) + summed(without, plan)
    np.testing.assert_array_equal(both.sums.second, expected.sums.second)
    with pytest.raises(DataError, match="none of the columns of the plan"):
        summed(pd.DataFrame({"z": [1.0]}), plan)


@pytest.mark.filterwarnings("ignore:.*beyond the plan's range")
def test_values_beyond_the_ranges_of_a_plan_count_as_their_ends():
    X = gaussian()
    plan = Plan.of(X, GaussianMixture(3))
    narrow = tuple(replace(column, low=18.0, high=22.0) for column in plan.columns)
    plan = replace(plan, columns=narrow)
    n = int(np.nansum((X[:, 1] < 18) | (X[:, 1] > 22)))
    message = f"{n:,} cells of '1' are beyond the plan's range, 18 to 22, and count as its ends"
    with pytest.warns(UserWarning, match=message):
        found = summed(X, plan).sums
    naive = summed(np.clip(X, 18.0, 22.0), plan).sums
    np.testing.assert_allclose(found.third, naive.third)


def test_sums_hold_no_ends_of_ranges_but_those_of_the_plan():
    plan = Plan.of(gaussian(), GaussianMixture(3))
    sums = summed(gaussian(), plan).sums
    np.testing.assert_array_equal(sums.minimum, plan.each("low"))
    np.testing.assert_array_equal(sums.maximum, plan.each("high"))


def test_an_agreed_column_says_what_is_wrong_with_it():
    with pytest.raises(ValueError, match="'a' needs low below high, and a scale above zero"):
        AgreedColumn("a", "continuous", 1.0, 0.0, 0.0, 1.0)


def test_every_source_gives_the_same_sums(tmp_path):
    frame = pd.DataFrame(gaussian(600), columns=list("abcde")).assign(note="x")
    plan = Plan.of(frame.drop(columns="note"), GaussianMixture(3))
    frame.to_parquet(tmp_path / "t.parquet")
    frame[list("edcba")].to_csv(tmp_path / "t.csv", index=False)
    batches = [frame[list("abcde")][:250], frame[list("abcde")][250:]]
    dask = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)
    wanted = summed(frame, plan).sums
    for source in (tmp_path / "t.parquet", str(tmp_path / "t.csv"), batches, dask):
        found = summed(source, plan).sums
        np.testing.assert_allclose(found.third, wanted.third, rtol=1e-9, atol=1e-9)
        model = GaussianMixture(3, random_state=0).fit(frame[list("abcde")])
        one, other = (summed(X, plan, at=model).rounds[0] for X in (source, frame))
        np.testing.assert_allclose(one["share"], other["share"], rtol=1e-9)
