"""Replicates by moments, against fits to the same rows with weights."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from halfseen import DataError, GammaPoisson, GaussianMixture, WeakMomentsWarning, simulate
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.precomputed import SummedRows
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.progress import Stages
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block, gathered
from halfseen.diagnostics import intervals as bootstrap
from halfseen.diagnostics.intervals import replicated_parameters
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.inference.fit import learn
from halfseen.inference.plan import Routes, Settings, planned
from halfseen.moments.resampling import OriginSecond, OriginSums, origin_third
from halfseen.moments.survey import survey, survey_of

D, K = 6, 2
NAMES = tuple("abcdef")
COMPLETE, GAPS = [1.0] * D, [1.0] * 4 + [0.6, 0.4]
MEANS = 4 * np.eye(D)[:K] - 1
TOPICS = np.array([[0.4, 0.3, 0.1, 0.1, 0.05, 0.05], [0.05, 0.05, 0.1, 0.1, 0.4, 0.3]])
MODELS = {
    "mixture": GaussianMixture(K, refine=None, third_moment="explicit"),
    "spherical": GaussianMixture(
        K, refine=None, third_moment="explicit", covariance_type="spherical"
    ),
    "topics": GammaPoisson(K, third_moment="explicit"),
}
every_model = pytest.mark.parametrize("kind", MODELS)
every_gap = pytest.mark.parametrize("observed", [COMPLETE, GAPS], ids=["complete", "gaps"])


def table(kind, n=1500, observed=COMPLETE, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "topics":
        X, _ = simulate.gamma_poisson(n, TOPICS, [1.0, 2.0], 0.05, rng)
    else:
        X, _ = simulate.gaussian_mixture(n, [0.6, 0.4], MEANS, [1.0, 1.5], rng)
    return simulate.independent_gaps(X, observed, rng)


def replicated(estimator, rows, bins, weights):
    seen = survey(rows, estimator.complete_above)
    X = gathered(rows, lambda block: np.where(block.observed, block.values, np.nan))
    fitted = clone(estimator).fit(X).fitted
    return replicated_parameters(fitted, rows, seen, bins, np.atleast_2d(weights))


def in_memory(X, weights=None):
    return MemoryRows(X, NAMES, weights)


def of_rows(bins, n):
    """The bin of each of n rows."""
    return bins.of(Block.from_table(np.empty((n, 1))))


def laid_flat(parameters):
    """All numbers of a model, components in the order of their places."""
    if isinstance(parameters, MixtureParameters):
        order = np.argsort(parameters.means[:, 0])
        parts = parameters.weights, parameters.means, parameters.variances
        return np.concatenate([np.ravel(part[order]) for part in parts])
    order = np.argsort(parameters.topics[:, 0])
    return np.r_[parameters.topics[order].ravel(), parameters.shapes[order], parameters.rate]


def refitted(estimator, X, weights):
    """What ``fit`` learns with sample_weight."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakMomentsWarning)
        return laid_flat(clone(estimator).fit(X, sample_weight=weights).fitted.parameters)


def of_a_stream(estimator, X, origin, weights):
    """The same moments summed once over all rows, about the origin that replicates share."""
    sums = OriginSums.about(origin)(Block.from_table(X, weights))
    settings, model = Settings.of(estimator), estimator._model()
    seen = survey_of(NAMES, sums.features, settings.complete_above)
    plan = planned(settings, model, seen, settings.n_components)
    recovery = "none" if plan.recovery == "none" else "divide"
    plan = replace(plan, recovery=recovery, refine=False)
    rows, routes = SummedRows(NAMES), Routes(OriginSecond(sums), origin_third(sums))
    return laid_flat(learn(rows, rows, model, plan, routes, Stages()).parameters)


@every_model
@pytest.mark.parametrize("divided", [False, True])
def test_a_replicate_is_exactly_what_a_stream_of_the_weighted_rows_gives(kind, divided):
    X = table(kind, observed=GAPS if divided else COMPLETE)
    estimator = MODELS[kind]
    if divided:  # as streams do: regressions go over rows
        estimator = clone(estimator).set_params(incomplete_features="divide")
    bins, rng = Bins(30), np.random.default_rng(1)
    weights = np.vstack([np.ones(30), rng.exponential(size=30)])
    for one, of_bins in zip(
        replicated(estimator, in_memory(X), bins, weights), weights, strict=True
    ):
        per_row = of_bins[of_rows(bins, len(X))]
        expected = of_a_stream(estimator, X, np.nanmean(X, axis=0), per_row)
        np.testing.assert_allclose(laid_flat(one), expected, rtol=1e-8, atol=1e-8)


