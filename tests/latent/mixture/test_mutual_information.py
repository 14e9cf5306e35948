"""What columns tell of components and of each other, against enumeration, quadrature and draws."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import nbinom, norm

from halfseen.distributions.mixed_parameters import MixedParameters
from halfseen.latent.mutual_information import class_entropy, of_class, of_pairs
from tests.distributions.mixed.worlds import cell_density, emission_for, mixture, table


def world(k=3, seed=1, **ways):
    emission = emission_for(table(300, wild=2.5), **ways)
    return emission, mixture(emission, k, seed)


def listed(parameters, d):
    """All values of a column of levels or counts, and their chances in each component (v, k)."""
    if parameters.kinds[d] == 1:
        r, mu = parameters.count_shapes[:, d], parameters.rates[:, d]
        values = np.arange(2000)
        return values, nbinom.pmf(values[:, None], r, r / (r + mu))
    values = parameters.level_values[:, d]
    values = values[np.isfinite(values)]
    return values, parameters.level_shares[: len(values), :, d]


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_levels_and_counts_tell_what_enumeration_says(d):
    _, parameters = world()
    values, chance = listed(parameters, d)
    expected = 0.0
    for v in range(len(values)):
        together = sum(chance[v, k] * parameters.weights[k] for k in range(3))
        for k in range(3):
            if chance[v, k] > 1e-200:
                ratio = chance[v, k] / together
                expected += parameters.weights[k] * chance[v, k] * np.log(ratio)
    assert of_class(parameters)[d] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("outliers", [True, False])
@pytest.mark.parametrize("d", [0, 1])
def test_numbers_and_spikes_tell_what_quadrature_says(d, outliers):
    _, parameters = world(outliers=outliers)
    shares = parameters.weights

    def part(x):
        each = np.array([cell_density(parameters, k, d, x) for k in range(3)]) + 1e-300
        return float(shares @ (each * np.log(each / (shares @ each))))

    edges = np.sort(np.r_[-30, (parameters.centres[:, d, None] + [-4, 0, 4]).ravel(), 30])
    expected = sum(quad(part, a, b)[0] for a, b in itertools.pairwise(edges))
    if not np.isnan(parameters.spike[d]):
        expected += part(parameters.spike[d])
    assert of_class(parameters)[d] == pytest.approx(expected, rel=0.01, abs=1e-4)


def test_large_counts_tell_what_enumeration_says():
    rates, shapes = np.array([[3.0], [4000.0], [5000.0]]), np.array([[1.0], [1e4], [20.0]])
    parameters = MixedParameters(
        weights=np.array([0.5, 0.3, 0.2]),
        means=rates,
        variances=np.full((3, 1), np.nan),
        centres=np.full((3, 1), np.nan),
        rates=rates,
        count_shapes=shapes,
        most_counts=np.array([9000.0]),
        level_shares=np.empty((0, 3, 1)),
        level_values=np.empty((0, 1)),
        presence=np.full((3, 1), np.nan),
        kinds=np.ones(1),
    )
    chance = nbinom.pmf(np.arange(60_000)[:, None], shapes[:, 0], (shapes / (shapes + rates))[:, 0])
    together = chance @ parameters.weights
    some = chance > 0
    ratio = np.log(np.where(some, chance, 1) / np.where(some, together[:, None], 1))
    expected = float((chance * ratio).sum(axis=0) @ parameters.weights)
    assert of_class(parameters)[0] == pytest.approx(expected, rel=0.01)


def test_pairs_of_levels_and_counts_tell_what_enumeration_says():
    _, parameters = world()
    found = of_pairs(parameters)
    for i in (2, 3, 4, 5):
        for j in range(i + 1, 6):
            a, b = listed(parameters, i)[1], listed(parameters, j)[1]
            expected = 0.0
            for p in a[:200]:
                for q in b:
                    both = float(np.sum(parameters.weights * p * q))
                    alone = float(parameters.weights @ p) * float(parameters.weights @ q)
                    if both > 0:
                        expected += both * np.log(both / alone)
            assert found[i, j] == found[j, i] == pytest.approx(expected, abs=1e-6)


def test_pairs_tell_what_draws_say():
    """Rows are drawn, and ``log p(x, y) - log p(x) - log p(y)`` is averaged."""
    _, parameters = world(outliers=False)
    n, random = 40_000, np.random.default_rng(0)
    labels = random.choice(3, n, p=parameters.weights)
    noise = random.standard_normal((n, 2))
    x, y = (
        parameters.centres[labels, d] + noise[:, d] * np.sqrt(parameters.variances[labels, d])
        for d in (0, 1)
    )
    p, q = (
        norm.pdf(one[:, None], parameters.centres[:, d], np.sqrt(parameters.variances[:, d]))
        for d, one in ((0, x), (1, y))
    )
    shares = parameters.weights
    values = np.log((p * q) @ shares) - np.log(p @ shares) - np.log(q @ shares)
    plain = replace(parameters, spike=np.full(6, np.nan), other=np.full(6, np.nan))
    error = values.std() / np.sqrt(n)
    assert abs(of_pairs(plain)[0, 1] - values.mean()) < 4 * error + 0.02 * values.mean()


def test_of_itself_a_column_tells_no_number():
    found = of_pairs(world()[1])
    assert np.isnan(np.diag(found)).all()
    others = found[~np.eye(len(found), dtype=bool)]
    assert (others >= 0).all()


def test_columns_tell_no_more_than_there_is_to_know_and_pairs_no_more_than_either():
    for seed in range(20):
        _, parameters = world(k=4, seed=seed)
        told, pairs = of_class(parameters), of_pairs(parameters)
        assert (told <= class_entropy(parameters.weights) + 1e-12).all()
        for i in range(6):
            for j in range(6):
                assert i == j or pairs[i, j] <= min(told[i], told[j]) * 1.02 + 1e-4


def test_one_component_leaves_nothing_to_tell():
    _, parameters = world(k=1)
    np.testing.assert_allclose(of_class(parameters), 0, atol=1e-12)
    assert class_entropy(parameters.weights) == 0
    np.testing.assert_allclose(np.nan_to_num(of_pairs(parameters)), 0, atol=1e-9)


def test_components_that_are_alike_tell_nothing():
    _, parameters = world()
    alike = replace(
        parameters,
        **{
            name: np.repeat(getattr(parameters, name)[:1], 3, axis=0)
            for name in ("means", "centres", "variances", "rates", "count_shapes", "spike_shares")
        },
        level_shares=np.repeat(parameters.level_shares[:, :1], 3, axis=1),
    )
    np.testing.assert_allclose(of_class(alike), 0, atol=1e-9)


def test_gaps_that_tell_are_part_of_what_a_column_tells():
    _, parameters = world(informative=True)
    silent = replace(parameters, presence=np.full((3, 6), np.nan))
    chance = parameters.presence
    together = parameters.weights @ chance
    of_gaps = parameters.weights @ (
        chance * np.log(chance / together) + (1 - chance) * np.log((1 - chance) / (1 - together))
    )
    assert (of_class(parameters) >= of_gaps - 1e-12).all()
    sure = replace(parameters, presence=np.full((3, 6), 1 - 1e-12))
    np.testing.assert_allclose(of_class(sure), of_class(silent), atol=1e-9)


def test_cuts_of_other_parameters_do_as_well():
    _, parameters = world()
    moved = replace(parameters, centres=parameters.centres + 0.3, rates=parameters.rates * 1.1)
    np.testing.assert_allclose(of_class(moved, parameters), of_class(moved), rtol=0.01, atol=1e-4)
