"""Dask's arrays and data frames, dense and sparse, as input: what memory gives, they give."""

import functools

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import bag
from scipy import sparse

from halfseen import DataError, Files, GammaPoisson, GaussianMixture, ObservedBlocks, simulate

N, D, K = 1200, 8, 3
NAMES = [f"x{i}" for i in range(D)]


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@functools.cache
def measurements():
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(N, [0.5, 0.3, 0.2], rng.normal(0, 3, (K, D)), 1.0, rng)
    return simulate.independent_gaps(X, [1, 1, 1, 1, 1, 0.8, 0.5, 0.3], rng)


@functools.cache
def counts():
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(D, 0.3), size=K)
    X, _ = simulate.gamma_poisson(N, topics, [1.0] * K, 0.05, rng)
    return simulate.independent_gaps(X, [1, 1, 1, 1, 1, 0.8, 0.5, 0.3], rng)


def frame(X):
    return pd.DataFrame(X, columns=NAMES)


@functools.cache
def mixture():
    return GaussianMixture(K, random_state=0).fit(measurements())


@functools.cache
def topics():
    return GammaPoisson(K, random_state=0).fit(counts())


def unknown(X):
    array = da.from_array(X, chunks=(170, -1))
    return array[da.isfinite(array[:, 0])]  # which all are


def with_empty(X):
    few = da.from_array(X[:0], chunks=(5, -1))
    return da.concatenate([few, da.from_array(X, chunks=(500, -1)), few])


ARRAYS = {
    "by rows": lambda X: da.from_array(X, chunks=(170, -1)),
    "by rows and columns": lambda X: da.from_array(X, chunks=(300, 3)),
    "one chunk": lambda X: da.from_array(X, chunks=-1),
    "unknown chunks": unknown,
    "empty chunks": with_empty,
}
FRAMES = {
    "frame": lambda X: dd.from_pandas(frame(X), npartitions=5),
    "filtered frame": lambda X: dd.from_pandas(frame(X), npartitions=5).dropna(how="all"),
}
ALL = ARRAYS | FRAMES


def parameters(model):
    if isinstance(model, GaussianMixture):
        return np.concatenate([model.weights_, model.means_.ravel(), [model.covariances_]])
    return np.concatenate([model.components_.ravel(), model.shapes_, [model.rate_]])


@pytest.mark.parametrize("kind", ALL)
def test_a_mixture_is_the_one_of_the_same_rows_in_memory(kind):
    model = GaussianMixture(K, random_state=0).fit(ALL[kind](measurements()))
    np.testing.assert_allclose(parameters(model), parameters(mixture()), rtol=1e-9, atol=1e-9)
    assert list(model.diagnostics_.seconds) == list(mixture().diagnostics_.seconds)
    assert model.n_iter_ == mixture().n_iter_


@pytest.mark.parametrize("kind", ALL)
def test_topics_are_those_of_the_same_rows_in_memory(kind):
    model = GammaPoisson(K).fit(ALL[kind](counts()))
    np.testing.assert_allclose(parameters(model), parameters(topics()), rtol=1e-9, atol=1e-9)


def test_names_are_kept():
    model = GaussianMixture(K).fit(FRAMES["frame"](measurements()))
    assert list(model.feature_names_in_) == NAMES
    assert model.n_features_in_ == D
    again = model.fit(ARRAYS["by rows"](measurements()))
    assert not hasattr(again, "feature_names_in_")


@pytest.mark.parametrize("method", ["full", "partial"])
def test_every_method_is_that_of_memory(method):
    X = measurements()
    ours = GaussianMixture(K, method=method, refine=None).fit(ARRAYS["by rows"](X))
    theirs = GaussianMixture(K, method=method, refine=None).fit(X)
    np.testing.assert_allclose(parameters(ours), parameters(theirs), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [None, (90, -1), (800, -1)])
def test_chains_do_not_depend_on_blocks(shape):
    X = counts()
    given = da.from_array(X, chunks=shape) if shape else sparse.csr_array(X)
    settings = {"refine": "saem", "n_sweeps": 12, "random_state": 3}
    ours, theirs = (GammaPoisson(K, **settings).fit(data) for data in (given, X))
    np.testing.assert_allclose(parameters(ours), parameters(theirs), rtol=1e-9, atol=1e-9)
    assert ours.n_iter_ == 12


