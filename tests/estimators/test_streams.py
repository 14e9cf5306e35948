"""Rows that come in batches and are seen only once."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen import (
    DataError,
    GammaPoisson,
    GaussianMixture,
    ModelFileError,
    Stream,
    simulate,
)
from halfseen.data.arrays import Array
from halfseen.data.engines.memory import MemoryRows
from halfseen.diagnostics.recovery import total_angle
from halfseen.moments import symmetric_tensors
from halfseen.moments.moment_sums import MomentSums, SummedSecond

NAMES = tuple("abcdef")
MEANS = np.random.default_rng(3).normal(20, 3, (3, 6))
TOPICS = np.random.default_rng(4).dirichlet(np.full(6, 0.5), size=2)


def gaussian(n=4000, seed=0) -> Array:
    rng = np.random.default_rng(seed)
    X, _ = simulate.gaussian_mixture(n, [0.5, 0.3, 0.2], MEANS, 1.0, rng)
    return simulate.independent_gaps(X, [1, 1, 1, 1, 0.6, 0.4], rng)


def counts(n=6000, seed=0) -> Array:
    rng = np.random.default_rng(seed)
    X, _ = simulate.gamma_poisson(n, TOPICS, [1.0, 0.7], 0.05, rng)
    return simulate.independent_gaps(X, [1, 1, 1, 1, 0.6, 0.4], rng)


def batched(model, X, size):
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size])
    return model


def test_one_batch_of_everything_is_a_fit_by_moments():
    X = gaussian()
    fit = GaussianMixture(3, refine=None, outliers=None, incomplete_features="divide").fit(X)
    stream = GaussianMixture(3).partial_fit(X)
    np.testing.assert_allclose(parameters(stream), parameters(fit), rtol=1e-9)
    assert stream.diagnostics_.incomplete_features == "divide"
    assert stream.diagnostics_.third_moment_reason == "sums of rows that are not at hand"


def test_without_gaps_raw_moments_of_a_stream_are_those_of_a_fit():
    X, _ = simulate.gaussian_mixture(900, [0.5, 0.3, 0.2], MEANS, 1.0, np.random.default_rng(0))
    fit = GaussianMixture(3, form="raw", refine=None).fit(X)
    stream = GaussianMixture(3, form="raw").partial_fit(X[:400]).partial_fit(X[400:])
    np.testing.assert_allclose(stream.means_, fit.means_, rtol=1e-7)
    np.testing.assert_allclose(stream.weights_, fit.weights_, rtol=1e-7)


def test_without_gaps_the_central_moments_are_exact_whatever_the_origin():
    X = np.random.default_rng(0).gamma(1.0, 2.0, (300, 3))
    rows = MemoryRows(X, tuple("abc"))
    second = SummedSecond(rows.accumulate(MomentSums.about(np.array([1.0, -4.0, 10.0]))))
    centred, raw = (second.moments(rows, None, centred) for centred in (True, False))
    np.testing.assert_allclose(centred.second, np.cov(X.T), rtol=1e-11)
    np.testing.assert_allclose(raw.second, X.T @ X / 300, rtol=1e-11)


def test_a_stream_learns_what_is_true():
    model = batched(GaussianMixture(3, covariance_type="tied_spherical"), gaussian(60_000), 5000)
    assert total_angle(model.means_, MEANS) < 0.02
    topics = batched(GammaPoisson(2), counts(60_000), 5000)
    assert total_angle(topics.components_, TOPICS) < 0.1


def parameters(model):
    return np.concatenate([model.weights_, model.means_.ravel(), [model.covariances_]])


@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(501, 1999), max_size=5), seed=st.integers(0, 100))
def test_how_later_rows_are_cut_and_ordered_does_not_matter(cuts, seed):
    X = gaussian(2000)
    rng = np.random.default_rng(seed)
    later = 500 + rng.permutation(1500)
    expected = parameters(GaussianMixture(3).partial_fit(X[:500], refit=False).partial_fit(X[500:]))
    model = GaussianMixture(3).partial_fit(X[:500], refit=False)
    for rows in np.split(later, np.sort(np.array(cuts, dtype=int)) - 500):
        if len(rows):
            model.partial_fit(X[rows], refit=False)
    found = parameters(model.partial_fit(model.stream_.empty()))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_sums_are_saved_and_taken_up_again(tmp_path):
    X = gaussian(1500)
    model = GaussianMixture(3).partial_fit(X[:500])
    model.stream_.save(tmp_path / "sums.npz")
    resumed = GaussianMixture(3).partial_fit(Stream.load(tmp_path / "sums.npz"))
    np.testing.assert_array_equal(parameters(resumed), parameters(model))
    model.partial_fit(X[500:])
    resumed.partial_fit(X[500:])
    np.testing.assert_array_equal(parameters(resumed), parameters(model))
    assert resumed.stream_.n_rows == 1500
    assert list(tmp_path.iterdir()) == [tmp_path / "sums.npz"]


def test_a_saved_stream_is_not_overwritten_unless_asked(tmp_path):
    model = GaussianMixture(3).partial_fit(gaussian(500))
    model.stream_.save(tmp_path / "sums.npz")
    before = (tmp_path / "sums.npz").read_bytes()
    with pytest.raises(FileExistsError, match=r"is there already. Use overwrite=True to replace"):
        model.stream_.save(tmp_path / "sums.npz")
    assert (tmp_path / "sums.npz").read_bytes() == before
    model.stream_.save(tmp_path / "sums.npz", overwrite=True)


def test_a_stream_that_cannot_be_written_leaves_the_old_one_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "sums.npz"
    model = GaussianMixture(3).partial_fit(gaussian(500))
    model.stream_.save(path)
    before = path.read_bytes()

    def full(*arguments, **options):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        model.stream_.save(path, overwrite=True)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_streams_of_several_machines_add():
    X = gaussian(3000)
    first = GaussianMixture(3).partial_fit(X[:1000])
    others = [GaussianMixture(3).partial_fit(first.stream_.empty(), refit=False) for _ in range(2)]
    for other, part in zip(others, (X[1000:1800], X[1800:]), strict=True):
        first.partial_fit(other.partial_fit(part, refit=False).stream_)
    alone = GaussianMixture(3).partial_fit(X[:1000]).partial_fit(X[1000:])
    np.testing.assert_allclose(parameters(first), parameters(alone), rtol=1e-9)


def test_weights_count_rows():
    X, rng = gaussian(600), np.random.default_rng(0)
    times = rng.integers(1, 4, len(X))
    weighted = GaussianMixture(3).partial_fit(X, sample_weight=times)
    repeated = GaussianMixture(3).partial_fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(parameters(weighted), parameters(repeated), rtol=1e-8)
    X = counts(600)
    weighted = GammaPoisson(2).partial_fit(X, sample_weight=times)
    repeated = GammaPoisson(2).partial_fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-9)


def test_a_fit_starts_anew():
    X = gaussian(1000)
    model = GaussianMixture(3).partial_fit(X).fit(X)
    assert not hasattr(model, "stream_")
    assert model.partial_fit(X).stream_.n_rows == 1000


def test_too_few_rows_are_added_and_then_told():
    X = gaussian(1000)
    model = GaussianMixture(3)
    with pytest.raises(DataError, match="needs at least 3 rows"):
        model.partial_fit(X[:2])
    assert model.partial_fit(X[2:]).stream_.n_rows == 1000


def test_bad_counts_are_not_added():
    X = counts(500)
    model = GammaPoisson(2).partial_fit(X)
    with pytest.raises(DataError, match="Negative values"):
        model.partial_fit(-X)
    assert model.stream_.n_rows == 500


def test_names_are_kept_and_must_stay():
    frame = pd.DataFrame(gaussian(500), columns=list(NAMES))
    model = GaussianMixture(3).partial_fit(frame)
    assert model.stream_.names == NAMES
    with pytest.raises(ValueError, match="feature"):
        model.partial_fit(frame.rename(columns={"a": "z"}))
    other = GaussianMixture(3).partial_fit(frame.rename(columns={"b": "z"}))
    with pytest.raises(DataError, match=r"other features: 'b' where the other has 'z'. Sum each"):
        model.partial_fit(other.stream_)
    fewer = GaussianMixture(3).partial_fit(frame.iloc[:, :5])
    with pytest.raises(DataError, match="other features: 6 where the other has 5"):
        model.partial_fit(fewer.stream_)


def test_streams_about_other_origins_are_told_apart():
    one, other = (GaussianMixture(3).partial_fit(gaussian(500, seed)) for seed in (0, 1))
    with pytest.raises(DataError, match=r"different origins .* Start all but the first from"):
        one.partial_fit(other.stream_)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GaussianMixture(3, method="partial"), "method='partial' goes over rows again to recover"),
        (GaussianMixture(3, covariance_type="diag"), "'diag' is learned by likelihood, which goes"),
    ],
)
def test_what_needs_the_rows_again_is_refused(model, message):
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError) as raised:
        model.partial_fit(gaussian(500))
    assert message in str(raised.value.__cause__)


def test_an_unknown_option_is_named():
    with pytest.raises(TypeError, match="unexpected argument 'weights'"):
        GammaPoisson(2).partial_fit(counts(100), weights=1)


def test_too_many_features_are_told_before_any_work():
    message = "sums over all triples of 1000 features, 10.7 GB, more than 2. Use fewer features"
    with pytest.raises(DataError, match=re.escape(message)):
        GaussianMixture(3).partial_fit(np.zeros((5, 1000)))


def damaged(path, how):
    content = bytearray(path.read_bytes())
    if how == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif how == "flipped":
        content[len(content) // 3] ^= 0xFF
        path.write_bytes(content)
    else:
        path.write_text("hello")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("cut", "was altered, damaged or cut short: its checksum does not match"),
        ("flipped", "was altered, damaged or cut short: its checksum does not match"),
        ("text", "is not a file of sums written by halfseen, or its start is damaged"),
    ],
)
def test_damaged_files_are_refused(tmp_path, how, message):
    path = tmp_path / "first.sums"
    GaussianMixture(3).partial_fit(gaussian(500)).stream_.save(path)
    damaged(path, how)
    with pytest.raises(ModelFileError, match=message):
        Stream.load(path)


def test_streams_of_0_1_are_refused_with_what_to_do(tmp_path):
    np.savez(tmp_path / "sums.npz", version=1)
    message = "as halfseen 0.1 kept them, which are not enough .* Sum the rows again"
    with pytest.raises(DataError, match=message):
        Stream.load(tmp_path / "sums.npz")


def test_a_newer_file_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "first.sums"
    stream = GaussianMixture(3).partial_fit(gaussian(500)).stream_
    monkeypatch.setattr("halfseen.persistence.container.FORMAT", 2)
    stream.save(path)
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=r"has format 2, and .* up to 1. Upgrade halfseen"):
        Stream.load(path)


def test_selecting_packed_triples():
    d, rng = 5, np.random.default_rng(0)
    z = rng.standard_normal((20, d))
    keep = np.array([True, False, True, True, False])
    found = symmetric_tensors.select(symmetric_tensors.third_products(z), keep)
    np.testing.assert_allclose(found, symmetric_tensors.third_products(z[:, keep]), rtol=1e-12)
    assert symmetric_tensors.select(
        symmetric_tensors.third_products(z), np.zeros(d, bool)
    ).shape == (0,)


def test_features_that_do_not_vary_are_left_out():
    X = gaussian(1000)
    X[:, 1] = 7.0
    with pytest.warns(UserWarning, match="constant"):
        model = GaussianMixture(3).partial_fit(X)
    np.testing.assert_array_equal(model.means_[:, 1], 7.0)
    np.testing.assert_array_equal(model.kept_features_, [True, False, True, True, True, True])


def test_a_stream_survives_the_process(tmp_path):
    X = gaussian(1000)
    np.save(tmp_path / "x.npy", X)
    script = (
        "import numpy as np; from halfseen import GaussianMixture;"
        f"X = np.load(r'{tmp_path / 'x.npy'}');"
        f"GaussianMixture(3).partial_fit(X[:400]).stream_.save(r'{tmp_path / 's.npz'}')"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    model = GaussianMixture(3).partial_fit(Stream.load(tmp_path / "s.npz")).partial_fit(X[400:])
    alone = GaussianMixture(3).partial_fit(X[:400]).partial_fit(X[400:])
    np.testing.assert_allclose(parameters(model), parameters(alone), rtol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_a_column_whose_variance_is_lost_to_rounding_is_refused_by_name():
    """The first batch holds nothing of it, so that moments are taken about zero."""
    X = np.column_stack([np.arange(9.0), 1e9 + 1e-6 * np.arange(9)])
    X[:3, 1] = np.nan
    model = GaussianMixture(1).partial_fit(X[:3], refit=False)
    with pytest.raises(DataError, match="Rounding hides how '1' varies: moments are taken about"):
        model.partial_fit(X[3:])
