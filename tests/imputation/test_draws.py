"""Draws for multiple imputation."""

import numpy as np
import pandas as pd
import pytest

from halfseen import GaussianMixture, Imputer, pool
from halfseen.imputation import chained_equations


@pytest.fixture(scope="module")
def imputer(gappy):
    return Imputer(draws=4, random_state=0).fit(gappy)


def test_draws_differ_in_gaps_and_nowhere_else(imputer, gappy):
    tables = imputer.draw(gappy)
    assert len(tables) == 4
    known = gappy.notna()
    for table in tables:
        assert not table.isna().any().any()
        assert table.where(known).equals(gappy.where(known))
    gaps = gappy["heat"].isna()
    assert not np.allclose(tables[0]["heat"][gaps], tables[1]["heat"][gaps])


def test_draws_are_values_that_columns_have(imputer, gappy):
    for table in imputer.draw(gappy):
        assert (table["visits"] >= 0).all()
        assert (table[["visits", "pulse"]] % 1 == 0).all(axis=None)
        assert set(table["colour"]) == {"red", "pale", "rosy"}


def where_high(X, column=1):
    """A column is missing where the first is high, so that what lacks is beyond what was seen."""
    gaps, holes = X[:, 0] > 1, X.copy()
    holes[gaps, column] = np.nan
    return holes, gaps


def line(n, seed, slope=2.0, noise=1.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return np.column_stack([x, slope * x + noise * rng.normal(size=n)])


@pytest.mark.parametrize(
    "drawn",
    [
        lambda X: Imputer(draws=5, random_state=0).fit(X).draw(X),
        lambda X: (
            GaussianMixture(1, covariance_type="full", random_state=0).fit(X).impute(X, draws=5)
        ),
    ],
)
def test_draws_go_beyond_the_sample_where_the_missing_values_do(drawn):
    X = line(4000, 0)
    holes, gaps = where_high(X)
    found = np.array([table[gaps, 1] for table in drawn(holes)])
    assert found.mean() == pytest.approx(X[gaps, 1].mean(), abs=0.1)
    assert found.std() == pytest.approx(X[gaps, 1].std(), rel=0.1)
    assert found.max() > np.nanmax(holes[:, 1])


def test_whole_numbers_go_beyond_the_sample_and_stay_whole():
    X = line(3000, 1, slope=12, noise=3)
    X[:, 1] = np.round(X[:, 1] + 80)
    holes, gaps = where_high(X)
    for table in Imputer(draws=2, random_state=0).fit(holes).draw(holes):
        assert (table[:, 1] % 1 == 0).all()
        assert table[gaps, 1].mean() == pytest.approx(X[gaps, 1].mean(), abs=2)
        assert table[:, 1].max() > np.nanmax(holes[:, 1])


def test_columns_that_cannot_be_negative_are_drawn_above_zero():
    X = line(600, 2)
    X[:, 1] = np.exp(-X[:, 1] / 2)  # most of them are near zero where they lack
    holes, gaps = where_high(X)
    for table in Imputer(draws=3, random_state=0).fit(holes).draw(holes):
        assert (table[:, 1] > 0).all()
        assert len(np.unique(table[gaps, 1])) > 20


def test_a_value_that_rows_pile_up_at_is_a_limit_of_draws():
    X = line(800, 3)
    X[:, 1] = np.minimum(X[:, 1], 1.0)
    holes, gaps = where_high(X)
    for table in Imputer(draws=3, random_state=0).fit(holes).draw(holes):
        assert table[:, 1].max() == 1
        assert (table[gaps, 1] == 1).mean() == pytest.approx((X[gaps, 1] == 1).mean(), abs=0.15)


def test_collinear_columns_that_lack_together_are_drawn_as_they_go_along():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(500, 1)) + 0.1 * rng.normal(size=(500, 6))
    holes = X.copy()
    gaps = X[:, 0] > 0.7
    holes[np.ix_(gaps, [1, 2, 3])] = np.nan
    for table in Imputer(draws=2, random_state=0).fit(holes).draw(holes):
        left, truth = (one[gaps, 1:4] - one[gaps, [5]][:, None] for one in (table, X))
        np.testing.assert_allclose(np.cov(left.T), np.cov(truth.T), atol=0.008)
        np.testing.assert_allclose(left.mean(axis=0), truth.mean(axis=0), atol=0.08)


