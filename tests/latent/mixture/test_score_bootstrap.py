"""Slopes and curvature against finite differences, and replicates against EM run again."""

import numpy as np
import pytest

from halfseen import GaussianMixture, simulate
from halfseen.data.engines import memory
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block
from halfseen.distributions.covariance_types import SHAPES
from halfseen.distributions.emission import posterior
from halfseen.distributions.normal import Normal
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.latent.score_bootstrap import ScoreSums, replicated
from halfseen.moments.survey import survey

K, D, N = 3, 4, 60
NAMES = tuple("abcd")
EMISSIONS = {kind: Normal(shape) for kind, shape in SHAPES.items()}
every_shape = pytest.mark.parametrize("kind", SHAPES)


def anywhere(kind, rng):
    """A mixture that is not at a maximum of anything."""
    labels = SHAPES[kind].labels((K, D))
    variances = np.exp(rng.normal(size=labels.max() + 1))[labels]
    return MixtureParameters(rng.dirichlet(np.ones(K)), rng.normal(size=(K, D)), variances)


def table(rng, n=N):
    X = 1.5 * rng.normal(size=(n, D))
    X[rng.random(X.shape) < 0.3] = np.nan
    X[5] = np.nan
    return X


@pytest.fixture(params=[False, True], ids=["rows once", "weighted rows"])
def block(request):
    rng = np.random.default_rng(1)
    return Block.from_table(table(rng), rng.random(N) + 0.5 if request.param else None)


def here(kind):
    return anywhere(kind, np.random.default_rng(2))


def summing(kind, bins):
    """The function that sums slopes and curvature at :func:`here`."""
    return ScoreSums.at(here(kind), EMISSIONS[kind], bins)


def log_likelihood(block, kind):
    """A function of the step away from :func:`here`, and how many numbers a step has."""
    emission = EMISSIONS[kind]
    free = emission.free(here(kind))

    def total(step):
        found = posterior(block, emission, free.moved(step))
        return float(block.weighed(found.log_likelihood).sum())

    return total, free.size


@every_shape
def test_the_slope_is_that_of_finite_differences(kind, block):
    (total, size), step = log_likelihood(block, kind), 1e-5
    expected = [(total(step * e) - total(-step * e)) / (2 * step) for e in np.eye(size)]
    slope = summing(kind, Bins(7))(block).slope
    np.testing.assert_allclose(slope.sum(axis=0), expected, rtol=1e-6, atol=1e-6)


@every_shape
def test_a_bin_has_the_slope_of_its_own_rows(kind, block):
    bins = Bins.of_groups(np.random.default_rng(3).integers(5, size=N))
    slope = summing(kind, bins)(block).slope
    for bin_, part in bins.parts(block):
        alone = summing(kind, Bins(1))(part).slope[0]
        np.testing.assert_allclose(slope[bin_], alone, rtol=1e-12, atol=1e-12)


@every_shape
def test_the_curvature_is_that_of_finite_differences(kind, block):
    total, size = log_likelihood(block, kind)
    step, axes = 1e-4, np.eye(size)
    expected = [
        [
            total(step * (u + v))
            - total(step * (u - v))
            - total(step * (v - u))
            + total(-step * (u + v))
            for u in axes
        ]
        for v in axes
    ]
    curvature = summing(kind, Bins(7))(block).curvature
    largest = np.abs(curvature).max()
    np.testing.assert_allclose(-np.divide(expected, 4 * step**2), curvature, atol=1e-6 * largest)


