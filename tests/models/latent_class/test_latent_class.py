"""Classes of mixed columns, from frames to answers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from halfseen import (
    DataError,
    GaussianMixture,
    LatentClass,
    UnseenCategoryWarning,
    choose_components,
    load,
)
from halfseen.inference.parameters import declared

pytestmark = pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
TOWNS = np.array(["Aachen", "Bonn", "Celle"])


def people(n=3000, seed=0, gaps=0.2):
    """Two classes of people, a column of each kind; and who is of which."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    towns = np.where(ill[:, None], [0.6, 0.3, 0.1], [0.2, 0.2, 0.6]).cumsum(axis=1)
    frame = pd.DataFrame(
        {
            "temperature": rng.normal(np.where(ill, 39.0, 36.8), np.where(ill, 0.8, 0.4)),
            "visits": rng.poisson(np.where(ill, 4.0, 0.8)).astype(float),
            "town": TOWNS[(towns < rng.random((n, 1))).sum(axis=1)],
            "smokes": np.where(rng.random(n) < np.where(ill, 0.7, 0.2), "yes", "no"),
            "pain": np.minimum(rng.poisson(np.where(ill, 2.5, 0.7)), 4) + 1.0,
            "dose": np.where(rng.random(n) < np.where(ill, 0.2, 0.7), 0.0, rng.gamma(4, 2, n)),
        }
    )
    return frame.mask(rng.random(frame.shape) < gaps), ill


@pytest.fixture(scope="module")
def fitted():
    frame, ill = people()
    return LatentClass(2, random_state=0).fit(frame), frame, ill


def test_kinds_are_found_and_classes_are_those_that_were_drawn(fitted):
    model, frame, ill = fitted
    assert model.kinds_ == {
        "temperature": "continuous",
        "visits": "count",
        "town": "categorical",
        "smokes": "binary",
        "pain": "ordinal",
        "dose": "continuous",
    }
    assert adjusted_rand_score(ill, model.predict(frame)) > 0.8
    sick = int(model.weights_.argmin())
    well, profiles = 1 - sick, model.profiles_
    assert model.weights_[sick] == pytest.approx(0.4, abs=0.03)
    np.testing.assert_allclose(profiles["temperature"]["mean"][[sick, well]], [39, 36.8], atol=0.1)
    np.testing.assert_allclose(profiles["temperature"]["std"][[sick, well]], [0.8, 0.4], atol=0.08)
    np.testing.assert_allclose(profiles["visits"]["rate"][[sick, well]], [4, 0.8], atol=0.2)
    towns = profiles["town"]["probabilities"]
    assert list(towns) == list(TOWNS)
    np.testing.assert_allclose([towns[t][sick] for t in TOWNS], [0.6, 0.3, 0.1], atol=0.05)
    np.testing.assert_allclose(profiles["smokes"]["probabilities"]["yes"][sick], 0.7, atol=0.05)
    assert list(profiles["pain"]["probabilities"]) == [1, 2, 3, 4, 5]


def test_continuous_columns_alone_are_a_gaussian_mixture():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4)) * [1, 2, 1, 3] + 4 * rng.integers(2, size=(800, 1))
    X[3, 0] = 500.0
    X[rng.random(X.shape) < 0.2] = np.nan
    classes = LatentClass(2, random_state=0).fit(X)
    mixture = GaussianMixture(2, covariance_type="diag", random_state=0).fit(X)
    order = np.argsort(classes.means_[:, 0]), np.argsort(mixture.means_[:, 0])
    for name in ("weights_", "means_", "covariances_", "centres_"):
        ours, theirs = getattr(classes, name)[order[0]], getattr(mixture, name)[order[1]]
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    assert classes.lower_bound_ == pytest.approx(mixture.lower_bound_, abs=1e-9)
    assert classes.outlier_share_ == pytest.approx(mixture.outlier_share_, rel=1e-5)


@pytest.mark.parametrize("where", ["batches", "parquet", "csv", "dask", "dask files"])
def test_every_engine_learns_what_memory_learns(where, fitted, tmp_path):
    model, frame, _ = fitted
    frame.to_parquet(tmp_path / "people.parquet", row_group_size=700)
    frame.to_csv(tmp_path / "people.csv", index=False)
    X = {
        "batches": lambda: [frame[:10], frame[10:1500], frame[1500:]],
        "parquet": lambda: str(tmp_path / "people.parquet"),
        "csv": lambda: tmp_path / "people.csv",
        "dask": lambda: pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3),
        "dask files": lambda: _on_workers(tmp_path / "people.parquet"),
    }[where]()
    other = LatentClass(2, random_state=0).fit(X)
    assert other.coding_.labels == model.coding_.labels
    for one in declared(model.Parameters):
        np.testing.assert_allclose(
            getattr(other, one.name), getattr(model, one.name), rtol=1e-9, atol=1e-9
        )


