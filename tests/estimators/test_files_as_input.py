"""Models learned from files are those learned from the same table in memory."""

import sys

import numpy as np
import pandas as pd
import pytest

from halfseen import GammaPoisson, GaussianMixture, simulate
from halfseen.engines import files

NAMES = [f"item {i}" for i in range(6)]
TOPICS = [[0.3, 0.3, 0.2, 0.1, 0.1, 0.0], [0.0, 0.1, 0.1, 0.2, 0.3, 0.3]]


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    X, _ = simulate.gamma_poisson(3000, TOPICS, [1.0, 1.0], 0.03, rng)
    return pd.DataFrame(simulate.independent_gaps(X, [1, 1, 1, 1, 0.6, 0.4], rng), columns=NAMES)


@pytest.fixture
def folder(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BATCH_ENTRIES", 1200)
    for part, rows in enumerate(np.array_split(np.arange(3000), 3)):
        frame.iloc[rows].to_parquet(tmp_path / f"{part}.parquet")
    return tmp_path


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("third_moment", ["explicit", "implicit"])
@pytest.mark.parametrize("refine", [None, "em"])
def test_mixtures(frame, folder, refine, third_moment, n_jobs):
    model = GaussianMixture(2, refine=refine, third_moment=third_moment, n_jobs=n_jobs)
    on_disk = model.fit(folder).means_
    assert list(model.feature_names_in_) == NAMES
    np.testing.assert_allclose(on_disk, model.fit(frame).means_, rtol=1e-9)


@pytest.mark.parametrize("third_moment", ["explicit", "implicit"])
def test_topics(frame, folder, third_moment):
    model = GammaPoisson(2, third_moment=third_moment)
    on_disk = model.fit(str(folder)).components_
    np.testing.assert_allclose(on_disk, model.fit(frame).components_, rtol=1e-9, atol=1e-12)
    assert model.transform(frame).shape == (3000, 2)


def test_stochastic_em_runs_on_files(folder):
    model = GammaPoisson(2, refine="saem", n_sweeps=10, random_state=0).fit(folder)
    assert np.isfinite(model.components_).all()


def test_progress_is_shown_without_knowing_the_number_of_rows(folder, capsys):
    GaussianMixture(2, verbose=1).fit(folder)
    assert "3,000 rows" in capsys.readouterr().err


def test_rows_in_files_cannot_be_weighed(folder):
    with pytest.raises(ValueError, match="Rows in files have no sample_weight"):
        GaussianMixture(2).fit(folder, sample_weight=np.ones(3000))


def test_without_the_extra_it_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install .halfseen\[io\]"):
        GaussianMixture(2).fit(folder)
