"""Whatever can be fitted has a page, and the same one wherever its rows are."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from halfseen import Files, GammaPoisson, GaussianMixture, simulate
from halfseen.data.formatting import number
from halfseen.diagnostics.concerns import concern
from halfseen.report.columns import missing_in
from halfseen.report.example_rows import some_rows
from halfseen.report.registry import portrait_of
from halfseen.report.report import context_of

NAMES = ["age", "pulse", "lactate", "crp"]


@pytest.fixture(autouse=True)
def _here():
    with dask.config.set(scheduler="synchronous"):
        yield


def measurements():
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(900, [0.7, 0.3], [[0] * 4, [5, 4, -4, 6]], 1.0, rng)
    X = np.round(simulate.independent_gaps(X, [1, 1, 1, 0.3], rng), 3)
    X[7] = np.nan
    return pd.DataFrame(X, columns=NAMES)


def counts():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(6, 0.5), size=2)
    X, _ = simulate.gamma_poisson(600, topics, [1.0, 1.0], 0.03, rng)
    return simulate.independent_gaps(X, [1, 1, 1, 1, 1, 0.6], rng)


def written(model, X, folder, **options):
    model.report(X, folder / "page.html", overwrite=True, **options)
    return (folder / "page.html").read_text("utf-8")


ELSEWHERE = {
    "path": lambda X, folder: folder / "table.csv",
    "text": lambda X, folder: str(folder / "table.csv"),
    "files": lambda X, folder: Files(folder / "table.csv"),
    "folder": lambda X, folder: Files(folder / "parts", memory=1e5),
    "batches": lambda X, folder: [X[:100], X[100:]],
    "dask frame": lambda X, folder: dd.from_pandas(X, npartitions=3),
    "dask files": lambda X, folder: Files(folder / "parts", dask=True),
}


@pytest.mark.parametrize("elsewhere", ELSEWHERE.values(), ids=ELSEWHERE)
def test_the_page_of_measurements_is_the_same_wherever_they_are(elsewhere, tmp_path):
    X = measurements()
    X.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "parts").mkdir()
    X[:500].to_parquet(tmp_path / "parts" / "1.parquet")
    X[500:].to_parquet(tmp_path / "parts" / "2.parquet")
    model = GaussianMixture(2).fit(X)
    expected = written(model, X, tmp_path, include_rows=True)
    assert "come with 95% confidence intervals" in expected
    given = elsewhere(X, tmp_path)
    assert written(model, given, tmp_path, include_rows=True) == expected


OF_COUNTS = {
    "sparse": csr_array,
    "dask array": lambda X: da.from_array(X, chunks=(250, 6)),
    "dask array of sparse blocks": lambda X: da.from_array(X, chunks=(250, 6)).map_blocks(
        csr_array
    ),
    "batches": lambda X: [X[:100], X[100:]],
}


@pytest.mark.parametrize("elsewhere", OF_COUNTS.values(), ids=OF_COUNTS)
def test_the_page_of_counts_is_the_same_wherever_they_are(elsewhere, tmp_path):
    X = counts()
    model = GammaPoisson(2).fit(X)
    expected = written(model, X, tmp_path)
    assert written(model, elsewhere(X), tmp_path) == expected


def test_of_many_rows_the_page_looks_at_the_same_wherever_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(concern, "MAX_SAMPLE_ROWS", 300)
    X = measurements()
    model = GaussianMixture(2).fit(X)
    expected = written(model, X, tmp_path, include_rows=True)
    assert "(300 rows)" in expected
    assert written(model, [X[:450], X[450:]], tmp_path, include_rows=True) == expected


def test_rows_are_shown_by_their_number_in_the_table(monkeypatch):
    monkeypatch.setattr(concern, "MAX_SAMPLE_ROWS", 20)
    X = measurements()
    case = GaussianMixture(2).fit(X).case(X)
    shown = some_rows(context_of(case))
    for line in shown.rows:
        row = X.iloc[int(line[0]) - 1]
        assert line[3:] == ["" if np.isnan(value) else number(value) for value in row]


def test_a_model_learned_from_a_stream_has_a_page_without_intervals(tmp_path):
    X = measurements()
    model = GaussianMixture(2).partial_fit(X[:450]).partial_fit(X[450:])
    assert "There are no confidence intervals on this page" in written(model, X, tmp_path)


def test_labels_of_rows_that_depend_on_each_other_do_for_files_too(tmp_path):
    X = measurements()
    X.to_csv(tmp_path / "table.csv", index=False)
    model, patient = GaussianMixture(2).fit(X), np.arange(len(X)) % 90
    expected = written(model, X, tmp_path, groups=patient)
    assert "from a bootstrap of whole groups of rows" in expected
    assert written(model, tmp_path / "table.csv", tmp_path, groups=patient) == expected


def test_what_is_missing_is_told_by_the_columns_own_names():
    X = measurements()
    model = GaussianMixture(2).fit(X)
    found = missing_in(model.case([X[:10], X[10:]]))
    assert found.names == tuple(NAMES) == portrait_of(model).names
    assert (found.n_rows, found.n_empty_rows) == (900, 1)


def test_of_wide_tables_fewer_rows_are_looked_at(monkeypatch):
    monkeypatch.setattr("halfseen.diagnostics.concerns.concern.MOST_CELLS", 400)
    X = measurements()
    assert len(GaussianMixture(2).fit(X).case(X).sample.numbers) == 100
