"""The line along which rows differ most, from rows with gaps in any order and units."""

import numpy as np
import pytest

from halfseen.diagnostics.cluster_tendency.latent_traits import first_trait

LOADINGS = np.array([0.9, -0.85, 0.8, 0.75, -0.7, 0.6, 0.5, 0.2])


def one_factor(n=800, gaps=0.2, seed=0):
    """A table of one factor (n, 8), and the factor; some columns are skewed."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=n)
    noise = np.sqrt(1 - LOADINGS**2) * rng.normal(size=(n, len(LOADINGS)))
    table = factor[:, None] * LOADINGS + noise
    table[:, ::2] = np.exp(table[:, ::2])
    table[rng.random(table.shape) < gaps] = np.nan
    return table, factor


def items(n=800, p=12, gaps=0.2, seed=0):
    """Answers to two-valued items of one trait, and the trait."""
    rng = np.random.default_rng(seed)
    trait, slopes = rng.normal(size=n), np.linspace(1, 2.5, p)
    chance = 1 / (1 + np.exp(-(trait[:, None] - rng.normal(size=p) / 2) * slopes))
    table = (rng.random((n, p)) < chance).astype(float)
    table[rng.random(table.shape) < gaps] = np.nan
    return table, trait


def ordered(table):
    return np.zeros(table.shape[1], bool)


def test_positions_follow_the_factor_and_columns_their_loadings():
    table, factor = one_factor()
    found = first_trait(table, ordered(table))
    assert found.exists
    assert np.corrcoef(found.positions, factor)[0, 1] > 0.9
    np.testing.assert_allclose(found.explained, LOADINGS**2, atol=0.1)
    np.testing.assert_array_equal(found.direction, np.sign(LOADINGS))
    assert found.share == pytest.approx((LOADINGS**2).mean(), abs=0.03)


def test_errors_of_positions_are_those_that_are_made():
    table, factor = one_factor(n=3000)
    found = first_trait(table, ordered(table))
    scaled = (found.positions - factor) / found.errors
    assert (scaled**2).mean() == pytest.approx(1, abs=0.15)
    few = np.isnan(table).sum(axis=1)
    assert found.errors[few >= 4].mean() > 1.2 * found.errors[few == 0].mean()


def test_items_of_one_trait_put_rows_in_the_order_of_the_trait():
    table, trait = items()
    found = first_trait(table, ordered(table))
    assert found.exists
    assert np.corrcoef(found.positions, trait)[0, 1] > 0.85
    assert (found.direction == 1).all()
    assert found.explained[-3:].mean() > 1.5 * found.explained[:3].mean()  # the steepest items


def test_fifths_are_the_lowest_the_middle_and_the_highest_rows():
    table, factor = one_factor(n=1000)
    found = first_trait(table, ordered(table))
    np.testing.assert_array_equal(found.fifths.sum(axis=0), 200)
    low, middle, high = (factor[fifth].mean() for fifth in found.fifths.T)
    assert low < -1 < middle < 1 < high


def test_order_and_units_change_nothing():
    table, _ = one_factor(n=400)
    found = first_trait(table, ordered(table))
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(400), rng.permutation(8)
    moved = (table * np.geomspace(1e-3, 1e3, 8) + np.linspace(-50, 50, 8))[np.ix_(rows, columns)]
    again = first_trait(moved, ordered(table))
    np.testing.assert_allclose(again.positions, found.positions[rows], atol=5e-3)
    np.testing.assert_allclose(again.explained, found.explained[columns], atol=5e-3)
    np.testing.assert_array_equal(again.direction, found.direction[columns])


def test_names_of_categories_without_an_order_change_nothing():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=900)
    code = np.digitize(factor + 0.5 * rng.normal(size=900), [-0.5, 0.7]).astype(float)
    rest = factor[:, None] + rng.normal(size=(900, 2))
    nominal = np.array([True, False, False])
    found = first_trait(np.column_stack([code, rest]), nominal)
    again = first_trait(np.column_stack([np.array([2.0, 0, 1])[code.astype(int)], rest]), nominal)
    np.testing.assert_allclose(again.positions, found.positions, atol=0.02)
    assert found.direction.tolist() == [0, 1, 1]
    assert found.explained[0] > 0.3


@pytest.mark.parametrize("n", [60, 300, 3000])
def test_independent_columns_have_no_line(n):
    table = np.random.default_rng(n).normal(size=(n, 6))
    assert not first_trait(table, ordered(table)).exists
    codes = np.random.default_rng(n).integers(0, 3, (n, 6)).astype(float)
    assert not first_trait(codes, ~ordered(codes)).exists


def test_one_column_is_no_line():
    table = np.random.default_rng(0).normal(size=(200, 1))
    assert not first_trait(table, ordered(table)).exists


def test_constant_and_empty_columns_and_rows_have_no_part():
    table, _ = one_factor(n=300)
    table[7] = np.nan
    wider = np.column_stack([np.full(300, 3.0), table, np.full(300, np.nan)])
    wider[7] = np.nan
    found = first_trait(wider, ordered(wider))
    assert np.isnan(found.explained[[0, -1]]).all()
    assert np.isnan(found.positions[7])
    assert np.isfinite(np.delete(found.positions, 7)).all()
    assert not found.fifths[7].any()
    assert not first_trait(np.full((5, 2), np.nan), np.zeros(2, bool)).exists


def test_many_columns_do_not_draw_rows_to_the_nodes():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=2000)
    table = 0.9 * factor[:, None] + np.sqrt(0.19) * rng.normal(size=(2000, 60))
    found = first_trait(table, ordered(table))
    distance = np.abs(found.positions - np.round(found.positions, 1))
    assert distance.mean() == pytest.approx(0.025, abs=0.005)  # as of any other numbers
    assert np.corrcoef(found.positions, factor)[0, 1] > 0.99


def test_copies_of_a_column_are_a_line():
    table = np.repeat(np.random.default_rng(0).normal(size=(300, 1)), 3, axis=1)
    found = first_trait(table, ordered(table))
    assert found.exists
    assert found.explained.min() > 0.9
    assert found.explained.max() < 0.93  # the bound of the spread
    order = np.argsort(table[:, 0])
    assert np.all(np.diff(found.positions[order]) > -0.01)
