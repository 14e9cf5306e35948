"""The laws of mixtures whose columns go along with each other, against naive oracles."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.metrics import adjusted_rand_score

from benchmarks.reproduce import data_folder
from halfseen import GaussianMixture, load
from halfseen.data.block import Block
from halfseen.data.engines.memory import MemoryRows
from halfseen.inference.parameters import coordinates_of, from_coordinates
from halfseen.latent import correlated
from halfseen.latent.correlated import Correlated
from halfseen.latent.structure import ClassSteps, ClassSums
from halfseen.moments.survey import survey

TYPES = ("tied", "full", "factor")
every_type = pytest.mark.parametrize("kind", TYPES)
full_types = pytest.mark.parametrize("kind", ["tied", "full"])
pytestmark = [
    pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def two_groups(seed=0, n=1500, d=5, gaps=0.25, apart=6.0):
    """Rows of two groups whose columns go along with each other: whole, with gaps, and groups."""
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(2, d, d))
    labels = rng.integers(2, size=n)
    noise = np.einsum("nij,nj->ni", roots[labels], rng.normal(size=(n, d)))
    whole = apart * labels[:, None] + noise
    return whole, np.where(rng.random(whole.shape) < gaps, np.nan, whole), labels


def at_hand(name):
    """The path of a table that is not part of the project, if it is there."""
    try:
        return data_folder.require(name)
    except Exception:
        pytest.skip(f"{name} is not at hand")


def names(X):
    return tuple(f"x{i}" for i in range(X.shape[1]))


def adapted(kind, X, **parameters):
    """The model, suited to a table, and the table as rows."""
    rows = MemoryRows(X, names(X))
    model = GaussianMixture(2, covariance_type=kind, **parameters)._model()
    return model.adapted_to(rows, survey(rows, 0.95)), rows


def taught(kind, X, k=2, weights=None, **parameters):
    parameters.setdefault("n_factors", 2)
    return GaussianMixture(k, covariance_type=kind, **parameters).fit(X, sample_weight=weights)


def covariances(model):
    """Of each component; (k, d, d)."""
    emission, parameters = model.fitted.model.emission, model.fitted.parameters
    return emission.covariances(parameters)


def by_hand(model, X, weights=None):
    """Likelihood, shares and statistics of an E-step, row by row."""
    pi, means, sigma = model.weights_, model.means_, covariances(model)
    k, d = means.shape
    likelihood, total = 0.0, np.zeros(k)
    count, first, second = np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d, d))
    for row, weight in zip(X, np.ones(len(X)) if weights is None else weights, strict=True):
        o = np.flatnonzero(~np.isnan(row))
        q = [np.linalg.inv(sigma[c][np.ix_(o, o)]) for c in range(k)]
        away = [row[o] - means[c, o] for c in range(k)]
        joint = np.array(
            [
                pi[c] * multivariate_normal.pdf(row[o], means[c, o], sigma[c][np.ix_(o, o)])
                if len(o)
                else pi[c]
                for c in range(k)
            ]
        )
        likelihood += weight * np.log(joint.sum())
        share = weight * joint / joint.sum()
        total += share
        for c in range(k):
            v = q[c] @ away[c]
            count[c, o] += share[c]
            first[c, o] += share[c] * v
            second[c][np.ix_(o, o)] += share[c] * (np.outer(v, v) - q[c])
    return likelihood, total, (count, first, second)


@full_types
def test_sums_are_those_of_a_loop_over_rows_with_gaps_and_weights(kind):
    _, X, _ = two_groups(n=300)
    X[0] = np.nan
    model = taught(kind, X)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(X))
    fitted = model.fitted
    sums = ClassSums.under(fitted.model.emission, fitted.parameters)(Block.from_table(X, weights))
    likelihood, total, (count, first, second) = by_hand(model, X, weights)
    assert sums.log_likelihood == pytest.approx(likelihood, rel=1e-10)
    np.testing.assert_allclose(sums.share, total, rtol=1e-10)
    for ours, theirs in zip(sums.statistics[1:], (count, first, second), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())


def test_sums_of_factors_are_those_of_a_loop_over_rows():
    _, X, _ = two_groups(n=120)
    model = taught("factor", X)
    fitted, weights = model.fitted, np.random.default_rng(1).uniform(0.5, 2, len(X))
    parameters, k, (d, q) = fitted.parameters, 2, model.shared_loadings_.shape
    sums = ClassSums.under(fitted.model.emission, parameters)(Block.from_table(X, weights))
    shares, origin = model.predict_proba(X), model.weights_ @ model.means_
    factor, cross, square = np.zeros((k, d, q)), np.zeros((k, d, q)), np.zeros((k, d, q, q))
    for row, weight, share in zip(X, weights, shares, strict=True):
        o = np.flatnonzero(~np.isnan(row))
        for c in range(k):
            loadings, noise = model.loadings_[c, o], model.noise_variances_[c, o]
            unsure = np.linalg.inv(np.eye(q) + (loadings.T / noise) @ loadings)
            z = unsure @ (loadings.T / noise) @ (row[o] - model.means_[c, o])
            r = weight * share[c]
            factor[c, o] += r * z
            cross[c, o] += r * np.outer(row[o] - origin[o], z)
            square[c, o] += r * (np.outer(z, z) + unsure)
    expected = (factor, cross, square[:, :, *np.triu_indices(q)])
    for ours, theirs in zip(sums.statistics[3:], expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())


@every_type
def test_any_split_of_the_rows_gives_the_sums_of_all(kind):
    _, X, _ = two_groups(n=400)
    fitted = taught(kind, X).fitted
    parameters = replace(fitted.parameters, means=fitted.parameters.means + 0.1)  # no sum is zero
    summarise = ClassSums.under(fitted.model.emission, parameters)
    whole = summarise(Block.from_table(X))
    parts = [summarise(Block.from_table(part)) for part in (X[:7], X[7:7], X[7:150], X[150:])]
    added = parts[0] + parts[1] + parts[2] + parts[3]
    assert added.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-10)
    for ours, theirs in zip(added.statistics, whole.statistics, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10 * np.abs(theirs).max())


@every_type
def test_shares_that_are_given_sum_like_those_that_are_found(kind):
    _, X, _ = two_groups(n=200)
    fitted, block = taught(kind, X).fitted, Block.from_table(X)
    emission, parameters = fitted.model.emission, fitted.parameters
    found = ClassSums.under(emission, parameters)(block)
    given = emission.given(block, fitted.model.expected_latent(block, parameters), parameters)
    for ours, theirs in zip(given, found.statistics, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())


@every_type
def test_likelihoods_are_those_of_scipy(kind):
    _, X, _ = two_groups(n=200)
    X = X[~np.isnan(X).all(axis=1)]
    model = taught(kind, X, outliers=None)
    each = [by_hand(model, row[None])[0] for row in X]
    np.testing.assert_allclose(model.score_samples(X), each, rtol=1e-9, atol=1e-12)
    assert model.lower_bound_ == pytest.approx(model.score(X), rel=1e-9)


@every_type
def test_cells_are_those_of_conditioning_by_hand(kind):
    _, X, _ = two_groups(n=60)
    model = taught(kind, two_groups(n=800)[1])
    mean, spread = model.impute(X, return_std=True)
    shares, sigma = model.predict_proba(X), covariances(model)
    low, high = model.value_limits_
    for row, share, ours, std in zip(X, shares, mean, spread, strict=True):
        m, o = np.flatnonzero(np.isnan(row)), np.flatnonzero(~np.isnan(row))
        expected, second = np.zeros(len(m)), np.zeros(len(m))
        for c, r in enumerate(share):
            slope = sigma[c][np.ix_(m, o)] @ np.linalg.inv(sigma[c][np.ix_(o, o)])
            at = model.means_[c, m] + slope @ (row[o] - model.means_[c, o])
            left = np.diag(sigma[c][np.ix_(m, m)] - slope @ sigma[c][np.ix_(o, m)])
            expected += r * at
            second += r * (left + at**2)
        np.testing.assert_allclose(
            ours[m], np.clip(expected, low[m], high[m]), rtol=1e-8, atol=1e-8
        )
        np.testing.assert_allclose(std[m], np.sqrt(second - expected**2), rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(std[o], 0.0)


@every_type
def test_draws_have_the_moments_that_are_claimed(kind):
    _, X, _ = two_groups(n=1000, apart=1.0)
    model = taught(kind, X, random_state=0)
    fitted, part = model.fitted, X[:40]
    block = Block.from_table(part)
    mean, variance = fitted.model.cells(block, fitted.parameters)
    random = np.random.RandomState(0)
    tables = np.array(fitted.model.fill(lambda f: f(block), fitted.parameters, 20_000, random))
    gaps = np.isnan(part)
    error = np.sqrt(variance[gaps] / len(tables))
    assert np.abs((tables.mean(axis=0) - mean)[gaps] / error).max() < 5
    squares = ((tables - mean) ** 2)[:, gaps]
    error = squares.std(axis=0) / np.sqrt(len(tables))
    assert np.abs((squares.mean(axis=0) - variance[gaps]) / error).max() < 5
    np.testing.assert_array_equal(tables[0][~gaps], part[~gaps])


@every_type
def test_rows_that_are_drawn_have_its_covariances(kind):
    model = taught(kind, two_groups(n=1000)[1], random_state=0)
    rows, labels = model.sample(40_000)
    for c, sigma in enumerate(covariances(model)):
        scale = np.sqrt(np.outer(np.diag(sigma), np.diag(sigma)))
        np.testing.assert_allclose(np.cov(rows[labels == c].T) / scale, sigma / scale, atol=0.05)
        np.testing.assert_allclose(rows[labels == c].mean(axis=0), model.means_[c], atol=0.1)


@every_type
@pytest.mark.parametrize("seed", range(8))
def test_the_penalised_likelihood_never_falls(kind, seed):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(20, 200)), int(rng.integers(2, 7)), int(rng.integers(2, 5))
    X = rng.standard_t(3, size=(n, d)) @ rng.normal(size=(d, d))
    if seed % 2:  # columns that are kept above a floor: two values, few, and many zeros
        X[:, 0], X[:, 1] = X[:, 0] > 0, np.clip(np.round(X[:, 1] / 2), -1, 1)
        X[:, -1] = np.where(rng.random(n) < 0.4, 0.0, X[:, -1])
    X[rng.random(X.shape) < rng.uniform(0, 0.6)] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    model, rows = adapted(kind, X)
    emission, steps = model.emission, ClassSteps(model.emission)
    variances = np.repeat(np.nanvar(X, axis=0)[None], k, axis=0)
    here = emission.em_start(
        emission.independent(np.full(k, 1 / k), rng.normal(size=(k, d)), variances)
    )
    heights = []
    for _ in range(200):
        sums = rows.accumulate(steps.expect(here))
        heights.append(sums.log_likelihood + steps.prior(here))
        here = steps.maximise(sums, here)
    assert np.diff(heights).min() > -1e-8 * np.abs(heights[0])


@full_types
def test_one_component_of_whole_rows_has_their_shrunken_covariance(kind):
    X, _, _ = two_groups(n=500, d=4)
    model = taught(kind, X, k=1, outliers=None, tol=0.0)
    n, (mean, variance) = len(X), (X.mean(axis=0), X.var(axis=0))
    np.testing.assert_allclose(model.means_[0], mean, rtol=1e-6, atol=1e-6)
    sigma = covariances(model)[0]
    sample = np.cov(X.T, ddof=0)
    # The pseudo-cells have the sample's own mean and variance, and pull at nothing but what they
    # do not tell: how columns go along with each other.
    scale = np.sqrt(np.outer(variance, variance))
    np.testing.assert_allclose(sigma / scale, sample / scale, atol=6 / n)
    assert (np.abs(np.linalg.eigvalsh(sigma)) > 0).all()


@every_type
def test_groups_are_found_again_with_their_correlations(kind):
    rng = np.random.default_rng(3)
    root = np.hstack([rng.normal(size=(6, 2)), 0.7 * np.eye(6)])
    labels = rng.integers(3, size=6000)
    centres = 3 * rng.normal(size=(3, 6))
    whole = centres[labels] + rng.normal(size=(6000, 8)) @ root.T
    X = np.where(rng.random(whole.shape) < 0.2, np.nan, whole)
    model = taught(kind, X, k=3)
    assert adjusted_rand_score(labels, model.predict(whole)) > 0.9
    truth = root @ root.T
    scale = np.sqrt(np.outer(np.diag(truth), np.diag(truth)))
    for sigma in covariances(model):
        np.testing.assert_allclose(sigma / scale, truth / scale, atol=0.15)


@full_types
def test_of_many_rows_some_lead_to_where_all_do_in_fewer_passes(kind, monkeypatch):
    X = two_groups(n=6000, apart=2.0)[1]
    seen, original = [], Correlated.run_em

    def run_em(self, rows, start, most, final_passes=0):
        found = original(self, rows, start, most, final_passes)
        seen.append((found.convergence.n_rows, found.convergence.n_iterations))
        return found

    monkeypatch.setattr(Correlated, "run_em", run_em)
    whole = taught(kind, X, tol=1e-6)
    n_whole = _passes_over_all(seen)
    monkeypatch.setattr(correlated, "PART", 700)
    by_part = taught(kind, X, tol=1e-6)
    assert 0 < _passes_over_all(seen) <= n_whole
    assert by_part.lower_bound_ == pytest.approx(whole.lower_bound_, abs=1e-4)


def _passes_over_all(seen):
    most = max(n for n, _ in seen)
    total = sum(passes for n, passes in seen if n == most)
    seen.clear()
    return total


@every_type
def test_its_file_gives_it_back_to_the_last_bit(kind, tmp_path):
    _, X, _ = two_groups(n=300)
    X = np.column_stack([X, np.full(len(X), 3.0)])
    with pytest.warns(match="left out"):
        model = taught(kind, X)
    model.save(tmp_path / "model.halfseen")
    again = load(tmp_path / "model.halfseen")
    assert np.array_equal(again.score_samples(X), model.score_samples(X))
    assert np.array_equal(again.impute(X), model.impute(X))
    assert np.array_equal(covariances(again), covariances(model))


@every_type
def test_batches_and_weights_give_what_one_table_gives(kind):
    _, X, _ = two_groups(n=900)
    whole = taught(kind, X)
    parts = taught(kind, [X[:7], X[7:500], X[500:]])
    np.testing.assert_allclose(covariances(parts), covariances(whole), rtol=1e-8, atol=1e-8)
    twice = taught(kind, X, weights=np.full(900, 2.0))
    repeated = taught(kind, np.vstack([X, X]))
    np.testing.assert_allclose(twice.means_, repeated.means_, rtol=1e-6, atol=1e-6)


@every_type
def test_cells_beyond_the_fences_say_nothing_of_their_row(kind):
    whole, X, _ = two_groups(n=1200, gaps=0.1)
    wild = X.copy()
    rng = np.random.default_rng(5)
    typos = rng.random(X.shape) < 0.005
    wild[typos & ~np.isnan(X)] *= 1000
    clean, model = taught(kind, X), taught(kind, wild)
    np.testing.assert_allclose(model.means_, clean.means_, atol=0.3)
    assert 0.001 < model.outlier_share_ < 0.02
    assert model.lower_bound_ == pytest.approx(model.score(wild), rel=1e-9)
    row = np.where(np.isnan(wild), whole, wild)[:1].copy()
    row[0, 0] = 1e9
    gap = np.where(np.arange(5) == 0, np.nan, row)
    np.testing.assert_allclose(model.predict_proba(row), model.predict_proba(gap))
    assert model.unusual(row) > 0.99
    assert "outlying_cells" in {concern.kind for concern in model.concerns(wild)}


@every_type
def test_what_is_counted_are_free_numbers(kind):
    _, X, _ = two_groups(n=300)
    d, k = X.shape[1], 2
    of_factors = k * d + 2 * d - 1  # spreads, and loadings of two factors that turn freely
    free = {"tied": d * (d + 1) // 2, "full": k * d * (d + 1) // 2, "factor": of_factors}
    model = taught(kind, X)
    n = (~np.isnan(X).all(axis=1)).sum()  # rows without any cell do not count
    assert model.bic(X) - model.aic(X) == pytest.approx(
        (k - 1 + k * d + free[kind]) * (np.log(n) - 2)
    )


@full_types
def test_scikit_learn_says_the_same(kind):
    whole, X, _ = two_groups(n=300)
    model = taught(kind, X, outliers=None)
    other = model.to_sklearn()
    assert other.covariance_type == kind
    np.testing.assert_allclose(other.score_samples(whole), model.score_samples(whole), rtol=1e-9)


@every_type
@pytest.mark.parametrize("n", [800, 5000])  # of more than some thousand a part is gone over
def test_intervals_are_as_wide_as_theory_has_it(kind, n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 1)) * [2, 1, 1, -1] + rng.normal(size=(n, 4))
    model = taught(kind, X, k=1, n_factors=1)
    found = model.intervals(X)
    np.testing.assert_allclose(found["means_"].std[0], np.sqrt(X.var(axis=0) / n), rtol=0.2)
    assert (found["means_"].low < model.means_).all()
    assert (found["means_"].high > model.means_).all()
    sigma = covariances(model)[0]
    if kind == "factor":
        error = sigma.diagonal() ** 0.5 / np.sqrt(2 * n)
        np.testing.assert_allclose(found["standard_deviations_"].std[0], error, rtol=0.3)
    else:
        error = np.sqrt((np.outer(sigma.diagonal(), sigma.diagonal()) + sigma**2) / n)
        own = found["covariances_"].std
        np.testing.assert_allclose(own if own.ndim == 2 else own[0], error, rtol=0.3)


@every_type
def test_intervals_of_groups_are_wider_than_if_these_were_known(kind):
    _, X, labels = two_groups(n=300, apart=2.0)
    model = taught(kind, X, random_state=0)
    found = model.intervals(X)
    assert set(found) >= {"weights_", "means_"}
    known = np.array([np.nanvar(X[labels == c], axis=0) / (labels == c).sum() for c in (0, 1)])
    assert (found["means_"].std.mean() > np.sqrt(known).mean()).all()


@every_type
def test_its_page_is_whole(kind, tmp_path):
    _, X, _ = two_groups(n=300)
    model = taught(kind, X)
    model.report(X, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "related to each other linearly" in page
    assert "Group 1" in page


def test_what_components_share_and_what_is_theirs_is_public():
    _, X, _ = two_groups(n=300)
    model = taught("factor", X)
    d, k, q = X.shape[1], 2, 2
    assert model.loadings_.shape == (k, d, q)
    assert model.noise_variances_.shape == (k, d)
    of_factors = np.sum(model.loadings_**2, axis=2) + model.noise_variances_
    np.testing.assert_allclose(of_factors, model.standard_deviations_**2)
    np.testing.assert_allclose(of_factors, np.diagonal(covariances(model), axis1=1, axis2=2))


def test_coordinates_of_covariances_lead_back():
    root = np.random.default_rng(0).normal(size=(3, 4, 4))
    sigma = root @ root.swapaxes(1, 2)
    np.testing.assert_allclose(from_coordinates(coordinates_of(sigma)), sigma, rtol=1e-10)


@full_types
def test_species_of_penguins_are_the_groups(kind):
    path = at_hand("tables/penguins.csv")
    import pyarrow.csv as csv

    table = csv.read_csv(path, convert_options=csv.ConvertOptions(null_values=["NA", ""]))
    columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    X = np.column_stack([table[name].to_numpy().astype(float) for name in columns])
    known = ~np.isnan(X).all(axis=1)
    model = taught(kind, X[known], k=3)
    species = np.array(table["species"].to_pylist())[known]
    assert adjusted_rand_score(species, model.predict(X[known])) >= 0.95


def drawn_as(kind, seed=0, n=1200, d=8):
    """Three groups with covariances of one kind, and gaps."""
    rng = np.random.default_rng(seed)
    labels, centres = rng.integers(3, size=n), 5 * rng.normal(size=(3, d))
    noise = rng.normal(size=(n, d))
    if kind == "diag":
        noise *= rng.uniform(0.4, 2, size=(3, d))[labels]
    elif kind == "tied":
        noise = noise @ rng.normal(size=(d, d))
    elif kind == "full":
        noise = np.einsum("nij,nj->ni", rng.normal(size=(3, d, d))[labels], noise)
    elif kind == "factor":
        noise += rng.normal(size=(n, 2)) @ rng.normal(size=(2, d))
        noise *= rng.uniform(0.4, 2, size=(3, d))[labels]
    return np.where(rng.random((n, d)) < 0.2, np.nan, centres[labels] + noise)


@pytest.mark.parametrize("kind", ["tied_diag", "diag", "factor", "tied", "full"])
def test_the_kind_of_covariance_is_found_and_the_reason_is_said(kind, tmp_path):
    X = drawn_as(kind, n=600, d=10 if kind == "factor" else 6)
    model = GaussianMixture(3, covariance_type="auto").fit(X)
    assert model.covariance_type_ == kind
    assert model.n_factors_ == (2 if kind == "factor" else None)
    assert f"covariance_type='{kind}'" in model.diagnostics_.covariance_reason
    model.save(tmp_path / "model.halfseen")
    again = load(tmp_path / "model.halfseen")
    assert again.covariance_type_ == kind
    assert np.array_equal(again.impute(X), model.impute(X))
    assert again.diagnostics_.covariance_reason == model.diagnostics_.covariance_reason


def test_a_number_of_factors_is_found():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 4)) @ rng.normal(size=(4, 15)) + rng.normal(size=(1500, 15))
    X[rng.random(X.shape) < 0.2] = np.nan
    model = GaussianMixture(1, covariance_type="factor", n_factors="auto").fit(X)
    assert model.n_factors_ == model.shared_loadings_.shape[1] == 4


def test_kind_and_number_of_components_are_found_together():
    model = GaussianMixture("auto", covariance_type="auto").fit(drawn_as("tied", n=600, d=4))
    assert (model.covariance_type_, model.n_components_) == ("tied", 3)
    assert model.diagnostics_.choice.n_components == 3


def test_columns_of_spikes_do_not_decide_the_kind():
    rng = np.random.default_rng(0)
    X = (rng.random((400, 4)) < 0.5).astype(float)
    model = GaussianMixture(2, covariance_type="auto").fit(X)
    assert model.covariance_type_ == "tied_diag"
    assert "columns of few values" in model.diagnostics_.covariance_reason


def test_another_fit_decides_anew():
    model = GaussianMixture(2, covariance_type="full").fit(two_groups(n=300)[1])
    model.set_params(covariance_type="diag").fit(two_groups(n=300)[1])
    assert model.covariance_type_ == "diag"
    assert model.covariances_.shape == (2, 5)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"covariance_type": "full", "refine": None}, "is learned by likelihood"),
        ({"covariance_type": "tied", "scale": "robust"}, "no use for scale"),
        ({"covariance_type": "factor", "n_factors": 0}, "'n_factors' parameter"),
        ({"covariance_type": "round"}, "'covariance_type' parameter"),
    ],
)
def test_parameters_that_cannot_be_right_are_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        GaussianMixture(2, **parameters).fit(two_groups(n=100)[1])


@every_type
def test_files_batches_and_workers_give_what_memory_gives(kind, tmp_path):
    dask = pytest.importorskip("dask.array")
    _, X, _ = two_groups(n=6000, d=4)
    X[:5, 0] = 1e4  # beyond the fences
    np.save(tmp_path / "table.npy", X)
    one = {"n_factors": 1}  # two of four columns are not identified
    whole = taught(kind, X, **one)
    others = [tmp_path / "table.npy", [X[:100], X[100:]], dask.from_array(X, chunks=(1700, 4))]
    for other in others:
        model = taught(kind, other, **one)
        assert model.lower_bound_ == pytest.approx(whole.lower_bound_, rel=1e-10)
        np.testing.assert_allclose(model.means_, whole.means_, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(covariances(model), covariances(whole), rtol=1e-9, atol=1e-9)


@every_type
def test_rows_that_are_filled_lazily_are_filled_alike(kind):
    dask = pytest.importorskip("dask.array")
    _, X, _ = two_groups(n=400, d=4)
    model = taught(kind, X)
    lazy = model.impute(dask.from_array(X, chunks=(150, 4)))
    np.testing.assert_allclose(lazy.compute(), model.impute(X), rtol=1e-10)


def test_means_of_many_components_stay_within_the_ranges_of_their_columns():
    path = at_hand("tables/support2.csv")
    import pyarrow.csv as csv

    table = csv.read_csv(path, convert_options=csv.ConvertOptions(null_values=["NA", ""]))
    columns = ["age", "meanbp", "wblc", "hrt", "resp", "temp", "pafi", "alb", "bili", "crea", "sod"]
    X = np.column_stack([table[name].to_numpy().astype(float) for name in columns])[:800]
    for kind in TYPES:
        model = taught(kind, X, k=8, tol=1e-5, max_iter=40)
        low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
        assert ((model.means_ >= low) & (model.means_ <= high)).all()
        assert model.lower_bound_ == pytest.approx(model.score(X), rel=1e-9)


@every_type
@pytest.mark.parametrize("outliers", ["auto", None])
def test_rows_out_of_all_reach_are_answered_with_numbers(kind, outliers):
    model = taught(kind, two_groups(n=200)[1], outliers=outliers, random_state=0)
    far = np.full((4, 5), np.nan)
    far[0, 0], far[1], far[2, :2], far[3, 4] = 1e300, -1e300, (1e15, -1e200), 1.7e308
    shares = model.predict_proba(far)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-9)
    assert np.isfinite(model.score_samples(far)).all()
    assert np.isfinite(model.impute(far)).all()
    assert model.unusual(far).min() > 0.5


@pytest.mark.parametrize("kind", ["auto", "factor"])
def test_what_is_chosen_does_not_depend_on_the_order_of_rows(kind):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 6)) @ rng.normal(size=(6, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    chosen = set()
    for seed in range(2):
        rows = X[np.random.default_rng(seed).permutation(len(X))]
        model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(rows)
        chosen.add((model.covariance_type_, model.n_factors_, model.lower_bound_))
    assert len(chosen) == 1


@every_type
@pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning")
def test_the_bound_is_the_mean_score_of_rows_that_hold_anything(kind):
    X = two_groups(n=60, gaps=0.7)[1]
    X[:, 4] = 5.0  # which is left out, so that some rows hold nothing
    model = taught(kind, X, random_state=0)
    something = ~np.isnan(X[:, :4]).all(axis=1)
    assert 0 < something.sum() < 60
    assert model.lower_bound_ == pytest.approx(model.score_samples(X)[something].mean(), abs=1e-9)


@pytest.mark.parametrize(("n", "k"), [(5, 4), (6, 3), (8, 5), (10, 4)])
@full_types
def test_fewer_rows_than_numbers_to_learn_are_no_reason_to_fail(kind, n, k):
    X = np.random.default_rng(5).normal(size=(n, 4))
    model = GaussianMixture(k, covariance_type=kind, outliers=None, random_state=0).fit(X)
    assert model.lower_bound_ == pytest.approx(model.score(X), abs=1e-9)
    assert np.linalg.eigvalsh(covariances(model)).min() > 0


def of_two_values(seed=0, n=600):
    """One group of rows whose columns go along with each other, two of them with two values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, 5))
    X[:, 3:] = rng.integers(2, size=(n, 2))
    return np.where(rng.random(X.shape) < 0.1, np.nan, X)


