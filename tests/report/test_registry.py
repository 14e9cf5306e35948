"""What normal columns tell of the component, against integrals; where their numbers lie."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from halfseen import GaussianMixture
from halfseen.report.registry import Numbers, of_component, portrait_of

WEIGHTS = np.array([0.5, 0.3, 0.2])
CENTRES = np.array([[0.0, 1.0], [2.0, 1.0], [5.0, 1.2]])
VARIANCES = np.array([[1.0, 1.0], [0.5, 1.0], [2.0, 1.1]])


def numbers(spike=np.nan, other=np.nan, shares=0.0):
    spikes = np.array([spike, np.nan]), np.array([other, np.nan])
    own = np.column_stack([np.broadcast_to(shares, 3), np.zeros(3)])
    return Numbers(WEIGHTS, CENTRES, VARIANCES, *spikes, own)


def integral(d, beside=None):
    """Nats by quadrature, of densities that are multiplied by ``beside`` (3,)."""
    beside = np.ones(3) if beside is None else beside

    def density(x):
        own = beside * norm.pdf(x, CENTRES[:, d], np.sqrt(VARIANCES[:, d]))
        every = WEIGHTS @ own
        return float(WEIGHTS @ (own * np.log(np.maximum(own, 1e-300) / max(every, 1e-300))))

    return quad(density, -12, 20, limit=400)[0]


def of_spike(shares):
    return float(WEIGHTS @ (shares * np.log(shares / (WEIGHTS @ shares))))


def test_what_columns_tell_is_the_integral():
    found = of_component(numbers(), numbers())
    np.testing.assert_allclose(found, [integral(0), integral(1)], rtol=0.02, atol=1e-4)


def test_a_spike_tells_too():
    shares = np.array([0.1, 0.4, 0.7])
    found = of_component(numbers(0.0, np.nan, shares), numbers(0.0, np.nan, shares))
    np.testing.assert_allclose(found[0], integral(0, 1 - shares) + of_spike(shares), rtol=0.02)


def test_of_two_values_it_is_exact():
    shares = np.array([0.1, 0.4, 0.7])
    here = numbers(0.0, 1.0, shares)
    np.testing.assert_allclose(of_component(here, here)[0], of_spike(shares) + of_spike(1 - shares))


def test_more_components_are_cut_more_coarsely_and_still_right():
    k = 25
    weights, centres = np.full(k, 1 / k), 50.0 * np.arange(k)[:, None]
    none = np.full(1, np.nan)
    far = Numbers(weights, centres, np.ones((k, 1)), none, none, np.zeros((k, 1)))
    np.testing.assert_allclose(of_component(far, far), np.log(k), rtol=1e-6)


@pytest.mark.parametrize("kind", ["tied_spherical", "diag", "full"])
def test_numbers_lie_where_the_model_has_them(kind):
    rng = np.random.default_rng(0)
    z = rng.integers(2, size=600)
    X = pd.DataFrame(rng.normal(size=(600, 2)) + 6 * z[:, None], columns=["a", "b"])
    X["two"] = (rng.random(600) < np.where(z, 0.9, 0.1)).astype(float)
    model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    view = portrait_of(model)
    density = next(one for one in view.densities if one.column == 0)
    at = np.array([-1.0, 3.0, 7.0])
    below = density.below(at)
    for i, component in enumerate(view.order):
        mean, spread = view.centres[i, 0], X["a"][model.predict(X) == component].std()
        np.testing.assert_allclose(below[:, i], norm.cdf(at, mean, spread), atol=0.03)
    shares = view.separation.shares
    assert shares[:2].min() > 0.9
    assert 0.1 < shares[2] < 0.9
