"""Concerns about the fit itself, and facts that are none."""

from dataclasses import replace

import numpy as np
import pytest

from halfseen import GammaPoisson, GaussianMixture, LatentClass, simulate
from halfseen.data.missing_patterns import FEWEST_CELLS
from halfseen.diagnostics.concerns import concerns_of, facts_of
from halfseen.diagnostics.held_out_cells import hidden_as_missing, hide_and_fill

rng = np.random.default_rng(0)
MEANS = np.array([[0.0, 0, 0, 0], [5, 4, -4, 6]])
X = simulate.gaussian_mixture(2000, [0.7, 0.3], MEANS, 1.0, rng)[0]
X = simulate.independent_gaps(X, [1, 1, 1, 0.3], rng)
COUNTS = simulate.gamma_poisson(600, rng.dirichlet(np.ones(5), 2), [1, 1], 0.03, rng)[0]


def kinds(model, table):
    return {one.kind: one.sentence for one in model.concerns(table)}


@pytest.fixture
def mixture():
    return GaussianMixture(2).fit(X)


def test_third_moments_left_over_are_told_with_their_share(mixture):
    mixture.diagnostics_ = replace(mixture.diagnostics_, off_diagonal_fraction=0.8)
    assert kinds(mixture, X) == {
        "unexplained_third_moments": "The components leave 80% of the third moments unexplained, "
        "so they were not clearly told apart by moments alone."
    }
    shown = concerns_of(mixture.case(X).in_words())
    assert shown[0].sentence.startswith("The groups leave 80%")


def test_a_climb_that_was_stopped_is_told(mixture):
    mixture.converged_ = False
    assert kinds(mixture, X) == {
        "not_converged": "The likelihood was still rising when the fit was stopped, so another fit "
        "may differ."
    }


def test_small_components_are_told_with_their_rows(mixture):
    mixture.weights_ = np.array([0.98, 0.02])
    told = kinds(mixture, X)["small_component"]
    assert told == "Component 1 has about 40 rows, too few to describe it well."
    mixture.weights_ = np.array([0.02, 0.98])
    told = dict(concerns_of(mixture.case(X).in_words()))["small_component"]
    assert told.startswith("Group 2 has about 40 rows")


def test_rare_topics_are_not_small_groups_of_rows():
    model = GammaPoisson(2).fit(COUNTS)
    model.shapes_ = np.array([1.0, 1e-3])
    assert "small_component" not in kinds(model, COUNTS)


def test_a_model_that_is_too_sure_of_single_values_is_told(mixture):
    mixture.covariances_ = mixture.covariances_ / 9
    found = hide_and_fill(mixture.fitted, X, fraction=0.1, random_state=0)
    within = np.mean(np.abs(found.true - found.guess) <= 2 * found.spread)
    assert within < 0.7
    assert kinds(mixture, X)["too_sure_of_values"] == (
        f"Only {within:.0%} of values that were hidden and filled in again lie within two standard "
        "deviations of what was expected (95% should): single values are less certain than the "
        "model thinks."
    )


@pytest.mark.parametrize("seed", range(20))
def test_few_values_do_not_make_a_sound_model_too_sure(seed):
    few = X[100 * seed : 100 * (seed + 1)]
    model = GaussianMixture(2).fit(X)
    assert "too_sure_of_values" not in kinds(model, few)


def yes_or_no(seed, n_rows=1000, rare=0.15):
    """Two classes of ten yes/no items; the rarer answer of a class is 2.4 sd from its mean."""
    random = np.random.default_rng(seed)
    yes = np.where(np.arange(10) % 2 == random.integers(2, size=(n_rows, 1)), 1 - rare, rare)
    return (random.random((n_rows, 10)) < yes).astype(float)


@pytest.mark.parametrize("seed", range(3))
def test_two_valued_columns_are_judged_by_how_two_values_scatter(seed):
    table = yes_or_no(seed)
    model = LatentClass(2).fit(table)
    found = model.case(table).hidden_values
    assert found.within < 0.9
    assert found.expected_within == pytest.approx(found.within, abs=0.03)
    assert "too_sure_of_values" not in kinds(model, table)


