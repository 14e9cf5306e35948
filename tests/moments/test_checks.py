"""What is said when the moments cannot give what was asked."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from halfseen.data.errors import DataError, WeakMomentsWarning
from halfseen.inference.method_of_moments import warn_of_weak_moments
from halfseen.inference.model import Evidence
from halfseen.moments.missing_patterns import FEW_ROWS, JointGaps
from halfseen.moments.second_moment import Moments, check_pairs, check_rank, spanned
from halfseen.moments.third_moment import ProjectedThird, alike_along
from halfseen.moments.whitening import Signal, whiten

NAMES = ["age", "bmi", "crp", "dose"]


def moments(second: np.ndarray, count: np.ndarray | float = 100.0) -> Moments:
    d = len(second)
    return Moments(
        np.zeros(d), np.zeros(d), True, second, JointGaps(np.broadcast_to(count, (d, d)), 1e3)
    )


def counts(*apart: tuple[int, int], rows: float = 0) -> np.ndarray:
    """Every pair in a hundred rows, but those ``apart`` in only so many."""
    count = np.full((4, 4), 100.0)
    for i, j in apart:
        count[i, j] = count[j, i] = rows
    return count


def evidence(second: np.ndarray, rank: int, count: np.ndarray | float = 100.0) -> Evidence:
    d = len(second)
    whitening = whiten(second, np.ones(d), rank)
    return Evidence(
        n_components=rank + 1,
        moments=moments(second, count),
        signal=Signal(matrix=second, noise=np.ones(d), null=np.empty((d, 0)), unit=np.ones(d)),
        weights=np.ones(d),
        whitening=whitening,
        third=ProjectedThird(np.zeros((rank, rank, rank)), "explicit", alike_along(whitening)),
    )


def warning_of(case: Evidence, names: list[str]) -> str:
    with pytest.warns(WeakMomentsWarning) as caught:
        warn_of_weak_moments(case, names)
    (warning,) = caught
    return str(warning.message)


def test_pairs_that_all_occur_pass():
    check_pairs(counts((0, 1), rows=1), NAMES)


def test_a_pair_never_observed_together_is_named():
    with pytest.raises(DataError) as error:
        check_pairs(counts((3, 1)), NAMES)
    assert str(error.value) == (
        "Features 'bmi' and 'dose' are never observed in the same row, so their covariance cannot "
        "be estimated. Drop one of them, add rows that hold both, or use method='partial', which "
        "uses the complete features only."
    )


def test_more_pairs_never_observed_together_are_counted():
    message = r"'age' and 'crp' are never .* \(nor are 2 other pairs\)\. Drop"
    with pytest.raises(DataError, match=message):
        check_pairs(counts((0, 2), (0, 3), (1, 2)), NAMES)


@pytest.mark.parametrize("rank", [0, 2, 4])
def test_features_that_span_enough_pass(rank):
    check_rank(moments(np.eye(4)), NAMES, rank, rank + 1)


def test_features_that_span_too_little_are_named_with_what_they_allow():
    root = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    with pytest.raises(DataError) as error:
        check_rank(moments(root @ root.T), NAMES, rank=3, n_components=4)
    assert str(error.value) == (
        "n_components=4 needs features that span at least 3 dimensions, but the 4 used "
        "(n_features=4: 'age', 'bmi', 'crp' and 'dose') span 2. Use at most 3 components, or add "
        "features that are not sums or copies of others."
    )


def test_as_many_components_as_the_message_allows_pass():
    root = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    check_rank(moments(root @ root.T), NAMES, rank=2, n_components=3)


def test_units_of_measurement_do_not_change_what_features_span():
    units = np.array([1e-9, 1.0, 1e9, 1e3])
    check_rank(moments(np.diag(units**2)), NAMES, rank=4, n_components=4)
    copies = np.full((4, 4), 1.0) * np.outer(units, units)
    with pytest.raises(DataError, match="span 1"):
        check_rank(moments(copies), NAMES, rank=2, n_components=2)


def test_what_the_features_span_is_seen_about_the_mean():
    """A common offset is no dimension along which rows differ."""
    mean = np.full(4, 10.0)
    second = np.diag([1.0, 1.0, 0.0, 0.0]) + np.outer(mean, mean)
    raw = Moments(mean, np.zeros(4), False, second, JointGaps(counts(), 1e3))
    with pytest.raises(DataError, match="span 2"):
        check_rank(raw, NAMES, rank=3, n_components=3)


def test_strong_moments_pass_in_silence():
    case = evidence(np.diag([3.0, 2.0, 1.0, 0.5]), 3, counts((0, 1), rows=FEW_ROWS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_weak_moments(case, NAMES)


def test_eigenvalues_that_are_not_positive_are_counted():
    assert warning_of(evidence(np.diag([3.0, 2.0, -0.5, -1.0]), 3), NAMES) == (
        "n_components=4 is more than the second moments support: 1 of the 3 eigenvalues kept are "
        "not positive (the last is -0.5, the first 3). Use at most 3 components, or add rows."
    )


def test_one_component_is_always_allowed():
    case = replace(evidence(-np.eye(4), 4), n_components=4)
    assert "Use at most 1 components" in warning_of(case, NAMES)


def test_a_pair_rarely_observed_together_is_named():
    case = evidence(np.eye(4), 2, counts((0, 1), rows=29) - np.diag([0, 0, 0, 1.0]))
    assert warning_of(case, NAMES) == (
        "Features 'age' and 'bmi' are observed together in only 29 rows: moments from so few are "
        "mostly noise. Drop a feature, or add rows."
    )


def test_a_feature_rarely_observed_is_named():
    count = counts((1, 0), (1, 1), (1, 2), (1, 3), rows=12)
    count[1, [0, 2, 3]] = count[[0, 2, 3], 1] = 13
    assert warning_of(evidence(np.eye(4), 2, count), NAMES) == (
        "Feature 'bmi' is observed in only 12 rows: moments from so few are mostly noise. "
        "Drop a feature, or add rows."
    )


def test_rows_of_fractional_weight_are_counted_as_such():
    message = warning_of(evidence(np.eye(4), 2, counts((0, 1), rows=2.5)), NAMES)
    assert "are observed together in only 2.5 rows" in message


def test_several_concerns_make_one_warning():
    message = warning_of(evidence(np.diag([1.0, 1.0, 0.0, -1.0]), 4, 5.0), NAMES)
    assert "2 of the 4 eigenvalues kept are not positive" in message
    assert "is observed in only 5 rows" in message


@pytest.mark.parametrize("nothing", [0.0, -7e10])
def test_features_that_do_not_vary_span_nothing_and_fail_nowhere(nothing):
    second = np.array([[nothing, 1e15, 3.0], [1e15, 2.0, 1.0], [3.0, 1.0, 2.0]])
    assert spanned(moments(second)) == 2
    assert spanned(moments(np.full((3, 3), nothing))) == 0
