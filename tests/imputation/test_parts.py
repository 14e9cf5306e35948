"""Features, mixtures without a column, sums of products and regressions, by naive oracles."""

import numpy as np
import pytest
from scipy.special import softmax as chances_of
from scipy.stats import multivariate_normal
from sklearn.linear_model import LogisticRegression, Ridge

from halfseen.data.block import Block
from halfseen.distributions.full_kernels import ByGaps
from halfseen.imputation import gaussian_mixtures, ridge
from halfseen.imputation.features import Layout, View
from halfseen.imputation.regressions import Regression, folds_of, learned
from halfseen.imputation.ridge import Grams
from halfseen.imputation.single_imputation import predicted
from halfseen.imputation.time_budget import TimeBudget
from tests.imputation.conftest import complete, with_gaps


@pytest.fixture(scope="module")
def imputation():
    from halfseen import Imputer

    return Imputer().fit(with_gaps(complete(400, 0), 0.15, 1)).learned_.imputation


@pytest.fixture(scope="module")
def block(imputation):
    from halfseen import Imputer

    table = with_gaps(complete(400, 0), 0.15, 1)
    imputer = Imputer().fit(table)
    return Block.from_table(imputer._read(table.head(20)).values)


@pytest.fixture
def view():
    table = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 1.0], [np.nan, 3.0], [9.0, np.nan]])
    levels = (np.empty(0), np.array([1.0, 2.0, 3.0]))
    return View.of(table, levels, np.array([0.0, 1.0]), np.array([5.0, 3.0])), table


def test_features_are_deviations_bins_and_levels(view):
    view, table = view
    found = view(table)
    clipped = np.array([0.0, 1.0, 2.0, 5.0])
    z = (clipped - clipped.mean()) / clipped.std()
    own = found[[0, 1, 2, 4]]
    np.testing.assert_allclose(own[:, 0], z)
    np.testing.assert_allclose(own[:, 1], np.abs(z))
    assert (own[:, view.features(0)][:, 2:].sum(axis=1) == 1).all()
    assert (found[3, view.features(0)] == 0).all()
    np.testing.assert_array_equal(found[:4, view.features(1)], np.eye(3)[[0, 1, 0, 2]])
    assert (found[4, view.features(1)] == 0).all()
    np.testing.assert_allclose(view.value(0, z), clipped)


def test_levels_that_were_not_seen_are_not_known(view):
    view, table = view
    table = table.copy()
    table[0, 1] = 7.0
    assert not view.known(table)[0, 1]
    assert (view(table)[0, view.features(1)] == 0).all()


def test_classes_without_a_column_are_those_of_rows_that_lack_it(imputation, block):
    found = imputation.ensemble.without_each(block)
    for j in range(len(imputation.view.numbers)):
        own = imputation.view.targets(j)
        rows = np.arange(len(block))
        lacking = block.without(rows, np.full(len(rows), j))
        expected = imputation.ensemble.features(lacking)
        np.testing.assert_allclose(found[:, own], expected[:, own], atol=1e-9)