def test_a_model_that_is_too_sure_of_two_values_is_told():
    table = yes_or_no(0)
    model = LatentClass(2).fit(table)
    sharper = np.where(model.level_shares_ > 0.5, 0.98, 0.02)
    model.level_shares_ = sharper
    assert "too_sure_of_values" in kinds(model, table)


def test_too_few_values_to_hide_any_are_no_concern(mixture):
    one = np.full((20, 4), np.nan)
    one[0, 0] = 1.0
    assert mixture.case(one).hidden_values is None


def test_hidden_values_are_filled_as_gaps_are(mixture):
    found = hide_and_fill(mixture.fitted, X, fraction=0.2, random_state=3)
    hidden, weight, judged = hidden_as_missing(X, np.ones(X.shape[1], bool), 0.2, 3)
    assert judged.all()
    assert not (hidden & np.isnan(X)).any()
    np.testing.assert_array_equal(found.weight, weight[np.nonzero(hidden)[0]])
    gappy = np.where(hidden, np.nan, X)
    filled, spread = mixture.impute(gappy, return_std=True)
    unit = np.nanstd(gappy, axis=0)
    np.testing.assert_allclose(found.guess, ((filled - np.nanmean(gappy, axis=0)) / unit)[hidden])
    np.testing.assert_allclose(found.spread, (spread / unit)[hidden])


def test_values_are_hidden_as_they_are_missing_and_those_of_complete_columns_alone():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(500, 5))
    table[rng.random(500) < 0.2, :2] = np.nan
    table[FEWEST_CELLS - 1 :, 4] = np.nan
    hidden, weight, judged = hidden_as_missing(table, np.ones(5, bool), 0.1, 0)
    np.testing.assert_array_equal(judged, [True, True, True, True, False])
    np.testing.assert_array_equal(hidden[:, 0], hidden[:, 1])
    assert not (hidden[:, :2].any(axis=1) & hidden[:, 2:4].any(axis=1)).any()
    assert hidden[:, :4].sum(axis=0).min() > FEWEST_CELLS
    assert weight.min() > 0


def test_a_copy_that_is_always_missing_too_is_not_said_to_be_filled_well():
    rng = np.random.default_rng(1)
    a, b, c = rng.normal(size=(3, 800))
    table = np.column_stack([a, a + 0.05 * b, c])
    model = GaussianMixture(1, covariance_type="full").fit(table)
    alone, together = table.copy(), table.copy()
    alone[::4, 0] = np.nan
    together[::4, :2] = np.nan
    first, second = (
        hide_and_fill(model.fitted, one, fraction=0.2, random_state=0) for one in (alone, together)
    )
    assert first.explained(first.feature == 0) > 0.95
    assert second.explained(second.feature == 0) < 0.05


def test_without_gaps_values_are_hidden_one_by_one():
    table = np.random.default_rng(0).normal(size=(200, 3))
    hidden, weight, _ = hidden_as_missing(table, np.ones(3, bool), 0.2, 3)
    expected = np.random.RandomState(3).random_sample(table.shape) < 0.2
    np.testing.assert_array_equal(hidden, expected)
    np.testing.assert_array_equal(weight, np.ones(200))


def test_facts_are_told_and_are_no_concerns(mixture):
    table = X.copy()
    table[:3] = np.nan
    model = GaussianMixture(2).fit(table)
    told = {
        "n_unseen_triples": (7, "7 triples of columns are never known in the same row"),
        "incomplete_features": ("divide", "Too few columns are complete"),
        "dropped_features": ({"ward": "constant"}, "ward was left out: it is constant."),
    }
    model.diagnostics_ = replace(model.diagnostics_, **{name: it[0] for name, it in told.items()})
    facts = facts_of(model.case(table))
    assert facts[0] == "3 rows hold nothing, and say nothing."
    for fact, (_, sentence) in zip(facts[1:], told.values(), strict=True):
        assert fact.startswith(sentence)
    assert model.concerns(table) == []
    assert facts_of(mixture.case(X)) == []
