"""Models learned from files and batches are those learned from the same table in memory."""

import gzip
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen import DataError, Files, GammaPoisson, GaussianMixture, simulate
from halfseen.moments import second_moment

N = 3000
NAMES = [f"item {i}" for i in range(6)]
TOPICS = [[0.3, 0.3, 0.2, 0.1, 0.1, 0.0], [0.0, 0.1, 0.1, 0.2, 0.3, 0.3]]
LEARNED = {
    GaussianMixture: ("weights_", "means_", "covariances_", "feature_weights_"),
    GammaPoisson: ("components_", "shapes_", "rate_", "feature_weights_"),
}
some = settings(max_examples=15, deadline=None, derandomize=True)


@cache
def counts():
    rng = np.random.default_rng(0)
    X, _ = simulate.gamma_poisson(N, TOPICS, [1.0, 1.0], 0.03, rng)
    return pd.DataFrame(simulate.independent_gaps(X, [1, 1, 1, 1, 0.6, 0.4], rng), columns=NAMES)


@pytest.fixture
def frame():
    return counts().copy()


@pytest.fixture
def folder(frame, tmp_path):
    for part, rows in enumerate(np.array_split(np.arange(N), 3)):
        frame.iloc[rows].to_parquet(tmp_path / f"{part}.parquet")
    return tmp_path


def write_feather(part, path, size):
    pa.feather.write_feather(part.reset_index(drop=True), path, chunksize=size)


def write_gzip(part, path, size):
    path.write_bytes(gzip.compress(part.to_csv(index=False).encode()))


FILES = {
    ".parquet": lambda part, path, size: part.to_parquet(path, row_group_size=size),
    ".feather": write_feather,
    ".arrow": write_feather,
    ".csv": lambda part, path, size: part.to_csv(path, index=False),
    ".tsv": lambda part, path, size: part.to_csv(path, index=False, sep="\t"),
    ".csv.gz": write_gzip,
    ".npy": lambda part, path, size: np.save(path, part.to_numpy()),
    ".npz": lambda part, path, size: np.savez_compressed(path, np.ascontiguousarray(part)),
}
BATCHES = {
    "arrays": lambda part: part.to_numpy(),
    "pandas": lambda part: part,
    "polars": lambda part: pl.DataFrame(dict(part)),
    "Arrow": lambda part: pa.RecordBatch.from_pandas(part, preserve_index=False),
}
cuts = st.lists(st.integers(0, N), max_size=4).map(sorted)
row_groups = st.integers(20, N)
memories = st.floats(0.1, 5)
threads = st.sampled_from([1, 2])


def parts_of(frame, cuts):
    return [frame.iloc[rows] for rows in np.split(np.arange(len(frame)), cuts)]


@cache
def in_memory(estimator, third_moment):
    return estimator(2, third_moment=third_moment).fit(counts())


def assert_same(model, other):
    for name in LEARNED[type(model)]:
        ours, theirs = getattr(model, name), getattr(other, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("estimator", LEARNED)
@pytest.mark.parametrize("third_moment", ["auto", "explicit", "implicit"])
@given(
    ending=st.sampled_from([*FILES]), cuts=cuts, size=row_groups, memory=memories, n_jobs=threads
)
@some
def test_any_format_cut_anywhere_gives_the_model_of_the_table_in_memory(
    estimator, third_moment, ending, cuts, size, memory, n_jobs
):
    with tempfile.TemporaryDirectory() as folder:
        for number, part in enumerate(parts_of(counts(), cuts)):
            FILES[ending](part, Path(folder) / f"{number}{ending}", size)
        model = estimator(2, third_moment=third_moment, n_jobs=n_jobs)
        model.fit(Files(folder, memory=memory))
    assert_same(model, in_memory(estimator, third_moment))


@pytest.mark.parametrize("estimator", LEARNED)
@pytest.mark.parametrize("third_moment", ["auto", "explicit", "implicit"])
@given(kind=st.sampled_from([*BATCHES]), cuts=cuts, n_jobs=threads)
@some
def test_any_batches_give_the_model_of_the_table_in_memory(
    estimator, third_moment, kind, cuts, n_jobs
):
    batches = [BATCHES[kind](part) for part in parts_of(counts(), cuts)]
    model = estimator(2, third_moment=third_moment, n_jobs=n_jobs).fit(batches)
    assert_same(model, in_memory(estimator, third_moment))


@pytest.mark.parametrize("ending", FILES)
@pytest.mark.parametrize("estimator", LEARNED)
def test_every_format_is_read_by_both_estimators(estimator, ending, frame, tmp_path):
    FILES[ending](frame, tmp_path / f"t{ending}", 400)
    model = estimator(2).fit(Files(tmp_path, memory=0.5))
    assert_same(model, in_memory(estimator, "auto"))
    assert_same(estimator(2).fit(str(tmp_path / f"t{ending}")), model)


@pytest.mark.parametrize("refine", [None, "em"])
@pytest.mark.parametrize("covariance_type", ["tied_spherical", "spherical"])
def test_mixtures_refined_or_not(frame, folder, refine, covariance_type):
    model = GaussianMixture(2, refine=refine, covariance_type=covariance_type)
    on_disk = model.fit(Files(folder, memory=0.1)).means_
    np.testing.assert_allclose(on_disk, model.fit(frame).means_, rtol=1e-9)


def test_partial_mixtures_recover_incomplete_features_from_files(frame, folder):
    model = GaussianMixture(2, method="partial", refine=None)
    on_disk = model.fit(folder).means_
    np.testing.assert_allclose(on_disk, model.fit(frame).means_, rtol=1e-9)


def test_stochastic_em_runs_on_files(folder):
    model = GammaPoisson(2, refine="saem", n_sweeps=10, random_state=0).fit(folder)
    assert np.isfinite(model.components_).all()


def test_float32_files_give_the_model_of_the_same_numbers_in_double(frame, tmp_path):
    single = (frame + 0.1).astype(np.float32)
    single.to_parquet(tmp_path / "t.parquet")
    model = GaussianMixture(2).fit(tmp_path)
    assert_same(model, GaussianMixture(2).fit(single.astype(np.float64)))


@pytest.mark.parametrize("estimator", LEARNED)
def test_columns_are_chosen_and_keep_their_names(estimator, frame, folder):
    chosen = [NAMES[i] for i in (5, 0, 3, 2, 1)]
    model = estimator(2).fit(Files(folder, columns=chosen))
    assert list(model.feature_names_in_) == chosen
    assert model.n_features_in_ == 5
    assert_same(model, estimator(2).fit(frame[chosen]))


def test_a_model_of_a_file_takes_new_tables_of_the_same_names(frame, folder):
    model = GaussianMixture(2).fit(folder)
    assert list(model.feature_names_in_) == NAMES
    np.testing.assert_array_equal(
        model.predict(frame), GaussianMixture(2).fit(frame).predict(frame)
    )
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[NAMES[::-1]])