def _on_workers(path):
    from halfseen import Files

    return Files(path, dask=True)


def test_a_weight_of_two_is_a_row_twice(fitted):
    _, frame, _ = fitted
    part = frame[:600]
    weights = np.random.default_rng(0).integers(0, 3, size=600)
    weighed = LatentClass(2, random_state=0).fit(part, sample_weight=weights)
    repeated = LatentClass(2, random_state=0).fit(part.loc[part.index.repeat(weights)])
    order = weighed.weights_.argsort(), repeated.weights_.argsort()
    for name in ("weights_", "rates_", "covariances_"):
        np.testing.assert_allclose(
            getattr(weighed, name)[order[0]], getattr(repeated, name)[order[1]], rtol=1e-4
        )


@pytest.mark.parametrize(("column", "wild"), [("temperature", 9999.0), ("visits", 9999.0)])
def test_a_typing_error_moves_nothing(column, wild, fitted):
    model, frame, _ = fitted
    wrong = frame.copy()
    wrong.loc[7, column] = wild
    other = LatentClass(2, random_state=0).fit(wrong)
    order = model.weights_.argsort(), other.weights_.argsort()
    np.testing.assert_allclose(other.weights_[order[1]], model.weights_[order[0]], atol=2e-3)
    np.testing.assert_allclose(other.rates_[order[1]], model.rates_[order[0]], atol=0.02)
    assert other.unusual(wrong)[7] > 0.99


def test_where_columns_have_long_tails_few_rows_are_unusual_and_absurd_ones_are():
    rng = np.random.default_rng(0)
    X = rng.standard_t(2.0, size=(1500, 12))
    X[0, :6] *= 1000
    unusual = LatentClass(2, random_state=0).fit(X).unusual(X)
    assert np.mean(unusual > 0.5) < 0.08
    assert unusual[0] > 0.9


def test_filled_cells_are_categories_and_observed_ones_stay(fitted):
    model, frame, _ = fitted
    part = frame[:200]
    filled = model.impute(part)
    assert set(filled["town"]) <= set(TOWNS)
    assert set(filled["smokes"]) == {"yes", "no"}
    assert set(filled["pain"]) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert filled["temperature"].notna().all()
    known = part.notna()
    assert filled.where(known).equals(part)
    for draw in model.impute(part, draws=2):
        assert draw.notna().all().all()
        assert draw.where(known).equals(part)


def test_probabilities_of_categories_are_those_of_the_classes(fitted):
    model, frame, _ = fitted
    part = frame[:50].assign(town=None)
    filled, chances = model.impute(part, return_proba=True)
    assert set(chances) == {"town", "smokes", "pain"}
    towns = model.profiles_["town"]["probabilities"]
    expected = model.predict_proba(part) @ np.array([towns[t] for t in TOWNS]).T
    np.testing.assert_allclose(chances["town"], expected, rtol=1e-9)
    assert list(filled["town"]) == list(TOWNS[expected.argmax(axis=1)])
    np.testing.assert_allclose(chances["smokes"].sum(axis=1), 1.0)


def test_a_category_that_the_fit_did_not_see_is_a_gap_with_a_warning(fitted):
    model, frame, _ = fitted
    odd = frame[:20].assign(town="Dresden")
    with pytest.warns(UnseenCategoryWarning, match="'town'"):
        given = model.predict_proba(odd)
    np.testing.assert_allclose(given, model.predict_proba(odd.assign(town=None)))


def test_a_file_gives_it_back_with_its_words(fitted, tmp_path):
    model, frame, _ = fitted
    model.save(tmp_path / "model.halfseen")
    again = load(tmp_path / "model.halfseen")
    assert again.kinds_ == model.kinds_
    assert again.coding_ == model.coding_
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert again.impute(frame[:30]).equals(model.impute(frame[:30]))


def test_what_is_drawn_has_words_and_shares_as_learned(fitted):
    model, _, _ = fitted
    rows, classes = LatentClass.sample(model, 5000)
    assert set(rows[:, 2]) == set(TOWNS)
    towns = model.profiles_["town"]["probabilities"]
    for k in range(2):
        share = np.mean(rows[classes == k, 2] == "Celle")
        assert share == pytest.approx(towns["Celle"][k], abs=0.05)


