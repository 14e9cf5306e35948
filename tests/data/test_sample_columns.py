import numpy as np

from halfseen.data.engines.memory import MemoryRows
from halfseen.data.resampling import keys_of, share_of_keys
from halfseen.data.sampling import ColumnSamples, sample_columns

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30_000, 3))
X[RNG.random(X.shape) < [0.0, 0.5, 0.999]] = np.nan


def samples(most, **options):
    rows = MemoryRows(X, ("a", "b", "c"), **options)
    return sample_columns(rows, np.sum(~np.isnan(X), axis=0).astype(float), most).sorted(3)


def test_a_feature_with_few_values_is_sampled_whole():
    values, weights = samples(1000)[2]
    np.testing.assert_array_equal(values, np.sort(X[~np.isnan(X[:, 2]), 2]))
    assert (weights == 1).all()


def test_about_as_many_values_as_asked_for_are_drawn_from_the_others():
    for values, _ in samples(1000)[:2]:
        assert abs(len(values) - 1000) < 4 * 1000**0.5


def test_the_sample_has_the_quantiles_of_the_feature():
    for column, (values, _) in enumerate(samples(5000)[:2]):
        for share in (0.02, 0.25, 0.5, 0.9):
            below = np.mean(X[~np.isnan(X[:, column]), column] <= np.quantile(values, share))
            assert abs(below - share) < 4 * (share * (1 - share) / 5000) ** 0.5


def test_values_count_as_often_as_their_rows():
    some = np.isin(np.arange(len(X)), [3, 5])
    values, weights = samples(10**6, weights=np.where(some, 2.5, 1.0))[0]
    assert set(values[weights == 2.5]) == {X[3, 0], X[5, 0]}


def test_heavy_rows_are_drawn_no_less():
    rows = MemoryRows(X, ("a", "b", "c"), np.full(len(X), 1000.0))
    heavy = sample_columns(rows, 1000.0 * np.sum(~np.isnan(X), axis=0), 1000).sorted(3)
    for (ours, weights), (theirs, _) in zip(heavy, samples(1000), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert (weights == 1000).all()


def test_no_rows_have_no_sample():
    none = MemoryRows(X[:0], ("a", "b", "c")).accumulate(
        ColumnSamples.below(share_of_keys(np.ones(3)))
    )
    assert [len(values) for values, _ in none.sorted(3)] == [0, 0, 0]


def test_keys_are_all_different_and_evenly_spread():
    keys = keys_of(np.arange(100_000))
    assert len(np.unique(keys)) == 100_000
    assert abs(np.mean(keys <= share_of_keys(0.3)) - 0.3) < 0.006
    assert (keys <= share_of_keys(1.0)).all()


def test_clipped_rows_are_those_of_a_clipped_table():
    low, high = np.array([-1.0, -0.5, 0.0]), np.array([1.0, 2.0, 0.5])
    rows = MemoryRows(X, ("a", "b", "c")).map(lambda block: block.clipped(low, high))
    total = rows.accumulate(lambda block: block.values.sum(axis=0))
    np.testing.assert_allclose(total, np.nansum(np.clip(X, low, high), axis=0))
    moved = rows.recentred(low).accumulate(lambda block: block.values.min(axis=0))
    np.testing.assert_allclose(moved, 0.0)


def test_values_are_put_in_order_with_their_weights_feature_by_feature():
    rng = np.random.default_rng(1)
    feature, value = rng.integers(0, 3, 400), rng.integers(0, 9, 400).astype(float)
    for weight in (np.ones(400), rng.integers(1, 4, 400).astype(float)):
        found = ColumnSamples(feature, value, weight).sorted(4)
        for column, (values, weights) in enumerate(found):
            own = feature == column
            pairs = sorted(zip(value[own], weight[own], strict=True))
            assert list(zip(values, weights, strict=True)) == pairs
