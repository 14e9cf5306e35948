"""Cells that may be background, spikes and two values: compiled loops against plain ones."""

import math

import numpy as np
import pytest

from halfseen.data.rows import Block
from halfseen.distributions.normal_kernels import (
    HURDLE,
    PLAIN,
    TWO_VALUED,
    WIDTH,
    Cells,
    background,
    expectation,
    log_densities,
    outlier_probability,
)

NAN = np.nan
SPIKE = np.array([NAN, 0.0, 1.0, NAN, 2.5])
OTHER = np.array([NAN, NAN, 0.0, NAN, NAN])
K, D = 3, len(SPIKE)
CELL_OPTIONS = ("there", "normal", "first", "second", "spike")


def cells(seed=0, outlier_share=0.02):
    rng = np.random.default_rng(seed)
    spiked = ~np.isnan(SPIKE)
    return Cells(
        log_weights=np.log(rng.dirichlet(np.ones(K))),
        centres=rng.normal(0, 2, (K, D)),
        variances=rng.uniform(0.3, 2, (K, D)),
        spike_shares=np.where(spiked, rng.uniform(0.1, 0.9, (K, D)), NAN),
        outlier_share=outlier_share,
        middle=rng.normal(size=D),
        spread=rng.uniform(0.5, 3, D),
        spike=SPIKE,
        other=OTHER,
    )


def table(n=700, seed=1):
    """More rows than the loops take at a time; gaps, spikes, third values and wild ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 2, (n, D))
    X[rng.random(n) < 0.5, 1] = 0.0
    X[:, 2] = rng.integers(2, size=n)
    X[rng.random(n) < 0.3, 4] = 2.5
    X[7, 2], X[8, 2] = 0.5, -1e6  # neither of two values
    X[9, 0], X[10, 1], X[11, 3], X[12] = 1e6, -1e9, 50.0, 1e40
    X[rng.random(X.shape) < 0.25] = NAN
    X[20] = NAN
    return X


def ways(x, d, k, own):
    """Densities of a cell: the spike or one of two values, the component's normal, background."""
    q, share = own.spike_shares[k, d], own.outlier_share
    half = WIDTH * own.spread[d]
    beyond = 1 / (math.pi * half * (1 + ((x - own.middle[d]) / half) ** 2))
    if x == own.spike[d]:
        return (q if math.isnan(own.other[d]) else (1 - share) * q), 0.0, 0.0
    if not math.isnan(own.other[d]):
        known = x == own.other[d]
        return ((1 - share) * (1 - q), 0.0, 0.0) if known else (0.0, 0.0, share * beyond)
    rest = 1.0 if math.isnan(own.spike[d]) else 1 - q
    v = own.variances[k, d]
    square = (x - own.centres[k, d]) ** 2 / v
    normal = math.exp(-0.5 * square) / math.sqrt(2 * math.pi * v)
    return 0.0, rest * (1 - share) * normal, rest * share * beyond


def looped_densities(X, own):
    return np.array(
        [
            [
                sum(math.log(sum(ways(x, d, k, own))) for d, x in enumerate(row) if x == x)
                for k in range(K)
            ]
            for row in X
        ]
    )


def posteriors(X, own):
    joint = own.log_weights + looped_densities(X, own)
    total = np.logaddexp.reduce(joint, axis=1)
    return total, np.exp(joint - total[:, None])


def looped_sums(X, own, weights):
    """What an E-step adds up, cell by cell from posteriors."""
    total, shares = posteriors(X, own)
    sums = {name: np.zeros((K, D)) for name in CELL_OPTIONS}
    for row, each, weight in zip(X, shares, weights, strict=True):
        for d, x in enumerate(row):
            for k in range(K if x == x else 0):
                r = weight * each[k]
                point, normal, beyond = ways(x, d, k, own)
                two = not math.isnan(own.other[d])
                w = r if two and point else r * normal / (point + normal + beyond)
                away = x - own.centres[k, d]
                sums["spike"][k, d] += r * (x == own.spike[d])
                sums["there"][k, d] += r * (two or x != own.spike[d])
                sums["normal"][k, d] += w
                sums["first"][k, d] += w * away
                sums["second"][k, d] += w * away**2
    return float(weights @ total), weights @ shares, sums


def assert_same_sums(found, expected, rtol=1e-9):
    for name in ("share", *CELL_OPTIONS):
        ours, theirs = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-9, err_msg=name)


def test_features_go_one_of_three_ways():
    np.testing.assert_array_equal(cells().kinds, [PLAIN, HURDLE, TWO_VALUED, PLAIN, HURDLE])


