"""Populations with known moments, and the method without any data: moments in, parameters out."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from halfseen.inference.model import Evidence
from halfseen.inference.tensor_decomposition import Decomposition, joint
from halfseen.moments.missing_patterns import JointGaps
from halfseen.moments.second_moment import Moments
from halfseen.moments.third_moment import Probe, ProjectedThird, alike_along
from halfseen.moments.whitening import whiten


def third_moment(rows, probabilities):
    return np.einsum("n,ni,nj,nk->ijk", probabilities, rows, rows, rows)


def in_three_places(diagonal, vector):
    """``δ_ij d_i v_k`` and the two other places of the single index; (d, d, d)."""
    t = np.einsum("ij,k->ijk", np.diag(diagonal), vector)
    return t + t.transpose(0, 2, 1) + t.transpose(2, 1, 0)


def known_moments(mean, second, centred):
    """Moments without sampling error, as if from a million million rows without gaps."""
    origin = mean if centred else np.zeros_like(mean)
    return Moments(mean, origin, centred, second, JointGaps(np.full(second.shape, 1e12), 1e12))


@dataclass(frozen=True, eq=False)
class Mixture:
    """``Σ_k π_k N(a_k, σ²_k I)`` with its moments written out."""

    weights: np.ndarray  # (k,)
    means: np.ndarray  # (k, d)
    variances: np.ndarray  # (k,)

    @property
    def mean(self):
        return self.weights @ self.means

    def from_origin(self, centred):
        return self.means - self.mean if centred else self.means

    def second(self, centred):
        b = self.from_origin(centred)
        noise = self.weights @ self.variances
        return (self.weights * b.T) @ b + noise * np.eye(b.shape[1])

    def moments(self, centred):
        return known_moments(self.mean, self.second(centred), centred)

    def third(self, centred):
        """``Σ_k π_k (b_i b_j b_k + σ²_k (δ_ij b_k + δ_ik b_j + δ_jk b_i))``; (d, d, d)."""
        b = self.from_origin(centred)
        noise = np.ones(b.shape[1])
        return sum(
            p * (np.einsum("i,j,k->ijk", a, a, a) + s2 * in_three_places(noise, a))
            for p, a, s2 in zip(self.weights, b, self.variances, strict=True)
        )

    def rows(self, seed, n=3000):
        """Rows drawn from the mixture; (n, d)."""
        rng = np.random.default_rng(seed)
        labels = rng.choice(len(self.weights), size=n, p=self.weights)
        noise = rng.standard_normal((n, self.means.shape[1]))
        return self.means[labels] + np.sqrt(self.variances[labels])[:, None] * noise

    def atoms(self, root=None):
        """Points (n, d) and their probabilities with the same moments up to the third.

        A standard normal has those of a fair choice of ±1: Gauss-Hermite quadrature with two
        nodes. ``root`` is a square root of a covariance for all components, instead of σ²_k I.
        """
        d = self.means.shape[1]
        signs = np.array(list(itertools.product([-1.0, 1.0], repeat=d)))
        roots = [np.sqrt(s2) * np.eye(d) if root is None else root for s2 in self.variances]
        points = [a + signs @ r.T for a, r in zip(self.means, roots, strict=True)]
        return np.vstack(points), np.repeat(self.weights / len(signs), len(signs))


class Solution(NamedTuple):
    """All that the method makes of some moments."""

    evidence: Evidence
    tensor: np.ndarray
    decomposition: Decomposition
    parameters: Any


@pytest.fixture(scope="session")
def mixture() -> type[Mixture]:
    return Mixture


@pytest.fixture(scope="session")
def draw_mixture() -> Callable[..., Mixture]:
    def draw(seed, k, d, tied=False):
        rng = np.random.default_rng(seed)
        weights = rng.dirichlet(np.full(k, 8.0))
        variances = np.full(k, 0.7) if tied else rng.uniform(0.3, 1.5, k)
        return Mixture(weights, 2.0 * rng.standard_normal((k, d)), variances)

    return draw


@pytest.fixture(scope="session")
def population() -> Callable[..., Moments]:
    return known_moments


@pytest.fixture(scope="session")
def sample_moments() -> Callable[..., tuple[Moments, np.ndarray]]:
    """Moments of rows (n, d), and the third about the same origin (d, d, d), each a plain mean."""

    def moments(rows, centred, probabilities=None):
        p = np.full(len(rows), 1 / len(rows)) if probabilities is None else probabilities
        mean = p @ rows
        away = rows - mean if centred else rows
        second = (away.T * p) @ away
        return known_moments(mean, second, centred), third_moment(away, p)

    return moments


@pytest.fixture(scope="session")
def solve() -> Callable[..., Solution]:
    """Run a model on moments and the third moment (d, d, d) about the same origin."""

    def run(
        model,
        moments,
        third,
        k,
        weights=None,
        complete=None,
        signal=None,
        decomposer=joint,
    ):
        d = len(moments.mean)
        weights = np.ones(d) if weights is None else weights
        complete = np.ones(d, bool) if complete is None else complete
        signal = model.signal(moments, complete, k) if signal is None else signal
        whitening = whiten(signal.matrix, weights / signal.unit, model.rank(k))
        basis = Probe(whitening, model.beyond(signal)).basis
        projected = np.einsum("ijk,ia,jb,kc->abc", third, basis, basis, basis, optimize=True)
        evidence = Evidence(
            n_components=k,
            moments=moments,
            signal=signal,
            weights=weights,
            whitening=whitening,
            third=ProjectedThird(projected, "known", alike_along(whitening)),
        )
        tensor = model.tensor(evidence)
        decomposition = decomposer(tensor, np.random.default_rng(0))
        return Solution(evidence, tensor, decomposition, model.parameters(evidence, decomposition))

    return run


def match(found, true):
    """The order of the rows of ``found`` (k, d) that fits those of ``true`` best."""
    return linear_sum_assignment(np.abs(true[:, None] - found).sum(axis=2))[1]


@pytest.fixture(scope="session")
def assert_mixture() -> Callable[..., None]:
    def check(parameters, weights, means, variances, tolerance=1e-9):
        order = match(parameters.means, means)
        size = np.abs(means).max() + np.sqrt(variances.max())
        each = np.broadcast_to(variances.T, means.T.shape).T  # (k,) is for all features
        np.testing.assert_allclose(parameters.weights[order], weights, rtol=0, atol=tolerance)
        np.testing.assert_allclose(parameters.means[order] / size, means / size, 0, tolerance)
        np.testing.assert_allclose(parameters.variances[order], each, rtol=tolerance, atol=0)

    return check


@pytest.fixture(scope="session")
def assert_topics() -> Callable[..., None]:
    def check(parameters, topics, means, variances, tolerance=1e-9):
        order = match(parameters.topics, topics)
        np.testing.assert_allclose(parameters.topics[order], topics, rtol=0, atol=tolerance)
        np.testing.assert_allclose(parameters.means[order], means, rtol=tolerance)
        np.testing.assert_allclose(parameters.variances[order], variances, rtol=tolerance)

    return check
