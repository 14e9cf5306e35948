"""What sums give away, and what is refused so that they do not."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from halfseen import DataError, GaussianMixture, LatentClass, Plan, simulate, summed
from halfseen.federated.disclosure import DisclosureError, row_subsets
from halfseen.moments.joint_counts import pairs_in_masks, triples_in_masks

D = 4


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    means = rng.normal(0, 4, (2, D))
    return simulate.gaussian_mixture(n, [0.5, 0.5], means, 1.0, rng)[0]


def plan_for(X, least_rows=10):
    return Plan.of(X, GaussianMixture(2), least_rows=least_rows)


def reconstructed(sums, plan, gap):
    """The only row without column ``gap``: what sums of all rows have beyond those that hold it."""
    second, d = sums.sums.second, len(plan.columns)
    others = np.arange(d) != gap
    away = (second.diagonal()[:d] - second[gap, :d])[others]
    assert np.allclose(away, 1)  # one row
    own = second[np.arange(d), d + np.arange(d)] - second[gap, d:]
    return (plan.each("origin") + own * plan.each("scale"))[others]


def test_a_row_is_reconstructed_from_sums_of_too_few_rows_unless_they_are_refused():
    X = table()
    X[17, 2] = np.nan
    told = reconstructed(summed(X, plan_for(X, least_rows=0)), plan_for(X), gap=2)
    np.testing.assert_allclose(told, X[17, [0, 1, 3]], rtol=1e-9)
    message = r"Only 1 row holds '0' without '2', and could be told .* takes 10 rows \(least_rows"
    with pytest.raises(DisclosureError, match=message):
        summed(X, plan_for(X))
    left = summed(X, plan_for(X), leave_out=True)
    assert (left.n_left_out, left.n_rows) == (1, 399)
    without = summed(np.delete(X, 17, axis=0), plan_for(X))
    np.testing.assert_allclose(left.sums.second, without.sums.second)


def test_few_rows_are_refused():
    X = table()
    with pytest.raises(DisclosureError, match="There are 9 rows, and sums of fewer than 10"):
        summed(X[:9], plan_for(X))


def test_pairs_and_triples_that_few_rows_hold_are_refused_by_name():
    X = table()
    X[5:, 1], X[:5, 3] = np.nan, np.nan
    with pytest.raises(DisclosureError, match="Only 5 rows hold '1', and could be told"):
        summed(X, plan_for(table()))
    X = table()
    X[:200, 1], X[196:, 3] = np.nan, np.nan  # no row holds both, and four hold neither
    with pytest.raises(DisclosureError, match="Only 4 rows hold '2' without '1' and '3'"):
        summed(X, plan_for(table()))


def test_what_can_be_told_is_all_that_two_and_three_columns_tell_apart():
    rng = np.random.default_rng(0)
    observed = rng.random((60, 5)) < 0.7
    every = row_subsets(pairs_in_masks(observed), triples_in_masks(observed))
    found = {
        frozenset(zip(members.tolist(), told.pattern, strict=True)): count
        for told in every
        for count, members in zip(told.counts, told.members, strict=True)
    }
    for columns in product(range(5), repeat=3):
        for pattern in ("1", "11", "10", "111", "110", "001"):
            some = columns[: len(pattern)]
            if len(set(some)) < len(some):
                continue
            each = list(zip(some, pattern, strict=True))
            naive = np.all([observed[:, i] == (sign == "1") for i, sign in each], axis=0)
            assert found[frozenset(each)] == naive.sum()


def test_rare_categories_are_refused_or_left_out():
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(300, 3)).astype(float)
    kinds = dict.fromkeys(range(3), "categorical")
    plan = Plan.of(X, LatentClass(2, kinds=kinds))
    X[X[:, 1] == 2, 1] = 1.0
    X[:4, 1] = 2.0
    with pytest.raises(DisclosureError, match="'1' is '2' in 4 rows, and could be told from their"):
        summed(X, plan)
    assert summed(X, plan, leave_out=True).n_rows == 296


def test_a_place_that_would_lose_most_rows_is_told_so():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, D)) < 0.5, table(60), np.nan)
    with pytest.raises(DisclosureError, match="More than 50% of 60 rows would have to be left out"):
        summed(X, plan_for(table(), least_rows=30), leave_out=True)


def test_components_of_few_rows_are_refused():
    X = table()
    model = GaussianMixture(2, random_state=0).fit(X)
    some = X[model.predict(X) == 0]
    with pytest.raises(DisclosureError, match=r"Only \d\.\d rows of this place are of group 2"):
        summed(some, plan_for(X), at=model)


def test_few_rows_are_refused_in_every_round():
    X = np.random.default_rng(0).integers(3, size=(300, 3)).astype(float)
    plan = Plan.of(X, LatentClass(2, kinds=dict.fromkeys(range(3), "categorical")))
    for at in (summed(X, plan), LatentClass(2, random_state=0).fit(X)):
        with pytest.raises(DisclosureError, match="There are 4 rows, and sums of fewer than 10"):
            summed(X[:4], plan, at=at)


def test_the_next_round_needs_the_same_plan():
    X = table()
    plan = plan_for(X)
    with pytest.raises(DataError, match="summed by another plan"):
        summed(X, plan, at=summed(X, replace(plan, least_rows=11)))
