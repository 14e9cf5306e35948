"""Halves of the rows, fitted apart: what is summed, and what is made of the sums."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from halfseen import GaussianMixture, simulate
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block
from halfseen.data.sampling import sample_binned
from halfseen.diagnostics import split_half
from halfseen.diagnostics.cross_validation import CrossScores
from halfseen.diagnostics.recovery import adjusted_rand, least_overlap
from halfseen.diagnostics.split_half import HalfScores, Halves, Halving, Trial, _scores_and_states
from halfseen.inference.plan import Settings

NAMES = tuple("abcde")


def table(n=400, seed=0, seen=(1.0, 1.0, 1.0, 0.8, 0.6)):
    rng = np.random.default_rng(seed)
    X, _ = simulate.gaussian_mixture(n, [0.6, 0.4], 2.5 * np.eye(5)[:2], 1.0, rng)
    return simulate.independent_gaps(X, seen, rng)


def halves(X, bins, n_ways=1, weights=None):
    estimator = GaussianMixture(2, covariance_type="diag", random_state=0)
    rows = MemoryRows(X, NAMES, weights)
    return Halves(Settings.of(estimator), estimator._model(), rows, bins, n_ways)


def never(trial):
    return False


# Agreement.


@pytest.mark.parametrize("k", [(1, 1), (2, 2), (3, 5), (1, 4)])
def test_agreement_from_a_table_is_that_of_the_labels(k):
    rng = np.random.default_rng(1)
    one = rng.integers(k[0], size=300)
    other = np.where(rng.random(300) < 0.6, one % k[1], rng.integers(k[1], size=300))
    crossed = np.zeros(k)
    np.add.at(crossed, (one, other), 1)
    assert adjusted_rand(crossed) == pytest.approx(adjusted_rand_score(one, other), abs=1e-12)


def test_agreement_about_no_rows_is_complete():
    assert adjusted_rand(np.zeros((2, 2))) == 1.0


def test_the_least_overlap_is_that_of_the_best_matching_by_trial():
    rng = np.random.default_rng(2)
    one, other = rng.integers(4, size=(2, 300))
    other = np.where(rng.random(300) < 0.7, (one + 1) % 4, other)
    crossed = np.zeros((4, 4))
    np.add.at(crossed, (one, other), 1)

    def shared(i, j):
        return np.sum((one == i) & (other == j)) / np.sum((one == i) | (other == j))

    best = max(
        ([shared(i, j) for i, j in enumerate(order)] for order in permutations(range(4))), key=sum
    )
    assert least_overlap(crossed) == pytest.approx(min(best))


def test_a_component_cut_in_two_hardly_shows_in_agreement_but_in_overlap():
    crossed = np.diag([400.0, 300, 200, 0, 0])
    crossed[3:, 3:] = [[30, 30], [20, 20]]
    assert adjusted_rand(crossed) > 0.9
    assert least_overlap(crossed) < 0.5


def test_a_component_without_rows_is_found_nowhere():
    assert least_overlap(np.diag([5.0, 0.0])) == 0.0


# One way of halving, against a loop over rows.


@pytest.mark.parametrize("weighted", [False, True])
def test_each_row_is_scored_by_the_fit_that_did_not_see_it(weighted):
    X, bins = table(seen=np.ones(5)), Bins(40)
    weights = 1.0 + np.arange(len(X)) % 2 if weighted else None
    tried = halves(X, bins, weights=weights).tried(Trial(2), never)
    (halving,) = tried.halvings
    label = bins.of(Block.from_table(X))
    first = np.random.default_rng(0).permutation(40) % 2 == 0
    inside, total = first[label], np.zeros(40)
    counted = np.ones(len(X)) if weights is None else weights
    given = []
    for half in (inside, ~inside):
        fit = GaussianMixture(2, covariance_type="diag", random_state=0)
        fit.fit(X[half], sample_weight=None if weights is None else weights[half])
        np.add.at(total, label[~half], (counted * fit.score_samples(X))[~half])
        given.append(fit.predict(X))
    np.testing.assert_allclose(halving.said.scores.total[:, 0], total, rtol=1e-7)
    np.testing.assert_allclose(halving.said.scores.n_rows, np.bincount(label, counted))
    crossed = np.zeros((2, 2))
    np.add.at(crossed, tuple(given), counted)
    np.testing.assert_array_equal(halving.said.table, crossed)
    assert tried.log_likelihood == pytest.approx(total.sum() / counted.sum())
    if not weighted:
        assert tried.agreement == pytest.approx(adjusted_rand_score(*given))


def test_likelihoods_are_of_what_is_observed():
    X, bins = table(seen=[0.5, 0.5, 1.0, 0.8, 0.6]), Bins(40)
    (halving,) = halves(X, bins).tried(Trial(2), never).halvings
    label = bins.of(Block.from_table(X))
    inside = (np.random.default_rng(0).permutation(40) % 2 == 0)[label]
    total = np.zeros(40)
    for half in (inside, ~inside):
        fit = GaussianMixture(2, covariance_type="diag", random_state=0).fit(X[half])
        np.add.at(total, label[~half], fit.score_samples(X[~half]))
    np.testing.assert_allclose(halving.said.scores.total[:, 0], total, rtol=1e-7)


def test_what_halves_say_adds_up_over_any_blocks():
    X, bins = table(seen=np.ones(5)), Bins(40)
    whole = halves(X, bins)
    ours = whole.tried(Trial(2), never).halvings[0].said
    for cut in (0, 133, 400):
        parts = whole._parts[0]
        fits = [GaussianMixture(2, covariance_type="diag", random_state=0) for _ in parts]
        label = bins.of(Block.from_table(X))
        for fit, part in zip(fits, parts, strict=True):
            fit.fit(X[~part.apart[label]])
        models = tuple(fit.fitted.parameters for fit in fits)
        say = _scores_and_states(whole.model, bins, parts, models)
        blocks = [Block.from_table(X[:cut]), Block.from_table(X[cut:], start=cut)]
        sums = say(blocks[0]) + say(blocks[1])
        np.testing.assert_allclose(sums.scores.total, ours.scores.total, rtol=1e-7)
        np.testing.assert_array_equal(sums.table, ours.table)


def test_groups_are_never_divided_and_the_same_halves_are_made_again():
    groups = np.random.default_rng(2).integers(50, size=400)
    bins = Bins.of_groups(groups)
    for one, other in halves(table(), bins, 3)._parts:
        label = bins.of(Block.from_table(table()))
        inside = ~one.apart[label]
        assert all(len(set(inside[groups == group])) == 1 for group in np.unique(groups))
        np.testing.assert_array_equal(other.apart, ~one.apart)
    again = [part[0].apart for part in halves(table(), bins, 3)._parts]
    for one, (other, _) in zip(again, halves(table(), bins, 3)._parts, strict=True):
        np.testing.assert_array_equal(one, other.apart)
    assert not np.array_equal(again[0], again[1])


def test_the_gain_is_over_the_ways_that_both_were_tried_by():
    rng = np.random.default_rng(3)
    n_rows = rng.integers(1, 5, 30).astype(float)
    ours, theirs = rng.normal(size=(2, 30)), rng.normal(size=(1, 30))

    def trial(k, totals):
        return Trial(
            k,
            tuple(
                Halving(HalfScores(CrossScores(n_rows, one[:, None]), np.eye(2)), 0.5)
                for one in totals
            ),
        )

    gain, error = trial(3, ours).gain(trial(2, theirs))
    apart = ours[0] - theirs[0]
    assert gain == pytest.approx(apart.sum() / n_rows.sum())
    mean = apart.sum() / n_rows.sum()
    naive = np.sqrt(30 / 29 * ((apart - mean * n_rows) ** 2).sum()) / n_rows.sum()
    assert error == pytest.approx(naive)


def test_no_more_ways_are_tried_once_the_matter_is_settled():
    tried = halves(table(), Bins(40), 4).tried(Trial(2), lambda trial: len(trial.halvings) == 2)
    assert len(tried.halvings) == 2
    assert len(halves(table(), Bins(40), 3).tried(tried, never).halvings) == 3


# The rule.


def trial_of(k, log_likelihood, agreement=1.0, share=0.2, overlap=1.0, n=200, spread=0.02):
    """A trial that says just that; the adjusted Rand index of (a, b; b, a) is (a - b)² nearly."""
    together = 0.5 * (1 + np.sqrt(max(agreement, 0.0)))
    crossed = 1e7 * np.array([[together, 1 - together, 0], [1 - together, together, 0], [0, 0, 0]])
    crossed[2, 2], crossed[2, 0] = 10 * overlap, 10 * (1 - overlap)
    scores = log_likelihood + spread * np.where(np.arange(n) % 2, 1, -1) * k
    said = HalfScores(CrossScores(np.ones(n), scores[:, None]), crossed)
    return Trial(k, (Halving(said, share),))


def run(trials, n_rows=1000.0, most=20):
    asked = []

    def tried(k, beside):
        asked.append(k)
        if k not in trials:
            raise DataError("no such fit.")
        return trials[k]

    return split_half.climbed(tried, n_rows, most), asked


def test_a_number_is_accepted_for_gain_agreement_and_size():
    trials = {1: trial_of(1, -3), 2: trial_of(2, -2), 3: trial_of(3, -1)}
    trials |= {k: trial_of(k, -1.1) for k in (4, 5, 6)}
    found, asked = run(trials)
    assert found.chosen.n_components == 3
    assert asked == [1, 2, 3, 4, 5, 6]
    assert found.chosen.over == 2
    assert found.chosen.gain == pytest.approx(1.0)
    assert found.ended == ""


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (trial_of(3, -1, agreement=0.596), "halves of the rows disagree on them (agreement 0.59, "),
        (
            trial_of(3, -1, overlap=0.3),
            "one of them is not found again in the other half (overlap 0.3",
        ),
        (trial_of(3, -1, share=0.009), "the smallest holds 0.9% of the rows, of at least 1.0%"),
        (trial_of(3, -2), "held-out rows are not clearly more likely than under 2 ("),
    ],
)
def test_what_a_number_lacks_is_said(changed, why):
    trials = {1: trial_of(1, -3), 2: trial_of(2, -2), 3: changed}
    found, _ = run(trials)
    assert found.chosen.n_components == 2
    assert found.steps[2].refused.startswith(why)
    assert found.ended == "4 could not be tried: no such fit."


def test_ten_rows_are_the_least_of_a_small_table():
    trials = {1: trial_of(1, -3), 2: trial_of(2, -2, share=0.05)}
    assert run(trials, n_rows=100, most=2)[0].chosen.n_components == 1
    assert run(trials, n_rows=200, most=2)[0].chosen.n_components == 2


def test_a_number_refused_can_be_passed():
    trials = {1: trial_of(1, -3), 2: trial_of(2, -2.5, agreement=0.1), 3: trial_of(3, -1)}
    found, _ = run(trials, most=3)
    assert [step.accepted for step in found.steps] == [True, False, True]
    assert found.chosen.over == 1
    assert found.ended == "3 is the most that was tried."


def test_patience_ends_after_three_refusals_or_five_at_one():
    trials = {k: trial_of(k, -3 - 0.1 * k) for k in range(1, 20)}
    assert run(trials)[1] == [1, 2, 3, 4, 5, 6]
    trials[2] = trial_of(2, -1)
    assert run(trials)[1] == [1, 2, 3, 4, 5]


def test_a_number_refused_after_all_gives_way_to_the_one_accepted_before():
    trials = {1: trial_of(1, -3), 2: trial_of(2, -2), 3: trial_of(3, -1)}
    found = run(trials, most=3)[0].without(3, "so")
    assert found.chosen.n_components == 2
    assert found.steps[2].refused == "so"


@pytest.mark.parametrize(
    ("trial", "settled"),
    [
        (trial_of(2, -2), True),  # beyond doubt
        (trial_of(2, -4), True),  # a clear loss
        (trial_of(2, -2, agreement=0.1), True),  # too far to reach the least in two ways
        (trial_of(2, -2, agreement=0.5), False),
        (trial_of(2, -2.999, agreement=1.0), False),
    ],
)
def test_a_trial_is_settled_if_other_ways_would_not_change_it(trial, settled):
    assert split_half.settled(trial, trial_of(1, -3), 2) == settled
    assert not split_half.settled(trial, None, 2)


# Few rows of many.


def test_few_rows_are_drawn_with_their_weights_and_bins():
    X, groups = table(), np.arange(400) % 37
    bins, weights = Bins.of_groups(groups), 1.0 + np.arange(400)
    rows = MemoryRows(X, NAMES, weights)
    few = sample_binned(rows, bins, 100)
    numbers = (few.rows.weights - 1).astype(int)
    assert len(set(numbers)) == 100
    np.testing.assert_array_equal(few.rows.table, X[numbers])
    np.testing.assert_array_equal(few.bins.labels, groups[numbers])
    every = sample_binned(rows, bins, 400)
    np.testing.assert_array_equal(every.rows.table, X)
    np.testing.assert_array_equal(every.rows.weights, weights)
    assert sample_binned(MemoryRows(X, NAMES), bins, 400).rows.weights is None