@every_type
def test_columns_of_two_values_make_no_groups(kind):
    X = of_two_values()
    bic = [taught(kind, X, k=k).bic(X) for k in (1, 2)]
    assert bic[0] < bic[1]
    without = [taught(kind, X, k=k, outliers=None).bic(X) for k in (1, 2)]
    assert without[1] < without[0]  # as a normal is as narrow as it likes there


@every_type
def test_no_cell_is_told_whole_by_the_others_of_its_row(kind):
    X = of_two_values()
    X = np.column_stack([X, 2 * X[:, 0]])
    model = taught(kind, X)
    for sigma in covariances(model):
        own = 1 / np.diag(np.linalg.inv(sigma))
        assert (own >= 0.99e-10 * np.nanvar(X, axis=0)).all()
        assert (own[3:5] >= 0.79 * np.nanvar(X[:, 3:5], axis=0)).all()


def test_what_goes_along_is_not_counted_as_groups():
    rng = np.random.default_rng(0)
    X = 2 * rng.normal(size=(800, 1)) + rng.normal(size=(800, 4))
    alone = GaussianMixture("auto", covariance_type="tied_diag", random_state=0).fit(X)
    assert alone.n_components_ == 1
    model = GaussianMixture("auto", covariance_type="auto", random_state=0).fit(X)
    assert (model.covariance_type_, model.n_components_) == ("tied", 1)
    reason = model.diagnostics_.covariance_reason
    assert reason.startswith("Within groups columns go along with each other, alike in all groups.")


def test_the_bound_is_the_mean_score_also_where_a_climb_ends_early_beyond_what_is_usual():
    far = [[0, 2526, 0], [74358, 0, 28], [0, 65780, 0], [44610, 12759, 31], [0, 100375, 0]]
    X, weight = np.array(far, dtype=float), np.array([1.0, 2.0, 2.0, 2.0, 1.0])
    model = GaussianMixture(
        2, covariance_type="factor", outliers=None, max_iter=200, random_state=0
    ).fit(X, sample_weight=weight)
    mean = weight @ model.score_samples(X) / weight.sum()
    assert model.lower_bound_ == pytest.approx(mean, rel=1e-9)


@every_type
def test_a_row_that_is_beyond_the_fences_as_a_whole_counts_as_one(kind):
    X = np.zeros((50, 2))
    X[0] = [1.0, 2.0]
    model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    assert model.lower_bound_ == pytest.approx(model.score_samples(X).mean(), rel=1e-10)