@pytest.mark.parametrize("source", ["npy", "batches"])
def test_columns_without_names_have_none_in_the_model_either(frame, folder, source, tmp_path):
    X = frame.to_numpy()
    np.save(tmp_path / "t.npy", X)
    model = GaussianMixture(2).fit(folder / "0.parquet")
    model.fit(tmp_path / "t.npy" if source == "npy" else [X[:1000], X[1000:]])
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 6
    assert len(model.predict(X)) == N


def test_features_that_cannot_be_used_are_named(frame, tmp_path):
    frame.assign(**{"item 2": 1.0}).to_parquet(tmp_path / "t.parquet")
    with pytest.warns(UserWarning, match="Feature 'item 2' is constant"):
        model = GaussianMixture(2).fit(tmp_path)
    assert "item 2" in model.diagnostics_.dropped_features


def test_infinite_values_in_files_are_refused_by_name(frame, tmp_path):
    frame.iloc[70, 3] = np.inf
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match="Infinite values in 'item 3'"):
        GaussianMixture(2).fit(tmp_path)


def test_a_damaged_row_group_stops_the_fit_and_leaves_the_file_and_the_model(frame, tmp_path):
    path = tmp_path / "t.parquet"
    frame.to_parquet(path, row_group_size=300)
    model = GaussianMixture(2).fit(tmp_path)
    means = model.means_
    chunk = pa.parquet.ParquetFile(path).metadata.row_group(6).column(2)
    content = bytearray(path.read_bytes())
    content[chunk.data_page_offset : chunk.data_page_offset + 50] = bytes(range(50))
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"t\.parquet cannot be read at row group 6: "):
        model.fit(tmp_path)
    assert path.read_bytes() == content
    assert model.means_ is means


def test_a_file_that_is_written_anew_during_a_fit_stops_it(frame, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    frame = pd.concat([frame, frame])  # too many rows to be held in memory first
    frame.to_csv(path, index=False)
    whiten = second_moment.whiten

    def write_and_whiten(*args):
        frame[:2000].to_csv(path, index=False)
        return whiten(*args)

    monkeypatch.setattr(second_moment, "whiten", write_and_whiten)  # between two passes
    with pytest.raises(DataError, match=r"t\.csv changed while it was being read\. Fit again"):
        GaussianMixture(2, moments="adjusted", refine=None).fit(tmp_path)


def test_progress_is_shown_without_knowing_the_number_of_rows(folder, capsys):
    GaussianMixture(2, verbose=1).fit(folder)
    assert "3,000 rows" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["files", "batches"])
def test_rows_in_files_and_batches_cannot_be_weighed(frame, folder, source):
    X = folder if source == "files" else [frame]
    with pytest.raises(ValueError, match="Rows in files and batches have no sample_weight"):
        GaussianMixture(2).fit(X, sample_weight=np.ones(N))


def test_a_generator_is_refused_with_what_to_give_instead(frame):
    with pytest.raises(DataError, match=r"A generator gives its batches only once\..* give a list"):
        GaussianMixture(2).fit(frame[i : i + 100] for i in range(0, N, 100))


def test_batches_that_are_not_the_same_on_every_pass_stop_the_fit(frame):
    class Shrinking:
        passes = 0

        def __iter__(self):
            self.passes += 1
            return iter([frame[: N - self.passes]])

    with pytest.raises(DataError, match=r"The batches held 2998 rows when .* and 2997 later"):
        GaussianMixture(2).fit(Shrinking())


def test_batches_may_be_made_anew_on_every_pass(frame):
    class Halves:
        def __iter__(self):
            yield frame[:1500]
            yield frame[1500:]

    assert_same(GaussianMixture(2).fit(Halves()), GaussianMixture(2).fit(frame))
