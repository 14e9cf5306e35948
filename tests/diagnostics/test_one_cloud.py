"""Models of one cloud, mixtures beside them, and the rule that decides between the two."""

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal, multivariate_t, norm
from sklearn.metrics import adjusted_rand_score

from halfseen.diagnostics.choice import ClusterTendency
from halfseen.diagnostics.cluster_tendency import number_of_groups
from halfseen.diagnostics.cluster_tendency.latent_traits import (
    Traits,
    _flat,
    _loss,
    fitted_traits,
    quadrature,
)
from halfseen.diagnostics.cluster_tendency.mixture import Mixture, Starts, Table, fitted, prior_of
from halfseen.diagnostics.cluster_tendency.modality import Counts, LabelledFold, counted, merges
from halfseen.diagnostics.cluster_tendency.preprocessing import (
    fitted_margin,
    fitted_margins,
    sampled,
    scores,
)
from halfseen.diagnostics.cluster_tendency.single_density import (
    Elliptical,
    RowsByPattern,
    fitted_chain,
    fitted_normal,
    fitted_radial,
)

MEAN = np.array([0.5, -1.0, 2.0])
COVARIANCE = np.array([[1.0, 0.6, 0.2], [0.6, 2.0, -0.3], [0.2, -0.3, 0.5]])


@pytest.fixture
def with_gaps() -> np.ndarray:
    rng = np.random.default_rng(0)
    rows = rng.multivariate_normal(MEAN, COVARIANCE, 60)
    rows[rng.random(rows.shape) < 0.3] = np.nan
    return rows[~np.isnan(rows).all(axis=1)]


@pytest.mark.parametrize("degrees", [4.0, np.inf])
def test_density_of_a_row_with_gaps_is_that_of_its_observed_cells(with_gaps, degrees):
    found = Elliptical(MEAN, COVARIANCE, degrees).log_densities(RowsByPattern.of(with_gaps))
    for row, own in zip(with_gaps, found, strict=True):
        seen = ~np.isnan(row)
        mean, scatter = MEAN[seen], COVARIANCE[np.ix_(seen, seen)]
        law = (
            multivariate_normal(mean, scatter)
            if np.isinf(degrees)
            else multivariate_t(mean, scatter, df=degrees)
        )
        assert own == pytest.approx(law.logpdf(row[seen]), abs=1e-9)


def test_scores_have_a_density_that_integrates_to_one():
    margin = fitted_margin(np.random.default_rng(1).gamma(2, size=400))

    def density(x: float) -> float:
        z, log_jacobian = margin.scores(np.array([x]))
        return float(norm.pdf(z[0]) * np.exp(log_jacobian[0]))

    assert quad(density, -5, 40, limit=400)[0] == pytest.approx(1, abs=1e-4)


def test_normal_scores_with_a_normal_are_a_gaussian_copula():
    """Of its density, the margins are those of the columns, and the rest is the copula."""
    rng = np.random.default_rng(2)
    table = np.exp(rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], 300))
    margins = fitted_margins(table)
    z, log_jacobian = scores(margins, table)
    correlation = np.array([[1, 0.7], [0.7, 1]])
    found = Elliptical(np.zeros(2), correlation).log_densities(RowsByPattern.of(z)) + log_jacobian
    copula = multivariate_normal([0, 0], correlation).logpdf(z) - norm.logpdf(z).sum(axis=1)
    alone = [
        norm.logpdf(own.z) + own.log_jacobian
        for own in (m.scores(x) for m, x in zip(margins, table.T, strict=True))
    ]
    np.testing.assert_allclose(found, copula + np.sum(alone, axis=0), atol=1e-9)


def test_margins_of_normal_columns_are_straight_lines():
    x = np.random.default_rng(3).normal(3, 2, 5000)
    z = fitted_margin(x).scores(x).z
    assert np.corrcoef(z, x)[0, 1] > 0.999


@pytest.mark.parametrize("d", [2, 3])
def test_a_free_radius_keeps_the_density_normalised(d):
    rng = np.random.default_rng(4)
    shell = rng.normal(size=(500, d))
    shell = shell / np.linalg.norm(shell, axis=1)[:, None] + 0.1 * rng.normal(size=(500, d))
    rows = RowsByPattern.of(shell)
    cloud = fitted_radial(rows, fitted_normal(rows))
    wide = multivariate_normal(np.zeros(d), 4 * np.eye(d))
    draws = wide.rvs(200_000, random_state=0)
    ratio = np.exp(cloud.log_densities(RowsByPattern.of(draws)) - wide.logpdf(draws))
    assert ratio.mean() == pytest.approx(1, abs=0.03)
    assert cloud.log_densities(rows).mean() > cloud.normal.log_densities(rows).mean() + 0.3