@pytest.mark.parametrize("outlier_share", [1e-4, 0.02, 0.3])
def test_densities_are_those_written_out(outlier_share):
    X, own = table(), cells(outlier_share=outlier_share)
    found = log_densities(Block.from_table(X), own)
    np.testing.assert_allclose(found, looped_densities(X, own), rtol=1e-11, atol=1e-11)


def test_many_features_are_multiplied_without_running_out_of_numbers():
    own, X = cells(), table()
    names = ("centres", "variances", "spike_shares", "middle", "spread", "spike", "other")
    many = own._replace(**{name: np.tile(getattr(own, name), 40) for name in names})
    found = log_densities(Block.from_table(np.tile(X, 40)), many)
    expected = 40 * looped_densities(X, own)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-9)


def test_a_row_of_gaps_says_nothing():
    np.testing.assert_array_equal(log_densities(Block.from_table(np.full((1, D), NAN)), cells()), 0)


@pytest.mark.parametrize("weighted", [False, True], ids=["rows once", "weighted rows"])
def test_sums_are_those_of_posteriors_cell_by_cell(weighted):
    X, own = table(), cells()
    weights = np.random.default_rng(2).uniform(0, 3, len(X)) if weighted else np.ones(len(X))
    block = Block.from_table(X, weights if weighted else None)
    found = expectation(block, own)
    height, share, sums = looped_sums(X, own, weights)
    beside = float(weights @ background(block, own))
    assert found.log_likelihood + beside == pytest.approx(height, rel=1e-11)
    np.testing.assert_allclose(found.share, share, rtol=1e-10)
    for name in CELL_OPTIONS:
        measured = (slice(None), np.isnan(OTHER) if name in ("first", "second") else slice(None))
        ours, theirs = getattr(found, name)[measured], sums[name][measured]
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9, err_msg=name)


def test_weights_of_rows_are_repeats():
    X, repeats = table(), np.random.default_rng(3).integers(0, 4, 700)
    weighted = expectation(Block.from_table(X, repeats.astype(float)), cells())
    repeated = expectation(Block.from_table(np.repeat(X, repeats, axis=0)), cells())
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood, rel=1e-11)
    assert_same_sums(weighted, repeated)


def test_any_split_gives_the_sums_of_all_rows_and_no_rows_are_neutral():
    X, own = table(), cells()
    whole = expectation(Block.from_table(X), own)
    parts = [expectation(Block.from_table(part), own) for part in np.split(X, [0, 1, 300, 301])]
    merged = parts[0]._make(sum(each) for each in zip(*parts, strict=True))
    assert merged.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-11)
    assert_same_sums(merged, whole)
    empty = expectation(Block.from_table(np.empty((0, D))), own)
    assert empty.log_likelihood == 0
    assert all(np.all(part == 0) for part in empty[1:])
    assert log_densities(Block.from_table(np.empty((0, D))), own).shape == (0, K)


def test_a_cell_is_wild_as_likely_as_its_background_says():
    X, own = table(), cells()
    found = outlier_probability(Block.from_table(X), own)
    for n, row in enumerate(X):
        for d, x in enumerate(row):
            for k in range(K):
                parts = ways(x, d, k, own) if x == x else (1.0, 0.0, 0.0)
                assert found[k, n, d] == pytest.approx(parts[2] / sum(parts), rel=1e-10, abs=1e-12)


def test_what_is_not_wild_is_what_sums_take_as_normal():
    block, own = Block.from_table(table()), cells()
    joint = own.log_weights + log_densities(block, own)
    shares = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
    tame = (1 - outlier_probability(block, own)) * (
        block.observed & ((block.values != SPIKE) | ~np.isnan(OTHER))
    )
    found = expectation(block, own).normal
    np.testing.assert_allclose(found, np.einsum("nk,knd->kd", shares, tame), rtol=1e-9)


def test_a_wild_cell_is_the_same_for_every_component_and_moves_nothing():
    own, X = cells(), table(50)
    for far in (1e4, -1e8, 1e15, 1e60, -1e100, 1e300):
        typed = X.copy()
        typed[:, 0] = far
        gap = X.copy()
        gap[:, 0] = NAN
        ours = expectation(Block.from_table(typed), own)
        theirs = expectation(Block.from_table(gap), own)
        np.testing.assert_allclose(ours.share, theirs.share, rtol=1e-9)
        np.testing.assert_allclose(ours.normal, theirs.normal, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(ours.second, theirs.second, rtol=1e-9, atol=1e-9)
        assert np.isfinite(log_densities(Block.from_table(typed), own)).all()
        np.testing.assert_allclose(
            outlier_probability(Block.from_table(typed), own)[:, :, 0], 1.0, atol=1e-9
        )
