"""``compare_weights``, against fits and scores of each third of the rows by hand."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from halfseen import (
    DataError,
    GammaPoisson,
    GaussianMixture,
    choose_components,
    compare_weights,
    simulate,
)

pytestmark = pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
WAYS = {
    "observed": {"feature_weights": "observed", "moments": "available"},
    "sqrt": {"feature_weights": "sqrt", "moments": "available"},
    "signal": {"feature_weights": "signal", "moments": "available"},
    "adjusted": {"feature_weights": "auto", "moments": "adjusted"},
}


def table(seed, n_rows=600):
    rng = np.random.default_rng(seed)
    X, _ = simulate.gaussian_mixture(n_rows, [0.4, 0.3, 0.3], rng.normal(0, 2, (3, 7)), 1.0, rng)
    return simulate.independent_gaps(X, [1, 1, 1, 1, 0.6, 0.3, 0.15], rng)


def counts(observed, n_rows=400):
    rng = np.random.default_rng(0)
    X, _ = simulate.gamma_poisson(n_rows, rng.dirichlet(np.ones(5), 2), [1, 1], 0.05, rng)
    return simulate.independent_gaps(X, observed, rng)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr("halfseen.models.gamma_poisson.MOST_SCORED", 30)


def by_hand(X, groups, parameters, **more):
    """Log-likelihoods of the rows, each third under a model of the other two."""
    scores = np.empty(len(X))
    for fold in range(3):
        apart = groups % 3 == fold
        model = GaussianMixture(3, refine=None, **parameters, **more).fit(X[~apart])
        scores[apart] = model.score_samples(X[apart])
    return scores


@pytest.mark.parametrize("covariance_type", ["tied_spherical", "spherical"])
def test_scores_gains_and_errors_are_those_of_fits_with_the_parameters_told(covariance_type):
    X, groups = table(38), np.random.default_rng(0).integers(60, size=600)
    user = GaussianMixture(7, covariance_type=covariance_type)
    found = compare_weights(X, user, n_components=3, groups=groups)
    assert {way.way: way.parameters for way in found.ways} == WAYS
    usual = by_hand(X, groups, WAYS["observed"], covariance_type=covariance_type)
    for way in found.ways:
        scores = by_hand(X, groups, way.parameters, covariance_type=covariance_type)
        assert way.log_likelihood == pytest.approx(scores.mean(), rel=1e-9)
        gains = scores - usual
        assert way.gain == pytest.approx(gains.mean(), abs=1e-9)
        left = [np.sum(gains[groups == g] - gains.mean()) for g in np.unique(groups)]
        error = np.sqrt(np.sum(np.square(left)) * 60 / 59) / 600
        assert way.error == pytest.approx(error, rel=1e-5, abs=1e-9)
    assert [way.log_likelihood for way in found.ways] == sorted(
        (way.log_likelihood for way in found.ways), reverse=True
    )


def test_the_usual_way_is_said_to_be_best_if_it_is():
    found = compare_weights(table(0), n_components=3)
    assert found.ways[0].way == found.best == found.usual == "observed"
    assert (found.ways[0].gain, found.ways[0].error) == (0.0, 0.0)
    assert found.reason == "'observed', which the model uses by itself, is best."


def test_a_clearly_better_way_is_taken_and_told_with_its_gain():
    found = compare_weights(table(38), n_components=3)
    first = found.ways[0]
    assert found.best == first.way == "adjusted"
    assert first.gain > 2 * first.error > 0
    assert found.reason == (
        "'adjusted' is better than 'observed', which the model uses by itself, by "
        f"{first.gain:.2g} ± {first.error:.1g} a row."
    )


def test_a_way_that_is_better_by_chance_is_not_taken():
    found = compare_weights(table(2), n_components=3)
    first = found.ways[0]
    assert 0 < first.gain <= 2 * first.error
    assert found.best == "observed"
    assert found.reason == (
        "None is clearly better than 'observed', which the model uses by itself: "
        f"'{first.way}' gains {first.gain:.2g} ± {first.error:.1g} a row."
    )


def test_what_the_user_set_matters_only_where_nothing_is_compared():
    X = table(38)
    expected = compare_weights(X, n_components=3)
    for changed in ({"moments": "adjusted"}, {"feature_weights": "sqrt"}, {"n_components": 9}):
        assert compare_weights(X, GaussianMixture(**changed), n_components=3) == expected
    other = compare_weights(X, GaussianMixture(covariance_type="spherical"), n_components=3)
    assert other != expected


def test_the_users_estimator_is_not_altered():
    user = GaussianMixture(5, feature_weights="sqrt", refine="em")
    before = clone(user).get_params()
    compare_weights(table(0), user, n_components=3)
    assert user.get_params() == before
    assert not hasattr(user, "means_")
    fitted = GaussianMixture(3).fit(table(0))
    means = fitted.means_.copy()
    compare_weights(table(1), fitted, n_components=3)
    np.testing.assert_array_equal(fitted.means_, means)


def test_auto_compares_with_the_number_that_moments_choose():
    X = table(38)
    found = compare_weights(X)
    assert found.n_components == choose_components(X, GaussianMixture(refine=None)).n_components
    assert found == compare_weights(X, n_components=found.n_components)


def test_groups_are_never_divided_and_make_errors_larger():
    X = np.repeat(table(38, 300), 4, axis=0)
    groups = np.repeat(np.arange(300), 4)
    by_row = compare_weights(X, n_components=3)
    by_group = compare_weights(X, n_components=3, groups=groups)
    wider = {way.way: way.error for way in by_group.ways}
    narrow = {way.way: way.error for way in by_row.ways}
    assert all(wider[way] > 1.4 * narrow[way] for way in ("sqrt", "signal"))


def test_topics_are_compared_with_signal_aware_weights_as_the_usual(quick):
    found = compare_weights(counts([1, 1, 1, 0.6, 0.4]), "gamma-poisson", n_components=2)
    assert found.usual == "signal"
    assert {way.way for way in found.ways} == set(WAYS)


def test_sparse_counts_are_compared_as_dense_ones(quick):
    X = counts([1, 1, 1, 0.6, 0.4])
    dense = compare_weights(X, GammaPoisson(), n_components=2)
    sparse = compare_weights(csr_array(X), GammaPoisson(), n_components=2)
    assert [way.way for way in sparse.ways] == [way.way for way in dense.ways]
    for ours, theirs in zip(sparse.ways, dense.ways, strict=True):
        assert ours.log_likelihood == pytest.approx(theirs.log_likelihood, rel=1e-6)


def test_adjusted_moments_are_left_out_where_they_cannot_be_had(quick):
    found = compare_weights(counts(np.full(5, 0.8)), "gamma-poisson", n_components=2)
    assert {way.way for way in found.ways} == {"observed", "sqrt", "signal"}
    found = compare_weights(table(0), GaussianMixture(form="raw"), n_components=3)
    assert {way.way for way in found.ways} == {"observed", "sqrt", "signal"}


REFUSED = {
    "diag": (
        {"model": GaussianMixture(covariance_type="diag")},
        r"^covariance_type='diag' is learned by likelihood, in which weights play no part\. Use "
        r"covariance_type='spherical' as it is to compare them\.$",
    ),
    "full": (
        {"model": GaussianMixture(method="full")},
        r"^method='full' takes features as equal, so there are no weights to compare\. Use "
        r"method='weighted'\.$",
    ),
    "partial": ({"model": GammaPoisson(method="partial")}, r"^method='partial' takes features"),
    "name": (
        {"model": "gausian"},
        r"^model must be 'gaussian' or 'gamma-poisson' or 'lda' or 'classes' or 'markov', or an "
        r"estimator\. "
        r"Got "
        r"'gausian' instead\.$",
    ),
    "number": ({"n_components": 0}, r"The 'n_components' parameter of GaussianMixture must be"),
    "groups": ({"groups": [1, 2]}, r"^groups must hold one label a row, 600 in all"),
}


@pytest.mark.parametrize(("options", "text"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_compared_is_refused(options, text):
    with pytest.raises(ValueError, match=text):
        compare_weights(table(0), **options)


def test_too_few_rows_are_refused():
    with pytest.raises(DataError, match="n_components=3 needs at least 3 rows"):
        compare_weights(table(0)[:2], n_components=3)


@pytest.mark.parametrize("form", ["centred", "raw"])
def test_signal_aware_weights_of_a_mixture_are_those_of_the_formula(form):
    rng = np.random.default_rng(0)
    means, shares = rng.normal(0, 2, (2, 6)), np.array([0.4, 0.6])
    observed = np.array([1, 1, 1, 1, 0.5, 0.2])
    X, _ = simulate.gaussian_mixture(40_000, shares, means, 1.5, rng)
    X = simulate.independent_gaps(X, observed, rng)
    model = GaussianMixture(2, feature_weights="signal", form=form, refine=None).fit(X)
    about = shares @ means if form == "centred" else 0.0
    signal = shares @ (means - about) ** 2
    expected = np.sqrt(observed / (1.5 + (1 - observed) * signal))
    np.testing.assert_allclose(model.feature_weights_, expected / expected.max(), rtol=0.03)


def test_topics_are_weighted_by_signal_unless_told_otherwise():
    X = counts([1, 1, 1, 0.6, 0.4])
    auto, signal, observed = (
        GammaPoisson(2, feature_weights=weights).fit(X).feature_weights_
        for weights in ("auto", "signal", "observed")
    )
    np.testing.assert_array_equal(auto, signal)
    assert not np.allclose(auto, observed)
