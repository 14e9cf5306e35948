"""Gaussian noise on sums, for differential privacy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from halfseen import GaussianMixture, Plan, simulate, summed
from halfseen.federated.disclosure import delta_of, noise_deviation, sensitivities
from halfseen.federated.plan import Noise


@pytest.mark.parametrize(("sigma", "epsilon"), [(0.7, 0.5), (2.0, 1.0), (4.0, 0.1), (1.0, 4.0)])
def test_delta_is_the_mass_by_which_one_row_shows(sigma, epsilon):
    """``δ(ε) = ∫ max(p(x) - e^ε q(x), 0) dx`` of two normals that are one row apart."""

    def beyond(x):
        return max(norm.pdf(x, 1, sigma) - np.exp(epsilon) * norm.pdf(x, 0, sigma), 0.0)

    naive, _ = quad(beyond, -40 * sigma, 40 * sigma, points=[0.5 + epsilon * sigma**2], limit=500)
    assert delta_of(sigma, epsilon) == pytest.approx(naive, rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1.0, 1e-6), (10.0, 1e-6)])
def test_the_deviation_is_the_smallest_that_is_private(epsilon, delta):
    sigma = noise_deviation(epsilon, delta)
    assert delta_of(sigma, epsilon) == pytest.approx(delta, rel=1e-6)
    assert delta_of(0.99 * sigma, epsilon) > delta
    if epsilon <= 1:
        assert sigma < np.sqrt(2 * np.log(1.25 / delta)) / epsilon  # the classical one


def planned(n=4000, d=4, epsilon=1.0):
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(n, [0.5, 0.5], rng.normal(0, 3, (2, d)), 1.0, rng)
    X = simulate.independent_gaps(X, [1.0] * (d - 1) + [0.6], rng)
    return X, Plan.of(X, GaussianMixture(2)).noised(epsilon)


def test_no_row_changes_sums_by_more_than_noise_is_made_for():
    X, plan = planned(300)
    wild = np.vstack([X, 1e6 * np.ones((1, 4)), -1e6 * np.ones((1, 4))])
    exact = replace(plan, least_rows=0)
    from halfseen.federated.rounds import planned_rows
    from halfseen.moments.moment_sums import MomentSums

    about = MomentSums.about(plan.each("origin"), plan.each("scale"))
    rows, pairs, triples = sensitivities(plan.noise, 4)
    for row in wild[::20]:
        one = planned_rows(GaussianMixture(2), row[None], exact).accumulate(about)
        upper = one.second[np.triu_indices(8)]
        assert np.linalg.norm(upper) <= pairs * (1 + 1e-12)
        assert np.linalg.norm(one.third) <= triples * (1 + 1e-12)
        assert one.n_rows <= rows


def test_noise_is_as_wide_as_said_and_another_each_time():
    X, plan = planned()
    exact = summed(X, replace(plan, noise=Noise(1e9, 1e-6, plan.noise.norm))).sums
    one, other = (summed(X, plan).sums.third - exact.third for _ in range(2))
    sigma = noise_deviation(1.0, 1e-6) * np.sqrt(3) * sensitivities(plan.noise, 4)[2]
    assert np.std(one) == pytest.approx(sigma, rel=0.3)
    assert not np.allclose(one, other)
    np.testing.assert_array_equal(
        summed(X, plan, random_state=1).sums.second, summed(X, plan, random_state=1).sums.second
    )


def test_places_may_tell_less_than_agreed_but_not_more():
    X, plan = planned()
    with pytest.raises(ValueError, match="allows an epsilon of 1, and 2 would tell more"):
        summed(X, plan, epsilon=2.0)
    with pytest.raises(ValueError, match="Noise needs a norm that rows are clipped to"):
        summed(X, replace(plan, noise=None), epsilon=1.0)
    exact = summed(X, replace(plan, noise=Noise(1e9, 1e-6, plan.noise.norm))).sums
    usual, less = (
        np.std(summed(X, plan, epsilon=e, random_state=0).sums.third - exact.third)
        for e in (None, 0.1)
    )
    assert less > 5 * usual
    with pytest.raises(ValueError, match="A plan with noise is for one round of sums"):
        summed(X, plan, at=GaussianMixture(2).fit(X))


def test_with_many_rows_noise_hardly_matters():
    X, plan = planned(60_000, epsilon=20.0)
    found = GaussianMixture(2).fit(summed(X, plan, random_state=0))
    wanted = GaussianMixture(2, refine=None, outliers=None).fit(X)
    order = [np.argsort(one.means_[:, 0]) for one in (found, wanted)]
    np.testing.assert_allclose(found.means_[order[0]], wanted.means_[order[1]], atol=0.3)
