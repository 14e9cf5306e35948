"""The laws of models: whatever is registered is put through them by being registered.

Every law is stated for a table that the model itself draws, from parameters that it learned from
a plain table of two groups of rows. Nothing here knows a model's name.
"""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from halfseen import Plan, choose_components, load, summed, together
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.precomputed import MoreSumsNeeded
from halfseen.data.rows import Block
from halfseen.diagnostics.concerns import Concern
from halfseen.estimators.docstrings import entries
from halfseen.federated.rounds import check_summable
from halfseen.inference.parameters import attributes, declared, parameters_of, reordered, select
from halfseen.models import MODELS

pytestmark = [
    pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning"),
    pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
every_model = pytest.mark.parametrize("name", MODELS)
OF_ROWS_ALONE = {"check_methods_sample_order_invariance", "check_methods_subset_invariance"}
"""Of scikit-learn's checks: what cannot be of rows that follow each other."""
OBSERVED = np.array([1.0, 1, 1, 1, 1, 0.6, 0.3])
K, N = 2, 4000


def plain_table(about):
    """Two groups of rows, far apart, or two loadings that add up: neither of them rare.

    Where rows follow each other the groups last for some of them.
    """
    rng = np.random.default_rng(0)
    centres = np.array([[2.0, 9, 4, 12, 3, 8, 5], [10, 3, 9, 2, 8, 2, 12]])
    if about.sequences:
        return rng.normal(centres[np.cumsum(rng.random(N) < 0.3) % 2])
    hidden = np.eye(2)[rng.integers(2, size=N)] if about.labels else rng.gamma(1.0, size=(N, 2))
    rates = hidden @ centres
    return rng.poisson(rates).astype(float) if about.counts else rng.normal(rates)


def with_gaps(X, seed=1):
    return np.where(np.random.default_rng(seed).random(X.shape) < OBSERVED, X, np.nan)


@pytest.fixture(scope="module")
def taught():
    """For each model: an estimator that learned, and a table with gaps drawn from that."""
    known = {}

    def teach(name):
        if name not in known:
            first = MODELS[name](K, random_state=0).fit(plain_table(MODELS[name].about))
            X, hidden = first.sample(N)
            known[name] = first, X, with_gaps(X), hidden
        return known[name]

    return teach


def fitted_to(name, X, **parameters):
    return MODELS[name](K, **parameters).fit(X)


def row_by_row(function, X):
    return np.concatenate([function(b) for b in MemoryRows(X, tuple("abcdefg")).blocks()])


@every_model
def test_it_keeps_scikit_learns_contract(name):
    results = check_estimator(MODELS[name](), on_fail=None)
    failed = {r["check_name"] for r in results if r["status"] in ("failed", "xfail")}
    assert failed == (OF_ROWS_ALONE if MODELS[name].about.sequences else set())


@every_model
def test_what_it_says_of_itself_is_whole(name):
    about, abilities = MODELS[name].about, MODELS[name]()._model().abilities
    assert about.name == name
    assert all(getattr(about, part.name) not in ("", None) for part in dataclasses.fields(about))
    assert about.assumes.endswith(".")
    assert isinstance(abilities.not_streamed, str)


@every_model
def test_what_it_takes_and_learns_is_documented(name, taught):
    model, docstring = taught(name)[0], MODELS[name].__doc__ + "\n"
    assert set(entries(docstring, "Parameters")) == set(model.get_params())
    learned = {attribute for attribute in vars(model) if attribute.endswith("_")}
    assert learned - set(entries(docstring, "Attributes")) == set()


@every_model
@pytest.mark.parametrize("d", range(7))
def test_draws_have_the_moments_that_it_claims(name, taught, d):
    """A column hidden from all rows has on average the mean and the variance expected of it."""
    model, X, _, _ = taught(name)
    fitted, part = model.fitted, X[:1000]
    gappy = np.where(np.arange(7) == d, np.nan, part)
    mean, variance = (
        column[:, d]
        for column in np.hsplit(
            row_by_row(lambda b: np.hstack(fitted.model.cells(b, fitted.parameters)), gappy), 2
        )
    )
    left = part[:, d] - mean
    assert abs(left.mean()) < 5 * left.std() / np.sqrt(len(part))
    surplus = left**2 - variance
    assert abs(surplus.mean()) < 5 * surplus.std() / np.sqrt(len(part))


@every_model
def test_a_row_of_gaps_alone_is_certain(name, taught):
    fitted = taught(name)[0].fitted
    nothing = Block.from_table(np.full((2, 7), np.nan))
    # Likelihoods that are sampled have an error of their own, which is small where all is known.
    assert np.abs(fitted.model.log_likelihood(nothing, fitted.parameters)).max() < 0.1


@every_model
def test_rows_of_gaps_alone_change_no_score_and_no_criterion(name, taught):
    model, _, X, _ = taught(name)
    gappy = X[:200]
    with_empty = np.vstack([gappy, np.full((50, 7), np.nan)])
    assert model.score(with_empty) == pytest.approx(model.score(gappy), abs=1e-9)
    if model.about.labels:
        assert model.bic(with_empty) == pytest.approx(model.bic(gappy), abs=1e-4)
        assert model.aic(with_empty) == pytest.approx(model.aic(gappy), abs=1e-4)


@every_model
def test_likelihoods_of_its_own_draws_are_higher_than_of_other_rows(name, taught):
    model, X, _, _ = taught(name)
    shuffled = np.column_stack([np.random.default_rng(d).permutation(X[:400, d]) for d in range(7)])
    assert model.score(X[:400]) > model.score(shuffled) + 0.1


@every_model
def test_missing_cells_are_as_the_observed_ones_of_their_row_say(name, taught):
    """What is expected given a row is unbiased, owes nothing to it, and is as sure as claimed."""
    model, whole, X, _ = taught(name)
    fitted = model.fitted
    mean, variance = np.hsplit(
        row_by_row(lambda b: np.hstack(fitted.model.cells(b, fitted.parameters)), X[:1500]), 2
    )
    for d in (5, 6):
        gap = np.isnan(X[:1500, d])
        left = (whole[:1500, d] - mean[:, d])[gap]
        assert abs(left.mean()) < 5 * left.std() / np.sqrt(gap.sum())
        for other in range(5):
            correlation = np.corrcoef(left, X[:1500, other][gap])[0, 1]
            assert abs(correlation) < 5 / np.sqrt(gap.sum())
        ratio = left**2 - variance[gap, d]
        assert abs(ratio.mean()) < 5 * ratio.std() / np.sqrt(gap.sum())


@every_model
def test_filled_tables_keep_what_is_observed_and_draws_scatter_as_claimed(name, taught):
    model, _, X, _ = taught(name)
    part, gaps = X[:300], np.isnan(X[:300])
    filled, spread = model.impute(part, return_std=True)
    draws = np.array(model.impute(part, draws=40))
    for table in (filled, *draws):
        assert np.array_equal(table[~gaps], part[~gaps])
    assert not np.isnan(draws).any()
    away = (draws.mean(axis=0) - filled)[gaps] / (spread[gaps] / np.sqrt(40))
    assert abs(away.mean()) < 5 / np.sqrt(gaps.sum()) + 0.05
    assert away.std() < 1.3


@every_model
def test_the_components_of_its_own_draws_are_found_again(name, taught):
    model, _, X, _ = taught(name)
    fitted, again = model.fitted, fitted_to(name, X).fitted
    home = again.model.places(fitted.parameters, fitted.parameters)
    found = again.model.places(again.parameters, fitted.parameters)
    order = np.argmin(((home[:, None] - found[None]) ** 2).sum(axis=2), axis=1)
    scale = np.abs(home).max()
    assert np.abs(found[order] - home).max() < 0.15 * scale


@every_model
def test_refinement_never_lowers_the_likelihood_from_one_pass_to_the_next(name, taught):
    _, _, X, _ = taught(name)
    if not hasattr(MODELS[name](), "max_iter"):
        pytest.skip("it is not refined by expectation-maximisation")
    heights = []
    for passes in range(1, 8):
        # With outliers there is a prior, and only the sum of both never falls.
        settings = {"max_iter": passes, "tol": 0.0, "outliers": None, "random_state": 0}
        heights.append(fitted_to(name, X[:800], **settings).lower_bound_)
    assert np.all(np.diff(heights) >= -1e-12)


@every_model
@pytest.mark.parametrize("refined", [False, True])
def test_batches_of_any_size_give_what_one_table_gives(name, taught, refined):
    _, _, X, _ = taught(name)
    refine = MODELS[name].refinements[0] if refined and MODELS[name].about.labels else None
    whole = fitted_to(name, X[:1200], refine=refine)
    parts = fitted_to(name, [X[:7], X[7:800], X[800:1200]], refine=refine)
    for one in declared(whole.Parameters):
        np.testing.assert_allclose(
            getattr(parts, one.name), getattr(whole, one.name), rtol=1e-9, atol=1e-9
        )


@every_model
def test_several_tables_give_what_one_with_gaps_gives(name, taught):
    frame = pd.DataFrame(taught(name)[2][:600], columns=list("abcdefg"))
    parts = frame[:250].drop(columns="f"), frame[250:].drop(columns="g")
    stacked = pd.concat(parts, ignore_index=True)
    by_hand = fitted_to(name, stacked, random_state=0, refine=None)
    X = together(*parts)
    both = fitted_to(name, X, random_state=0, refine=None)
    assert list(both.feature_names_in_) == list(stacked.columns)
    for one in declared(both.learns(vars(both))):
        ours, theirs = getattr(both, one.name), getattr(by_hand, one.name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(both.hidden(X), by_hand.hidden(stacked), rtol=1e-10, atol=1e-12)


@every_model
def test_a_weight_of_two_is_a_row_twice(name, taught):
    _, _, X, _ = taught(name)
    if MODELS[name].about.sequences:
        pytest.skip("rows that follow each other have no weights")
    X, weights = X[:1000], np.random.default_rng(0).integers(0, 3, size=1000).astype(float)
    weighed = MODELS[name](K, refine=None).fit(X, sample_weight=weights)
    repeated = MODELS[name](K, refine=None).fit(np.repeat(X, weights.astype(int), axis=0))
    for one in declared(weighed.Parameters):
        np.testing.assert_allclose(
            getattr(weighed, one.name), getattr(repeated, one.name), rtol=1e-6, atol=1e-9
        )


@every_model
def test_the_order_of_few_rows_changes_no_bit(name, taught):
    _, _, X, _ = taught(name)
    if MODELS[name].about.sequences:
        pytest.skip("the order of rows is what is learned")
    X, order = X[:400], np.random.default_rng(0).permutation(400)
    one, other = (MODELS[name](K, refine=None, random_state=0).fit(part) for part in (X, X[order]))
    for field in declared(one.Parameters):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))


