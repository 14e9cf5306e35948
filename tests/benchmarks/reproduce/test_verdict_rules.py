"""Each rule gives each verdict where it must, and only there."""

import numpy as np
import pytest

from benchmarks.reproduce.evidence import nats_text, ratio_text, slope_text
from benchmarks.reproduce.verdicts import (
    FAILS,
    HOLDS,
    LIMITED,
    Comparison,
    Evidence,
    alike,
    better,
    crosses,
    holm,
    never_worse,
)

NOISE = np.array([-1.0, 1.0, -0.5, 0.5, -1.5, 1.5, -0.2, 0.2])  # of mean zero


def evidence(*means, noise=0.01, margin=0.05):
    settings = [Comparison(f"setting {i}", m + noise * NOISE) for i, m in enumerate(means)]
    return Evidence(tuple(settings), ratio_text, margin)


@pytest.mark.parametrize(
    ("means", "noise", "verdict"),
    [
        ((0.0, -0.3, -0.1), 0.01, HOLDS),
        ((0.01, 0.01, 0.01), 0.01, HOLDS),  # certainly worse, by next to nothing
        ((0.2, -0.3, -0.1), 0.01, LIMITED),  # worse in one of three
        ((0.0, 0.0, 0.0), 1.0, LIMITED),  # too few runs to tell
        ((0.2, 0.2, -0.9), 0.01, FAILS),  # worse in most
        ((0.2, 0.0, 0.0), 0.01, FAILS),  # worse on average by more than the margin
        ((0.3, 0.4, 0.5), 0.01, FAILS),
    ],
)
def test_never_worse(means, noise, verdict):
    assert never_worse(evidence(*means, noise=noise)).verdict == verdict


def test_many_small_losses_that_no_setting_shows_alone_are_not_undecided():
    # Noise that differs between settings averages out, so that the mean is certain.
    shifted = [np.roll(NOISE, shift) for shift in range(8)]
    settings = [Comparison(f"{i}", 0.3 + noise) for i, noise in enumerate(shifted)]
    found = never_worse(Evidence(tuple(settings), ratio_text, 0.05))
    assert "worse in 0 of 8" in found.numbers
    assert found.verdict == FAILS


@pytest.mark.parametrize(
    ("means", "noise", "verdict"),
    [
        ((-0.2, -0.3), 0.01, HOLDS),
        ((-0.2, 0.0), 0.01, LIMITED),
        ((-0.4, 0.1), 0.01, LIMITED),
        ((-0.1, -0.1), 1.0, FAILS),
        ((0.2, 0.3), 0.01, FAILS),
    ],
)
def test_better(means, noise, verdict):
    assert better(evidence(*means, noise=noise)).verdict == verdict


@pytest.mark.parametrize(
    ("means", "noise", "verdict"),
    [
        ((0.0, 0.001, 0.0), 0.01, HOLDS),
        ((0.06, 0.0, 0.0), 0.01, LIMITED),
        ((0.0, 0.0, 0.0), 1.0, LIMITED),
        ((0.3, -0.3, 0.0), 0.01, FAILS),  # differences that cancel are differences
        ((0.3, 0.3, 0.3), 0.01, FAILS),
        ((-0.3, -0.3, -0.3), 0.01, FAILS),
    ],
)
def test_alike(means, noise, verdict):
    assert alike(evidence(*means, noise=noise)).verdict == verdict


@pytest.mark.parametrize(
    ("means", "noise", "verdict"),
    [
        ((-0.3, 0.1, 0.4), 0.01, HOLDS),
        ((-0.3, 0.1, 0.4), 1.0, LIMITED),
        ((0.3, 0.1, -0.4), 0.01, FAILS),
        ((-0.3, -0.1, -0.05), 0.01, FAILS),
    ],
)
def test_crosses(means, noise, verdict):
    assert crosses(evidence(*means, noise=noise)).verdict == verdict


def test_the_place_of_the_crossing_is_told():
    text = crosses(evidence(-0.3, -0.1, 0.4)).numbers
    assert text.endswith("they cross between setting 1 and setting 2")


def test_holm_rejects_as_worked_by_hand():
    # 0.01 <= 0.05/4, 0.02 > 0.05/3: the rest stand, however small.
    assert holm([0.02, 0.01, 0.03, 0.9]) == [False, True, False, False]
    assert holm([0.012, 0.01, 0.02, 0.04]) == [True] * 4
    assert holm([]) == []


def test_a_paired_t_test_is_that_of_scipy():
    from scipy import stats

    values = np.array([0.1, 0.3, -0.2, 0.4, 0.2])
    comparison = Comparison("x", values)
    expected = stats.ttest_1samp(values, 0.0, alternative="greater")
    assert comparison.above_zero() == pytest.approx(expected.pvalue)
    assert comparison.below_zero() == pytest.approx(1 - expected.pvalue)
    interval = stats.ttest_1samp(values, 0.0).confidence_interval(0.90)
    assert (comparison.lower(), comparison.upper()) == pytest.approx(tuple(interval))


def test_runs_that_share_rows_have_a_larger_standard_error():
    values = 0.1 + NOISE
    alone, shared = Comparison("x", values), Comparison("x", values, overlap=0.25)
    assert shared.standard_error == pytest.approx(alone.standard_error * np.sqrt(1 + 8 * 0.25))


def test_no_difference_at_all_is_no_evidence():
    same = Comparison("x", np.zeros(5))
    assert same.above_zero() == same.below_zero() == 0.5
    assert Comparison("x", np.full(5, 0.1)).above_zero() == 0.0


def test_numbers_are_told_with_standard_errors():
    assert ratio_text(np.log(2.0), 0.1) == "2.000 ± 0.200"
    assert nats_text(-0.25, 0.01) == "+0.250 ± 0.010 nats"
    assert slope_text(-0.125, 0.02) == "slope -0.000 ± 0.020"
