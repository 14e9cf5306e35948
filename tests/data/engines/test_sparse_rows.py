"""Sparse rows against the same table filled in: whatever is asked, both say the same."""

from dataclasses import astuple, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import coo_array, csr_array

from halfseen.data.engines import sparse_rows as sparse
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.sparse_products import row_numbers, rows_between, where
from halfseen.data.engines.sparse_rows import SparseBlock, SparseRows
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.products import Parts
from halfseen.data.rows import Block
from halfseen.moments.second_moment import PairSums
from halfseen.moments.third_moment import ThirdSums

DTYPES = [np.int32, np.int64, np.float32, np.float64]
ORIGIN = np.array([0.5, -1.25, 2.0, 0.0, 3.5])
D = len(ORIGIN)
NAMES = tuple("abcde")
SUMMARIES = {
    "features": FeatureSums.of,
    "pairs": PairSums.about(ORIGIN),
    "triples": ThirdSums.about(ORIGIN),
}
all_sums = pytest.mark.parametrize("summarise", SUMMARIES.values(), ids=SUMMARIES)


class Case:
    """A table of counts with gaps, filled in and sparse."""

    def __init__(self, counts, stored, nan, column_block, row_observed, dtype, weights=None):
        nan = nan & (np.dtype(dtype).kind == "f")
        seen_block = row_observed[:, column_block]
        nan = nan & seen_block
        self.dense = np.where(seen_block & ~nan, counts, np.nan).astype(float)
        kept = seen_block & (stored | nan | (counts != 0))  # some zeros are stored, some are not
        row, column = np.nonzero(kept)
        data = counts[kept].astype(dtype)
        data[nan[kept]] = np.nan if nan.any() else 0
        matrix = coo_array((data, (row, column)), shape=counts.shape).tocsr()
        assert matrix.nnz == len(data)  # nothing was dropped on the way
        self.weights = weights
        names = tuple(map(str, range(counts.shape[1])))
        self.sparse = SparseRows.of(matrix, names, column_block, row_observed, weights=weights)
        self.memory = MemoryRows(self.dense, names, weights)

    @property
    def blocks(self):
        """One sparse block, and the same filled in."""
        (ours,) = self.sparse.blocks()
        return ours, Block.from_table(self.dense, self.weights)


@st.composite
def cases(draw):
    n, d, b = draw(st.integers(0, 7)), draw(st.integers(1, 6)), draw(st.integers(1, 3))
    counts = draw(arrays(int, (n, d), elements=st.sampled_from([0, 0, 0, 1, 2, 5])))
    flags = [draw(arrays(bool, (n, d))) for _ in range(2)]
    column_block = draw(arrays(np.intp, d, elements=st.integers(0, b - 1)))
    row_observed = draw(arrays(bool, (n, b), elements=st.sampled_from([True, True, False])))
    dtype = draw(st.sampled_from(DTYPES))
    some = arrays(float, n, elements=st.sampled_from([0.5, 1.0, 3.0]))
    weights = draw(st.none() | some)
    return Case(counts, *flags, column_block, row_observed, dtype, weights)


