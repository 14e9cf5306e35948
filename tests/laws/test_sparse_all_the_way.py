"""What is done with a wide sparse table never writes it out, and gives what the dense one gives."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import csr_array, hstack

from halfseen import GammaPoisson
from halfseen.data.block import Block
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.rows import whole_table
from halfseen.data.sampling import sample_rows
from halfseen.diagnostics.held_out_cells import hide_and_fill_sparse
from halfseen.report.portrait import few_behind, few_behind_sparse
from halfseen.report.registry import portrait_of

N, D, FEW = 1500, 32_000, 40


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Rare words beside a few common ones of two topics, in a file."""
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(2), np.ones(FEW // 2) / (FEW // 2)) * 0.9 + 0.1 / FEW
    common = rng.poisson(rng.gamma(1.0, 20.0, (N, 2)) @ topics)
    n_rare = int(0.001 * N * (D - FEW))
    places = rng.integers(N, size=n_rare), rng.integers(D - FEW, size=n_rare)
    rare = csr_array((np.ones(n_rare, int), places), shape=(N, D - FEW))
    matrix = csr_array(hstack([csr_array(common), rare]))
    path = tmp_path_factory.mktemp("wide") / "wide.mtx"
    mmwrite(path, matrix)
    return path, matrix


@pytest.fixture(scope="module")
def model(wide):
    _, matrix = wide
    some = csr_array(matrix[:, :FEW])
    return GammaPoisson(2).fit(some), some


VERBS = """
import sys, resource, warnings
from halfseen import GammaPoisson
from halfseen.cli.app import app

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

warnings.simplefilter("ignore")
path, page = sys.argv[1:]
before = most()
app(["describe", path], standalone_mode=False)
described = most() - before
GammaPoisson(2).fit(path).report(path, page, include_rows=True)
print(described, most() - before, sep=";", end="")
"""


def test_no_verb_takes_as_much_memory_as_the_table_written_out(wide, tmp_path):
    run = [sys.executable, "-c", VERBS, str(wide[0]), str(tmp_path / "page.html")]
    told = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    described, reported = map(int, told.splitlines()[-1].split(";"))
    assert described < N * D * 8 / 4
    assert reported < N * D * 8


def test_a_sample_of_sparse_rows_is_that_of_the_same_rows_written_out(wide):
    _, matrix = wide
    part = matrix[:, :7].astype(float)
    part.data[::5] = np.nan
    names = tuple(map(str, range(7)))
    observed = np.random.default_rng(1).random((N, 2)) < 0.8
    block = np.array([0, 0, 0, 1, 1, 1, 0])
    rows = SparseRows.of(csr_array(part), names, block, observed)
    every = whole_table(rows)
    for most in (40, N):
        found = sample_rows(rows, most)
        np.testing.assert_array_equal(whole_table(found.rows), every[found.numbers])
        places = np.array([7, 2, 30])
        np.testing.assert_array_equal(found.some(places), every[found.numbers[places]])


def test_hidden_values_are_filled_as_each_row_by_itself_would_be(model):
    fitted, matrix = model[0].fitted, model[1]
    rows = sample_rows(model[0].case(matrix).rows, 30).rows
    features = np.zeros(matrix.shape[1], bool)
    features[[0, 3, 25]] = True
    found = hide_and_fill_sparse(fitted, rows, features, fraction=0.4, random_state=0)
    table, kept = whole_table(rows), np.flatnonzero(fitted.kept)
    hidden = np.random.RandomState(0).random_sample((30, 3)) < 0.4
    places = list(zip(*np.nonzero(hidden), strict=True))
    known = np.where(hidden, np.nan, table[:, [0, 3, 25]])
    middle, scale = np.nanmean(known, axis=0), np.nanstd(known, axis=0)
    for guess, (row, column) in zip(found.guess, places, strict=True):
        gappy = table[row][None].copy()
        gappy[0, np.array([0, 3, 25])[hidden[row]]] = np.nan
        block = Block.from_table(gappy[:, kept], None, row)
        cells = fitted.model.cells(block, fitted.parameters)
        expected = cells.mean[0, list(kept).index([0, 3, 25][column])]
        assert guess == pytest.approx((expected - middle[column]) / scale[column], rel=1e-6)


def test_rows_behind_topics_are_counted_alike_sparse_or_not(model):
    case = model[0].case(model[1])
    certainty = portrait_of(case.fitted).row_certainty(case.sample.rows)
    for least in (5.0, 200.0, 600.0):
        dense = few_behind(certainty, case.sample.table, least)
        np.testing.assert_array_equal(few_behind_sparse(certainty, case.sample.rows, least), dense)