def test_a_chain_keeps_the_density_normalised_and_follows_a_banana():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(500, 2))
    x[:, 1] += 0.8 * (x[:, 0] ** 2 - 1)
    rows = RowsByPattern.of(x)
    normal = fitted_normal(rows)
    chain = fitted_chain(rows, normal, [0, 1])
    wide = multivariate_normal(np.zeros(2), 9 * np.eye(2))
    draws = wide.rvs(200_000, random_state=0)
    ratio = np.exp(chain.log_densities(RowsByPattern.of(draws)) - wide.logpdf(draws))
    assert ratio.mean() == pytest.approx(1, abs=0.03)
    assert chain.log_densities(rows).mean() > normal.log_densities(rows).mean() + 0.2


@pytest.mark.parametrize("q", [0, 1, 2])
def test_probabilities_of_all_answers_add_up_to_one(q):
    rng = np.random.default_rng(6)
    levels = (2, 3, 2)
    traits = Traits(rng.normal(size=(7, 1 + q)), np.empty((0, 1 + q)), np.empty(0), levels)
    answers = np.array(list(product(*(range(level) for level in levels))), dtype=float)
    table = Table.of(np.empty((len(answers), 0)), answers, levels)
    assert np.exp(traits.log_densities(table)).sum() == pytest.approx(1)
    # A row without the last item has the sum over its answers.
    short = Table.of(np.empty((1, 0)), np.array([[1.0, 2.0, np.nan]]), levels)
    both = np.exp(traits.log_densities(table))[(answers[:, :2] == [1, 2]).all(axis=1)]
    assert np.exp(traits.log_densities(short))[0] == pytest.approx(both.sum())


def test_likelihood_of_one_trait_is_the_integral():
    traits = Traits(
        np.array([[0.2, 0.0], [-0.4, 1.1]]), np.array([[0.3, 0.7]]), np.array([-0.2]), (2,)
    )
    table = Table.of(np.array([[0.9]]), np.array([[1.0]]), (2,))

    def at(theta: float) -> float:
        logits = np.array([0.2, -0.4 + 1.1 * theta])
        yes = np.exp(logits[1]) / np.exp(logits).sum()
        return float(yes * norm.pdf(0.9, 0.3 + 0.7 * theta, np.exp(-0.2)) * norm.pdf(theta))

    assert np.exp(traits.log_densities(table))[0] == pytest.approx(quad(at, -8, 8)[0], rel=1e-6)


def test_gradient_of_traits_is_that_of_differences():
    rng = np.random.default_rng(7)
    numbers, codes = rng.normal(size=(20, 2)), rng.integers(3, size=(20, 2)).astype(float)
    numbers[0, 0] = codes[1, 1] = np.nan
    table = Table.of(numbers, codes, (3, 3))
    traits = Traits(rng.normal(size=(6, 3)), rng.normal(size=(2, 3)), rng.normal(size=2), (3, 3))
    flat, nodes = _flat(traits), quadrature(2)
    gradient = _loss(flat, traits, table, *nodes)[1]
    for i in range(len(flat)):
        step = np.zeros(len(flat))
        step[i] = 1e-5
        up, down = (_loss(flat + s, traits, table, *nodes)[0] for s in (step, -step))
        assert gradient[i] == pytest.approx((up - down) / 2e-5, abs=1e-6)


def test_one_trait_is_found_again():
    rng = np.random.default_rng(8)
    theta = rng.normal(size=(2000, 1))
    codes = (rng.logistic(size=(2000, 6)) < 1.5 * theta).astype(float)
    table = Table.of(np.empty((2000, 0)), codes, (2,) * 6)
    slopes = fitted_traits(table, 1).categories[:, 1]
    np.testing.assert_allclose(np.abs(slopes[1::2] - slopes[::2]), 1.5, atol=0.35)


@pytest.mark.parametrize("kind", ["tied_diag", "diag", "tied", "full"])
def test_mixture_finds_groups_that_are_far_apart_with_gaps_and_without(kind):
    rng = np.random.default_rng(9)
    labels = rng.integers(3, size=300)
    rows = rng.normal(size=(300, 4)) + np.array([0, 30, -30])[labels][:, None]
    for share in (0.0, 0.3):
        gaps = np.where(rng.random(rows.shape) < share, np.nan, rows)
        kept = ~np.isnan(gaps).all(axis=1)
        table = Table.of(gaps[kept], np.empty((kept.sum(), 0)), ())
        starts = Starts.of(table, 0)
        fit = fitted(table, kind, starts.responsibilities(3, 0), prior_of(table), starts.filled)
        assert fit is not None
        assert adjusted_rand_score(labels[kept], fit.mixture.labels(table)) > 0.99
        spread = np.sqrt(np.diagonal(fit.mixture.covariances, axis1=1, axis2=2))
        np.testing.assert_allclose(spread, 1, atol=0.2)


