"""Intervals of probabilities that are zero, one, or nearly so: laws, and how often they hold."""

import warnings

import numpy as np
import pytest

from halfseen import GaussianMixture, HiddenMarkov, LatentClass

FEW = {"n_replicates": 100}
CERTAIN = np.array([0.98, 0.02, 0.98, 0.02, 0.98, 0.02])
"""Of items that tell two classes apart without doubt."""


def table(n=300, seed=0, gaps=0.2):
    """Two classes; nobody of the first has the last item, and all of the second have the others."""
    rng = np.random.default_rng(seed)
    z = np.arange(n) % 3 == 0
    X = (rng.random((n, 6)) < np.where(z[:, None], CERTAIN, 1 - CERTAIN)).astype(float)
    never = np.where(z, 0.0, rng.random(n) < 0.5)
    word = np.where(z, rng.integers(3, size=n), 0)
    X = np.column_stack([X, never, word])
    X[rng.random(X.shape) < gaps] = np.nan
    return X, z


def states(seed=0, n_sequences=30, length=10):
    """Two states, of which the second is never left."""
    rng = np.random.default_rng(seed)
    left = rng.geometric(0.2, size=n_sequences)
    state = np.arange(length) >= left[:, None]
    X = rng.normal(size=(n_sequences * length, 3)) + 4 * state.reshape(-1, 1)
    return X, [length] * n_sequences


def intervals_of(name):
    """A model, its intervals, and the attributes that are probabilities."""
    if name == "states":
        X, lengths = states()
        model = HiddenMarkov(2, random_state=0).fit(X, lengths=lengths)
        return model, model.intervals(X, lengths=lengths), ("start_", "transition_", "weights_")
    X = table()[0]
    kinds = {"6": "binary", "7": "categorical"}
    if name == "informative gaps":
        X[X[:, 0] == 1, 6] = np.nan
        model = LatentClass(2, kinds=kinds, gaps="informative", random_state=0).fit(X)
        return model, model.intervals(X), ("weights_", "level_shares_", "presence_")
    model = LatentClass(2, kinds=kinds, random_state=0).fit(X)
    return model, model.intervals(X), ("weights_", "level_shares_")


every_model = pytest.mark.parametrize("name", ["classes", "informative gaps", "states"])


@every_model
def test_probabilities_are_within_their_intervals_and_those_between_none_and_all(name):
    model, found, probabilities = intervals_of(name)
    for attribute in probabilities:
        value, (low, high, std) = getattr(model, attribute), found[attribute]
        told = np.isfinite(value)
        assert told.any()
        assert (low[told] >= 0).all()
        assert (low <= value)[told].all()
        assert (value <= high)[told].all()
        assert (high[told] <= 1).all()
        assert (low < high)[told].all()
        assert (std[told] > 0).all()
        assert np.isnan(low[~told]).all()


def test_a_value_that_no_row_of_a_class_has_follows_the_rule_of_three():
    X, z = table()
    model = LatentClass(2, kinds={"6": "binary", "7": "categorical"}, random_state=0).fit(X)
    found = model.intervals(X)["level_shares_"]
    first = np.argmax(model.level_shares_[0, :, 6])  # the class that never has it
    n = np.isfinite(X[z, 6]).sum()
    assert found.low[1, first, 6] == 0
    assert 2.5 < n * found.high[1, first, 6] < 4.5
    assert found.high[0, first, 6] == 1
    n = np.isfinite(X[~z, 7]).sum()  # of a column of three values, the others have but one
    assert (found.low[1:, 1 - first, 7] == 0).all()
    assert (n * found.high[1:, 1 - first, 7] > 2.5).all()
    assert (n * found.high[1:, 1 - first, 7] < 4.5).all()


def test_means_of_two_values_have_the_intervals_of_their_probability():
    _, found, _ = intervals_of("classes")
    for side in ("low", "high", "std"):
        mean, share = getattr(found["means_"], side), getattr(found["level_shares_"], side)[1]
        np.testing.assert_allclose(mean[:, :7], share[:, :7])


def test_two_valued_columns_of_a_gaussian_mixture_are_probabilities_too():
    rng = np.random.default_rng(0)
    z = np.arange(300) % 2
    flags = np.column_stack([rng.random(300) < 0.3 * z, 5 + 2 * (rng.random(300) < 0.5)])
    X = np.column_stack([rng.normal(size=(300, 3)) + 5 * z[:, None], flags])
    model = GaussianMixture(2, covariance_type="diag").fit(X)
    found = model.intervals(X)["means_"]
    first = np.argmin(model.means_[:, 0])
    assert found.low[first, 3] == 0
    assert 2.5 / 150 < found.high[first, 3] < 4.5 / 150
    assert (found.low[:, 4] > 5).all()
    assert (found.high[:, 4] < 7).all()


