"""Spread within components is theirs alone, likelihoods are maxima, and units do not matter."""

import numpy as np
import pytest
from sklearn import mixture
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from halfseen import GaussianMixture
from halfseen.data.errors import DataError

KINDS = ["tied_spherical", "spherical", "tied_diag", "diag", "tied", "full", "factor"]


def fitted(X, kind, k=3, **options):
    return GaussianMixture(k, covariance_type=kind, n_factors=1, random_state=0, **options).fit(X)


def clusters(separation):
    """Three clusters of standard deviation 1, on a line."""
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=300)
    return rng.normal(size=(300, 4)) + separation * np.array([0, 1, -1])[group][:, None]


def within(model):
    """Standard deviations of the columns within components."""
    emission, parameters = model.fitted.model.emission, model.fitted.parameters
    return np.sqrt(parameters.weights @ emission.variances(parameters))


@pytest.mark.parametrize("outliers", ["auto", None])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("separation", [30, 3000])
def test_distance_between_components_is_no_spread_within_them(separation, kind, outliers):
    model = fitted(clusters(separation), kind, outliers=outliers)
    assert len(model.weights_) == 3
    np.testing.assert_allclose(within(model), 1.0, atol=0.1)


@pytest.mark.parametrize("kind", ["tied", "full", "diag"])
def test_without_a_prior_no_step_of_plain_em_leads_higher(kind):
    X = load_iris().data
    ours = fitted(X, kind, outliers=None, prior=None)
    precisions = np.linalg.inv(ours.covariances_) if kind != "diag" else 1 / ours.covariances_
    step = mixture.GaussianMixture(
        3,
        covariance_type=kind,
        weights_init=ours.weights_,
        means_init=ours.means_,
        precisions_init=precisions,
        max_iter=1,
        reg_covar=0,
    )
    with pytest.warns(ConvergenceWarning):  # in one step
        step.fit(X)
    height = ours.score_samples(X).sum()
    assert step.score_samples(X).sum() - height == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(
    ("kind", "k", "bic"), [("full", 2, 574.0178), ("full", 3, 580.8389), ("tied", 3, 632.9633)]
)
@pytest.mark.parametrize("prior", [1.0, None])
def test_bic_is_that_of_mclust(kind, k, bic, prior):
    """Which has models "VVV" and "EEE" of iris, with the sign turned."""
    X = load_iris().data
    assert fitted(X, kind, k, outliers=None, prior=prior).bic(X) == pytest.approx(bic, abs=0.01)


def test_rows_that_hold_nothing_do_not_count_in_bic():
    X = load_iris().data
    model = fitted(X, "full")
    empty = np.vstack([X, np.full((20, 4), np.nan)])
    assert model.bic(empty) == pytest.approx(model.bic(X), abs=1e-6)
    assert model.aic(empty) == pytest.approx(model.aic(X), abs=1e-6)


def test_a_likelihood_without_a_maximum_is_told():
    X = np.random.default_rng(0).normal(size=(80, 2))
    X[::2] = 5.0
    with pytest.raises(DataError, match=r"has no maximum.*Use prior=1\.0"):
        fitted(X, "full", 2, outliers=None, prior=None)
    assert np.isfinite(fitted(X, "full", 2, outliers=None).lower_bound_)


@pytest.mark.parametrize("prior", ["strong", -1.0, True, 1e9])
def test_a_prior_is_a_number_or_none(prior):
    with pytest.raises(ValueError, match="prior"):
        GaussianMixture(2, prior=prior).fit(load_iris().data)


def overlapping(seed):
    """The tables of which the order of the columns once decided, with correlated columns."""
    rng = np.random.default_rng(seed)
    turn = np.eye(5) + rng.normal(size=(5, 5)) / 3
    return (rng.normal(size=(90, 5)) + 3 * rng.integers(3, size=(90, 1)) * np.eye(5)[0]) @ turn


@pytest.mark.parametrize("kind", KINDS)
def test_order_and_units_of_columns_do_not_matter(kind):
    X, rng = overlapping(0), np.random.default_rng(9)
    score = fitted(X, kind).lower_bound_
    order = rng.permutation(5)
    assert fitted(X[:, order], kind).lower_bound_ == pytest.approx(score, abs=1e-6)
    unit = 10.0 ** (rng.integers(-2, 3, 5) if "spherical" not in kind else np.full(5, 2))
    moved = fitted(X * unit, kind).lower_bound_ + np.log(unit).sum()
    assert moved == pytest.approx(score, abs=1e-6)


@pytest.mark.parametrize("kind", ["tied", "full"])
@pytest.mark.parametrize("prior", [1.0, None])
def test_affine_maps_do_not_matter_where_columns_are_correlated(kind, prior):
    X, rng = clusters(6)[:, :3], np.random.default_rng(3)
    turn = rng.normal(size=(3, 3)) + 2 * np.eye(3)
    score, moved = (
        fitted(one, kind, outliers=None, prior=prior).lower_bound_
        for one in (X, X @ turn.T + rng.normal(size=3))
    )
    assert moved + np.linalg.slogdet(turn)[1] == pytest.approx(score, abs=1e-6)
