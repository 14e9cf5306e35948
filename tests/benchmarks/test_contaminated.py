"""Tables for measuring robustness are what they say, and their oracles are right."""

import numpy as np
import pytest
from scipy.special import logsumexp

from benchmarks import real_tables, results_file, robustness, starts, topic_outliers
from benchmarks.contaminated import N_COMPLETE, SETTINGS, TARGETS, K, agreement, draw


@pytest.mark.parametrize("setting", SETTINGS)
def test_an_oracle_is_right_as_often_as_it_says(setting):
    sure, right = [], []
    for seed in range(4):
        drawn = draw(setting, seed)
        joint = np.log(drawn.weights) + drawn.evidence(drawn.values)
        sure.append(np.exp(joint.max(axis=1) - logsumexp(joint, axis=1)))
        right.append(drawn.oracle() == drawn.labels)
    chance = np.concatenate(sure)
    spread = np.sqrt((chance * (1 - chance)).sum()) / len(chance)
    assert abs(chance.mean() - np.concatenate(right).mean()) < 4 * spread + 1e-9


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_seed_has_the_same_groups_and_gaps_in_every_setting(setting):
    drawn, plain = draw(setting, 3), draw("Gauss", 3)
    np.testing.assert_array_equal(drawn.labels, plain.labels)
    np.testing.assert_array_equal(np.isnan(drawn.values), np.isnan(plain.values))
    assert not np.isnan(drawn.values[:, :N_COMPLETE]).any()
    np.testing.assert_array_equal(draw(setting, 3).values, drawn.values)
    assert set(drawn.labels) == set(range(K))


@pytest.mark.parametrize("setting", TARGETS)
def test_groups_are_as_far_apart_as_the_target_asks(setting):
    found = [agreement(draw(setting, seed)) for seed in range(60)]
    assert np.mean(found) == pytest.approx(TARGETS[setting], abs=0.01)


def test_cells_are_mistyped_as_often_as_they_should_be():
    plain = draw("Gauss", 0).values
    for setting, rate, least in (("typos .2 %", 0.002, 200.0), ("typos 1 %", 0.01, 6.0)):
        away = np.abs(draw(setting, 0).values - plain)
        wrong = away[~np.isnan(away)] > 1e-9
        assert wrong.mean() == pytest.approx(rate, rel=0.25)
        assert away[away > 1e-9].min() >= least - 1e-9


def test_what_0_1_scored_is_kept_for_every_setting():
    figures = results_file.figures("robustness_of_0_1")
    assert set(figures) == {*SETTINGS, *robustness.REAL, "real tables"}
    for row in figures.values():
        assert {"tied_spherical", "diag"} <= set(row)
        assert all(of["tables"] >= 20 for of in row.values())
    topics = results_file.figures("topic_outliers_of_0_1")
    assert set(topics) == set(topic_outliers.KINDS)
    assert 0.03 <= topics["clean"]["moments"]["mean"] <= 0.06


def test_scaled_columns_have_median_zero_and_a_robust_spread_of_one():
    rng = np.random.default_rng(0)
    values = rng.normal(5.0, 3.0, (301, 3))
    values[rng.random(values.shape) < 0.2] = np.nan
    values[:, 2] = np.where(rng.random(301) < 0.1, 7.0, 0.0)
    found = real_tables.scaled(values)
    np.testing.assert_allclose(np.nanmedian(found, axis=0), 0.0, atol=1e-12)
    spread = 1.4826 * np.nanmedian(np.abs(found[:, :2]), axis=0)
    np.testing.assert_allclose(spread, 1.0)
    assert found[:, 2].std() == pytest.approx(1.0)


def test_a_missing_real_table_is_told_and_left_out(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HALFSEEN_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"penguins\.csv is not at hand\. Set HALFSEEN"):
        real_tables.TABLES["penguins"]()
    assert set(real_tables.at_hand(["penguins", "iris"])) == {"iris"}


def test_a_table_read_from_a_file_has_its_numbers_and_gaps(monkeypatch, tmp_path):
    (tmp_path / "tables").mkdir()
    lines = "BI-RADS,Age,Shape,Margin,Density,Severity\n5,67,3,5,3,1\n55,43,1,1,?,0\n4,,a,1,2,1\n"
    (tmp_path / "tables" / "mammo.csv").write_text(lines)
    monkeypatch.setenv("HALFSEEN_DATA", str(tmp_path))
    table = real_tables.TABLES["mammo"]()
    assert table.names == ("BI-RADS", "Age", "Margin", "Density")
    np.testing.assert_array_equal(table.classes, [1, 0, 1])
    expected = [[5, 67, 5, 3], [55, 43, 1, np.nan], [4, np.nan, 1, 2]]
    np.testing.assert_array_equal(table.values, expected)


def test_topics_in_another_order_have_no_error():
    _, topics = topic_outliers.draw("clean", 0, n_rows=10)
    assert topic_outliers.error(topics[[2, 0, 3, 1]], topics) == 0.0
    assert topic_outliers.error(topics[[0, 0, 0, 0]], topics) > 0.1


def test_outliers_of_counts_are_where_they_should_be():
    plain, _ = topic_outliers.draw("clean", 0)
    wild, _ = topic_outliers.draw("one wild cell", 0)
    assert (wild == 5_000).sum() == 1
    assert (wild != plain)[~np.isnan(plain)].sum() == 1
    long, _ = topic_outliers.draw("five long rows", 0)
    bursty, _ = topic_outliers.draw("bursty words", 0)
    assert np.nansum(long) > 1.02 * np.nansum(plain)
    assert np.nansum(bursty) == pytest.approx(np.nansum(plain), rel=0.02)


def test_fits_are_counted_as_worse_or_better_by_more_than_a_nat():
    theirs = starts.Reached(-100.0, 200.0)
    found = [
        starts.Compared("a", 2, starts.Reached(height, 20.0), theirs)
        for height in (-102.0, -100.9, -99.1, -97.0, -np.inf)
    ]
    counted = starts.summary(found)
    assert (counted["worse %"], counted["better %"]) == (40.0, 20.0)
    assert counted["passes / theirs"] == pytest.approx(0.1)


def test_a_random_start_is_at_rows_of_the_table():
    table = np.array([[1.0, np.nan], [3.0, 4.0], [5.0, 8.0]])
    start = starts.random_start(table, 2, seed=0)
    assert all(
        any(np.allclose(row, [x, y]) for x, y in ([1, 6], [3, 4], [5, 8])) for row in start.means
    )
    np.testing.assert_allclose(start.variances, [[8 / 3, 4.0]] * 2)
    np.testing.assert_allclose(start.weights, 0.5)
    even = starts.random_start(table, 2, seed=0, kind="tied_spherical").variances
    np.testing.assert_allclose(even, 10 / 3)