@every_shape
def test_any_split_gives_the_same_slopes_and_curvature(kind, block):
    summarise = summing(kind, Bins(7))
    whole = summarise(block)
    cuts = [np.arange(0), np.arange(23), np.arange(23, 24), np.arange(24, N)]
    starts = [0, 0, 23, 24]
    pieces = [block.rows(rows) for rows in cuts]
    parts = [
        summarise(Block(piece.values, piece.observed, piece.weights, start))
        for piece, start in zip(pieces, starts, strict=True)
    ]
    merged = parts[0] + parts[1] + parts[2] + parts[3]
    np.testing.assert_allclose(merged.slope, whole.slope, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(merged.curvature, whole.curvature, rtol=1e-12, atol=1e-9)


MEANS = np.array([[0.0, 0, 0, 0], [5, 4, -4, 5], [-5, 4, 4, 0]])
SHARES = np.array([0.5, 0.3, 0.2])
OBSERVED = [1.0, 1.0, 0.7, 0.5]


def maximum(X, kind, start, weights=None):
    """Where EM ends if it is given all the time it needs."""
    rows = MemoryRows(X, NAMES, weights)
    model = GaussianMixture(covariance_type=kind, outliers=None, tol=1e-15)._model()
    return model.adapted_to(rows, survey(rows, 0.95)).run_em(rows, start, 3000).parameters


def clear_world(n, kind):
    rng = np.random.default_rng(4)
    X, _ = simulate.gaussian_mixture(n, SHARES, MEANS, 1.0, rng)
    X = simulate.independent_gaps(X, OBSERVED, rng)
    return X, maximum(X, kind, MixtureParameters(SHARES, MEANS, np.ones((3, 4))))


def of_rows(bins, n):
    """The bin of each of n rows."""
    return bins.of(Block.from_table(np.empty((n, 1))))


def laid_flat(mixture):
    return np.r_[np.log(mixture.weights), mixture.means.ravel(), np.log(mixture.variances.ravel())]


def replicates(X, mixture, kind, bins, multipliers):
    found = replicated(MemoryRows(X, NAMES), mixture, EMISSIONS[kind], bins, multipliers)
    return np.array([laid_flat(one) for one in found])


@every_shape
def test_replicates_are_close_to_em_on_the_rows_repeated(kind):
    n, bins = 6000, Bins(200)
    X, mixture = clear_world(n, kind)
    times = np.random.default_rng(5).multinomial(200, np.full(200, 1 / 200), size=40)
    ours = replicates(X, mixture, kind, bins, times - 1.0)
    std = ours.std(axis=0)
    for one, of_bins in zip(ours[:2], times, strict=False):
        repeated = np.repeat(X, of_bins[of_rows(bins, n)], axis=0)
        again = laid_flat(maximum(repeated, kind, mixture))
        moved = np.abs(one - laid_flat(mixture)) / std
        # A Newton step leaves what is of second order: a standard error in units of the noise, at
        # most 0.06 (√(2 / 600), of variances of the rarest), times squares of how far it went.
        assert moved.max() > 1
        assert (np.abs(again - one) / std).max() < 0.06 * (1 + moved.max() ** 2)
        assert np.median(np.abs(again - one)[:15] / std[:15]) < 0.02


@every_shape
def test_what_a_step_leaves_is_of_second_order(kind):
    n, bins = 3000, Bins(50)
    X, mixture = clear_world(n, kind)
    xi = np.random.default_rng(6).standard_normal(50)

    def left(size):
        weights = (1 + size * xi)[of_rows(bins, n)]
        one = replicates(X, mixture, kind, bins, size * xi[None])[0]
        return np.linalg.norm(laid_flat(maximum(X, kind, mixture, weights)) - one)

    assert left(0.1) / left(0.2) == pytest.approx(0.25, rel=0.15)
    assert left(0.05) / left(0.1) == pytest.approx(0.25, rel=0.15)


@every_shape
def test_replicates_do_not_depend_on_where_blocks_are_cut(kind, monkeypatch):
    X, mixture = clear_world(500, kind)
    bins, xi = Bins(20), np.random.default_rng(7).standard_normal((3, 20))
    whole = replicates(X, mixture, kind, bins, xi)
    monkeypatch.setattr(memory, "FEWEST_ROWS", 37)
    monkeypatch.setattr(memory, "BLOCK_ENTRIES", 1)
    np.testing.assert_allclose(replicates(X, mixture, kind, bins, xi), whole, rtol=1e-8, atol=1e-8)


def test_units_of_features_do_not_matter():
    X, mixture = clear_world(500, "diag")
    bins, xi = Bins(20), np.random.default_rng(8).standard_normal((3, 20))
    units = np.array([1.0, 1e11, 1e-6, 1.0])
    ours = replicated(MemoryRows(X, NAMES), mixture, EMISSIONS["diag"], bins, xi)
    theirs = replicated(
        MemoryRows(X * units, NAMES),
        MixtureParameters(mixture.weights, mixture.means * units, mixture.variances * units**2),
        EMISSIONS["diag"],
        bins,
        xi,
    )
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(other.means / units, one.means, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(other.variances / units**2, one.variances, rtol=1e-9)


def test_what_no_row_says_anything_about_stays_where_it_is():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(80, D))
    X[:, 3] = np.nan
    mixture = anywhere("diag", rng)
    (one,) = replicated(
        MemoryRows(X, NAMES), mixture, EMISSIONS["diag"], Bins(8), rng.standard_normal((1, 8))
    )
    np.testing.assert_array_equal(one.variances[:, 3], mixture.variances[:, 3])
    np.testing.assert_allclose(one.means[:, 3], mixture.means[:, 3], rtol=1e-12)
