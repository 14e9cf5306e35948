"""Every sampler of the gamma-Poisson model against exact laws of small models."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from halfseen.data.rows import Block
from halfseen.latent.importance_sampling import importance_sample
from halfseen.models.gamma_poisson import gamma_poisson
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters
from halfseen.models.gamma_poisson.stochastic_em import Chains
from tests.latent.topics.test_importance_sampling import exact_pmf
from tests.models.geweke import FAR, apart

TOPICS = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
MODEL = GammaPoissonParameters(TOPICS, np.array([0.7, 1.5]), 0.4)
PLAIN = gamma_poisson(1, refined=False, outliers=False)
N = 4000


def grid(counts, observed, model=MODEL, points=400):
    """Loadings (m, 2) and their exact posterior probabilities given a row's counts."""
    u = np.linspace(-22, 5, points)
    loadings = np.exp(np.array(np.meshgrid(u, u, indexing="ij"))).reshape(2, -1).T
    log = (model.shapes * np.log(loadings) - model.rate * loadings).sum(axis=1)
    rates = loadings @ model.topics[:, observed]
    log += (counts[observed] * np.log(rates) - rates).sum(axis=1)
    weights = np.exp(log - log.max())
    return loadings, weights / weights.sum()


def swept(X, loadings, model, number):
    """The loadings that one sweep of stochastic EM leaves."""
    return Chains(3).sweep(model, number)(Block.from_table(X), loadings)[1]


def functions(loadings):
    """Of which the law of loadings is known by."""
    logs = np.log(np.maximum(loadings, 1e-30))
    totals = loadings.sum(axis=1, keepdims=True)
    return np.hstack([loadings, loadings**2, logs, loadings[:, :1] * loadings[:, 1:], totals > 3])


def together(loadings, X):
    """Functions of loadings and counts."""
    products = np.nan_to_num(X)[:, :, None] * loadings[:, None, :]
    return np.hstack([functions(loadings), products.reshape(len(X), -1)])


def joint(model_of_sweeps, n_turns=6):
    """Loadings from their law, and after turns of counts given loadings and a sweep given those."""
    rng = np.random.default_rng(0)
    fresh, loadings = rng.gamma(MODEL.shapes, 1 / MODEL.rate, size=(2, N, 2))
    seen = rng.random((N, 3)) < [1.0, 0.7, 0.5]
    counts = np.where(seen, rng.poisson(fresh @ TOPICS), np.nan)
    for number in range(n_turns):
        X = np.where(seen, rng.poisson(loadings @ TOPICS), np.nan)
        loadings = swept(X, loadings, model_of_sweeps, number)
    return apart(together(fresh, counts), together(loadings, X))


def test_sweeps_of_stochastic_em_leave_the_joint_law_as_it_is():
    assert joint(MODEL) < FAR


@pytest.mark.parametrize(
    "wrong",
    [
        {"shapes": MODEL.shapes * 1.1},
        {"rate": MODEL.rate * 1.15},
        {"topics": TOPICS[:, [1, 0, 2]]},
        {"topics": 0.5 * TOPICS + 0.5 / 3},
    ],
    ids=["shapes", "rate", "columns", "topics"],
)
def test_sweeps_by_a_conditional_that_is_wrong_on_purpose_are_noticed(wrong):
    assert joint(dataclasses.replace(MODEL, **wrong)) > FAR


@pytest.mark.parametrize("row", [[0, 0, 0], [3, 1, 0], [12, 4, 9], [np.nan, 2, 7], [40, np.nan, 1]])
def test_chains_of_one_row_have_its_exact_posterior(row):
    """Many chains on the same row, some sweeps after their start, against integration."""
    row = np.array(row, dtype=float)
    X = np.tile(row, (N, 1))
    loadings = np.tile(MODEL.shapes / MODEL.rate, (N, 1))
    for number in range(30):
        loadings = swept(X, loadings, MODEL, number)
    points, weights = grid(row, ~np.isnan(row))
    found, exact = functions(loadings), functions(points)
    error = found.std(axis=0) / np.sqrt(N) + 1e-12
    away = np.abs(found.mean(axis=0) - weights @ exact) / error
    assert away.max() < FAR


@pytest.mark.parametrize("row", [[0, 0, 0], [3, 1, 0], [12, 4, 9], [np.nan, 2, 7]])
def test_moments_of_importance_sampling_are_those_of_integration(row):
    row = np.array(row, dtype=float)
    found = importance_sample(Block.from_table(row[None]), MODEL, 0)
    points, weights = grid(row, ~np.isnan(row))
    mean = weights @ points
    covariance = (points - mean).T @ ((points - mean) * weights[:, None])
    spread = np.sqrt(np.diag(covariance))
    few = np.sqrt(found.effective_draws[0])
    assert (np.abs(found.mean[0] - mean) < FAR * spread / few).all()
    np.testing.assert_allclose(found.covariance[0], covariance, atol=12 * spread.max() ** 2 / few)


def filled(rows, number, seed=0, model=MODEL):
    def each(function):
        return function(Block.from_table(rows))

    random = np.random.RandomState(seed)
    return np.array(PLAIN.fill(each, model, number, random))


def chance_of(row, model, number=3000):
    """How likely the draws of a row's one missing count are, given its exact conditional."""
    gap = int(np.flatnonzero(np.isnan(row))[0])
    known = tuple(slice(None) if d == gap else int(row[d]) for d in range(3))
    exact = exact_pmf(MODEL)[known]
    exact = np.maximum(exact, 0) / np.maximum(exact, 0).sum()
    # Each of many tables draws anew, but all from one sample of loadings: rows of many seeds.
    draws = np.concatenate(
        [filled(row[None], 30, s, model)[:, 0, gap] for s in range(number // 30)]
    )
    bins = np.flatnonzero(exact.cumsum() < 0.97).max() + 2
    seen = np.bincount(np.minimum(draws.astype(int), bins - 1), minlength=bins)
    expected = np.append(exact[: bins - 1], exact[bins - 1 :].sum()) * len(draws)
    return float(stats.chisquare(seen, expected).pvalue)


ROWS = [[np.nan, 1, 2], [4, np.nan, 0], [1, 3, np.nan]]


@pytest.mark.parametrize("row", ROWS)
def test_counts_that_are_filled_in_have_their_exact_conditional(row):
    assert chance_of(np.array(row, dtype=float), MODEL) > 1e-5


@pytest.mark.parametrize("row", ROWS)
def test_counts_filled_in_by_wrong_topics_are_noticed(row):
    wrong = dataclasses.replace(MODEL, topics=TOPICS[::-1], shapes=MODEL.shapes * 1.5)
    assert chance_of(np.array(row, dtype=float), wrong) < 1e-5


def test_rows_that_are_drawn_have_their_exact_probabilities():
    X, _ = PLAIN.draw(MODEL, 20_000, np.random.RandomState(0))
    exact = exact_pmf(MODEL)
    common = exact > 2e-4
    inside = X[(X < 64).all(axis=1)].astype(int)
    seen = np.zeros(exact.shape)
    np.add.at(seen, tuple(inside.T), 1)
    counts = np.append(seen[common], len(X) - seen[common].sum())
    expected = np.append(exact[common], 1 - exact[common].sum()) * len(X)
    assert stats.chisquare(counts, expected).pvalue > 1e-5