@every_model
def test_the_order_of_columns_does_not_matter(name, taught):
    _, _, X, _ = taught(name)
    order = np.array([3, 0, 6, 1, 5, 2, 4])
    one, other = fitted_to(name, X), fitted_to(name, X[:, order])
    ours = one._model().places(one.fitted.parameters, one.fitted.parameters)[:, order]
    theirs = other._model().places(other.fitted.parameters, other.fitted.parameters)
    match = np.argmin(((ours[:, None] - theirs[None]) ** 2).sum(axis=2), axis=1)
    np.testing.assert_allclose(theirs[match], ours, rtol=1e-4, atol=1e-4 * np.abs(ours).max())


MEASURED = {"gaussian": {"covariance_type": "diag"}, "classes": {}, "markov": {}}
"""Models of measurements, which have units; those of counts have none."""


@pytest.mark.parametrize("name", MEASURED)
def test_the_units_of_columns_do_not_matter(name, taught):
    _, _, X, _ = taught(name)
    X, units = X[:600], np.array([1.0, 10.0, 0.01, 1.0, 1e3, 1.0, 0.3])
    one, other = (
        fitted_to(name, part, random_state=0, **MEASURED[name]) for part in (X, X * units)
    )
    np.testing.assert_allclose(other.hidden(X * units), one.hidden(X), atol=1e-5)
    cells = (~np.isnan(X)).sum(axis=0)
    ours, theirs = one.score(X) * len(X), other.score(X * units) * len(X)
    assert theirs == pytest.approx(ours - cells @ np.log(units), rel=1e-6)