@pytest.mark.parametrize(("distance", "dips"), [(1.9, False), (2.5, True), (4.0, True)])
def test_two_normals_have_two_modes_from_two_standard_deviations_on(distance, dips):
    means = np.array([[0.0, 0.0], [distance, 0.0]])
    covariances = np.broadcast_to(np.eye(2), (2, 2, 2))
    two = Mixture("tied", np.array([0.5, 0.5]), means, covariances, np.empty((2, 0)))
    (merge,) = merges(two)
    line = np.linspace(0, distance, 4001)
    density = norm.pdf(line) + norm.pdf(line - distance)
    expected = density[2000] / density.max() if dips else 1.0
    assert merge.dip == pytest.approx(expected, abs=1e-3)


def test_p_values_of_a_band_are_valid_if_there_is_one_mode():
    """Groups cut out of one normal: as few rows in between are no more likely than said."""
    found = []
    for seed in range(200):
        rows = np.random.default_rng(seed).normal(size=(200, 2))
        labels = (rows[:, 0] > 0).astype(int)
        fold = LabelledFold(rows[:100], labels[:100], rows[100:], labels[100:])
        found.append(counted([fold], [0], [1]).p_value)
    assert np.mean(np.array(found) <= 0.05) <= 0.05


def test_counts_of_a_band_are_judged_by_the_emptier_side():
    assert Counts(50, 10, 50).p_value < 1e-6
    assert Counts(10, 10, 50).p_value > 0.5


def _two_groups(n: int = 200, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 3))
    rows[: n // 2] += 4
    return rows


def test_clear_groups_are_found_and_counted():
    decision = number_of_groups(_two_groups())
    assert (decision.case, decision.n_components) == (ClusterTendency.CLEAR, 2)
    numbers = [one.n_components for one in decision.evidence.tried]
    assert numbers == list(range(1, len(numbers) + 1))
    assert decision.runner_up != 2


@pytest.mark.parametrize("shape", ["normal", "lognormal", "ring", "items"])
def test_one_cloud_is_called_one(shape):
    rng = np.random.default_rng(11)
    common = rng.normal(size=(300, 1))
    rows = common + rng.normal(size=(300, 6))
    if shape == "lognormal":
        rows = np.exp(rows)
    elif shape == "ring":
        angle = rng.uniform(0, 2 * np.pi, 300)
        rows = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.15 * rng.normal(size=(300, 2))
    elif shape == "items":
        rows = (rows > 0).astype(float)
    assert number_of_groups(rows).n_components == 1


def test_latent_classes_are_told_from_a_trait():
    rng = np.random.default_rng(12)
    labels = rng.integers(3, size=300)
    yes = np.where(np.arange(9) // 3 == labels[:, None], 0.9, 0.1)
    decision = number_of_groups((rng.random((300, 9)) < yes).astype(float))
    assert decision.n_components == 3


def test_order_of_rows_and_columns_and_units_change_nothing():
    rows = _two_groups(150, seed=13)
    rows[np.random.default_rng(0).random(rows.shape) < 0.1] = np.nan
    first = number_of_groups(rows)
    moved = np.random.default_rng(1).permutation(len(rows))
    other = number_of_groups((rows * [10.0, 0.01, 3.0] + 5)[moved][:, [2, 0, 1]])
    assert (first.case, first.n_components) == (other.case, other.n_components)
    assert first.evidence.z == pytest.approx(other.evidence.z, abs=0.05)
    assert first.evidence.bic_gain == pytest.approx(other.evidence.bic_gain, abs=0.5)


def test_rows_are_drawn_by_their_values():
    rows = np.random.default_rng(14).normal(size=(5000, 2))
    drawn = sampled(rows)
    assert len(drawn) == 2000
    shuffled = sampled(rows[::-1])
    np.testing.assert_array_equal(np.sort(rows[drawn, 0]), np.sort(rows[::-1][shuffled, 0]))


def test_rows_that_count_for_more_are_drawn_more_often():
    rows = np.random.default_rng(15).normal(size=(400, 2))
    weights = np.repeat([0.0, 1.0, 3.0, 1.0], 100)
    drawn = sampled(rows, weights)
    count = np.bincount(drawn, minlength=400)
    assert not count[:100].any()
    assert count[200:300].sum() == pytest.approx(0.6 * len(drawn), abs=3)
    assert len(drawn) == round(500**2 / 1100)


@pytest.mark.parametrize("rows", [np.ones((30, 2)), np.empty((0, 2)), np.full((5, 2), np.nan)])
def test_nothing_to_tell_apart_is_one_cloud(rows):
    assert number_of_groups(rows).n_components == 1


def test_few_rows_and_one_column_are_judged():
    rng = np.random.default_rng(15)
    assert number_of_groups(rng.normal(size=(12, 2))).n_components == 1
    assert number_of_groups(rng.normal(size=(100, 1))).n_components == 1