def test_what_classes_expect_is_the_mean_over_mixtures_and_classes(imputation, block):
    total = 0
    for one in imputation.ensemble.mixtures:
        shares = one.shares(block)
        for k in range(shares.shape[1]):
            total = total + shares[:, [k]] * one.expected[k]
    expected = total / len(imputation.ensemble.mixtures)
    np.testing.assert_allclose(imputation.ensemble.features(block), expected)


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("share", [0.1, 0.9])
def test_sums_of_products_over_some_rows_are_those_of_a_loop(weighed, share):
    rng = np.random.default_rng(0)
    features, folds = rng.normal(size=(40, 3)), rng.integers(2, size=40)
    weights = rng.integers(3, size=40).astype(float) if weighed else None
    rows = rng.random(40) < share
    found = Grams.of(features, folds, 2, weights).over(rows)
    expected = np.zeros((2, 3, 3))
    for i in np.flatnonzero(rows):
        once = 1.0 if weights is None else weights[i]
        expected[folds[i]] += once * np.outer(features[i], features[i])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_normals_expect_what_conditioning_on_the_others_gives():
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(2, 4, 4))
    mixture = gaussian_mixtures.NormalMixture(
        np.array([0.3, 0.7]), rng.normal(size=(2, 4)), roots @ roots.transpose(0, 2, 1) + np.eye(4)
    )
    table = rng.normal(size=(6, 4))
    table[rng.random(table.shape) < 0.3] = np.nan
    found = mixture.without_each(ByGaps.of(Block.from_table(table)))
    for (i, d), value in np.ndenumerate(found):
        there = np.flatnonzero(~np.isnan(table[i]) & (np.arange(4) != d))
        heights, means = [], []
        for weight, mean, spread in zip(
            mixture.weights, mixture.means, mixture.covariances, strict=True
        ):
            own, x = spread[np.ix_(there, there)], table[i, there]
            height = multivariate_normal(mean[there], own).pdf(x) if len(there) else 1.0
            heights.append(weight * height)
            away = np.linalg.solve(own, x - mean[there])
            means.append(mean[d] + spread[d, there] @ away)
        assert value == pytest.approx(np.average(means, weights=heights))


def problem(n=120, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, p)), np.ones(n)])
    return X, X @ rng.normal(size=p + 1) + rng.normal(size=n), rng


def test_ridges_from_sums_are_those_of_least_squares():
    X, y, _ = problem()
    found = ridge.solved(X.T @ X, X.T @ y, np.r_[np.full(5, 7.0), 1e-9])
    expected = Ridge(alpha=7.0).fit(X[:, :-1], y)
    np.testing.assert_allclose(found[:-1], expected.coef_, rtol=1e-4)
    assert found[-1] == pytest.approx(expected.intercept_, rel=1e-3)


def test_errors_on_held_out_rows_are_those_of_rows_held_out():
    X, y, rng = problem()
    folds = rng.integers(3, size=len(y))
    parts = [np.flatnonzero(folds == f) for f in range(3)]
    sums = ridge.Sums(
        np.array([X[p].T @ X[p] for p in parts]),
        np.array([X[p].T @ y[p] for p in parts]),
        np.array([y[p] @ y[p] for p in parts]),
    )
    total, penalty = 0.0, np.arange(6.0)
    for p in parts:
        rest = np.setdiff1d(np.arange(len(y)), p)
        w = ridge.solved(X[rest].T @ X[rest], X[rest].T @ y[rest], penalty)
        total += ((y[p] - X[p] @ w) ** 2).sum()
    assert ridge.held_out_errors(sums, penalty).sum() == pytest.approx(total)


def test_the_search_finds_the_lowest_error_or_refuses():
    errors = [5.0, 4.0, 3.0, 2.0, 2.5, 3.5]
    assert ridge.search_penalty(errors.__getitem__, 9.0, begin=1, n=6) == (3, 2.0)
    assert ridge.search_penalty(errors.__getitem__, 9.0, begin=5, n=6) == (3, 2.0)
    assert ridge.search_penalty(errors.__getitem__, 1.0, begin=1, n=6) == (None, 1.0)


def test_categories_are_regressed_to_the_likeliest_coefficients():
    X, _, rng = problem(300, 4)
    logits = X @ rng.normal(size=(5, 3))
    codes = (chances_of(logits, axis=1).cumsum(axis=1) < rng.random((300, 1))).sum(axis=1)
    truth = np.eye(3)[codes]
    part = ridge.KnownRows.of(X, np.full((300, 3), np.log(1 / 3)), truth)
    w = ridge.fit_softmax(part, X.T @ X, np.r_[np.full(4, 2.0), 1e-9])
    expected = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000).fit(X[:, :-1], codes)
    np.testing.assert_allclose(
        chances_of(X @ w, axis=1), expected.predict_proba(X[:, :-1]), atol=0.02
    )