@every_model
def test_fewer_features_and_other_orders_of_components_are_the_same_model(name, taught):
    fitted = taught(name)[0].fitted
    features = np.array([True, False, True, True, False, True, True])
    part = select(fitted.parameters, features)
    X = taught(name)[2][:50]
    hidden = np.where(features, X, np.nan)
    np.testing.assert_allclose(
        fitted.model.expected_latent(Block.from_table(X[:, features]), part),
        fitted.model.expected_latent(Block.from_table(hidden), fitted.parameters),
        rtol=1e-6,
        atol=1e-9,
    )
    turned = reordered(fitted.parameters, [1, 0])
    np.testing.assert_allclose(
        fitted.model.expected_latent(Block.from_table(X), turned),
        fitted.model.expected_latent(Block.from_table(X), fitted.parameters)[:, ::-1],
        rtol=1e-6,
        atol=1e-9,
    )


@every_model
def test_learned_attributes_are_the_parameters_under_public_names(name, taught):
    model = taught(name)[0]
    fitted, axes = model.fitted, model._model().axes
    values = attributes(fitted.parameters, fitted.kept, fitted.constants, axes)
    again = parameters_of(model.Parameters, values, fitted.kept, K, axes)
    for one in declared(model.Parameters):
        np.testing.assert_array_equal(values[one.name], getattr(model, one.name))
        np.testing.assert_array_equal(
            getattr(again, one.field), getattr(fitted.parameters, one.field)
        )