def test_intervals_hold_the_truth_and_clusters_widen_them(fitted):
    model, frame, _ = fitted
    found = model.intervals(frame)
    sick = int(model.weights_.argmin())
    assert found["weights_"].low[sick] < 0.4 < found["weights_"].high[sick]
    assert found["level_shares_"].low[2, sick, 2] < 0.1 < found["level_shares_"].high[2, sick, 2]
    assert found["rates_"].low[sick, 1] < 4.0 < found["rates_"].high[sick, 1]
    twice = pd.concat([frame, frame], ignore_index=True)
    groups = np.tile(np.arange(len(frame)), 2)
    again = LatentClass(2, random_state=0).fit(twice)
    alone, grouped = again.intervals(twice), again.intervals(twice, groups=groups)
    ratio = np.nanmedian(grouped["level_shares_"].std / alone["level_shares_"].std)
    assert ratio == pytest.approx(np.sqrt(2), rel=0.15)


def test_the_number_of_classes_is_found():
    frame, _ = people(600)
    assert choose_components(frame, "classes", max_components=4).n_components == 2
    assert LatentClass("auto", random_state=0).fit(frame).n_components_ == 2


def test_gaps_that_tell_are_learned_and_said():
    """Two classes alike in what is observed of them, but for which of it is."""
    rng = np.random.default_rng(0)
    z = rng.integers(2, size=2000)
    X = rng.normal(0.8 * z[:, None], 1.0, size=(2000, 6))
    X[:, 3:][rng.random((2000, 3)) < np.where(z, 0.8, 0.1)[:, None]] = np.nan
    plain = LatentClass(2, random_state=0).fit(X)
    telling = LatentClass(2, gaps="informative", random_state=0).fit(X)
    ours, theirs = (adjusted_rand_score(z, m.predict(X)) for m in (telling, plain))
    assert ours > theirs + 0.2
    rare = telling.presence_[:, 3].min()
    assert rare == pytest.approx(0.2, abs=0.05)
    assert "telling_gaps" in {concern.kind for concern in plain.concerns(X)}
    assert "telling_gaps" not in {concern.kind for concern in telling.concerns(X)}
    assert np.isnan(plain.presence_).all()


def test_classes_that_differ_only_in_spread_are_found():
    rng = np.random.default_rng(1)
    z = rng.integers(2, size=2000)
    X = rng.normal(size=(2000, 8)) * np.where(z, 3.0, 1.0)[:, None]
    assert adjusted_rand_score(z, LatentClass(2, random_state=0).fit_predict(X)) > 0.9


def test_declared_kinds_are_used():
    frame, _ = people(400)
    kinds = {"pain": "continuous", "visits": "continuous", "town": "ignored"}
    model = LatentClass(2, kinds=kinds, random_state=0).fit(frame)  # who asks is not warned
    assert model.kinds_["pain"] == "continuous"
    assert "town" not in model.profiles_
    with pytest.raises((DataError, ValueError), match="town"):
        LatentClass(2, kinds={"town": "count"}).fit(frame)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gaps": "some"}, "'gaps' parameter of LatentClass must be"),
        ({"moments": "adjusted"}, "'moments' parameter of LatentClass must be 'available'"),
        ({"feature_weights": "signal"}, "feature_weights='signal' is for columns of numbers alone"),
    ],
)
def test_what_cannot_be_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        LatentClass(2, **parameters).fit(np.zeros((10, 2)))


def test_without_refinement_classes_are_where_the_moments_say():
    frame, ill = people(20_000, gaps=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LatentClass(2, refine=None).fit(frame)
    assert adjusted_rand_score(ill, model.predict(frame)) > 0.75
    with pytest.raises(ValueError, match="Without refine='em' classes have no intervals"):
        model.intervals(frame)


def test_without_outliers_no_value_is_a_spike(tmp_path):
    frame, _ = people(600)
    model = LatentClass(2, outliers=None, random_state=0).fit(frame)
    assert np.isnan(model.spike_shares_).all()
    model.save(tmp_path / "model.halfseen")
    assert load(tmp_path / "model.halfseen").kinds_ == model.kinds_


def test_a_class_of_one_row_is_kept_and_explains_it():
    cells = [["a", None, 0.18], ["b", "no", -1.17], [None, "yes", 0.04], ["a", "yes", -0.4]]
    X = pd.DataFrame(cells, columns=["word", "answer", "number"])
    heights = [LatentClass(k, outliers=None, random_state=0).fit(X).lower_bound_ for k in (1, 2, 3)]
    assert heights == sorted(heights)