@every_model
@every_gap
def test_replicates_are_fits_with_weights_up_to_one_part_in_the_rows(kind, observed):
    n, bins = 1500, Bins(100)
    X, rng = table(kind, n, observed), np.random.default_rng(2)
    weights = np.vstack([np.ones(100), rng.exponential(size=(30, 100))])
    found = replicated(MODELS[kind], in_memory(X), bins, weights)
    ours = np.array([laid_flat(one) for one in found])
    std = np.maximum(ours[1:].std(axis=0), 1e-3)
    for one, of_bins in zip(ours[:4], weights, strict=False):
        again = refitted(MODELS[kind], X, of_bins[of_rows(bins, n)])
        # Fits divide by N - 1 where streams divide by N, and with gaps centre pairs on means of
        # other rows: products of two errors, so a standard error's share of a standard error.
        assert (np.abs(again - one) / std).max() < 3 / np.sqrt(n)


@every_model
@every_gap
def test_tables_of_too_many_features_are_fitted_anew(kind, observed, monkeypatch):
    monkeypatch.setattr(bootstrap, "MOST_BYTES", 0)
    X, bins = table(kind, 400, observed), Bins(25)
    weights = np.random.default_rng(3).exponential(size=25)
    (one,) = replicated(MODELS[kind], in_memory(X), bins, weights)
    again = refitted(MODELS[kind], X, weights[of_rows(bins, 400)])
    ours = laid_flat(one)
    np.testing.assert_allclose(ours, again, rtol=1e-6, atol=1e-6)


@every_gap
def test_sparse_rows_give_the_same_replicates_and_are_not_filled_in(observed, monkeypatch):
    X, bins = table("topics", 600, observed), Bins(25)
    weights = np.random.default_rng(4).exponential(size=(2, 25))
    expected = replicated(MODELS["topics"], in_memory(X), bins, weights)
    monkeypatch.delattr(SparseRows, "recentred")
    sparse = SparseRows.of(csr_array(X), NAMES)
    for one, other in zip(
        replicated(MODELS["topics"], sparse, bins, weights), expected, strict=True
    ):
        np.testing.assert_allclose(laid_flat(one), laid_flat(other), rtol=1e-8, atol=1e-8)


@every_model
def test_partial_replicates_regress_what_the_moments_leave_out(kind):
    estimator = clone(MODELS[kind]).set_params(method="partial")
    X, bins = table(kind, 1000, GAPS), Bins(50)
    weights = np.random.default_rng(5).exponential(size=50)
    (one,) = replicated(estimator, in_memory(X), bins, weights)
    again = refitted(estimator, X, weights[of_rows(bins, 1000)])
    np.testing.assert_allclose(laid_flat(one), again, rtol=0.02, atol=0.02)


@every_model
def test_weights_of_rows_multiply_those_of_bins(kind):
    X, bins, rng = table(kind, 500), Bins(25), np.random.default_rng(6)
    per_row, weights = rng.random(500) + 0.5, rng.exponential(size=25)
    rows = in_memory(X, per_row)
    origin = survey(rows, 0.95).sums.mean
    (one,) = replicated(MODELS[kind], rows, bins, weights)
    both = per_row * weights[of_rows(bins, 500)]
    expected = of_a_stream(MODELS[kind], X, origin, both)
    np.testing.assert_allclose(laid_flat(one), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.filterwarnings("ignore")
def test_features_that_never_meet_have_intervals_all_the_same():
    """A fit without refinement leaves such a feature to regression; so do its replicates."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) + 4 * rng.integers(2, size=(200, 1))
    X[:100, 2] = X[100:, 3] = np.nan
    model = GaussianMixture(2, refine=None).fit(X)
    assert np.isfinite(model.intervals(X, n_replicates=50)["means_"].low).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("moments", ["available", "adjusted"])
def test_a_part_in_which_a_feature_does_not_vary_is_refused_by_its_name(moments):
    X = table("topics", 30)
    X[:, 2], X[3, 2] = 1e15, 0.0
    weights = (np.arange(30) != 3).astype(float)
    estimator = clone(MODELS["topics"]).set_params(moments=moments, outliers=None)
    with pytest.raises(DataError, match="Without some of the rows 'c' would not vary"):
        replicated(estimator, in_memory(X), Bins.of_rows(30), weights)


@pytest.mark.filterwarnings("ignore")
def test_doubts_about_counts_that_a_single_row_decides_fail_nowhere():
    X = np.zeros((19, 3))
    X[0], X[6, 0], X[7], X[14, 1] = 1.0, np.nan, np.nan, np.nan
    model = GammaPoisson(complete_above=0.5, method="partial", random_state=0).fit(X)
    assert "routes_disagree" not in {one.kind for one in model.concerns(X)}


@pytest.mark.filterwarnings("ignore")
def test_a_column_that_varies_by_outliers_only_has_intervals_all_the_same():
    X = np.random.default_rng(0).poisson(3.0, (60, 5)).astype(float)
    X[:, 2], X[4, 2] = 1.0, 1e6
    model = GammaPoisson(2, random_state=0).fit(X)
    assert np.isfinite(model.intervals(X, n_replicates=50)["components_"].low).all()
    model.concerns(X)