@every_model
def test_its_file_gives_it_back_to_the_last_bit(name, taught, tmp_path):
    model, _, X, _ = taught(name)
    model.save(tmp_path / "model.halfseen")
    again = load(tmp_path / "model.halfseen")
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert np.array_equal(again.score_samples(X[:50]), model.score_samples(X[:50]))
    assert np.array_equal(again.impute(X[:50]), model.impute(X[:50]))


@every_model
def test_intervals_are_shaped_like_what_was_learned_and_hold_it(name, taught):
    _, _, X, _ = taught(name)
    for refine in (None, *MODELS[name].refinements):
        options = {"n_sweeps": 5} if hasattr(MODELS[name](), "n_sweeps") else {}
        model = fitted_to(name, X[:1500], refine=refine, **options)
        if model._model().abilities.no_intervals:
            with pytest.raises(ValueError, match=re.escape(model._model().abilities.no_intervals)):
                model.intervals(X[:1500])
            continue
        for attribute, found in model.intervals(X[:1500], n_replicates=50).items():
            value = np.asarray(getattr(model, attribute))
            assert found.low.shape == found.high.shape == value.shape
            known = np.isfinite(value)  # what other columns do not have is NaN for them
            assert known.any()
            assert np.all(found.low[known] <= value[known] + 1e-12)
            assert np.all(value[known] <= found.high[known] + 1e-12)
            assert np.isfinite(found.std[known]).all()


@every_model
def test_the_number_of_components_of_its_own_draws_is_found(name, taught):
    _, _, X, _ = taught(name)
    choice = choose_components(X, name, max_components=5)
    assert choice.n_components == K
    assert str(K) in choice.reason


