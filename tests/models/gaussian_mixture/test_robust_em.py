"""EM that allows for outliers and spikes: steps are maximisers, and no pass is downhill."""

from dataclasses import replace

import numpy as np
import pytest

from halfseen import GaussianMixture
from halfseen.data.engines.memory import MemoryRows
from halfseen.distributions.covariance_types import SHAPES
from halfseen.distributions.covariances import common_variances
from halfseen.distributions.emission import posterior
from halfseen.distributions.normal import ALIKE_ROWS
from halfseen.distributions.normal_em import (
    LEAST_OUTLIERS,
    MOST_OUTLIERS,
    MixtureParameters,
    cells_of,
    prior,
)
from halfseen.distributions.normal_kernels import background, outlier_probability
from halfseen.latent.structure import ClassSteps
from halfseen.moments.survey import survey

K, D = 2, 5
NAMES = tuple("abcde")
KINDS = [(kind, scale) for kind in SHAPES for scale in (None, "robust")]
every_kind = pytest.mark.parametrize(("kind", "scale"), KINDS)


def table(n=400, seed=0):
    """Two groups; a spike, two values with a third, typing errors and gaps."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(K, size=n)
    X = rng.normal(size=(n, D)) * [1, 2, 1, 5, 1] + 3 * labels[:, None]
    X[rng.random(n) < 0.2 + 0.4 * labels, 1] = 0.0
    X[:, 2] = rng.random(n) < 0.2 + 0.6 * labels
    X[rng.random(n) < 0.01, 0] = 300.0
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def rows(X=None):
    return MemoryRows(table() if X is None else X, NAMES)


def adapted(kind, scale, X=None):
    """The model with limits of the table; columns are looked through before the third value."""
    model = GaussianMixture(K, covariance_type=kind, scale=scale, tol=0.0)._model()
    clean = rows(X)
    return model.adapted_to(clean, survey(clean, 0.95))


def start(model, seed=1):
    rng = np.random.default_rng(seed)
    labels = model.emission.shape.labels((K, D))
    variances = np.exp(rng.normal(0, 0.3, labels.max() + 1))[labels]
    if model.emission.shape.in_units:
        variances = variances * np.square(model.emission.shape.unit)
    plain = MixtureParameters(np.array([0.6, 0.4]), rng.normal(1.5, 2, (K, D)), variances)
    return model.emission.em_start(plain)


def with_a_third_value():
    X = table()
    X[:4, 2] = [0.5, 7.0, 0.5, -3.0]
    return X


def height(model, parameters, X):
    """The logarithm of likelihood and prior, up to what no parameter changes."""
    (block,) = rows(X).blocks()
    likelihood = posterior(block, model.emission, parameters).log_likelihood.sum()
    return likelihood + model.emission.prior(parameters)


@every_kind
def test_no_pass_lowers_likelihood_and_prior(kind, scale):
    model, X = adapted(kind, scale), with_a_third_value()
    (block,) = rows(X).blocks()
    begin = start(model)
    beside = background(block, cells_of(begin)).sum()
    heights = [height(model, begin, X)]
    for most in range(1, 25):
        found, climb = model.run_em(rows(X), begin, most)
        heights.append(height(model, found, X))
        told = climb.log_likelihood * np.isfinite(X).any(axis=1).sum() + beside
        assert told == pytest.approx(heights[-1], rel=1e-9)
    assert (np.diff(heights) >= -1e-8).all()
    assert heights[-1] > heights[0] + 10


def expected_height(model, after, before, X):
    """E-step at ``before``: what the M-step maximises, cell by cell."""
    (block,) = rows(X).blocks()
    own, shares = cells_of(before), posterior(block, model.emission, before).responsibilities
    outlying = outlier_probability(block, own)
    total = float((shares @ np.log(after.weights)).sum()) + prior(after)
    # The prior's centre is that of before, and renewed after the step.
    centre = common_variances(before.variances)
    apart = centre / after.variances + after.variances / centre - 2
    if "k" in model.emission.shape.axes:
        total -= 0.5 * ALIKE_ROWS * float(apart.sum())
    eps = after.outlier_share
    for k in range(K):
        for d in range(D):
            r = shares[:, k] * block.observed[:, d]
            x, out = block.values[:, d], outlying[k, :, d]
            q, at = after.spike_shares[k, d], x == before.spike[d]
            two, spiked = np.isfinite(before.other[d]), np.isfinite(before.spike[d])
            if spiked and not two:
                total += (r * at).sum() * np.log(q) + (r * ~at).sum() * np.log1p(-q)
                r = r * ~at
            if two:
                known = at | (x == before.other[d])
                total += (r * at).sum() * np.log(q) + (r * (known & ~at)).sum() * np.log1p(-q)
                total += (r * known).sum() * np.log1p(-eps) + (r * ~known).sum() * np.log(eps)
                continue
            v = after.variances[k, d]
            normal = -0.5 * ((x - after.centres[k, d]) ** 2 / v + np.log(2 * np.pi * v))
            total += (r * (1 - out) * (np.log1p(-eps) + normal)).sum() + (r * out).sum() * np.log(
                eps
            )
    return total


@every_kind
def test_the_m_step_is_better_than_all_about_it(kind, scale):
    model, X = adapted(kind, scale), with_a_third_value()
    before, steps = start(model), ClassSteps(model.emission)
    sums = rows(X).accumulate(steps.expect(before))
    after = steps.maximise(sums, before)
    best = expected_height(model, after, before, X)
    assert best > expected_height(model, before, before, X)
    rng = np.random.default_rng(5)
    labels = model.emission.shape.labels((K, D))
    spread = np.sqrt(after.variances)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(20):
            # One direction in all that is free: shares of components, variances that are shared.
            log_shares = np.log(after.weights) + size * rng.normal(size=K)
            share = np.exp(log_shares - np.logaddexp.reduce(log_shares))
            factor = np.exp(size * rng.normal(size=labels.max() + 1))[labels]
            odds = after.spike_shares / (1 - after.spike_shares) * np.exp(size * rng.normal())
            epsilon = after.outlier_share * np.exp(size * rng.normal())
            other = replace(
                after,
                weights=share,
                centres=after.centres + size * spread * rng.normal(size=(K, D)),
                variances=np.maximum(after.variances * factor, model.emission.floor),
                spike_shares=odds / (1 + odds),
                outlier_share=float(np.clip(epsilon, LEAST_OUTLIERS, MOST_OUTLIERS)),
            )
            assert expected_height(model, other, before, X) < best


def test_typing_errors_neither_move_centres_nor_condemn_their_rows():
    rng = np.random.default_rng(3)
    means = np.array([[0.0] * D, [5.0] * D])
    labels = rng.integers(2, size=2000)
    X = rng.normal(size=(2000, D)) + means[labels]
    typed = X.copy()
    wrong = rng.random(2000) < 0.02
    typed[wrong, 1] = 500.0
    clean = GaussianMixture(2, random_state=0).fit(X)
    model = GaussianMixture(2, random_state=0).fit(typed)
    np.testing.assert_allclose(
        model.means_[:, [0, 2, 3, 4]], clean.means_[:, [0, 2, 3, 4]], atol=0.02
    )
    np.testing.assert_allclose(model.centres_[:, 1], clean.means_[:, 1], atol=0.05)
    assert model.covariances_ == pytest.approx(clean.covariances_, rel=0.03)
    np.testing.assert_array_equal(model.predict(typed)[wrong], clean.predict(X)[wrong])
    assert wrong.mean() / D <= model.outlier_share_ <= 2 * wrong.mean() / D
    hidden = np.where(np.arange(D) == 1, np.nan, typed)
    assert model.impute(hidden)[:, 1].max() < 7
