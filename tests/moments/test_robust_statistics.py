import numpy as np
import pytest
from scipy.stats import norm

from halfseen.data.engines.memory import MemoryRows
from halfseen.moments.robust_statistics import robust_column, robust_summary
from halfseen.moments.survey import survey

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(10.0, 2.0, 5000)


def of(values):
    values = np.sort(np.asarray(values, dtype=float))
    return robust_column(values, np.ones(len(values)), values[0], values[-1])


def test_a_normal_column_has_its_mean_spread_and_fences_four_spreads_away():
    found = of(NORMAL)
    assert found.middle == pytest.approx(10, abs=0.1)
    assert found.spread == pytest.approx(2, rel=0.05)
    assert found.low == pytest.approx(2, abs=0.7)
    assert found.high == pytest.approx(18, abs=0.7)
    assert found.variance == pytest.approx(4, rel=0.06)
    assert np.isnan(found.spike)
    assert found.step == 0


def test_spreads_are_the_widest_of_four_quantiles_on_a_normal_scale():
    values = np.sort(RNG.exponential(size=999))
    found = of(values)
    middle = np.quantile(values, 0.5, method="inverted_cdf")
    up, down = (
        max(
            abs(np.quantile(values, 0.5 + side * (0.5 - tail), method="inverted_cdf") - middle)
            / norm.isf(tail)
            for tail in (0.25, 0.10, 0.05, 0.02)
        )
        for side in (1, -1)
    )
    assert found.middle == middle
    assert found.high == pytest.approx(middle + 4 * up)
    assert found.low == pytest.approx(middle - 4 * max(down, up / 4))


def test_a_percent_of_typing_errors_moves_nothing():
    wild = np.concatenate([NORMAL, np.full(50, 1e9)])
    clean, found = of(NORMAL), of(wild)
    assert found.middle == pytest.approx(clean.middle, abs=0.05)
    assert found.spread == pytest.approx(clean.spread, rel=0.1)
    assert found.high < 20


def test_a_value_that_many_cells_hold_is_a_spike_and_within_the_fences():
    found = of(np.concatenate([np.zeros(4000), 100 + NORMAL]))
    assert found.spike == 0
    assert found.low <= 0
    assert found.middle == pytest.approx(110, abs=5)
    assert found.variance == pytest.approx(4, rel=0.06)  # of the rest


def test_two_values_are_the_higher_and_the_lower():
    found = of([0, 0, 0, 1, 1])
    assert (found.spike, found.other) == (1, 0)
    assert found.variance == pytest.approx(0.24)


def test_levels_are_no_spike_and_have_a_step():
    found = of(RNG.integers(1, 7, 3000))
    assert np.isnan(found.spike)
    assert found.step == 1


def test_rounded_measurements_have_a_step_and_fine_ones_none():
    assert of(NORMAL.round(0)).step == 1
    assert of(NORMAL.round(4)).step == 0


def test_one_value_beside_rare_others_still_has_a_spread():
    found = of([5.0] * 999 + [6.0, 7.0, 8.0])
    assert found.spread > 0
    assert found.variance > 0
    assert found.low <= 5 <= found.high


def test_a_column_whose_sample_does_not_vary_has_its_range_for_a_spread():
    found = robust_column(np.zeros(10), np.ones(10), 0.0, 3.0)
    assert found.spread > 0
    assert found.variance > 0


def test_weights_count_values_as_often_as_copies_do():
    values, times = np.sort(RNG.normal(size=400)), RNG.integers(1, 4, 400)
    copied = np.repeat(values, times)
    one = robust_column(values, times.astype(float), values[0], values[-1])
    other = robust_column(copied, np.ones(len(copied)), values[0], values[-1])
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_features_beyond_their_fences_are_found():
    X = np.column_stack([NORMAL, NORMAL])
    X[7, 1] = 500
    rows = MemoryRows(X, ("a", "b"))
    sums = survey(rows, 1.0).sums
    found = robust_summary(rows, sums)
    assert found.beyond(sums, 1.5).tolist() == [False, True]
    assert found.select(np.array([False, True])).middle == found.middle[1]