def example(n=50, dtype=np.float64, weights=None, seed=0):
    """Stored gaps, blocks that rows do not have, stored zeros, empty rows, an empty column."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.8, size=(n, D))
    column_block, row_observed = np.array([0, 1, 0, 2, 1]), rng.random((n, 3)) < [0.9, 0.6, 0.8]
    row_observed[::9] = False
    nan = rng.random((n, D)) < 0.2
    nan[:, 2] = True
    return Case(counts, rng.random((n, D)) < 0.3, nan, column_block, row_observed, dtype, weights)


def assert_same(ours, expected, rtol=0.0):
    for one, other in zip(astuple(ours), astuple(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)


law = settings(max_examples=80, deadline=None, derandomize=True)


@law
@given(cases())
def test_values_observed_weights_and_length_are_those_of_the_filled_table(case):
    ours, naive = case.blocks
    np.testing.assert_array_equal(ours.values, naive.values)
    np.testing.assert_array_equal(ours.observed, naive.observed)
    assert ours.values.dtype == float
    assert len(ours) == len(naive)
    per_row = np.arange(2.0 * len(naive)).reshape(-1, 2)
    np.testing.assert_array_equal(ours.weighed(per_row), naive.weighed(per_row))


@law
@given(cases())
def test_feature_sums_are_those_of_the_filled_table(case):
    ours, naive = case.blocks
    assert_same(ours.feature_sums(), naive.feature_sums())


@law
@given(cases(), st.data())
def test_present_and_nonzeros_are_those_of_the_filled_table(case, data):
    ours, naive = case.blocks
    order = data.draw(st.permutations(range(case.dense.shape[1])))
    features = np.array(order[: data.draw(st.integers(0, len(order)))], dtype=int)
    np.testing.assert_array_equal(ours.present(features), naive.present(features))
    found, expected = ours.nonzeros(), naive.nonzeros()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    np.testing.assert_allclose(found.totals(), np.nansum(case.dense, axis=1))
    squares = found.row_sums(found.counts**2)
    np.testing.assert_allclose(squares, expected.row_sums(expected.counts**2))


def entries_agree(ours, naive, n, d, p=3):
    rng = np.random.default_rng(d)
    parts = Parts(rng.integers(0, p, d), p)
    basis, features = rng.standard_normal((d, 2)), rng.random(d) < 0.6
    per_row, mix, weights = rng.standard_normal((n, 2)), rng.standard_normal((p, p)), rng.random(n)
    pairs = [
        (ours.onto(basis), naive.onto(basis)),
        (ours.onto_parts(basis, parts), naive.onto_parts(basis, parts)),
        (ours.back(per_row), naive.back(per_row)),
        (
            ours.there_and_back(basis, parts, mix, weights),
            naive.there_and_back(basis, parts, mix, weights),
        ),
        (ours.squares(per_row, features), naive.squares(per_row, features)),
        (ours.cubes(per_row[:, 0], features), naive.cubes(per_row[:, 0], features)),
        (ours.squares(per_row, ~features), naive.squares(per_row, ~features)),
        (ours.cubes(per_row[:, 1], np.zeros(d, bool)), np.zeros(d)),
    ]
    for found, expected in pairs:
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-11)


@law
@given(cases())
def test_deviations_and_presence_multiply_like_those_of_the_filled_table(case):
    ours, naive = case.blocks
    n, d = case.dense.shape
    origin = np.linspace(-1.0, 2.5, d)
    entries_agree(ours.deviations(origin), naive.deviations(origin), n, d)
    entries_agree(ours.deviations(np.zeros(d)), naive.deviations(np.zeros(d)), n, d)
    entries_agree(ours.presence(), naive.presence(), n, d)


@law
@given(cases(), st.data())
def test_selected_features_are_those_of_the_filled_table(case, data):
    d = case.dense.shape[1]
    features = data.draw(arrays(bool, d))
    ours, naive = (block.select(features) for block in case.blocks)
    np.testing.assert_array_equal(ours.values, naive.values)
    np.testing.assert_array_equal(ours.observed, naive.observed)
    assert_same(ours.feature_sums(), naive.feature_sums())
    assert ours.start == naive.start
    chosen, expected = case.sparse.select(features), case.memory.select(features)
    assert chosen.names == expected.names
    assert_same(chosen.accumulate(FeatureSums.of), expected.accumulate(FeatureSums.of))
    again = data.draw(arrays(bool, int(features.sum())))
    twice = chosen.select(again), expected.select(again)
    assert_same(*(rows.accumulate(FeatureSums.of) for rows in twice))


@law
@given(cases())
def test_recentred_rows_are_rows_of_the_shifted_table(case):
    shift = np.arange(case.dense.shape[1]) / 4
    ours, naive = case.sparse.recentred(shift), case.memory.recentred(shift)
    assert ours.names == naive.names
    assert not ours.sparse
    assert_same(ours.accumulate(FeatureSums.of), naive.accumulate(FeatureSums.of))
    origin = np.ones(case.dense.shape[1])
    pairs = (rows.accumulate(PairSums.about(origin)) for rows in (ours, naive))
    assert_same(*pairs, rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_every_kind_of_number_and_index_is_summed_in_double(dtype, index):
    def typed(matrix):
        matrix.indptr, matrix.indices = matrix.indptr.astype(index), matrix.indices.astype(index)
        return matrix

    case = example(dtype=dtype)
    rows = case.sparse
    case.sparse = replace(rows, stored=typed(rows.stored), gaps=typed(rows.gaps))
    ours, naive = case.blocks
    assert ours.stored.data.dtype == dtype
    assert_same(ours.feature_sums(), naive.feature_sums())
    assert_same(PairSums.about(ORIGIN)(ours), PairSums.about(ORIGIN)(naive), rtol=1e-12)
    entries_agree(ours.deviations(ORIGIN), naive.deviations(ORIGIN), *case.dense.shape)


@pytest.fixture
def cut(monkeypatch):
    """Cut sparse tables into blocks of so many rows, as narrow tables are or as wide ones."""

    def set_size(n_rows, width):
        monkeypatch.setattr(sparse, "NARROW", {"narrow": 10**6, "wide": 0}[width])
        monkeypatch.setattr(sparse, "BLOCK_ENTRIES", 1)
        monkeypatch.setattr(sparse, "FEWEST_ROWS", n_rows if width == "narrow" else 10**6)
        monkeypatch.setattr(sparse, "MAX_BLOCK_ROWS", n_rows if width == "wide" else 10**6)

    return set_size


@all_sums
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("width", ["narrow", "wide"])
@pytest.mark.parametrize("n_rows", [1, 7, 49, 50, 51])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_do_not_depend_on_blocks_or_threads(
    cut, summarise, n_threads, width, n_rows, weighted
):
    case = example(weights=np.arange(1.0, 51.0) / 4 if weighted else None)
    cut(n_rows, width)
    rows = replace(case.sparse, n_threads=n_threads)
    assert len(list(rows.blocks())) == -(-50 // n_rows)
    naive = summarise(Block.from_table(case.dense, case.weights))
    assert_same(rows.accumulate(summarise), naive)  # quarters: exact in any order


@pytest.mark.parametrize("width", ["narrow", "wide"])
@pytest.mark.parametrize("n_rows", [1, 20, 50, 1000])
def test_blocks_hold_every_row_once_in_order_and_know_where_they_start(cut, width, n_rows):
    case = example(weights=np.arange(1.0, 51.0))
    cut(n_rows, width)
    blocks = list(case.sparse.blocks())
    assert [block.start for block in blocks] == list(range(0, 50, n_rows))
    np.testing.assert_array_equal(np.vstack([b.values for b in blocks]), np.nan_to_num(case.dense))
    np.testing.assert_array_equal(np.concatenate([b.weights for b in blocks]), case.weights)


def test_blocks_of_narrow_tables_are_cut_like_filled_ones():
    counts = np.zeros((3000, 100))
    ours = SparseRows.of(csr_array(counts), ("x",) * 100)
    starts = [block.start for block in ours.blocks()]
    assert starts == [block.start for block in MemoryRows(counts, ("x",) * 100).blocks()]


@all_sums
def test_a_table_of_no_rows_gives_neutral_sums(summarise):
    case = example()
    empty = SparseRows.of(csr_array((0, D)), NAMES).accumulate(summarise)
    sums = case.sparse.accumulate(summarise)
    assert_same(empty + sums, sums)


def test_progress_is_told_of_every_row_once(cut):
    cut(20, "wide")
    told = []
    rows = SparseRows.of(csr_array((50, D)), NAMES, advance=told.append)
    rows.select(np.array([True, False, True, True, False])).accumulate(FeatureSums.of)
    assert told == [20, 20, 10]


def test_a_zero_is_observed_whether_stored_or_not():
    stored = csr_array((np.array([0.0, 3.0]), np.array([1, 0]), np.array([0, 1, 2])), shape=(2, 2))
    (block,) = SparseRows.of(stored, ("a", "b")).blocks()
    np.testing.assert_array_equal(block.values, [[0, 0], [3, 0]])
    assert block.observed.all()
    assert block.nonzeros().counts.tolist() == [3.0]


def test_all_features_selected_is_the_same_rows():
    rows = example().sparse
    assert rows.select(np.ones(D, bool)) is rows


def test_a_matrix_without_gaps_is_not_copied_and_none_is_changed():
    matrix = csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    rows = SparseRows.of(matrix, ("a", "b"))
    assert np.shares_memory(rows.stored.data, matrix.data)
    assert rows.gaps.nnz == 0
    gappy = csr_array(np.array([[0.0, np.nan], [1.0, 0.0]]))
    before = gappy.copy()
    SparseRows.of(gappy, ("a", "b")).accumulate(PairSums.about(np.ones(2)))
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(gappy, name), getattr(before, name))


def test_infinite_counts_are_seen_in_the_ranges():
    matrix = csr_array(np.array([[np.inf, 0.0], [1.0, -np.inf]]))
    sums = SparseRows.of(matrix, ("a", "b")).accumulate(FeatureSums.of)
    np.testing.assert_array_equal(sums.maximum, [np.inf, 0])
    np.testing.assert_array_equal(sums.minimum, [1, -np.inf])


def test_what_is_dense_is_made_only_if_asked_for():
    (block,) = example().sparse.blocks()
    block.feature_sums()
    block.deviations(ORIGIN).onto(np.eye(D))
    block.presence().back(np.ones((50, 1)))
    block.nonzeros()
    assert not {"values", "observed"} & set(vars(block))
    assert isinstance(block.select(np.ones(D, bool)), SparseBlock)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(arrays(int, (6, 4), elements=st.sampled_from([0, 0, 1, 2])), st.data())
def test_compressed_rows_are_cut_chosen_and_filled_like_arrays(table, data):
    rows = csr_array(table)
    start = data.draw(st.integers(0, 6))
    stop = data.draw(st.integers(start, 6))
    np.testing.assert_array_equal(rows_between(rows, start, stop).toarray(), table[start:stop])
    np.testing.assert_array_equal(where(rows, rows.data > 1).toarray(), np.where(table > 1, 2, 0))
    np.testing.assert_array_equal(row_numbers(rows), np.nonzero(table)[0])


@law
@given(cases(), st.data())
def test_some_rows_of_a_block_are_those_of_the_filled_table(case, data):
    ours, naive = case.blocks
    places = st.lists(st.integers(0, max(len(naive) - 1, 0)), max_size=9 * bool(len(naive)))
    chosen = np.array(data.draw(places), dtype=np.intp)
    some, expected = ours.rows(chosen), naive.rows(chosen)
    np.testing.assert_array_equal(some.values, expected.values)
    np.testing.assert_array_equal(some.observed, expected.observed)
    assert len(some) == len(chosen)
    assert some.start == ours.start
    ones = np.ones(len(chosen))
    np.testing.assert_array_equal(some.weighed(ones), expected.weighed(ones))
    matrix = np.arange(2.0 * len(chosen)).reshape(-1, 2)
    np.testing.assert_allclose(some.presence().back(matrix), expected.presence().back(matrix))


@all_sums
def test_weights_given_later_count_like_those_given_first(summarise):
    weights = np.random.default_rng(3).random(50) + 0.5
    later = example().blocks[0].with_weights(weights)
    assert_same(summarise(later), summarise(example(weights=weights).blocks[0]), rtol=1e-12)


def test_all_features_are_selected_without_a_copy():
    rows, every = example().sparse, np.ones(D, dtype=bool)
    assert rows.select(every) is rows
    ready = rows.recentred(np.zeros(D))
    assert ready.select(every) is ready
