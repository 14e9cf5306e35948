"""Both estimators keep scikit-learn's contract."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from halfseen import GammaPoisson, GaussianMixture, simulate


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianMixture(),
        GaussianMixture(2),
        GaussianMixture(2, form="raw", decomposer="power"),
        GaussianMixture(2, covariance_type="spherical", decomposer="jennrich"),
        GaussianMixture(2, method="partial", complete_above=0.5),
        GammaPoisson(),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
@pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator_finds_nothing_and_no_exception_is_listed(estimator):
    results = check_estimator(estimator, on_fail=None)
    assert [r["check_name"] for r in results if r["status"] in ("failed", "xfail")] == []
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}  # needs SCIPY_ARRAY_API=1 in the environment


@pytest.mark.parametrize("estimator", [GaussianMixture(), GammaPoisson()])
def test_gaps_are_allowed_by_tag(estimator):
    assert get_tags(estimator).input_tags.allow_nan


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    X, _ = simulate.gaussian_mixture(600, [0.5, 0.5], [[0, 0, 0, 0], [8, 8, 8, 8]], 1.0, rng)
    return simulate.independent_gaps(X, [1, 1, 1, 0.5], rng)


def test_a_mixture_works_at_the_end_of_a_pipeline(table):
    pipeline = make_pipeline(StandardScaler(), GaussianMixture(2)).fit(table)
    assert set(pipeline.predict(table)) == {0, 1}


def test_a_grid_search_finds_the_number_of_components(table):
    search = GridSearchCV(GaussianMixture(), {"n_components": [1, 2]}).fit(table)
    assert search.best_params_ == {"n_components": 2}


def test_clones_have_the_same_parameters():
    mixture = GaussianMixture(3, form="raw", feature_weights=[1.0, 2.0])
    assert clone(mixture).get_params() == mixture.get_params()


def test_topics_are_a_transformer_with_named_outputs():
    rng = np.random.default_rng(0)
    counts, _ = simulate.gamma_poisson(500, np.eye(3), [1.0, 1.0, 1.0], 0.1, rng)
    model = GammaPoisson(3).set_output(transform="pandas").fit(counts)
    frame = model.transform(counts)
    assert list(frame.columns) == ["gammapoisson0", "gammapoisson1", "gammapoisson2"]
