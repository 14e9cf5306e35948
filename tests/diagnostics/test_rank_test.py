"""The sequence of rank tests, against the closed form of the errors that it differentiates for."""

import numpy as np
import pytest

from halfseen import simulate
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block
from halfseen.diagnostics.number_of_components import LEVEL, rank_test, rank_tests
from halfseen.latent.moment_tensor import FORMS
from halfseen.models.gamma_poisson.parameters import GammaPoissonCumulants
from halfseen.models.gaussian_mixture.covariance_selection import COVARIANCES
from halfseen.models.gaussian_mixture.cumulants import NOISE_EIGENVALUES, GaussianCumulants
from halfseen.moments.resampling import BinSums

NOISES = {name: one.noise for name, one in COVARIANCES.items() if one.noise}

D, N_COMPLETE = 6, 4
OBSERVED = [1.0] * N_COMPLETE + [0.6, 0.2]
COMPLETE = np.arange(D) < N_COMPLETE
MIXTURE = GaussianCumulants(FORMS["centred"], NOISES["spherical"], NOISE_EIGENVALUES["D-K+1"])
TOPICS = GammaPoissonCumulants()


def mixture(k, n, rng):
    means = 4 * np.eye(D)[:k]
    X, _ = simulate.gaussian_mixture(n, np.full(k, 1 / k), means, 1.0, rng)
    return simulate.independent_gaps(X, OBSERVED, rng)


def topics(k, n, rng):
    shares = np.full((k, D), 0.02) + 0.88 * np.eye(D)[:k]
    shares /= shares.sum(axis=1, keepdims=True)
    X, _ = simulate.gamma_poisson(n, shares, np.ones(k), 0.05, rng)
    return simulate.independent_gaps(X, OBSERVED, rng)


WORLDS = {"mixture": (mixture, MIXTURE), "topics": (topics, TOPICS)}
every_world = pytest.mark.parametrize(("draw", "model"), WORLDS.values(), ids=WORLDS)


def bin_sums(X, bins):
    return BinSums.pairs(np.nanmean(X, axis=0), bins)(Block.from_table(X))


def sequence(X, model, most=5, seed=0):
    sums = bin_sums(X, Bins.of_rows(len(X)))
    return rank_tests(sums, model, COMPLETE, most, np.random.default_rng(seed))


class ClosedForm:
    """Signal, noise and errors written out: E_b = [(Z∘ξ)'Z - C∘((M∘ξ)'M)] / N_ij, and so on."""

    def __init__(self, X):
        self.seen = (~np.isnan(X)).astype(float)
        self.deviations = np.where(self.seen == 1, X - np.nanmean(X, axis=0), 0.0)
        self.mean = np.nanmean(X, axis=0)
        self.pairs = self.seen.T @ self.seen
        self.covariance = self.deviations.T @ self.deviations / self.pairs

    def covariance_error(self, xi):
        z, m = self.deviations, self.seen
        return ((z.T * xi) @ z - self.covariance * ((m.T * xi) @ m)) / self.pairs

    def mean_error(self, xi):
        return (self.deviations.T @ xi) / np.diag(self.pairs)

    def mixture(self, k, multipliers):
        _, vectors = np.linalg.eigh(self.covariance[:N_COMPLETE, :N_COMPLETE])
        null = np.zeros((D, N_COMPLETE - k + 1))
        null[:N_COMPLETE] = vectors[:, : null.shape[1]]

        def without_noise(matrix):  # the mean of the null directions is the level of noise
            return matrix - np.trace(null.T @ matrix @ null) / null.shape[1] * np.eye(D)

        errors = [without_noise(self.covariance_error(xi)) for xi in multipliers]
        return self.compared(without_noise(self.covariance), errors, k - 1)

    def topics(self, k, multipliers):
        errors = [self.covariance_error(xi) - np.diag(self.mean_error(xi)) for xi in multipliers]
        return self.compared(self.covariance - np.diag(self.mean), errors, k)

    def compared(self, signal, errors, rank):
        fraction = self.seen.mean(axis=0)
        scale = np.outer(fraction, fraction)
        values, vectors = np.linalg.eigh(signal * scale)
        rest = vectors[:, : D - rank]
        noise = [np.linalg.eigvalsh(rest.T @ (e * scale) @ rest)[-1] for e in errors]
        return values[D - rank - 1], np.quantile(noise, LEVEL), noise


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("grouped", [False, True])
def test_eigenvalue_and_noise_are_those_of_the_closed_form(kind, k, grouped):
    draw, model = WORLDS[kind]
    rng = np.random.default_rng(1)
    X = draw(3, 1500, rng)
    bins = Bins.of_groups(rng.integers(50, size=len(X))) if grouped else Bins(40)
    multipliers = rng.standard_normal((60, bins.n))
    ours = rank_test(bin_sums(X, bins), model, COMPLETE, k, multipliers)
    per_row = multipliers[:, bins.of(Block.from_table(X))]
    eigenvalue, noise, errors = getattr(ClosedForm(X), kind)(k, per_row)
    assert ours.eigenvalue == pytest.approx(eigenvalue, rel=1e-9)
    assert ours.noise == pytest.approx(noise, rel=1e-3)  # differences of finite steps
    assert ours.p_value == (1 + np.sum(errors >= eigenvalue)) / 61
    assert ours.n_components == k


@every_world
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_clear_components_are_counted_exactly(draw, model, k):
    found = sequence(draw(k, 4000, np.random.default_rng(k)), model)
    assert [test.more for test in found] == [True] * (k - 1) + [False]
    assert [test.n_components for test in found] == list(range(1, k + 1))
    assert all(test.p_value == 1 / 401 for test in found[:-1])
    assert found[-1].p_value > 1 - LEVEL


def test_pure_noise_is_one_component():
    rng = np.random.default_rng(0)
    rejected = [sequence(rng.normal(size=(500, D)), MIXTURE)[0].more for _ in range(12)]
    rejected += [
        sequence(rng.poisson(9.0, (500, D)).astype(float), TOPICS)[0].more for _ in range(12)
    ]
    assert sum(rejected) <= 2  # of 24 tests at 1 %: more has a chance of 0.2 %


@every_world
def test_tests_stop_at_the_most_asked_for_and_say_that_there_is_more(draw, model):
    found = sequence(draw(4, 4000, np.random.default_rng(0)), model, most=2)
    assert [test.more for test in found] == [True, True]


@every_world
def test_the_noise_falls_as_the_root_of_the_rows(draw, model):
    X = draw(2, 1000, np.random.default_rng(3))
    once, nine = (sequence(np.repeat(X, times, axis=0), model, most=1)[0] for times in (1, 9))
    assert nine.eigenvalue == pytest.approx(once.eigenvalue, rel=1e-6)
    assert 2.3 < once.noise / nine.noise < 3.9  # 3, up to the scatter of bins and quantiles


@every_world
def test_the_same_generator_gives_the_same_tests(draw, model):
    X = draw(2, 500, np.random.default_rng(4))
    assert sequence(X, model) == sequence(X, model)
