"""Broken sparse matrices are refused before compiled code reads or writes beyond their arrays."""

import gzip

import numpy as np
import pytest
from scipy import sparse

from halfseen import DataError, Files, GammaPoisson
from halfseen.io.formats.format import MAX_COLUMNS
from halfseen.io.open_source import open_source
from halfseen.io.sparse_matrix import check_sparse

COUNTS = np.random.default_rng(0).poisson(1.0, (40, 5)).astype(float)


def _changed(name, place, value, kind=sparse.csr_array):
    matrix = kind(COUNTS)
    array = getattr(matrix, name).copy()
    array[place] = value
    setattr(matrix, name, array)
    return matrix


BROKEN = {
    "is broken: it has an entry in column 2,000,000,000, and 5 columns": ("indices", 3, 2 * 10**9),
    "is broken: it has an entry in column -5, and 5 columns": ("indices", 3, -5),
    "is broken: its indptr falls at row 19, and should rise from 0": ("indptr", 20, 3),
    "is broken: its indptr begins with 1, and should rise from 0": ("indptr", 0, 1),
    "is broken: its indptr ends with 1,000,000, but it has": ("indptr", -1, 10**6),
}


@pytest.mark.parametrize("words", BROKEN)
def test_a_broken_matrix_is_refused_with_where_it_is_broken(words):
    with pytest.raises(DataError, match=f"^The sparse matrix {words}.* Make it again"):
        GammaPoisson(1).fit(_changed(*BROKEN[words]))


@pytest.mark.parametrize("words", BROKEN)
def test_a_fitted_model_refuses_it_too(words):
    model = GammaPoisson(1).fit(sparse.csr_array(COUNTS))
    with pytest.raises(DataError, match=r"is broken"):
        model.transform(_changed(*BROKEN[words]))


@pytest.mark.parametrize("words", BROKEN)
def test_compressed_columns_are_looked_at_before_they_are_turned(words):
    with pytest.raises(DataError, match=r"is broken"):
        GammaPoisson(1).fit(
            _changed(*BROKEN[words], kind=lambda counts: sparse.csc_array(counts.T))
        )


def test_places_outside_of_the_table_are_refused_in_every_format():
    coo = sparse.coo_array(COUNTS)
    coo.coords[0][2] = 10**6
    lil = sparse.lil_array(COUNTS)
    lil.rows[0][0] = 10**6
    for matrix in (coo, lil):
        with pytest.raises(
            DataError, match=r"is broken: it has an entry in (row|column) 1,000,000"
        ):
            GammaPoisson(1).fit(matrix)


def test_fewer_values_than_places_are_refused():
    matrix = sparse.csr_array(COUNTS)
    matrix.data = matrix.data[:-3]
    with pytest.raises(DataError, match=r"it has [\d,]+ indices and [\d,]+ values"):
        GammaPoisson(1).fit(matrix)


def test_room_after_the_last_entry_counts_for_nothing():
    matrix = sparse.csr_array(COUNTS)
    matrix.indices = np.append(matrix.indices, [1, 1]).astype(matrix.indices.dtype)
    matrix.data = np.append(matrix.data, [900.0, 900.0])
    expected = GammaPoisson(1).fit(sparse.csr_array(COUNTS))
    np.testing.assert_array_equal(GammaPoisson(1).fit(matrix).components_, expected.components_)
    assert len(matrix.data) == len(matrix.indices)  # the user's own is as it was


@pytest.mark.parametrize("swapped", ["data", "indices", "indptr"])
def test_the_other_byte_order_gives_the_same_model(swapped):
    matrix = sparse.csr_array(COUNTS)
    array = getattr(matrix, swapped)
    setattr(matrix, swapped, array.astype(array.dtype.newbyteorder(">")))
    expected = GammaPoisson(1).fit(sparse.csr_array(COUNTS))
    np.testing.assert_array_equal(GammaPoisson(1).fit(matrix).components_, expected.components_)


def test_more_columns_than_there_can_be_are_refused():
    with pytest.raises(DataError, match=r"says that it has 1,099,511,627,776 columns, and at most"):
        check_sparse(sparse.csr_array((1, 1 << 40)))
    check_sparse(sparse.csr_array((1, MAX_COLUMNS)))


def _crafted(folder, **arrays):
    matrix = sparse.csr_array(COUNTS)
    usual = {"format": b"csr", "shape": matrix.shape, "data": matrix.data}
    usual |= {"indices": matrix.indices, "indptr": matrix.indptr}
    np.savez(folder / "counts.npz", **usual | arrays)
    return folder / "counts.npz"


def test_a_crafted_file_is_refused_by_name(tmp_path):
    wild, falling = sparse.csr_array(COUNTS).indices.copy(), sparse.csr_array(COUNTS).indptr.copy()
    wild[3], falling[20] = 2 * 10**9, 3
    for arrays in ({"indices": wild}, {"indptr": falling}, {"shape": (40, 1 << 50)}):
        path = _crafted(tmp_path, **arrays)
        with pytest.raises(DataError, match=r"^counts.npz (is broken|says that it has)"):
            open_source(Files(path))
        with pytest.raises(DataError, match=r"^counts.npz (is broken|says that it has)"):
            GammaPoisson(1).fit(path)


def test_words_in_place_of_counts_are_refused(tmp_path):
    n = sparse.csr_array(COUNTS).nnz
    with pytest.raises(
        DataError, match=r"^counts.npz holds <U1, not numbers. Store counts or meas"
    ):
        open_source(Files(_crafted(tmp_path, data=np.full(n, "a"))))


MARKETS = {
    "integer general\n2 2 1\n1 1 99999999999999999999": "holds whole numbers that are too large",
    "integer general\n2 2 1\n1 9 3": "cannot be read as a sparse matrix: Line 3: Column",
    "integer general\n2 2 1000000000\n1 1 3": "cannot be read as a sparse matrix: it says th",
    "integer general\n9000000000 2 1\n1 1 3": "says that it has 9,000,000,000 rows, and at most",
    "integer general\n2 9000000000 1\n1 1 3": "says that it has 9,000,000,000 columns, and at most",
}


@pytest.mark.parametrize("content", MARKETS)
def test_a_matrix_market_that_cannot_be_gets_its_sentence(content, tmp_path):
    path = tmp_path / "counts.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate {content}\n")
    with pytest.raises(DataError, match=f"^counts.mtx {MARKETS[content]}"):
        open_source(Files(path))


@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz"])
@pytest.mark.parametrize(
    "place", ["1 1 3.5\x00\x00", "1 1 3.\x00\x00\x00\x00\x00\x00\x00\x002 2 1"]
)
def test_bytes_that_are_no_text_are_refused_before_they_end_the_process(ending, place, tmp_path):
    path = tmp_path / f"counts{ending}"
    text = f"%%MatrixMarket matrix coordinate real general\n2 2 2\n{place}\n2 2 1.5\n".encode()
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    words = rf"counts{ending} .* it holds the byte 0x00 at byte {text.index(0)}, and is no text"
    with pytest.raises(DataError, match=words):
        open_source(Files(path))


@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz"])
@pytest.mark.parametrize("number", ["5E", "5e", "5e+", "5.5E-"])
def test_a_file_that_ends_within_a_number_is_refused_before_it_ends_the_process(
    ending, number, tmp_path
):
    path = tmp_path / f"counts{ending}"
    text = f"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 {number}".encode()
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    words = rf"counts{ending} .* it ends within a number, after {len(text)} bytes\. Write it again"
    with pytest.raises(DataError, match=words):
        open_source(Files(path))
