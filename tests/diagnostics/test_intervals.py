"""Confidence intervals of both estimators: laws, inputs, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.special import expit, logit, softmax
from scipy.stats import beta, norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from halfseen import (
    DroppedFeatureWarning,
    GammaPoisson,
    GaussianMixture,
    ObservedBlocks,
    load,
    simulate,
)
from halfseen.data.resampling import Bins
from halfseen.diagnostics.intervals import Interval, intervals_from
from halfseen.inference.parameters import ANY, CLIPPED, FRACTION, POSITIVE, SHARE, declared

N, D, K = 600, 5, 2
NAMES = ["age", "pulse", "lactate", "crp", "sodium"]
OBSERVED = [1.0, 1.0, 1.0, 0.7, 0.5]
TOPICS = np.array([[0.5, 0.3, 0.1, 0.05, 0.05], [0.05, 0.1, 0.1, 0.35, 0.4]])
ESTIMATORS = {
    "tied": GaussianMixture(K),
    "spherical": GaussianMixture(K, covariance_type="spherical"),
    "diag": GaussianMixture(K, covariance_type="diag"),
    "moments": GaussianMixture(K, refine=None),
    "partial": GaussianMixture(K, refine=None, method="partial"),
    "topics": GammaPoisson(K),
}
FEW = {"n_replicates": 50}
every_estimator = pytest.mark.parametrize("kind", ESTIMATORS)
# By scores, by moments, and by moments with regressions.
every_route = pytest.mark.parametrize("kind", ["diag", "moments", "topics"])


def table(kind, n=N, seed=0, observed=OBSERVED):
    rng = np.random.default_rng(seed)
    if kind == "topics":
        X, _ = simulate.gamma_poisson(n, TOPICS, [1.0, 2.0], 0.05, rng)
    else:
        means = [[0.0] * D, [4.0, 3, -3, 4, 3]]
        X, _ = simulate.gaussian_mixture(n, [0.6, 0.4], means, 1.0, rng)
    return simulate.independent_gaps(X, observed, rng)


@pytest.fixture(scope="module")
def fitted():
    """Each estimator with its table and its intervals, made once."""
    made = {}

    def get(kind):
        if kind not in made:
            X = table(kind)
            model = clone(ESTIMATORS[kind]).fit(X)
            made[kind] = model, X, model.intervals(X, **FEW)
        return made[kind]

    return get


def assert_same(ours, expected, rtol=1e-9):
    assert set(ours) == set(expected)
    for name in ours:
        for one, other in zip(ours[name], expected[name], strict=True):
            np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)


@every_estimator
def test_intervals_are_shaped_like_the_attributes_and_hold_them(fitted, kind):
    model, _, found = fitted(kind)
    expected = {"weights_", "means_", "covariances_"}
    assert set(found) == ({"components_", "shapes_", "rate_"} if kind == "topics" else expected)
    for name, interval in found.items():
        learned = getattr(model, name)
        assert all(np.shape(side) == np.shape(learned) for side in interval)
        assert (interval.low <= learned).all()
        assert (learned <= interval.high).all()
        assert (interval.std > 0).all()


@every_estimator
def test_intervals_stay_where_parameters_can_be(fitted, kind):
    found = fitted(kind)[2]
    for name in {"weights_", "components_"} & set(found):
        assert (found[name].low >= 0).all()
        assert (found[name].high <= 1).all()
    for name in {"covariances_", "shapes_", "rate_"} & set(found):
        assert (found[name].low > 0).all()


@every_estimator
def test_a_higher_level_holds_a_lower_one(fitted, kind):
    model, X, middle = fitted(kind)
    narrow, wide = model.intervals(X, 0.8, **FEW), model.intervals(X, level=np.float32(0.99), **FEW)
    for name in middle:
        assert (narrow[name].low >= middle[name].low).all()
        assert (middle[name].low >= wide[name].low).all()
        assert (narrow[name].high <= middle[name].high).all()
        assert (middle[name].high <= wide[name].high).all()
        np.testing.assert_array_equal(narrow[name].std, wide[name].std)


@every_estimator
def test_the_same_call_gives_the_same_intervals_and_leaves_the_model_alone(fitted, kind):
    model, X, found = fitted(kind)
    before, copy = pickle.dumps(model), X.copy()
    assert_same(model.intervals(X, **FEW), found, rtol=0)
    assert pickle.dumps(model) == before
    np.testing.assert_array_equal(X, copy)


@every_estimator
def test_the_order_of_features_does_not_matter(fitted, kind):
    model, X, found = fitted(kind)
    order = np.array([3, 0, 4, 2, 1])
    other = clone(model).fit(X[:, order]).intervals(X[:, order], **FEW)
    places = "components_" if kind == "topics" else "means_"
    same = np.argsort([model.__dict__[places][:, 0]])[0]
    theirs = clone(model).fit(X[:, order])
    again = np.argsort(getattr(theirs, places)[:, 1])
    for side in ("low", "high", "std"):
        ours = getattr(found[places], side)[same][:, order]
        np.testing.assert_allclose(getattr(other[places], side)[again], ours, rtol=1e-5, atol=1e-7)


@every_estimator
def test_the_order_of_components_does_not_matter(fitted, kind):
    model, X, found = fitted(kind)
    turned = pickle.loads(pickle.dumps(model))
    axes = turned._model().axes
    for one in declared(model.Parameters):
        if "k" in axes.get(one.field, one.axes[-1]):
            setattr(turned, one.name, getattr(turned, one.name)[::-1].copy())
    for name, interval in turned.intervals(X, **FEW).items():
        for ours, expected in zip(interval, found[name], strict=True):
            expected = expected[::-1] if np.shape(expected) else expected
            np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["tied", "diag", "topics"])
def test_rows_repeated_and_given_as_groups_are_as_uncertain_as_once(kind):
    X = table(kind)
    once = clone(ESTIMATORS[kind]).fit(X)
    thrice = np.repeat(X, 3, axis=0)
    model = clone(ESTIMATORS[kind]).fit(thrice)
    grouped = model.intervals(thrice, groups=np.repeat(np.arange(N), 3))
    alone, expected = model.intervals(thrice), once.intervals(X, groups=np.arange(N))
    for name in expected:
        # The same bins of the same rows: equal up to corrections of one part in the rows.
        np.testing.assert_allclose(grouped[name].std / expected[name].std, 1, atol=0.02)
        ratio = np.mean(grouped[name].std / alone[name].std)
        # √3, up to how well 200 bins know a standard error.
        assert ratio == pytest.approx(np.sqrt(3), rel=0.25)


@every_route
def test_a_sample_weight_is_a_repeated_row_of_a_group(kind):
    X, weights = table(kind), np.repeat([1.0, 2.0, 3.0], N // 3)
    model = clone(ESTIMATORS[kind]).fit(X, sample_weight=weights)
    repeated = np.repeat(X, weights.astype(int), axis=0)
    groups = np.repeat(np.arange(N), weights.astype(int))
    expected = clone(ESTIMATORS[kind]).fit(repeated).intervals(repeated, groups=groups, **FEW)
    ours = model.intervals(X, sample_weight=weights, groups=np.arange(N), **FEW)
    assert_same(ours, expected, rtol=1e-6)


@every_route
def test_rows_of_no_weight_are_not_there_and_nor_are_their_groups(kind):
    X, rng = table(kind), np.random.default_rng(1)
    weights, groups = rng.integers(3, size=N).astype(float), rng.integers(40, size=N)
    there = weights > 0
    ours = clone(ESTIMATORS[kind]).fit(X, sample_weight=weights)
    expected = clone(ESTIMATORS[kind]).fit(X[there], sample_weight=weights[there])
    assert_same(
        ours.intervals(X, sample_weight=weights, groups=groups, **FEW),
        expected.intervals(X[there], sample_weight=weights[there], groups=groups[there], **FEW),
    )


def test_groups_of_no_weight_need_no_label():
    X, weights = table("tied"), np.ones(N)
    weights[:9] = 0
    groups = np.arange(N, dtype=float)
    groups[:9] = np.nan
    model = GaussianMixture(K).fit(X, sample_weight=weights)
    assert model.intervals(X, sample_weight=weights, groups=groups, **FEW)["means_"].low.shape == (
        K,
        D,
    )


@pytest.mark.parametrize("as_labels", [list, pd.Series, lambda g: [f"P{i}" for i in g]])
def test_labels_of_groups_may_be_numbers_or_words(fitted, as_labels):
    model, X, _ = fitted("tied")
    groups = np.arange(N) // 3 + 100
    # As many groups as bins, so that other names only sort the bins in another order.
    words = model.intervals(X, groups=as_labels(groups), **FEW)
    assert_same(words, model.intervals(X, groups=groups, **FEW))


@every_estimator
def test_more_replicates_change_little(fitted, kind):
    model, X, found = fitted(kind)
    more = model.intervals(X, n_replicates=150)
    for name in found:
        # Standard errors from 50 draws are known to 10 %, from 150 to 6 %: 3.5 times both.
        assert np.mean(more[name].std / found[name].std) == pytest.approx(1, rel=0.4)


@every_route
def test_a_data_frame_gives_the_intervals_of_its_values(fitted, kind):
    _, X, found = fitted(kind)
    frame = pd.DataFrame(X, columns=NAMES)
    model = clone(ESTIMATORS[kind]).fit(frame)
    assert_same(model.intervals(frame, **FEW), found)
    assert_same(model.intervals(X, **FEW), found)


@every_route
def test_a_file_and_batches_give_the_intervals_of_their_rows(fitted, kind, tmp_path):
    model, X, found = fitted(kind)
    path = tmp_path / "data.parquet"
    pd.DataFrame(X, columns=NAMES).to_parquet(path)
    assert_same(clone(model).fit(path).intervals(path, **FEW), found, rtol=1e-6)
    batches = [X[:100], X[100:101], X[101:]]
    assert_same(clone(model).fit(batches).intervals(batches, **FEW), found, rtol=1e-6)
    grouped = model.intervals(X, groups=np.arange(N) // 2, **FEW)
    assert_same(model.intervals(batches, groups=np.arange(N) // 2, **FEW), grouped, rtol=1e-6)


def test_a_sparse_table_gives_the_intervals_of_the_filled_one(fitted):
    model, X, found = fitted("topics")
    assert_same(clone(model).fit(csr_array(X)).intervals(csr_array(X), **FEW), found, rtol=1e-6)


def test_blocks_not_observed_are_gaps():
    X = table("topics", observed=[1.0] * D)
    blocks = np.array([0, 0, 0, 1, 1])
    has = np.column_stack([np.ones(N, bool), np.arange(N) % 3 > 0])
    observed = ObservedBlocks(blocks, has)
    counts = csr_array(np.where(has[:, blocks], X, 0.0))
    filled = np.where(has[:, blocks], X, np.nan)
    ours = (
        GammaPoisson(K).fit(counts, observed=observed).intervals(counts, observed=observed, **FEW)
    )
    assert_same(ours, GammaPoisson(K).fit(filled).intervals(filled, **FEW), rtol=1e-6)


@every_route
def test_a_loaded_model_has_the_same_intervals_whatever_the_order_of_columns(kind, tmp_path):
    frame = pd.DataFrame(table(kind), columns=NAMES)
    model = clone(ESTIMATORS[kind]).fit(frame)
    model.save(tmp_path / "model.halfseen")
    again = load(tmp_path / "model.halfseen").intervals(frame[NAMES[::-1]], **FEW)
    assert_same(again, model.intervals(frame, **FEW), rtol=0)


@pytest.mark.parametrize("kind", ["tied", "diag", "moments", "topics"])
@pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning")
def test_features_that_do_not_vary_have_intervals_of_no_width(kind):
    X = np.column_stack([table(kind), np.full(N, 7.0), np.full(N, np.nan)])
    model = clone(ESTIMATORS[kind]).fit(X)
    name = "components_" if kind == "topics" else "means_"
    found, constant = model.intervals(X, **FEW)[name], 0.0 if kind == "topics" else 7.0
    assert (found.low[:, D] == constant).all()
    assert (found.high[:, D] == constant).all()
    assert (found.std[:, D] == 0).all()
    if kind != "topics":
        assert np.isnan([side[:, D + 1] for side in found]).all()


def test_dropped_features_are_warned_of_by_the_fit_alone():
    X = np.column_stack([table("tied"), np.full(N, 7.0)])
    with pytest.warns(DroppedFeatureWarning):
        model = GaussianMixture(K).fit(X)
    model.intervals(X, **FEW)


def test_intervals_of_a_mean_are_those_of_textbooks():
    rng = np.random.default_rng(2)
    X = rng.normal(3.0, 2.0, size=(4000, 3))
    X[rng.random(4000) < 0.5, 2] = np.nan
    model = GaussianMixture(1, covariance_type="diag").fit(X)
    found = model.intervals(X, n_replicates=2000)
    seen = np.count_nonzero(~np.isnan(X), axis=0)
    expected = np.nanstd(X, axis=0) / np.sqrt(seen)
    # 200 bins know a standard error to 5 %, 2,000 draws to 2 %; and var(s²) = 2 σ⁴ / n.
    np.testing.assert_allclose(found["means_"].std[0], expected, rtol=0.15)
    np.testing.assert_allclose(
        found["covariances_"].std[0], np.nanvar(X, axis=0) * np.sqrt(2 / seen), rtol=0.15
    )
    half = (found["means_"].high - found["means_"].low)[0] / 2
    np.testing.assert_allclose(half, 1.97 * expected, rtol=0.15)
    assert found["weights_"].std[0] < 1e-12  # a single component has all the rows


SCALES = {"any": ANY, "positive": POSITIVE, "clipped": CLIPPED}


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_an_interval_holds_students_about_the_estimate_and_the_quantiles(scale):
    rng = np.random.default_rng(3)
    values = 0.3 + 0.02 * rng.standard_normal((5000, 2))
    found = intervals_from(
        {"x": np.array([0.3, 0.3])}, [{"x": v} for v in values], {"x": scale}, {}, 0.9, 12
    )["x"]
    np.testing.assert_allclose(found.std, 0.02, rtol=0.05)
    low, high = np.quantile(values, [0.05, 0.95], axis=0)
    assert (found.low <= low).all()
    assert (found.high >= high).all()
    # Student's t with 11 degrees of freedom has its 95 % quantile at 1.796, on a scale that is
    # nearly straight over so short a way.
    np.testing.assert_allclose(found.high - found.low, 2 * 1.796 * 0.02, rtol=0.07)


def test_a_share_of_zero_is_inside_its_interval():
    values = [{"x": np.array([max(z, 0.0)])} for z in np.linspace(-0.1, 0.1, 101)]
    found = intervals_from({"x": np.zeros(1)}, values, {"x": CLIPPED}, {}, 0.95, 200)["x"]
    assert found.low == 0 < found.high < 1


every_probability = pytest.mark.parametrize("scale", [SHARE, FRACTION], ids=["share", "fraction"])


def of_counts(seen, n, scale, level=0.95, n_bins=10**9):
    """Intervals of ``seen`` of n rows, whose log-odds vary as those of a binomial do."""
    seen = np.asarray(seen, dtype=float)
    middle = (seen + 0.5) / (n + 1)
    normal = norm.ppf((np.arange(20_000) + 0.5) / 20_000)[:, None]
    values = expit(logit(middle) + normal / np.sqrt(n * middle * (1 - middle)))
    estimate = seen / n
    if scale is SHARE:  # of this and of all else
        values, estimate = (np.stack([one, 1 - one], axis=-1) for one in (values, estimate))
    replicates = [{"x": one} for one in values]
    found = intervals_from({"x": estimate}, replicates, {"x": scale}, {}, level, n_bins)["x"]
    return Interval(*(side[:, 0] for side in found)) if scale is SHARE else found


@every_probability
def test_the_interval_of_a_probability_is_that_of_jeffreys(scale):
    seen, n = np.array([1, 2, 10, 25, 49]), 50
    found = of_counts(seen, n, scale)
    np.testing.assert_allclose(found.low, beta.ppf(0.025, seen + 0.5, n - seen + 0.5), rtol=1e-2)
    np.testing.assert_allclose(found.high, beta.ppf(0.975, seen + 0.5, n - seen + 0.5), rtol=1e-2)


@every_probability
@pytest.mark.parametrize("n", [20, 200, 5000])
def test_what_was_never_or_always_seen_has_an_interval_from_the_edge(scale, n):
    """The rule of three, for 2.5 % beyond: with none of n rows, up to 3.7 of n."""
    never, always = of_counts([0], n, scale), of_counts([n], n, scale)
    assert never.low == 0
    np.testing.assert_allclose(never.high, 1 - 0.025 ** (1 / n), rtol=0.03)
    np.testing.assert_allclose(always.low, 1 - never.high, rtol=1e-9)
    assert always.high == 1


@every_probability
def test_few_bins_widen_the_interval_of_a_probability(scale):
    many, few = (of_counts([5], 50, scale, n_bins=n_bins) for n_bins in (10**9, 10))
    # Student's t with 9 degrees of freedom beside the normal: 2.262 and 1.960.
    assert (few.high - few.low) / (many.high - many.low) == pytest.approx(2.262 / 1.960, rel=0.02)


def test_a_probability_that_varies_widely_does_not_take_the_others_with_it():
    rng, middle = np.random.default_rng(6), np.array([0.01, 0.39, 0.6])
    steps = 0.02 * rng.standard_normal((4000, 3))
    steps -= steps.mean(axis=0)
    wild = steps + 5 * np.array([1, 0, 0]) * rng.standard_normal((4000, 1))
    for along in (-1, 0):
        scale = SHARE._replace(sums_along=along)
        calm_one, wild_one = (
            intervals_from(
                {"x": middle}, [{"x": softmax(np.log(middle) + s)} for s in some], {"x": scale},
                {}, 0.95, 200,
            )["x"]
            for some in (steps, wild - wild.mean(axis=0))
        )  # fmt: skip
        width = (wild_one.high - wild_one.low) / (calm_one.high - calm_one.low)
        assert width[0] > 50
        # A hundredth that varies by five on the log scale is .05 of all, in either of the others.
        assert (np.abs(wild_one.std[1:] / [0.39 * 0.05, 0.6 * 0.05] - 1) < 0.1).all()


def test_a_mean_of_two_values_has_the_interval_of_the_probability_between_them():
    rng = np.random.default_rng(5)
    share = expit(logit(0.02) + rng.standard_normal((500, 1)))
    values = np.hstack([share, 10 + 5 * share, rng.normal(size=(500, 1))])
    estimate = np.array([0.01, 10.05, 0.0])
    two = np.array([[0.0, 10.0, np.nan], [1.0, 15.0, np.nan]])
    found = intervals_from(
        {"x": estimate}, [{"x": one} for one in values], {"x": ANY}, {"x": two}, 0.95, 200
    )["x"]
    alone = intervals_from(
        {"x": estimate[:1]}, [{"x": one} for one in share], {"x": FRACTION}, {}, 0.95, 200
    )["x"]
    for place, (start, width) in enumerate([(0.0, 1.0), (10.0, 5.0)]):
        assert found.low[place] == pytest.approx(start + width * alone.low[0])
        assert found.high[place] == pytest.approx(start + width * alone.high[0])
        assert found.std[place] == pytest.approx(width * alone.std[0])
    assert found.low[2] < -1.5
    assert found.high[2] > 1.5


# What is refused.


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1, "0.95", None, True, np.nan])
def test_a_level_that_is_none_is_refused(fitted, level):
    model, X, _ = fitted("tied")
    with pytest.raises(ValueError, match=r"level must be a number above 0 and below 1\. Got "):
        model.intervals(X, level)


@pytest.mark.parametrize("n_replicates", [49, 0, -1, 60.5, "many", True, None])
def test_too_few_replicates_are_refused(fitted, n_replicates):
    model, X, _ = fitted("tied")
    message = r"n_replicates must be an int of at least 50, or the ends are chance\. Got "
    with pytest.raises(ValueError, match=message):
        model.intervals(X, n_replicates=n_replicates)


@every_estimator
def test_a_model_that_is_not_fitted_has_no_intervals(kind):
    with pytest.raises(NotFittedError):
        clone(ESTIMATORS[kind]).intervals(table(kind))


@every_estimator
def test_another_table_is_refused_with_what_differs(fitted, kind):
    model, X, _ = fitted(kind)
    other = X.copy()
    other[:60, 1] = np.nan
    message = (
        r"Intervals are those of the table that a model was learned from, and X is another: '1' is "
        r"observed in 0\.9 of its rows and was in 1\. Give the same X \(and sample_weight\), or fit"
    )
    with pytest.raises(ValueError, match=message):
        model.intervals(other)


def test_other_weights_are_another_table(fitted):
    model, X, _ = fitted("tied")
    with pytest.raises(ValueError, match=r"and X is another: '[34]' is observed in"):
        model.intervals(X, sample_weight=np.arange(1.0, N + 1))


def test_a_feature_that_varied_and_does_not_is_another_table(fitted):
    model, X, _ = fitted("tied")
    other = X.copy()
    other[:, 2] = 1.0
    with pytest.raises(ValueError, match=r"and X is another: '2' is constant and was not"):
        model.intervals(other)


def test_other_columns_are_refused(fitted):
    model, X, _ = fitted("tied")
    message = r"other columns than the model was learned from \(4, not 5, or other names\)"
    with pytest.raises(ValueError, match=message):
        model.intervals(X[:, :4])
    frame = pd.DataFrame(X, columns=NAMES)
    named = clone(model).fit(frame)
    with pytest.raises(ValueError, match=r"\(5, not 5, or other names\)\. Give the same X"):
        named.intervals(frame.rename(columns={"age": "height"}))


@pytest.mark.parametrize("kind", ["moments", "topics"])
def test_a_stream_has_no_rows_to_draw_from(kind):
    X = table(kind)
    model = clone(ESTIMATORS[kind]).partial_fit(X)
    message = r"learned by partial_fit\(\) has no rows to bootstrap from\. Use fit\(\) for interva"
    with pytest.raises(ValueError, match=message):
        model.intervals(X)
    assert model.fit(X).intervals(X)  # a fit starts anew


def test_topics_refined_by_likelihood_have_none():
    X = table("topics")
    model = GammaPoisson(K).fit(X).set_params(refine="saem")
    message = r"no intervals for topics refined with refine='saem'\. Fit with refine=None"
    with pytest.raises(ValueError, match=message):
        model.intervals(X)


@pytest.mark.parametrize(
    ("groups", "shape"), [(np.arange(N - 1), r"\(599,\)"), (np.zeros((N, 1)), r"\(600, 1\)")]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_of_another_length_are_refused(groups, shape, weighted):
    X, weights = table("tied"), np.ones(N)
    weights[0] = 0
    given = {"sample_weight": weights} if weighted else {}
    model = GaussianMixture(K).fit(X, **given)
    message = f"groups must hold one label a row, 600 in all. Got an array of shape {shape}"
    with pytest.raises(ValueError, match=message):
        model.intervals(X, groups=groups, **given)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_a_missing_label_is_refused(fitted, missing):
    model, X, _ = fitted("tied")
    groups = np.arange(N).astype(object)
    groups[7] = missing
    message = r"Some labels in groups are missing\. Give rows that belong to no group a label of"
    with pytest.raises(ValueError, match=message):
        model.intervals(X, groups=groups)


def test_too_few_groups_are_refused(fitted):
    model, X, _ = fitted("tied")
    message = r"groups has 9 different labels, too few .* needs at least 10; leave groups out if"
    with pytest.raises(ValueError, match=message):
        model.intervals(X, groups=np.arange(N) % 9)
    assert model.intervals(X, groups=np.arange(N) % 10)


def test_few_groups_have_wide_intervals(fitted):
    model, X, _ = fitted("tied")
    ten = model.intervals(X, groups=np.arange(N) % 10, **FEW)["means_"]
    reach = (ten.high - ten.low) / (2 * ten.std)
    assert (reach >= 2.262 * 0.999).all()  # Student's t with 9 degrees of freedom
    assert Bins.of_groups(np.arange(N) % 10).n == 10