def test_the_same_seed_gives_the_same_draws(imputer, gappy):
    for one, other in zip(imputer.draw(gappy), imputer.draw(gappy), strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_fewer_draws_than_were_learned_for_can_be_had(imputer, gappy):
    assert len(imputer.draw(gappy, 2)) == 2


def test_more_draws_than_were_learned_for_are_refused(imputer, gappy):
    with pytest.raises(ValueError, match=r"fitted for draws=4, so that there may be 1 to 4. Got 5"):
        imputer.draw(gappy, 5)
    with pytest.raises(ValueError, match=r"Use Imputer\(draws=20\).fit\(X\)"):
        Imputer().fit(gappy).draw(gappy)


def test_gaps_of_a_row_are_drawn_together():
    rng = np.random.default_rng(0)
    z = rng.normal(size=1500)
    X = np.column_stack([z + 0.3 * rng.normal(size=1500) for _ in range(3)])
    gaps = rng.random(1500) < 0.3
    holes = X.copy()
    holes[gaps, :2] = np.nan
    for table in Imputer(draws=2, random_state=0).fit(holes).draw(holes):
        left = np.corrcoef(table[gaps, 0] - table[gaps, 2], table[gaps, 1] - table[gaps, 2])[0, 1]
        assert left == pytest.approx(0.5, abs=0.1)  # as both lack what the third has


def test_a_mean_with_gaps_at_random_is_covered_and_the_known_cells_alone_are_wrong():
    hits, known_alone = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=300)
        X = np.column_stack([x, x + rng.normal(size=300)])
        X[rng.random(300) < 1 / (1 + np.exp(-2 * x)), 1] = np.nan
        tables = Imputer(draws=5, random_state=0).fit(X).draw(X)
        means = [one[:, 1].mean() for one in tables]
        spreads = [one[:, 1].var(ddof=1) / 300 for one in tables]
        found = pool(means, spreads, df=299)
        hits.append(found.low[0] < 0 < found.high[0])
        known_alone.append(np.nanmean(X[:, 1]))
    assert sum(hits) >= 6
    assert np.mean(known_alone) < -0.3


def test_draws_of_few_rows_at_a_time_have_the_spread_of_all_at_once(imputer, gappy, monkeypatch):
    at_once = pd.concat(imputer.draw(gappy))["heat"]
    monkeypatch.setattr(chained_equations, "MOST_ENTRIES", 1000)
    in_parts = pd.concat(imputer.draw(gappy))["heat"]
    assert (at_once != in_parts).any()
    assert in_parts.mean() == pytest.approx(at_once.mean(), abs=0.05)
    assert in_parts.std() == pytest.approx(at_once.std(), rel=0.05)


def test_a_column_of_which_no_known_cell_is_drawn_is_drawn_all_the_same():
    X = np.column_stack([np.arange(12.0) % 5, np.full(12, np.nan), np.arange(12.0)])
    X[:2, 1] = 3.25, 7.5
    tables = Imputer({1: "continuous"}, draws=40, random_state=0).fit(X).draw(X)
    assert all(np.isfinite(table).all() for table in tables)


def test_draws_are_learned_for_in_one_round_if_time_is_over(gappy, monkeypatch):
    drawn = []
    monkeypatch.setattr(chained_equations.Chain, "drawn", lambda *given: drawn.append(given))
    imputer = Imputer(draws=3, max_seconds=1e-9).fit(gappy)
    assert len(imputer.learned_.chains) == 3
    assert drawn == []