def test_a_transition_that_never_happens_follows_the_rule_of_three():
    X, lengths = states()
    model = HiddenMarkov(2, random_state=0).fit(X, lengths=lengths)
    last = np.argmax(model.means_[:, 0])
    found = model.intervals(X, lengths=lengths)["transition_"]
    n = model.weights_[last] * len(X)
    assert found.low[last, 1 - last] == 0
    assert 2.5 < n * found.high[last, 1 - last] < 4.5
    assert found.high[last, last] == 1


def test_the_order_of_rows_and_columns_changes_hardly_anything():
    X, _ = table()
    model = LatentClass(2, random_state=0).fit(X)
    order, columns = np.random.default_rng(1).permutation(len(X)), np.arange(8)[::-1]
    other = LatentClass(2, random_state=0).fit(X[order][:, columns])
    first, again = np.argmax(model.weights_), np.argmax(other.weights_)
    groups = np.arange(len(X))
    ours = model.intervals(X, groups=groups)["means_"]
    theirs = other.intervals(X[order][:, columns], groups=groups[order])["means_"]
    for side in ("low", "high"):
        np.testing.assert_allclose(
            getattr(theirs, side)[again], getattr(ours, side)[first][columns], atol=1e-5
        )


def test_rows_repeated_and_given_as_groups_are_as_uncertain_as_once():
    X, _ = table(150)
    once = LatentClass(2, random_state=0).fit(X)
    thrice, groups = np.repeat(X, 3, axis=0), np.repeat(np.arange(150), 3)
    model = LatentClass(2, random_state=0).fit(thrice)
    order = np.argsort(once.weights_)[np.argsort(np.argsort(model.weights_))]
    expected = once.intervals(X)["means_"]
    grouped = model.intervals(thrice, groups=groups)["means_"]
    alone = model.intervals(thrice)["means_"]
    once_wide, grouped_wide, alone_wide = (
        (one.high - one.low)[:, :7] for one in (expected, grouped, alone)
    )
    # A pseudo-row is less beside three times the rows.
    np.testing.assert_allclose(grouped_wide / once_wide[order], 1, atol=0.1)
    assert (alone_wide / once_wide[order] < 0.75).all()


def test_a_class_that_never_has_a_column_knows_nothing_of_it():
    X, z = table(gaps=0.0)
    X[z, 6] = np.nan
    model = LatentClass(2, kinds={"6": "binary", "7": "categorical"}, random_state=0).fit(X)
    found = model.intervals(X)["level_shares_"]
    blind = np.argmin(model.weights_)
    assert found.low[1, blind, 6] < 0.1
    assert found.high[1, blind, 6] > 0.9


def extreme(seed):
    """Few rows of many classes, of which some have no row with a column, or always the same."""
    rng = np.random.default_rng(seed)
    n, k, d = 60, 4, 6
    z = rng.integers(k, size=n)
    chance = rng.choice([0, 0.02, 0.5, 1], size=(k, d))
    X = (rng.random((n, d)) < chance[z]).astype(float)
    X[:, 0] = rng.normal(size=n) + 3 * z
    X[rng.random((n, d)) < rng.choice([0, 0.05, 0.3, 0.9, 1], size=(k, d))[z]] = np.nan
    return X


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(6))
def test_intervals_of_informative_gaps_are_numbers_and_warn_of_nothing(seed):
    X = extreme(seed)
    model = LatentClass(4, gaps="informative", random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.intervals(X, **FEW)
    for name, interval in found.items():
        told = np.isfinite(getattr(model, name))
        assert all(np.isfinite(side[told]).all() for side in interval)


TRUTHS = np.array([0.02, 0.05, 0.1, 0.5])


def held(seed, n=200, n_items=8):
    """Of each probability of two classes, whether its 95 % interval holds it; by their truth."""
    rng = np.random.default_rng(seed)
    low = np.array([rng.permutation(np.resize(TRUTHS, n_items)) for _ in range(2)])
    chance = np.array([low[0], 1 - low[1]])
    z = (rng.random(n) < 0.4).astype(int)
    X = (rng.random((n, n_items)) < chance[z]).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    model = LatentClass(2, kinds=dict.fromkeys(map(str, range(n_items)), "binary"), random_state=0)
    found = model.fit(X).intervals(X)["means_"]
    order = np.argsort(model.means_.mean(axis=1))
    inside = (found.low[order] <= chance) & (chance <= found.high[order])
    return np.array([inside[low == truth].mean() for truth in TRUTHS])


def test_intervals_near_the_edge_hold_the_truth():
    """Of 160 intervals for each truth, 89 % are three standard errors below 95 %."""
    coverage = np.mean([held(seed) for seed in range(40)], axis=0)
    assert (coverage > 0.89).all()
    assert coverage.mean() < 0.99
