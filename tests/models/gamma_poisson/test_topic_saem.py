"""Stochastic EM for topics: its parts against formulas, the whole against the truth."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

from halfseen import GammaPoisson, recovery, simulate
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Block
from halfseen.latent.topic_refinement import draw_split
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters
from halfseen.models.gamma_poisson.stochastic_em import (
    Chains,
    SplitSums,
    fit_gammas,
    refine,
)

TOPICS = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.3, 0.5]])
MODEL = GammaPoissonParameters(TOPICS, np.array([0.8, 1.5]), 0.05)
NAMES = ("a", "b", "c", "d")


def table(n, observed=(1, 1, 0.7, 0.5), seed=0):
    rng = np.random.default_rng(seed)
    X, _ = simulate.gamma_poisson(n, TOPICS, MODEL.shapes, MODEL.rate, rng)
    return simulate.independent_gaps(X, observed, rng)


def swept(block, model, number=0, seed=0, loadings=None):
    """The sums of one sweep, and the loadings that it left."""
    chains = Chains(seed)
    before = chains.begin(model)(block) if loadings is None else loadings
    return chains.sweep(model, number)(block, before)


def test_gammas_are_fitted_by_maximum_likelihood():
    rng = np.random.default_rng(0)
    draws = rng.gamma([0.3, 2.0, 7.0], 1 / 0.4, size=(500, 3))
    mean, log_mean = draws.mean(axis=0), np.log(draws).mean(axis=0)
    shapes, rate = fit_gammas(mean, log_mean)

    def minus(log_parameters):
        c, b = np.exp(log_parameters[:3]), np.exp(log_parameters[3])
        return -np.sum(c * np.log(b) - gammaln(c) + (c - 1) * log_mean - b * mean)

    best = minimize(minus, np.zeros(4), method="BFGS", options={"gtol": 1e-10})
    np.testing.assert_allclose([*shapes, rate], np.exp(best.x), rtol=1e-4)
    np.testing.assert_allclose(digamma(shapes), np.log(rate) + log_mean, rtol=1e-9)


def test_gammas_with_exact_moments_are_given_back():
    shapes = np.array([0.05, 0.5, 3.0, 40.0])
    found, rate = fit_gammas(shapes / 0.2, digamma(shapes) - np.log(0.2))
    np.testing.assert_allclose(found, shapes, rtol=1e-9)
    assert rate == pytest.approx(0.2, rel=1e-9)


def test_a_sweep_adds_up_what_was_observed():
    X = table(200)
    sums, _ = swept(Block.from_table(X), MODEL)
    np.testing.assert_allclose(sums.split.sum(axis=1), np.nansum(X, axis=0), rtol=1e-12)
    assert sums.n_rows == 200
    complete = sums.exposure[0]  # feature a is always observed
    np.testing.assert_allclose(complete, sums.mean, rtol=1e-12)


def test_chains_have_the_posterior_as_their_law():
    """For one topic the posterior is a gamma that does not depend on the chain."""
    one = GammaPoissonParameters(TOPICS[:1], np.array([0.8]), 0.05)
    X = table(100)
    seen = ~np.isnan(X)
    sums, _ = swept(Block.from_table(X), one)
    shape, rate = 0.8 + np.nansum(X, axis=1), 0.05 + seen @ TOPICS[0]
    np.testing.assert_allclose(sums.mean, [(shape / rate).sum()], rtol=1e-12)
    np.testing.assert_allclose(sums.log_mean, [(digamma(shape) - np.log(rate)).sum()], rtol=1e-9)


def test_averaged_chains_agree_with_importance_sampling():
    from halfseen.latent.importance_sampling import importance_sample

    block = Block.from_table(table(50))
    sweeps, loadings = [], None
    for number in range(3000):
        sums, loadings = swept(block, MODEL, number, 1, loadings)
        sweeps.append(sums.mean)
    expected = importance_sample(block, MODEL, 0).mean.sum(axis=0)
    np.testing.assert_allclose(np.mean(sweeps[100:], axis=0), expected, rtol=0.02)


@pytest.mark.parametrize("count", [3, 200])
def test_counts_are_split_in_proportion_one_by_one_or_by_binomials(count):
    share = np.array([0.5, 0.2, 0.3])
    totals = np.zeros((20_000, 3))
    state = np.zeros(1, dtype=np.uint64)
    for row in totals:
        draw_split(count, share, row, state)
    np.testing.assert_array_equal(totals.sum(axis=1), count)
    np.testing.assert_allclose(totals.mean(axis=0), count * share, rtol=0.02)
    np.testing.assert_allclose(totals.var(axis=0), count * share * (1 - share), rtol=0.05)
    assert np.cov(totals.T)[0, 1] == pytest.approx(-count * 0.1, rel=0.1)


def test_row_weights_count_rows():
    X = table(300)
    weights = np.full(300, 3.0)
    plain, _ = swept(Block.from_table(X), MODEL)
    tripled, _ = swept(Block.from_table(X, weights), MODEL)
    for name in ("n_rows", "split", "exposure", "mean", "log_mean"):
        np.testing.assert_allclose(getattr(tripled, name), 3 * np.asarray(getattr(plain, name)))


def test_the_m_step_gives_topics_of_sum_one_and_the_right_mean_length():
    X = table(500, observed=(1, 1, 1, 1))
    found = swept(Block.from_table(X), MODEL)[0].maximise()
    np.testing.assert_allclose(found.topics.sum(axis=1), 1.0)
    length = found.shapes.sum() / found.rate
    np.testing.assert_allclose(length, X.sum(axis=1).mean(), rtol=0.01)


def test_a_sweep_leaves_the_loadings_that_it_was_given():
    block = Block.from_table(table(50))
    loadings = Chains(0).begin(MODEL)(block)
    before = loadings.copy()
    _, after = swept(block, MODEL, loadings=loadings)
    np.testing.assert_array_equal(loadings, before)
    assert (after != before).all()


def test_rows_move_alike_in_any_blocks_and_differently_in_every_sweep():
    X = table(60)
    _, whole = swept(Block.from_table(X), MODEL)
    _, first = swept(Block.from_table(X[:23]), MODEL)
    _, rest = swept(Block.from_table(X[23:], start=23), MODEL)
    np.testing.assert_array_equal(whole, np.vstack([first, rest]))
    _, next_sweep = swept(Block.from_table(X), MODEL, number=1)
    assert (next_sweep != whole).all()


def test_the_same_seed_gives_the_same_model_whatever_the_threads():
    X = table(3000)
    results = [
        refine(MemoryRows(X, NAMES, n_threads=n), MODEL, seed=3, n_sweeps=10).parameters.topics
        for n in (1, 1, 2)
    ]
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_allclose(results[0], results[2], rtol=1e-9)


def test_a_share_of_zero_at_the_start_can_grow():
    X = table(4000, observed=(1, 1, 1, 1))
    topics = TOPICS.copy()
    topics[0] = [0.6, 0.3, 0.1, 0.0]
    start = GammaPoissonParameters(topics, MODEL.shapes, MODEL.rate)
    found = refine(MemoryRows(X, NAMES), start, seed=0, n_sweeps=300).parameters
    order = recovery.match(found.topics, TOPICS)
    assert found.topics[order][0, 3] > 0.05


def test_refinement_brings_moments_closer_to_the_truth():
    rng = np.random.default_rng(5)
    truth = rng.dirichlet(np.ones(8), 3)
    errors = {None: [], "saem": []}
    for seed in range(4):
        X, _ = simulate.gamma_poisson(1500, truth, [1.0] * 3, 0.03, np.random.default_rng(seed))
        for choice in errors:
            model = GammaPoisson(3, refine=choice, n_sweeps=300, random_state=0).fit(X)
            errors[choice].append(recovery.total_angle(model.components_, truth))
    assert np.mean(errors["saem"]) < 0.9 * np.mean(errors[None])
    assert model.n_iter_ == 300


def test_a_feature_with_no_share_in_any_topic_can_grow():
    X = table(3000, observed=(1, 1, 1, 1))
    topics = np.array([[0.6, 0.4, 0.0, 0.0], [0.2, 0.2, 0.0, 0.6]])
    start = GammaPoissonParameters(topics, MODEL.shapes, MODEL.rate)
    found = refine(MemoryRows(X, NAMES), start, seed=0, n_sweeps=300).parameters
    assert found.topics[:, 2].max() > 0.2


def test_a_topic_that_nothing_comes_from_has_the_average_for_its_shares():
    split = np.array([[3.0, 0.0], [1.0, 0.0]])
    sums = SplitSums(
        10.0, split, np.full((2, 2), 5.0), np.array([5.0, 1e-30]), np.array([-20.0, -9e3])
    )
    found = sums.maximise()
    np.testing.assert_allclose(found.topics, [[0.75, 0.25], [0.75, 0.25]])
    assert np.isfinite(found.shapes).all()
    assert (found.shapes > 0).all()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
def test_counts_without_topics_give_a_finite_model(seed):
    X = np.random.default_rng(seed).poisson(5.0, (500, 6)).astype(float)
    for k in (1, 4, 6):
        model = GammaPoisson(k, refine="saem", n_sweeps=30, random_state=0).fit(X)
        for learned in (model.components_, model.shapes_, model.rate_):
            assert np.isfinite(learned).all()
        assert (model.components_.sum(axis=0) > 0).all()


def test_loadings_that_do_not_vary_have_large_but_finite_shapes():
    shapes, rate = fit_gammas(np.array([2.0, 3.0]), np.log([2.0, 3.0]))
    assert np.isfinite(shapes).all()
    assert (shapes > 1e3).all()
    np.testing.assert_allclose(shapes / rate, [2.0, 3.0], rtol=1e-3)