@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
@pytest.mark.parametrize("matrix", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("n_words", [30, 700])
def test_blocks_of_sparse_counts_stay_sparse(matrix, n_words):
    rng = np.random.default_rng(4)
    true = rng.dirichlet(np.full(n_words, 3.0), size=2)
    X, _ = simulate.sparse_gamma_poisson(900, true, [0.5, 0.5], 0.005, rng)
    X = X.astype(float)
    X.data[rng.random(len(X.data)) < 0.02] = np.nan  # gaps
    blocks = da.from_array(X.toarray(), chunks=(200, -1)).map_blocks(matrix)
    ours, theirs = GammaPoisson(2).fit(blocks), GammaPoisson(2).fit(sparse.csr_array(X))
    np.testing.assert_allclose(parameters(ours), parameters(theirs), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(
        ours.transform(blocks).compute(), ours.transform(sparse.csr_array(X))
    )


def test_rows_are_weighed():
    X, rng = measurements(), np.random.default_rng(5)
    weights = rng.integers(0, 3, N).astype(float)
    ours = GaussianMixture(K).fit(ARRAYS["by rows"](X), sample_weight=weights)
    theirs = GaussianMixture(K).fit(X, sample_weight=weights)
    np.testing.assert_allclose(parameters(ours), parameters(theirs), rtol=1e-9, atol=1e-9)
    blocks = ARRAYS["by rows"](counts()).map_blocks(sparse.csr_array)
    ours = GammaPoisson(K).fit(blocks, sample_weight=da.from_array(weights, chunks=100))
    theirs = GammaPoisson(K).fit(counts(), sample_weight=weights)
    np.testing.assert_allclose(parameters(ours), parameters(theirs), rtol=1e-9, atol=1e-9)


MIXTURE_METHODS = ["predict", "predict_proba", "score_samples", "impute"]


@pytest.mark.parametrize("name", MIXTURE_METHODS)
@pytest.mark.parametrize("kind", ARRAYS)
def test_methods_of_mixtures_give_arrays_of_dask_with_what_memory_gives(kind, name):
    X = ARRAYS[kind](measurements())
    lazy, value = getattr(mixture(), name)(X), getattr(mixture(), name)(measurements())
    assert isinstance(lazy, da.Array)
    assert lazy.dtype == value.dtype
    assert lazy.shape[1:] == value.shape[1:]
    if kind == "by rows":
        assert lazy.chunks[0] == X.chunks[0]
    np.testing.assert_array_equal(lazy.compute(), value)


@pytest.mark.parametrize("name", ["transform", "score_samples", "impute"])
@pytest.mark.parametrize("kind", ARRAYS)
def test_methods_of_topics_give_arrays_of_dask_with_what_memory_gives(kind, name):
    few = counts()[:200]
    lazy = getattr(topics(), name)(ARRAYS[kind](few))
    assert isinstance(lazy, da.Array)
    # A product of fewer rows may round its last digit otherwise, by processor.
    np.testing.assert_allclose(lazy.compute(), getattr(topics(), name)(few), rtol=1e-13)


def test_nothing_is_computed_before_it_is_asked_for():
    def fail(block):
        if len(block) > 1:
            raise AssertionError("too early")
        return block

    X = da.from_array(measurements(), chunks=(170, -1)).map_blocks(fail, meta=np.empty((0, 0)))
    for name in MIXTURE_METHODS:
        getattr(mixture(), name)(X)


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_come_back_filled_as_frames(kind):
    model = GaussianMixture(K).fit(frame(measurements()))
    X = FRAMES[kind](measurements())
    filled = model.impute(X)
    pd.testing.assert_frame_equal(filled.compute(), model.impute(frame(measurements())))
    assert filled.divisions == X.divisions
    pd.testing.assert_series_equal(filled.dtypes, filled.compute().dtypes)
    filled, spread = model.impute(X, return_std=True)
    pd.testing.assert_frame_equal(
        spread.compute(), model.impute(frame(measurements()), return_std=True)[1]
    )
    np.testing.assert_array_equal(model.predict(X).compute(), model.predict(frame(measurements())))


def test_whole_numbers_that_may_be_missing_become_fractions():
    data = frame(counts()[:400]).astype({"x7": "Int64"})
    model = GammaPoisson(K).fit(dd.from_pandas(data, npartitions=3))
    filled = model.impute(dd.from_pandas(data, npartitions=3))
    assert filled.dtypes["x7"] == filled.compute().dtypes["x7"] == "Float64"
    np.testing.assert_array_equal(filled.compute(), model.impute(data))


def test_a_part_of_no_rows_gives_no_rows():
    X = ARRAYS["by rows"](measurements())
    nothing = X[X[:, 0] > 1e6]
    assert mixture().predict_proba(nothing).compute().shape == (0, K)
    filled, spread = mixture().impute(nothing, return_std=True)
    assert filled.compute().shape == spread.compute().shape == (0, D)


@pytest.mark.parametrize("kind", ALL)
def test_scores_are_those_of_memory(kind):
    X = ALL[kind](measurements())
    model = GaussianMixture(K).fit(X)
    given = frame(measurements()) if kind in FRAMES else measurements()
    for name in ("score", "aic", "bic"):
        value = getattr(model, name)(X)
        assert isinstance(value, float)
        assert value == pytest.approx(getattr(model, name)(given), rel=1e-12)


@pytest.mark.parametrize("kind", ARRAYS)
def test_likelihoods_of_topics_are_those_of_memory(kind):
    few = counts()[:200]
    X = ARRAYS[kind](few)
    assert topics().score(X) == pytest.approx(topics().score(few), rel=1e-12)
    assert topics().perplexity(X) == pytest.approx(topics().perplexity(few), rel=1e-12)
    ours, theirs = topics().likelihood(X), topics().likelihood(few)
    assert type(ours) is type(theirs)
    np.testing.assert_allclose(ours.bound.compute(), theirs.bound, rtol=1e-13)
    mean, deviation = topics().posterior(X)
    np.testing.assert_allclose(mean.compute(), topics().posterior(few)[0], rtol=1e-13)
    assert deviation.shape[1] == K


@pytest.mark.parametrize(
    ("model", "data"), [(mixture, measurements), (topics, counts)], ids=["mixture", "topics"]
)
def test_draws_belong_to_partitions(model, data):
    X = np.vstack([data()[:100]] * 2)
    first, second = model().impute(da.from_array(X, chunks=(100, -1)), draws=2)
    drawn = [d.compute() for d in (first, second)]
    again = [d.compute() for d in model().impute(da.from_array(X, chunks=(100, -1)), draws=2)]
    np.testing.assert_array_equal(drawn, again)
    gaps = np.isnan(X[:100])
    assert (drawn[0][:100][gaps] != drawn[0][100:][gaps]).mean() > 0.3
    np.testing.assert_array_equal(drawn[0][:100][~gaps], X[:100][~gaps])


def test_loadings_are_named_as_set_output_says():
    model = GammaPoisson(K).set_output(transform="pandas").fit(counts())
    X = ARRAYS["by rows"](counts())
    for lazy in (model.transform(X), model.fit_transform(X)):
        assert isinstance(lazy, dd.DataFrame)
        assert list(lazy.columns) == [f"gammapoisson{k}" for k in range(K)]
        np.testing.assert_allclose(lazy.compute(), model.transform(counts()), rtol=1e-9)


def test_fit_and_predict_at_once():
    X = ARRAYS["by rows"](measurements())
    labels = GaussianMixture(K).fit_predict(X)
    np.testing.assert_array_equal(labels.compute(), mixture().predict(measurements()))


# What is refused, and in what words.


def test_one_dimension_is_refused_as_in_memory():
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        GaussianMixture(2).fit(da.zeros(9, chunks=3))


def test_other_columns_are_refused_as_in_memory():
    with pytest.raises(ValueError, match="X has 3 features, but GaussianMixture is expecting 8"):
        mixture().predict(da.zeros((9, 3), chunks=3))
    model = GaussianMixture(K).fit(frame(measurements()))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(FRAMES["frame"](measurements()).rename(columns={"x0": "y"}))


def test_text_is_refused_by_name():
    data = frame(measurements()).assign(ward="a")
    with pytest.raises(DataError, match="'ward' cannot be read as numbers"):
        GaussianMixture(2).fit(dd.from_pandas(data, npartitions=2))


def test_infinities_and_fractions_are_refused_by_name():
    X = measurements().copy()
    X[1000, 3] = np.inf
    with pytest.raises(DataError, match="Infinite values in '3'"):
        GaussianMixture(2).fit(da.from_array(X, chunks=(100, -1)))
    with pytest.raises(DataError, match="Negative values in data"):
        GammaPoisson(2).fit(da.from_array(measurements(), chunks=(100, -1)))


def test_a_mixture_of_sparse_blocks_is_refused_as_in_memory():
    blocks = ARRAYS["by rows"](counts()).map_blocks(sparse.csr_array)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        GaussianMixture(2).fit(blocks)


@pytest.mark.parametrize("make", [lambda: dask.delayed(3), lambda: bag.from_sequence([1])])
def test_what_is_no_table_is_told_what_to_be(make):
    with pytest.raises(DataError, match=r"of Dask is not a table. Give a dask.array with two dim"):
        GaussianMixture(2).fit(make())


def test_an_array_that_does_not_know_its_columns_is_told_how_to():
    X = da.from_array(measurements(), chunks=(100, -1)).T
    X = X[da.isfinite(X[:, 0])].T
    with pytest.raises(DataError, match=r"does not know how many columns it has. Call its compute"):
        GaussianMixture(2).fit(X)


def test_blocks_of_columns_go_with_matrices_in_memory():
    observed = ObservedBlocks([0] * D, np.ones((N, 1), bool))
    blocks = ARRAYS["by rows"](counts()).map_blocks(sparse.csr_array)
    with pytest.raises(
        ValueError, match=r"goes with a sparse matrix in memory. In blocks of a dask"
    ):
        GammaPoisson(2).fit(blocks, observed=observed)
    with pytest.raises(
        ValueError, match=r"goes with a sparse matrix in memory. In blocks of a dask"
    ):
        topics().transform(blocks, observed=observed)


def test_weights_must_be_as_many_as_rows():
    with pytest.raises(ValueError, match=f"must hold one number a row, {N} in all"):
        GaussianMixture(2).fit(ARRAYS["by rows"](measurements()), sample_weight=np.ones(3))


def test_a_partition_of_other_columns_is_named():
    parts = [dask.delayed(measurements()[:, :d]) for d in (D, D - 1)]
    X = da.concatenate([da.from_delayed(p, (N, D), dtype=float) for p in parts])
    words = f"Partition 1 fails whenever it is tried: It has {D - 1} columns, but the table has {D}"
    with pytest.raises(DataError, match=words):
        GaussianMixture(2).fit(X)


def test_a_model_must_be_fitted_first():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        GaussianMixture(2).predict(ARRAYS["by rows"](measurements()))


# Files that the workers read.


@pytest.fixture
def folder(tmp_path):
    data = frame(measurements())
    for number, part in enumerate(np.split(np.arange(N), 3)):
        data.iloc[part].to_parquet(tmp_path / f"{number}.parquet", row_group_size=150)
    return tmp_path


def test_row_groups_are_partitions(folder):
    model = GaussianMixture(K).fit(Files(folder, dask=True))
    assert list(model.feature_names_in_) == NAMES
    np.testing.assert_allclose(parameters(model), parameters(mixture()), rtol=1e-9, atol=1e-9)


def test_columns_of_files_are_chosen(folder):
    chosen = ["x3", "x0", "x1", "x2"]
    model = GaussianMixture(K).fit(Files(folder, columns=chosen, dask=True))
    theirs = GaussianMixture(K).fit(frame(measurements())[chosen])
    np.testing.assert_allclose(parameters(model), parameters(theirs), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ending", ["csv", "npy", "feather"])
def test_other_files_are_a_partition_each(tmp_path, ending):
    data = frame(measurements())
    for number, rows in enumerate(np.split(np.arange(N), 3)):
        path, part = tmp_path / f"{number}.{ending}", data.iloc[rows].reset_index(drop=True)
        write = {
            "csv": lambda part=part, path=path: part.to_csv(path, index=False),
            "npy": lambda part=part, path=path: np.save(path, part.to_numpy()),
            "feather": lambda part=part, path=path: part.to_feather(path),
        }
        write[ending]()
    model = GaussianMixture(K).fit(Files(tmp_path, dask=True))
    np.testing.assert_allclose(parameters(model), parameters(mixture()), rtol=1e-9, atol=1e-9)


def test_a_damaged_row_group_is_named(folder):
    import pyarrow.parquet

    path = folder / "1.parquet"
    place = pyarrow.parquet.ParquetFile(path).metadata.row_group(2).column(4).data_page_offset
    content = bytearray(path.read_bytes())
    content[place : place + 8] = b"\xff" * 8
    path.write_bytes(content)
    words = r"Partition 5 \(row group 2 of 1.parquet\) fails whenever it is tried: 1.parquet cannot"
    with pytest.raises(DataError, match=words):
        GaussianMixture(K).fit(Files(folder, dask=True))


def test_rows_in_files_have_no_weights(folder):
    with pytest.raises(ValueError, match="Rows in files and batches have no sample_weight"):
        GaussianMixture(K).fit(Files(folder, dask=True), sample_weight=np.ones(N))


def test_without_dask_files_say_what_to_install(folder, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'halfseen\[dask\]'"):
        GaussianMixture(K).fit(Files(folder, dask=True))


@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
def test_choices_intervals_and_concerns_are_those_of_memory():
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(600, [0.5, 0.3, 0.2], rng.normal(0, 3, (3, 6)), 1.0, rng)
    X = simulate.independent_gaps(X, [1, 1, 1, 1, 0.5, 0.3], rng)
    far = da.from_array(X, chunks=(160, -1))
    near, there = (GaussianMixture("auto").fit(given) for given in (X, far))
    assert near.n_components_ == there.n_components_ == 3
    expected = near.intervals(X)
    for name, found in there.intervals(far).items():
        np.testing.assert_allclose(found.low, expected[name].low, rtol=1e-9)
        np.testing.assert_allclose(found.high, expected[name].high, rtol=1e-9)
    patients = np.arange(len(X)) // 3
    assert near.concerns(X, groups=patients) == there.concerns(far, groups=patients)