def test_regressions_do_not_see_the_column_that_they_are_of():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = np.column_stack([x, 2 * x + 0.1 * rng.normal(size=200), rng.normal(size=200)])
    no_limit = np.full(3, np.inf)
    view = View.of(table, (np.empty(0),) * 3, -no_limit, no_limit)
    known = np.ones(table.shape, bool)
    layout = Layout.of(view, table, np.empty(0, dtype=int))
    features = layout(table, known)
    before = np.zeros((200, view.size))
    nobody = np.empty((0, *table.shape))
    found = learned(layout, features, before, nobody, known, folds_of(200, 0), TimeBudget())
    for one in found:
        if one.weights is not None:
            assert (one.weights[layout.owner == one.column] == 0).all()
    assert found[0].error < 0.05 * found[0].error_before
    assert found[2].weights is None or found[2].error > 0.9 * found[2].error_before


@pytest.mark.parametrize(("last", "regressed"), [(1.0, True), (0.2, False)])
def test_regressions_that_help_in_some_folds_only_are_not_taken(last, regressed):
    rng, folds = np.random.default_rng(0), folds_of(300, 0)
    x = rng.normal(size=300)
    y = np.where(folds == 2, last, 1.0) * x + 0.05 * rng.normal(size=300)
    table, no_limit = np.column_stack([x, y]), np.full(2, np.inf)
    view = View.of(table, (np.empty(0),) * 2, -no_limit, no_limit)
    known, layout = np.ones(table.shape, bool), Layout.of(view, table, np.empty(0, dtype=int))
    before, nobody = np.zeros((300, view.size)), np.empty((0, *table.shape))
    found = learned(layout, layout(table, known), before, nobody, known, folds, TimeBudget())
    assert (found[1].weights is not None) == regressed


def test_what_a_row_lacks_counts_by_squared_coefficients():
    weights = np.array([[1.0], [2.0], [0.0], [5.0]])  # the last is no feature of a column
    one = Regression(0, weights, None, 1.0, 0.0, 0.0)
    unknown = np.array([[True, False, True], [False, True, True], [True, True, False]])
    expected = [sum(w[0] ** 2 for w, u in zip(weights, row, strict=False) if u) for row in unknown]
    np.testing.assert_allclose(one.lacking(unknown), np.array(expected) / 5)


def test_rows_that_lack_more_than_regressions_know_are_left_to_the_normals():
    no_limit = np.full(2, np.inf)
    table = np.array([[np.nan, 1.0], [np.nan, np.nan], [0.0, -1.0]])
    view = View.of(table, (np.empty(0),) * 2, -no_limit, no_limit)
    known, layout = view.known(table), Layout.of(view, table, np.empty(0, dtype=int))
    weights = np.zeros((len(layout.owner), 1))
    weights[view.targets(1)] = 3.0
    one = Regression(
        0, weights, np.array([0.0, 0.5]), 1.0, 0.1, 0.2, np.array([-1.0, 1.0]), reach=0.5
    )
    before, normals = np.full((3, view.size), 0.25), np.full((1, *table.shape), 0.75)
    found = predicted(view, [one], layout(table, known), known, before, normals)[:, 0]
    np.testing.assert_allclose(found, [0.25 + 3.0 + 0.375, 0.75, 0.25])


def test_columns_with_most_gaps_come_first_if_time_may_run_out():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3))
    known = np.ones(table.shape, bool)
    known[:50, 2] = known[:20, 0] = False
    no_limit = np.full(3, np.inf)
    gappy = np.where(known, table, np.nan)
    view = View.of(gappy, (np.empty(0),) * 3, -no_limit, no_limit)
    layout = Layout.of(view, gappy, np.empty(0, dtype=int))
    given = layout(gappy, known), np.zeros((200, view.size)), np.empty((0, *table.shape)), known
    for budget, order in ((TimeBudget(1e6), [2, 0, 1]), (TimeBudget(), [0, 1, 2])):
        found = learned(layout, *given, folds_of(200, 0), budget)
        assert [one.column for one in found] == order


def test_folds_are_of_one_size():
    assert np.ptp(np.bincount(folds_of(100, 3))) <= 1
