"""How many components: the choice, what it is told from, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from halfseen import (
    Choice,
    DataError,
    GammaPoisson,
    GaussianMixture,
    LatentClass,
    ObservedBlocks,
    choose_components,
    load,
    simulate,
)
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block
from halfseen.diagnostics import number_of_components as choosing
from halfseen.diagnostics.choice import HeldOut, RankTest, TriedNumber
from halfseen.diagnostics.cross_validation import CrossScores, cross_scores
from halfseen.estimators.serialisation import RECORDS
from halfseen.inference.plan import Settings
from halfseen.models import MODELS
from halfseen.moments.survey import survey
from halfseen.persistence.encoding import decode

D = 6
GAPS = [1.0, 1.0, 1.0, 1.0, 0.7, 0.4]


def mixture(k=3, n=1000, observed=GAPS, seed=0, d=D):
    rng = np.random.default_rng(seed)
    X, _ = simulate.gaussian_mixture(n, np.full(k, 1 / k), 5 * np.eye(d)[:k], 1.0, rng)
    return simulate.independent_gaps(X, observed, rng)


def topics(k=2, n=1000, observed=GAPS, seed=0, d=D):
    rng = np.random.default_rng(seed)
    shares = np.full((k, d), 0.02) + np.eye(k)[np.arange(d) % k].T
    shares /= shares.sum(axis=1, keepdims=True)
    X, _ = simulate.gamma_poisson(n, shares, np.ones(k), 0.05, rng)
    return simulate.independent_gaps(X, observed, rng)


@pytest.fixture(autouse=True)
def _few_rows_are_scored(monkeypatch):
    monkeypatch.setattr("halfseen.models.gamma_poisson.MOST_SCORED", 90)


N = 500
"""Rows of tables whose choice is compared with another."""


@pytest.fixture(scope="module")
def chosen():
    return choose_components(mixture(n=N))


@pytest.mark.parametrize("k", [1, 2, 3, 4, 8])
def test_clear_groups_are_counted(k):
    d = max(D, k)
    choice = choose_components(mixture(k, observed=[1.0] * d, d=d), "gaussian")
    assert choice.n_components == k
    assert choice.case == ("clear groups" if k > 1 else "one cloud")
    assert choice.runner_up != k
    numbers = [one.n_components for one in choice.tried]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {k, choice.runner_up} <= set(numbers)


def test_gaps_leave_groups_countable():
    assert choose_components(mixture(3), "gaussian").n_components == 3


def test_the_table_of_numbers_holds_together(chosen):
    for one in chosen.tried:
        assert one.aic == pytest.approx(-2 * one.log_likelihood + 2 * one.n_parameters)
        assert one.bic == pytest.approx(-2 * one.log_likelihood + one.n_parameters * np.log(N))
        assert one.icl == pytest.approx(one.bic + 2 * N * one.entropy)
        assert 0 < one.smallest <= 1
        assert one.held_out_error > 0
        assert (one.stability is None) == (one.n_components == 1)
    assert [row["n_components"] for row in chosen.table()] == [
        one.n_components for one in chosen.tried
    ]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_clear_topics_are_counted(k):
    assert choose_components(topics(k), "gamma-poisson").n_components == k


def test_the_choice_says_why(chosen):
    assert isinstance(chosen, Choice)
    assert chosen.reason.startswith(
        "3 clear groups: held-out rows are more likely under them than under the best single "
        "cloud ("
    )
    assert chosen.reason.endswith(
        f" a row, and rows are fewer between each two of them. Runner-up: {chosen.runner_up}."
    )


def test_the_same_table_gives_the_same_choice(chosen):
    assert choose_components(mixture(n=N)) == chosen


def test_a_name_stands_for_the_estimator_with_its_defaults(chosen):
    assert choose_components(mixture(n=N), GaussianMixture(7)) == chosen


def test_the_users_estimator_is_not_altered():
    estimator, X = GaussianMixture(2, method="partial"), mixture(n=300)
    before = pickle.dumps(estimator)
    choose_components(X, estimator, max_components=3)
    assert pickle.dumps(estimator) == before
    fitted = GaussianMixture(2).fit(X)
    before = pickle.dumps(fitted)
    assert choose_components(X, fitted).n_components == 3
    assert pickle.dumps(fitted) == before


@pytest.mark.parametrize("model", ["kmeans", "Gaussian", ""])
def test_an_unknown_name_is_refused(model):
    names = " or ".join(f"'{name}'" for name in MODELS)
    message = rf"^model must be {names}, or an estimator\. Got '{model}' instead\.$"
    with pytest.raises(ValueError, match=message):
        choose_components(mixture(), model)


def test_a_table_in_the_place_of_the_model_is_told_by_its_kind():
    said = r"or an estimator\. Got a ndarray instead\. The table comes before it\.$"
    with pytest.raises(TypeError, match=said):
        choose_components(GaussianMixture(2), np.zeros((3, 2)))


@pytest.mark.parametrize("most", [0, -1, 2.5, "3", True, None])
def test_a_most_that_is_none_is_refused(most):
    message = r"^max_components must be an int of at least 1\. Got .* instead\.$"
    with pytest.raises(ValueError, match=message):
        choose_components(mixture(), max_components=most)


def test_no_more_than_the_most_are_tried():
    rng = np.random.default_rng(0)
    means = np.array([[0, 0, 0, 0], [20, 0, 0, 0], [20, 3, 0, 0.0]])
    X, _ = simulate.gaussian_mixture(1000, [0.5, 0.25, 0.25], means, 1.0, rng)
    choice = choose_components(X, max_components=2)
    assert choice.n_components == 2
    assert [one.n_components for one in choice.tried] == [1, 2]


def test_settings_that_do_not_go_together_are_refused():
    with pytest.raises(ValueError, match="covariance_type='diag' is learned by likelihood"):
        choose_components(mixture(), GaussianMixture(covariance_type="diag", refine=None))


def test_the_order_of_features_does_not_matter(chosen):
    other = choose_components(mixture(n=N)[:, ::-1])
    assert other.n_components == chosen.n_components
    for ours, theirs in zip(other.tried, chosen.tried, strict=True):
        assert ours.log_likelihood == pytest.approx(theirs.log_likelihood, rel=1e-9)


def test_units_do_not_matter(chosen):
    other = choose_components(mixture(n=N) * [1, 10, 0.01, 1e3, 1, 5] - 7)
    assert (other.n_components, other.case) == (chosen.n_components, chosen.case)


# Tables of every kind.


@pytest.mark.parametrize(
    ("model", "kept_as"),
    [("gaussian", np.asarray), ("gamma-poisson", np.asarray), ("gamma-poisson", csr_array)],
)
def test_the_order_of_rows_does_not_matter_to_the_last_bit(model, kept_as):
    rng = np.random.default_rng(7)
    rates = rng.gamma(1.0, 4.0, (90, 3)) @ rng.dirichlet(np.full(6, 0.5), 3)
    X = rng.poisson(rates).astype(float)
    ours, theirs = (choose_components(kept_as(one), model) for one in (X, X[::-1]))
    assert ours == theirs


def test_a_frame_a_file_and_batches_give_the_choice_of_their_rows(chosen, tmp_path):
    X = mixture(n=N)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.to_parquet(tmp_path / "data.parquet")
    for given in (frame, tmp_path / "data.parquet", [X[:300], X[300:]]):
        found = choose_components(given)
        assert found == chosen


def test_a_sparse_table_gives_the_choice_of_the_filled_one():
    X = topics()
    ours, theirs = (choose_components(x, "gamma-poisson") for x in (csr_array(X), X))
    assert ours.n_components == theirs.n_components == 2
    for one, other in zip(ours.tests, theirs.tests, strict=True):
        assert one.eigenvalue == pytest.approx(other.eigenvalue, rel=1e-9)


def test_blocks_not_observed_are_gaps():
    X, blocks = topics(observed=[1.0] * D), np.array([0, 0, 0, 0, 1, 1])
    has = np.column_stack([np.ones(1000, bool), np.arange(1000) % 3 > 0])
    counts = csr_array(np.where(has[:, blocks], X, 0.0))
    ours = choose_components(counts, "gamma-poisson", observed=ObservedBlocks(blocks, has))
    theirs = choose_components(np.where(has[:, blocks], X, np.nan), "gamma-poisson")
    assert ours.n_components == theirs.n_components == 2
    assert ours.tests[-1].eigenvalue == pytest.approx(theirs.tests[-1].eigenvalue, rel=1e-9)


@pytest.mark.parametrize("as_table", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_wide_tables_are_chosen_for_by_the_features_that_say_most(as_table, monkeypatch):
    assert choosing.MOST_FEATURES == 128
    widths = []
    tests = choosing.rank_tests
    monkeypatch.setattr(
        choosing,
        "rank_tests",
        lambda sums, model, complete, *rest: (
            widths.append(len(complete)) or tests(sums, model, complete, *rest)
        ),
    )
    monkeypatch.setattr(choosing, "MOST_FEATURES", 20)
    X = topics(2, 800, [1.0] * 30, d=30)
    choice = choose_components(as_table(X), "gamma-poisson", max_components=4)
    assert widths == [20]
    assert choice.n_components == 2


def test_features_that_say_most_are_often_observed_and_vary_much():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)) * [1.0, 3.0, 3.0, 9.0]
    X[rng.random(400) < 0.8, 2] = np.nan
    rows = MemoryRows(X, tuple("abcd"))
    seen = survey(rows, 0.95)
    features = np.array([True, True, True, False])
    for most, expected in [(1, [0, 1, 0, 0]), (2, [0, 1, 1, 0]), (3, [1, 1, 1, 0])]:
        found = choosing.telling_features(rows, seen, features, most)
        np.testing.assert_array_equal(found, np.array(expected, bool))


def test_of_wide_tables_the_columns_that_go_along_most_are_compared():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 60))
    X[:, 20:] += 3 * rng.integers(2, size=(400, 1))
    columns = choosing._most_related(X)
    assert len(columns) == choosing.MOST_COMPARED_COLUMNS
    assert columns.min() >= 20
    assert choose_components(X, max_components=3).n_components == 2
    np.testing.assert_array_equal(choosing._most_related(X[:, :5]), np.arange(5))


def test_two_features_can_tell_two_groups_apart():
    X = mixture(2, observed=[1.0, 1.0], d=2)
    assert choose_components(X).n_components == 2


@pytest.mark.parametrize("estimator", [GammaPoisson()], ids=["topics"])
def test_one_feature_cannot_tell_topics_apart(estimator):
    counts = np.random.default_rng(2).poisson(5.0, (100, 1)).astype(float)
    choice = choose_components(counts, estimator)
    assert choice.n_components == 1
    assert choice.reason == "1 component: a single feature cannot tell more of them apart."


@pytest.mark.parametrize("n", [3, 5, 11])
def test_few_rows_are_one_component(n):
    choice = choose_components(mixture(2, n, [1.0] * D))
    assert choice.n_components == 1
    assert choice.reason == (f"1 group: {n} rows are too few to tell groups from a single cloud.")


def test_complete_features_alone_are_used_by_the_partial_method():
    X = mixture(3, n=N)
    X[:, 5] = np.where(np.isnan(X[:, 5]), np.nan, 50 * np.sign(X[:, 5]))  # groups of its own
    ours = choose_components(X, GaussianMixture(method="partial"))
    alone = choose_components(X[:, :4], GaussianMixture(method="partial"))
    assert ours == alone
    assert choose_components(X, GaussianMixture()) != ours


def test_partial_without_complete_features_is_refused():
    X = mixture(observed=[0.5] * D)
    with pytest.raises(DataError, match="uses complete features only, but none is observed in at"):
        choose_components(X, GaussianMixture(method="partial"))


def test_features_never_seen_together_do_not_keep_groups_from_being_counted():
    X = mixture(observed=[1.0] * D)
    X[:700, 0] = np.nan
    X[700:, 1] = np.nan
    assert choose_components(X).n_components == 3


def never_fitted(k, beside):
    raise DataError("so it is.")


def test_the_covariance_asked_for_does_not_change_how_many_groups_there_are():
    X = mixture(3, n=300)
    ours = choose_components(X, GaussianMixture(covariance_type="diag"))
    assert ours == choose_components(X, GaussianMixture(covariance_type="full"))


def test_halves_that_cannot_be_fitted_at_all_are_one_component():
    choice = choosing.decided(never_fitted, lambda k: 1.0, 600.0, 5, "group")
    assert choice == Choice(
        1, (), (), "1 component: more could not be compared on held-out rows: so it is."
    )


# Rows that depend on each other.


def test_groups_keep_dependent_rows_from_looking_like_components():
    rng = np.random.default_rng(3)
    patients = rng.normal(size=(60, 8))
    X = np.repeat(patients, 8, axis=0)  # 8 copies of 60 rows of pure noise
    groups = np.repeat(np.arange(60), 8)
    assert choose_components(X).n_components > 1
    assert choose_components(X, groups=groups).n_components == 1


def test_few_groups_of_one_row_each_are_rows():
    X = mixture(2, 200)
    X[:, 4:] = mixture(2, 200, [1.0] * D)[:, 4:]
    as_groups, as_rows = choose_components(X, groups=np.arange(200)), choose_components(X)
    assert (as_groups.n_components, as_groups.case) == (as_rows.n_components, as_rows.case)


def test_groups_are_checked():
    with pytest.raises(ValueError, match="groups must hold one label a row, 1000 in all"):
        choose_components(mixture(), groups=[1, 2])


# n_components="auto"


AUTO = {
    "mixture": (GaussianMixture("auto", random_state=0), mixture),
    "topics": (GammaPoisson("auto"), topics),
}
every_auto = pytest.mark.parametrize(("estimator", "draw"), AUTO.values(), ids=AUTO)


@every_auto
def test_auto_is_a_fit_with_the_chosen_number(estimator, draw):
    X = draw(n=600)
    model = clone(estimator).fit(X)
    choice = model.diagnostics_.choice
    assert choice == choose_components(X, estimator)
    assert model.n_components == "auto"
    assert model.n_components_ == choice.n_components == (3 if draw is mixture else 2)
    assert "number of components" in model.diagnostics_.seconds
    plain = clone(estimator).set_params(n_components=choice.n_components).fit(X)
    assert plain.diagnostics_.choice is None
    learned = "means_" if draw is mixture else "components_"
    np.testing.assert_array_equal(getattr(model, learned), getattr(plain, learned))


@every_auto
def test_auto_models_are_cloned_pickled_and_kept_in_files(estimator, draw, tmp_path):
    X = draw(n=600)
    model = clone(estimator).fit(X)
    assert clone(model).get_params() == estimator.get_params()
    again = pickle.loads(pickle.dumps(model))
    model.save(tmp_path / "model.halfseen")
    loaded = load(tmp_path / "model.halfseen")
    for other in (again, loaded):
        assert other.n_components == "auto"
        assert other.n_components_ == model.n_components_
        assert other.diagnostics_.choice == model.diagnostics_.choice
        found = other.diagnostics_.choice
        assert isinstance((found.tests or found.tried)[0], RankTest | TriedNumber)
    assert set(model.intervals(X, n_replicates=50)) == set(loaded.intervals(X, n_replicates=50))


@every_auto
def test_auto_takes_weights_as_repeated_rows(estimator, draw):
    X = draw(n=600)
    weights = np.arange(600) % 3.0
    ours = clone(estimator).fit(X, sample_weight=weights).diagnostics_.choice
    there = weights > 0
    theirs = clone(estimator).fit(X[there], sample_weight=weights[there]).diagnostics_.choice
    assert ours == theirs


@every_auto
def test_a_stream_has_to_know_its_number(estimator, draw):
    message = (
        r"n_components='auto' goes over the rows again, and those of a stream are gone\. Choose "
        r"with halfseen\.choose_components\(\) on some rows, or use fit\(\)\."
    )
    with pytest.raises(ValueError, match=message):
        clone(estimator).partial_fit(draw(n=100))


@pytest.mark.parametrize("value", ["Auto", 0, 1.5, None, True])
def test_anything_else_that_is_no_number_is_refused(value):
    message = r"'n_components' parameter of GaussianMixture must be an int of at least 1, or 'auto'"
    with pytest.raises(ValueError, match=message):
        GaussianMixture(value).fit(mixture(n=50))


# How fits are compared.


def test_the_gain_and_its_error_are_those_of_a_ratio_of_means_over_bins():
    rng = np.random.default_rng(4)
    n_rows, total = rng.integers(1, 9, 50).astype(float), rng.normal(size=(50, 2))
    scores = CrossScores(n_rows, total)
    gains = total[:, 1] - total[:, 0]
    gain, error = scores.gain(1, 0)
    assert gain == pytest.approx(gains.sum() / n_rows.sum())
    draws = rng.multinomial(50, np.full(50, 0.02), size=20_000)
    drawn = (draws @ gains) / (draws @ n_rows)
    assert error == pytest.approx(drawn.std(), rel=0.06)
    assert scores.mean(0) == pytest.approx(total[:, 0].sum() / n_rows.sum())
    assert scores.gain(0, 0) == (0.0, 0.0)


def test_bins_without_rows_say_nothing():
    n_rows, total = np.array([3.0, 2.0, 4.0]), np.array([[1.0, 2.0], [0.5, 0.0], [2.0, 2.5]])
    padded = CrossScores(np.r_[n_rows, 0, 0], np.vstack([total, np.zeros((2, 2))]))
    assert padded.gain(1, 0) == pytest.approx(CrossScores(n_rows, total).gain(1, 0))


def test_held_out_rows_are_scored_by_models_that_never_saw_their_bin():
    X, bins, estimator = mixture(2, 300, [1.0] * D), Bins(30), GaussianMixture(2)
    settings, model = Settings.of(estimator), estimator._model()
    rows, learned_from = MemoryRows(X, tuple("abcdef")), []

    def fitting(part, seen):
        learned_from.append(part.accumulate(lambda block: block.values.sum(axis=0)))
        return choosing.fit_rows(settings, model, part, seen, 2, choosing.Stages())

    found = cross_scores(settings.complete_above, rows, model, bins, [fitting])
    label = bins.of(Block.from_table(X))
    fold = label % 3
    expected = np.zeros(30)
    for number in range(3):
        train, test = X[fold != number], X[fold == number]
        assert any(np.allclose(train.sum(axis=0), sums) for sums in learned_from)
        parameters = GaussianMixture(2).fit(train).fitted.parameters
        scores = model.log_likelihood(Block.from_table(test), parameters)
        np.add.at(expected, label[fold == number], scores)
    np.testing.assert_array_equal(found.n_rows, np.bincount(label, minlength=30))
    np.testing.assert_allclose(found.total[:, 0], expected, rtol=1e-9)


def test_only_a_clear_gain_moves_the_choice():
    tests = (RankTest(1, 5.0, 1.0, 0.0025), RankTest(2, 0.5, 1.0, 0.3))
    held = (HeldOut(1, -3.0, -1.0, 0.1), HeldOut(2, -2.0, 0.0, 0.0), HeldOut(3, -1.9, 0.19, 0.1))
    assert choosing.moved(tests, held) == 2
    assert choosing.moved(tests, [*held[:2], HeldOut(3, -1.8, 0.21, 0.1)]) == 3


@pytest.mark.parametrize(("eigenvalue", "expected"), [(1.24, 1), (1.26, 2)])
def test_held_out_rows_do_not_overrule_an_eigenvalue_far_above_the_noise(eigenvalue, expected):
    tests = (RankTest(1, eigenvalue, 1.0, 0.0025), RankTest(2, 0.5, 1.0, 0.3))
    held = (HeldOut(1, -1.0, 1.0, 0.1), HeldOut(2, -2.0, 0.0, 0.0), HeldOut(3, -2.5, -0.5, 0.1))
    assert choosing.moved(tests, held) == expected


# Where the second moments are not to be followed.


def test_uneven_noise_is_not_counted_as_components():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1500, 8)) * np.linspace(1, 3, 8)
    choice = choose_components(X, GaussianMixture())
    assert (choice.n_components, choice.case) == (1, "one cloud")


@pytest.mark.parametrize("kind", ["tied_spherical", "diag", "auto"])
def test_a_cloud_of_correlated_columns_is_one_whatever_the_covariance(kind):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(800, 1)) + 0.5 * rng.normal(size=(800, 5))
    choice = choose_components(X, GaussianMixture(covariance_type=kind))
    assert (choice.n_components, choice.case) == (1, "one cloud")
    assert choice.runner_up >= 2
    assert choice.reason.startswith("One cloud, no groups: held-out rows are ")
    assert choice.reason.endswith(f"if you want groups anyway, take {choice.runner_up}.")


def test_groups_of_unlike_spread_are_found_with_any_covariance():
    """'tied_diag' alone found one group here, and "auto" gave all covariances its number."""
    rng = np.random.default_rng(7)
    spread = np.array([0.3, 1.0, 3.0])
    label = rng.integers(3, size=600)
    X = rng.normal(size=(600, 4)) * spread[label][:, None] + 6.0 * label[:, None]
    model = GaussianMixture("auto", covariance_type="auto", random_state=0).fit(X)
    assert model.n_components_ == 3
    assert adjusted_rand_score(label, model.predict(X)) > 0.95


def test_gaps_that_tell_are_columns_of_their_own():
    rng = np.random.default_rng(8)
    label = rng.integers(2, size=600)
    X = rng.normal(size=(600, 6))
    X[rng.random(X.shape) < np.where(label, 0.7, 0.05)[:, None]] = np.nan
    informative = LatentClass("auto", gaps="informative", random_state=0).fit(X)
    assert informative.n_components_ == 2
    assert LatentClass("auto", random_state=0).fit(X).n_components_ == 1


def test_a_mistyped_cell_makes_no_group():
    X = np.random.default_rng(9).normal(size=(400, 4))
    X[0, 0] = 1e9
    assert choose_components(X).n_components == 1


def test_choices_of_older_files_are_read():
    tried = {"n_components": 2, "log_likelihood": -1.5, "gain": 0.5, "error": 0.1}
    record = {"record": {"type": "HeldOut", "fields": tried}}
    fields = {"n_components": 2, "tests": {"tuple": []}, "reason": "so"}
    stored = {"type": "Choice", "fields": fields | {"held_out": {"tuple": [record]}}}
    found = decode({"record": stored}, {}, RECORDS)
    assert found == Choice(2, (), (HeldOut(2, -1.5, 0.5, 0.1),), "so")
    assert found.held_out[0].agreement is None
    assert not found.climbed
    assert (found.case, found.runner_up, found.tried) == ("", None, ())
