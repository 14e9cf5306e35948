"""What covariances are drawn to and kept above, against naive oracles."""

import numpy as np
import pytest

from halfseen.distributions.full_normal import lifted


def drawn(seed, k=3, d=4):
    root = np.random.default_rng(seed).normal(size=(k, d, d))
    return root @ root.swapaxes(1, 2) / d


def height(sigma, sample):
    return -np.linalg.slogdet(sigma)[1] - np.trace(np.linalg.inv(sigma) @ sample)


@pytest.mark.parametrize("seed", range(5))
def test_lifted_covariances_are_above_the_floor_and_nothing_above_it_is_likelier(seed):
    rng = np.random.default_rng(100 + seed)
    samples, floor = drawn(seed), rng.uniform(0.05, 0.6, 4)
    found = lifted(samples, floor)
    for sigma, sample in zip(found, samples, strict=True):
        assert np.linalg.eigvalsh(sigma - np.diag(floor)).min() > -1e-12
        assert (1 / np.diag(np.linalg.inv(sigma)) >= floor * (1 - 1e-12)).all()
        for size in (1e-3, 0.03, 0.3):
            for _ in range(60):
                step = rng.normal(size=(4, 4)) * size
                other = sigma + step + step.T
                values, vectors = np.linalg.eigh(other - np.diag(floor))
                other = (vectors * np.maximum(values, 0)) @ vectors.T + np.diag(floor)
                assert height(other, sample) <= height(sigma, sample) + 1e-10


def test_covariances_that_are_above_the_floor_stay_as_they_are():
    samples = drawn(0) + np.eye(4)
    assert lifted(samples, np.full(4, 0.5)) is samples
    assert lifted(samples, np.zeros(4)) is samples