@every_model
def test_rows_that_come_once_are_enough_or_it_says_why_not(name, taught):
    _, _, X, _ = taught(name)
    estimator = MODELS[name](K, incomplete_features="divide", refine=None)
    if estimator._model().abilities.not_streamed:
        assert not hasattr(estimator, "partial_fit")
        return
    whole = clone(estimator).fit(X)
    for batch in np.array_split(X, 3):
        estimator.partial_fit(batch)
    ours, theirs = (
        e._model().places(e.fitted.parameters, whole.fitted.parameters) for e in (estimator, whole)
    )
    apart = np.abs(np.sort(ours, axis=0) - np.sort(theirs, axis=0))
    assert apart.max() < 0.15 * np.abs(theirs).max()


def learned_from_sums(estimator, plan, parts):
    """The model that sums of parts of a table lead to, in as many rounds as it asks for."""
    at = None
    while True:
        at = sum((summed(part, plan, at=at) for part in parts[1:]), summed(parts[0], plan, at=at))
        try:
            return clone(estimator).fit(at)
        except MoreSumsNeeded:
            continue


@every_model
def test_sums_of_rows_that_are_elsewhere_are_enough_or_it_says_why_not(name, taught):
    _, _, X, _ = taught(name)
    estimator, parts = MODELS[name](K), (X[: N // 3], X[N // 3 :])
    about, reason = estimator.about, estimator._model().abilities.not_streamed
    plan = Plan.of(X, MODELS[name](K)) if not about.sequences else None
    if about.sequences or (reason and not about.labels):
        with pytest.raises(ValueError, match=r"Use fit\(\)"):
            check_summable(estimator)
        return
    model = learned_from_sums(estimator, plan, parts)
    if not about.labels:
        own = {"incomplete_features": "divide", "refine": None, "outliers": None}
        whole = MODELS[name](K, third_moment="explicit", **own).fit(X)
        ours, theirs = (e._model().shares(e.fitted.parameters) for e in (model, whole))
        np.testing.assert_allclose(ours, theirs, rtol=1e-8)
        return
    after = clone(estimator).fit(
        summed(parts[0], plan, at=model) + summed(parts[1], plan, at=model)
    )
    assert after.lower_bound_ == pytest.approx(model.score(X), abs=1e-7)
    assert after.score(X) >= model.score(X) - 1e-9


@every_model
def test_its_own_draws_raise_no_concern(name, taught):
    _, _, X, _ = taught(name)
    assert fitted_to(name, X).concerns(X) == []


@every_model
def test_one_component_too_many_is_a_concern(name, taught):
    _, _, X, _ = taught(name)
    concerns = MODELS[name](K + 2).fit(X).concerns(X)
    assert "too_many_components" in {concern.kind for concern in concerns}
    assert all(isinstance(concern, Concern) for concern in concerns)


@every_model
def test_its_page_has_no_empty_section_and_uses_its_words(name, taught, tmp_path):
    _, _, X, _ = taught(name)
    model = fitted_to(name, X[:1000])
    model.report(X[:1000], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    sections = re.findall(r"<section[^>]*>(.*?)</section>", page, flags=re.DOTALL)
    assert len(sections) >= 6
    for section in sections:
        assert len(re.sub(r"<[^>]+>|\s", "", section)) > 40
    assert f"{model.about.noun} 1" in page.lower()
    assert model.about.assumes in page


@every_model
def test_what_is_hidden_is_a_law_over_components_or_loadings(name, taught):
    model, _, X, _ = taught(name)
    fitted = model.fitted
    hidden = fitted.model.expected_latent(Block.from_table(X[:100]), fitted.parameters)
    assert hidden.shape == (100, K)
    assert (hidden >= 0).all()
    shares = fitted.model.shares(fitted.parameters)
    assert shares.sum() == pytest.approx(1)
    if model.about.labels:
        np.testing.assert_allclose(hidden.sum(axis=1), 1)
        assert np.array_equal(model.predict(X[:100]), hidden.argmax(axis=1))
        observed = stats.chisquare(np.bincount(model.predict(X), minlength=K), N * shares)
        assert observed.pvalue > 1e-6
