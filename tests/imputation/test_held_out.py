"""What is judged by held-out rows has not seen them, and is taken as far as it is right."""

import numpy as np
import pytest
from scipy.optimize import minimize

from halfseen import Imputer
from halfseen.data.engines.memory import MemoryRows
from halfseen.imputation import mixtures
from halfseen.imputation.gaussian_mixtures import (
    KEPT,
    HeldOut,
    NormalEnsemble,
    NormalMixture,
    learn_normal_ensembles,
)
from halfseen.imputation.regressions import LIKE_ALL, StackingSums, folds_of, stacking_weights
from halfseen.imputation.time_budget import TimeBudget
from halfseen.moments.survey import survey
from tests.imputation.conftest import complete, with_gaps


def test_held_out_classes_say_the_same_of_a_cell_whatever_it_holds():
    frame = with_gaps(complete(150, 0), 0.15, 1)
    imputer = Imputer().fit(frame)
    imputation, table = imputer.learned_.imputation, imputer._read(frame).values.astype(float)
    names, folds = tuple(frame.columns), folds_of(len(table), 0)
    emission = imputation.ensemble.mixtures[0].emission
    rows = MemoryRows(table, names)
    alone = mixtures.one_class(rows, survey(rows, 1.0), emission)
    learn = mixtures.Learner(emission, alone, imputation.view, 0, TimeBudget())
    row = int(np.flatnonzero(~np.isnan(table[:, 0]))[0])
    other = table.copy()
    other[row, 0] += 1.5
    own = imputation.view.targets(0)
    found = [
        learn.held_out(MemoryRows(each, names), imputation.ensemble, folds)[row, own]
        for each in (table, other)
    ]
    np.testing.assert_allclose(*found, rtol=1e-12)
    seen = [learn(MemoryRows(each, names)).mixtures[0].expected for each in (table, other)]
    assert (seen[0] != seen[1]).any()


def numbers(n, noise, seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, 1)) + noise * rng.normal(size=(n, 8))
    table /= table.std(axis=0)
    table[rng.random(table.shape) < 0.1] = np.nan
    return table[~np.isnan(table).all(axis=1)]


@pytest.mark.parametrize(("n", "noise", "kept"), [(120, 100.0, KEPT[-1]), (1500, 0.3, KEPT[0])])
def test_correlations_are_kept_as_far_as_rows_tell_them_from_chance(n, noise, kept):
    table = numbers(n, noise, 0)
    found = learn_normal_ensembles(table, folds_of(len(table), 0), 0, TimeBudget())
    (one,) = found.normals[0].mixtures
    spread = np.sqrt(np.diagonal(one.covariances[0]))
    # What is said of rows that were held out is of the same share.
    correlation = (one.covariances[0] / np.outer(spread, spread))[np.triu_indices(8, 1)]
    whole = np.corrcoef(np.where(np.isnan(table), 0, table).T)[np.triu_indices(8, 1)]
    assert np.abs(correlation).mean() == pytest.approx(kept * np.abs(whole).mean(), rel=0.25)


def test_a_share_of_correlations_leaves_variances():
    covariance = np.array([[4.0, 1.0], [1.0, 9.0]])
    found = NormalMixture(np.ones(1), np.zeros((1, 2)), covariance[None]).keeping(0.5)
    np.testing.assert_allclose(found.covariances[0], [[4.0, 0.5], [0.5, 9.0]])


def test_each_fold_is_told_by_the_expert_of_the_others():
    table, folds = numbers(9, 1.0, 0), np.arange(9) % 3
    each = {
        f: NormalEnsemble((NormalMixture(np.ones(1), np.full((1, 8), float(f)), np.eye(8)[None]),))
        for f in range(3)
    }
    np.testing.assert_allclose(HeldOut(table, folds, each).predictions(1.0)[:, 0], folds)


def cells(n, truth, seed):
    rng = np.random.default_rng(seed)
    predictions = rng.normal(size=(n, 3)) + rng.normal(size=(n, 1))
    return predictions, predictions @ truth + rng.normal(size=n)


def naive(error):
    return minimize(error, np.full(3, 0.3), bounds=[(0, None)] * 3, tol=1e-14).x


@pytest.mark.parametrize("truth", [(0.5, 0.4, 0.1), (0.8, -0.5, 0.4)])
def test_blends_are_the_nearest_that_take_nothing_off(truth):
    predictions, y = cells(60, truth, 0)
    found = StackingSums.of(predictions, y).weights
    np.testing.assert_allclose(
        found, naive(lambda w: ((y - predictions @ w) ** 2).mean()), atol=1e-5
    )
    assert found.min() >= 0


def test_columns_are_blended_as_if_some_of_their_rows_were_of_all_columns():
    parts = [cells(n, truth, n) for n, truth in [(50, (1.0, 0.0, 0.2)), (300, (0.1, 0.7, 0.0))]]
    units = [((x - y[:, None]) ** 2).mean(axis=0).min() for x, y in parts]
    every = list(zip(parts, units, strict=True))
    usual = naive(lambda w: sum(((y - x @ w) ** 2).sum() / u for (x, y), u in every) / 350)
    found = stacking_weights([StackingSums.of(*one) for one in parts])
    for ((x, y), u), stacking in zip(every, found, strict=True):

        def error(w, x=x, y=y, u=u):
            away = sum((((a @ w) - (a @ usual)) ** 2).sum() / unit for (a, _), unit in every)
            return (((y - x @ w) ** 2).sum() / u + LIKE_ALL / 350 * away) / 350

        np.testing.assert_allclose(stacking, naive(error), atol=1e-4)


def test_nobody_is_blended_from_nothing():
    assert stacking_weights([]) == []
    np.testing.assert_array_equal(StackingSums.of(np.zeros((4, 2)), np.zeros(4)).weights, [0, 0])
