"""Likelihoods of counts against exact ones: closed forms and the generating function."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import nbinom

from halfseen import GammaPoisson, LikelihoodWarning, simulate
from halfseen.data.rows import Block
from halfseen.inference.parameters import select
from halfseen.latent.importance_sampling import N_DRAWS, importance_sample
from halfseen.latent.loadings import factorised_posterior, likelihood_bound
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters

TOPICS = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
MODEL = GammaPoissonParameters(TOPICS, np.array([0.7, 1.5]), 0.4)


def exact_pmf(model, size=64):
    """Probabilities of all counts below ``size``, from the generating function."""
    circle = np.exp(-2j * np.pi * np.arange(size) / size)
    d = model.topics.shape[1]
    grids = np.meshgrid(*[circle] * d, indexing="ij")
    generating = np.ones([size] * d, dtype=complex)
    for topic, shape in zip(model.topics, model.shapes, strict=True):
        inside = sum(a * (1 - s) for a, s in zip(topic, grids, strict=True))
        generating *= (1 + inside / model.rate) ** (-shape)
    return np.fft.ifftn(generating).real


def rows(n=400, observed=(1.0, 1.0, 1.0), seed=0):
    rng = np.random.default_rng(seed)
    X, _ = simulate.gamma_poisson(n, TOPICS, MODEL.shapes, MODEL.rate, rng)
    return simulate.independent_gaps(X[(X < 40).all(axis=1)], observed, rng)


def exact_log_likelihood(X):
    """A missing count drops out with its feature."""
    values = np.empty(len(X))
    for pattern in np.unique(~np.isnan(X), axis=0):
        these = ((~np.isnan(X)) == pattern).all(axis=1)
        pmf = exact_pmf(select(MODEL, pattern))
        values[these] = np.log(pmf[tuple(X[these][:, pattern].astype(int).T)])
    return values


def test_probabilities_of_the_generating_function_sum_to_one():
    assert exact_pmf(MODEL).sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("observed", [(1, 1, 1), (0.8, 0.6, 0.9)])
def test_likelihoods_are_within_three_standard_errors_of_exact_ones(observed):
    X = rows(2000, observed)
    X = X[(~np.isnan(X)).any(axis=1)]
    found = importance_sample(Block.from_table(X), MODEL, 0)
    away = np.abs(found.log_likelihood - exact_log_likelihood(X)) / found.standard_error
    assert (away < 3).mean() >= 0.99
    assert 0.5 < np.sqrt(np.mean(away**2)) < 1.5  # the errors are as large as they say
    assert found.standard_error.mean() < 0.1
    assert (found.effective_draws > N_DRAWS / 10).all()


def test_the_bound_is_below_the_likelihood_and_not_far():
    X = rows()
    gap = exact_log_likelihood(X) - likelihood_bound(Block.from_table(X), MODEL)
    assert (gap >= -1e-9).all()
    assert 0.05 < gap.mean() < 1.5


def test_one_topic_has_the_negative_multinomial_likelihood():
    one = GammaPoissonParameters(TOPICS[:1], np.array([1.3]), 0.5)
    X = rows(50, (0.9, 0.7, 0.8))
    seen = ~np.isnan(X)
    x = np.nan_to_num(X)
    total, rate = x.sum(axis=1), 0.5 + seen @ TOPICS[0]
    exact = (
        gammaln(1.3 + total)
        - gammaln(1.3)
        - gammaln(x + 1).sum(axis=1)
        + 1.3 * np.log(0.5 / rate)
        + (x * (np.log(TOPICS[0]) - np.log(rate)[:, None])).sum(axis=1)
    )
    block = Block.from_table(X)
    np.testing.assert_allclose(likelihood_bound(block, one), exact, atol=1e-10)
    found = importance_sample(block, one, 0)
    assert (np.abs(found.log_likelihood - exact) < 5 * found.standard_error).all()


def test_a_row_has_the_same_likelihood_alone_and_among_others():
    X = rows(30)
    together = importance_sample(Block.from_table(X), MODEL, 0).log_likelihood
    alone = [
        importance_sample(Block.from_table(row[None]), MODEL, 0).log_likelihood[0] for row in X
    ]
    np.testing.assert_array_equal(together, alone)


def test_posterior_means_agree_with_numerical_integration():
    x = np.array([4.0, 1.0, 7.0])
    u = np.linspace(-12, 5, 600)
    a, b = np.meshgrid(np.exp(u), np.exp(u), indexing="ij")
    loads = np.stack([a, b], axis=-1)
    rates = loads @ TOPICS
    log = (x * np.log(rates) - rates).sum(-1) + (
        MODEL.shapes * np.log(loads) - MODEL.rate * loads
    ).sum(-1)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = np.einsum("ij,ijk->k", weight, loads)
    second = np.einsum("ij,ijk,ijl->kl", weight, loads, loads)
    samples = [importance_sample(Block.from_table(x[None]), MODEL, seed) for seed in range(20)]
    np.testing.assert_allclose(np.mean([s.mean[0] for s in samples], axis=0), mean, rtol=0.03)
    covariance = np.mean([s.covariance[0] for s in samples], axis=0)
    np.testing.assert_allclose(covariance, second - np.outer(mean, mean), rtol=0.1)
    np.testing.assert_allclose(
        factorised_posterior(Block.from_table(x[None]), MODEL).mean[0], mean, rtol=0.1
    )


def test_posterior_draws_have_the_posterior_mean_and_differ_between_equal_rows():
    X = np.repeat([[4.0, 1.0, 7.0]], 4000, axis=0)
    sample = importance_sample(Block.from_table(X), MODEL, 0, 2)
    assert sample.draws.shape == (4000, 2, 2)
    np.testing.assert_allclose(sample.draws.mean(axis=(0, 1)), sample.mean[0], rtol=0.05)
    assert len(np.unique(sample.draws[:, 0, 0])) > 50


def test_scores_of_the_estimator_are_these_likelihoods():
    rng = np.random.default_rng(0)
    X, _ = simulate.gamma_poisson(1500, TOPICS, MODEL.shapes, 0.05, rng)
    X = simulate.independent_gaps(X, [1, 1, 0.6], rng)
    model = GammaPoisson(2).fit(X)
    details = model.likelihood(X)
    np.testing.assert_array_equal(model.score_samples(X), details.log_likelihood)
    assert model.score(X) == pytest.approx(details.log_likelihood.mean())
    expected = np.exp(-details.log_likelihood.sum() / np.nansum(X))
    assert model.perplexity(X) == pytest.approx(expected)
    assert (details.bound < details.log_likelihood + 5 * details.standard_error).all()


def test_a_row_with_nothing_observed_is_certain():
    found = importance_sample(Block.from_table(np.full((1, 3), np.nan)), MODEL, 0)
    assert abs(found.log_likelihood[0]) < 4 * found.standard_error[0]


@pytest.mark.parametrize("k", [2, 10, 20])
@pytest.mark.parametrize("shape", [1.0, 0.3, 0.1, 0.05])
def test_topics_that_share_nothing_have_negative_binomial_likelihoods(k, shape):
    rng = np.random.default_rng(0)
    rate = k * shape / 100
    X = rng.poisson(rng.gamma(shape, 1 / rate, (200, k))).astype(float)
    X = np.unique(X, axis=0)  # rows that are alike share their draws
    exact = nbinom.logpmf(X, shape, rate / (1 + rate)).sum(axis=1)
    model = GammaPoissonParameters(np.eye(k), np.full(k, shape), rate)
    found = importance_sample(Block.from_table(X), model, 0)
    away = np.abs(found.log_likelihood - exact) / found.standard_error
    assert (away < 3).mean() >= 0.98
    assert abs((found.log_likelihood - exact).mean()) < 0.03
    np.testing.assert_allclose(likelihood_bound(Block.from_table(X), model), exact, atol=1e-8)


def test_very_large_counts_are_no_harder():
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(1.0, 1e9, (50, 2)) @ TOPICS).astype(float)
    model = GammaPoissonParameters(TOPICS, np.ones(2), 1e-9)
    block = Block.from_table(X)
    found = importance_sample(block, model, 0)
    assert (found.effective_draws > 20).all()
    assert (likelihood_bound(block, model) < found.log_likelihood + 3 * found.standard_error).all()


def test_counts_that_hide_the_prior_by_rounding_have_numbers():
    rng = np.random.default_rng(0)
    for _ in range(60):
        k, d = rng.integers(2, 6), rng.integers(1, 5)
        topics = rng.dirichlet(np.ones(d), k)
        topics[1] = topics[0]  # which only the prior tells apart
        shapes, rate = 10.0 ** rng.uniform(-12, 3, k), 10.0 ** rng.uniform(-9, 3)
        counts = np.floor(10.0 ** rng.uniform(0, 15, (3, d)))
        model = GammaPoissonParameters(topics, shapes, rate)
        for one in importance_sample(Block.from_table(counts), model, 0, 2):
            assert np.isfinite(one).all()


@pytest.mark.filterwarnings("ignore::halfseen.LikelihoodWarning")
def test_more_topics_than_there_are_do_not_break_the_likelihood():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.ones(10), 2)
    X = rng.poisson(rng.gamma(1.0, 10.0, (500, 2)) @ topics).astype(float)
    with pytest.warns(UserWarning, match="support"):
        model = GammaPoisson(4).fit(X)
    details = model.likelihood(X)
    inside = details.bound < details.log_likelihood + 3 * details.standard_error
    assert inside.mean() >= 0.99


def test_rough_likelihoods_are_warned_of(monkeypatch):
    monkeypatch.setattr("halfseen.models.topic_estimator.MIN_EFFECTIVE_DRAWS", 10_000)
    rng = np.random.default_rng(0)
    X, _ = simulate.gamma_poisson(200, TOPICS, MODEL.shapes, 0.05, rng)
    with pytest.warns(LikelihoodWarning, match="The likelihoods of 200 of 200 rows rest on fewer"):
        GammaPoisson(2).fit(X).score(X)


@pytest.mark.parametrize("rate", [1.0, 3.0, 15.0, 0.5, 0.0078125, 1e-3, 999.0, 1e3, 1e6, 7e12])
def test_rounding_of_the_parameters_changes_likelihoods_by_rounding_only(rate):
    block = Block.from_table(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, np.nan], [4.0, 2.0, 9.0]]))
    ours, *others = (
        importance_sample(block, replace(MODEL, rate=rate * (1 + by)), 0).log_likelihood
        for by in (0.0, 1e-14, -1e-14)
    )
    for other in others:
        np.testing.assert_allclose(other, ours, rtol=1e-9)
