"""Sparse tables give what the same tables give when filled in."""

import gzip
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.io import mmwrite

from halfseen import (
    DataError,
    DroppedFeatureWarning,
    GammaPoisson,
    GaussianMixture,
    ObservedBlocks,
    recovery,
    simulate,
)
from halfseen.data.engines import sparse_rows as engine
from halfseen.data.engines.memory import FEWEST_ROWS, MemoryRows
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters
from halfseen.models.gamma_poisson.stochastic_em import refine

TOPICS = np.array(
    [
        [0.40, 0.30, 0.10, 0.00, 0.05, 0.05, 0.05, 0.05],
        [0.05, 0.05, 0.40, 0.30, 0.00, 0.00, 0.10, 0.10],
        [0.05, 0.00, 0.00, 0.10, 0.30, 0.25, 0.10, 0.20],
    ]
)
SHAPES, RATE = np.array([0.6, 1.0, 1.4]), 0.03
N = 2500
BLOCKS = np.array([0, 0, 0, 0, 0, 0, 1, 2])


def counts(n=N, seed=0):
    rng = np.random.default_rng(seed)
    return simulate.gamma_poisson(n, TOPICS, SHAPES, RATE, rng)[0], rng


def with_nans(n=N):
    table, rng = counts(n)
    return simulate.independent_gaps(table, [1, 1, 1, 1, 0.99, 1, 0.5, 0.2], rng)


def with_blocks(n=N):
    """A sparse table, its blocks, and the same with NaN for gaps."""
    table, rng = counts(n)
    row_observed = rng.random((n, 3)) < [1.0, 0.5, 0.2]
    seen = simulate.without_blocks(sparse.csr_array(table), BLOCKS, row_observed)
    filled = np.where(row_observed[:, BLOCKS], table, np.nan)
    return seen, ObservedBlocks(BLOCKS, row_observed), filled


def assert_same_fit(one, other, tolerance=1e-9):
    scale = other.components_.max()
    np.testing.assert_allclose(one.components_, other.components_, atol=tolerance * scale)
    np.testing.assert_allclose(one.shapes_, other.shapes_, rtol=tolerance)
    np.testing.assert_allclose(one.rate_, other.rate_, rtol=tolerance)
    np.testing.assert_allclose(one.feature_weights_, other.feature_weights_, atol=tolerance)
    np.testing.assert_allclose(one.observed_fraction_, other.observed_fraction_, rtol=1e-12)
    np.testing.assert_array_equal(one.kept_features_, other.kept_features_)
    np.testing.assert_array_equal(one.complete_features_, other.complete_features_)
    np.testing.assert_allclose(one.constants_, other.constants_)
    assert one.diagnostics_.n_empty_rows == other.diagnostics_.n_empty_rows
    assert one.diagnostics_.dropped_features == other.diagnostics_.dropped_features


SETTINGS = {
    "default": {},
    "explicit": {"third_moment": "explicit"},
    "implicit": {"third_moment": "implicit"},
    "full": {"method": "full"},
    "partial": {"method": "partial"},
    "divide": {"incomplete_features": "divide"},
    "threads": {"n_jobs": 2},
}
all_settings = pytest.mark.parametrize("options", SETTINGS.values(), ids=SETTINGS)


@all_settings
@pytest.mark.parametrize("weighted", [False, True])
def test_stored_nans_are_gaps(options, weighted):
    table = with_nans()
    weights = np.random.default_rng(3).integers(0, 4, N) if weighted else None
    ours = GammaPoisson(3, **options).fit(sparse.csr_array(table), sample_weight=weights)
    naive = GammaPoisson(3, **options).fit(table, sample_weight=weights)
    assert_same_fit(ours, naive)
    assert ours.diagnostics_.third_moment == naive.diagnostics_.third_moment
    np.testing.assert_allclose(
        ours.diagnostics_.dependence_of_gaps, naive.diagnostics_.dependence_of_gaps, rtol=1e-9
    )


@all_settings
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_that_rows_do_not_have_are_gaps(options, weighted):
    seen, observed, filled = with_blocks()
    weights = np.random.default_rng(3).uniform(0, 2, N) if weighted else None
    if weighted:
        weights[::5] = 0
    ours = GammaPoisson(3, **options).fit(seen, observed=observed, sample_weight=weights)
    assert_same_fit(ours, GammaPoisson(3, **options).fit(filled, sample_weight=weights))


def test_blocks_and_stored_nans_may_both_be_there():
    seen, observed, filled = with_blocks()
    holes = np.random.default_rng(4).random(filled.shape) < 0.02
    holes &= ~np.isnan(filled)
    filled = np.where(holes, np.nan, filled)
    both = sparse.csr_array(np.where(holes, np.nan, seen.toarray()))
    ours = GammaPoisson(3).fit(both, observed=observed)
    assert_same_fit(ours, GammaPoisson(3).fit(filled))


def test_row_weights_are_repeats():
    seen, observed, _ = with_blocks()
    repeats = np.random.default_rng(0).integers(0, 4, size=N)
    rows = np.repeat(np.arange(N), repeats)
    more = ObservedBlocks(observed.column_block, observed.row_observed[rows])
    weighted = GammaPoisson(3).fit(seen, observed=observed, sample_weight=repeats)
    assert_same_fit(weighted, GammaPoisson(3).fit(seen[rows], observed=more), 1e-8)


def test_zeros_are_observed_whether_stored_or_not():
    table, _ = counts()
    row, column = np.nonzero(np.ones_like(table))
    everything = sparse.csr_array((table.ravel(), (row, column)), shape=table.shape)
    assert everything.nnz == table.size > sparse.csr_array(table).nnz
    ours = GammaPoisson(3).fit(everything)
    assert_same_fit(ours, GammaPoisson(3).fit(sparse.csr_array(table)), 1e-12)
    np.testing.assert_array_equal(ours.observed_fraction_, 1.0)


def scrambled(table):
    """Each count in two parts, and columns of a row in no order."""
    row, column = np.nonzero(table)
    half = np.floor(table[row, column] / 2)
    row, column = np.tile(row, 2), np.tile(column, 2)
    data = np.concatenate([half, table[row[: len(half)], column[: len(half)]] - half])
    order = np.lexsort([np.random.default_rng(0).random(len(row)), row])
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(table)))])
    return sparse.csr_array((data[order], column[order], starts), shape=table.shape)


FORMS = {
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
    "dok_array": sparse.dok_array,
    "scrambled": scrambled,
    "single": lambda table: sparse.csr_array(table.astype(np.float32)),
    "int32": lambda table: sparse.csr_array(table.astype(np.int32)),
    "int64": lambda table: sparse.csr_array(table.astype(np.int64)),
    "uint8": lambda table: sparse.csr_array(table.astype(np.uint8)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_kind_of_sparse_matrix_is_taken_and_left_as_it_was(form):
    table = np.minimum(counts(600)[0], 255)
    matrix = form(table)
    before = matrix.copy()
    model = GammaPoisson(2).fit(matrix)
    model.transform(matrix)
    assert_same_fit(model, GammaPoisson(2).fit(table))
    assert type(matrix) is type(before)
    assert matrix.nnz == before.nnz
    for name in ("data", "indices", "indptr"):
        if isinstance(getattr(matrix, name, None), np.ndarray):
            np.testing.assert_array_equal(getattr(matrix, name), getattr(before, name))
            assert getattr(matrix, name).dtype == getattr(before, name).dtype


def test_truth_values_are_counts_of_one():
    table = counts(600)[0] > 10
    with_words = GammaPoisson(1).fit(sparse.csr_array(table))
    assert_same_fit(with_words, GammaPoisson(1).fit(table.astype(float)))


def test_data_frames_are_read_as_before():
    frame = pd.DataFrame(with_nans(), columns=list("abcdefgh"))
    model = GammaPoisson(3).fit(frame)
    assert list(model.feature_names_in_) == list("abcdefgh")
    assert_same_fit(model, GammaPoisson(3).fit(frame.to_numpy()), 1e-12)


def test_features_that_do_not_vary_are_dropped_and_rows_with_nothing_observed_counted():
    table = with_nans()
    table[:, 3] = 4.0
    table[:, 5] = np.nan
    table[:7] = np.nan
    with pytest.warns(DroppedFeatureWarning):
        naive = GammaPoisson(2).fit(table)
    with pytest.warns(DroppedFeatureWarning):
        ours = GammaPoisson(2).fit(sparse.csr_array(table))
    assert_same_fit(ours, naive)
    assert ours.diagnostics_.n_empty_rows == 7
    assert ours.constants_[3] == 4.0
    np.testing.assert_allclose(
        ours.transform(sparse.csr_array(table)), naive.transform(table), rtol=1e-9
    )


@pytest.fixture(scope="module")
def fitted():
    """A model, and a few new rows to ask it about."""
    seen, observed, _ = with_blocks()
    return GammaPoisson(3, random_state=0).fit(seen, observed=observed), *with_blocks(100)


QUESTIONS = ("transform", "score_samples", "score", "perplexity")


@pytest.mark.parametrize("question", QUESTIONS)
def test_new_sparse_rows_are_answered_like_filled_ones(fitted, question):
    model, seen, observed, filled = fitted
    ask = getattr(model, question)
    expected = ask(filled)
    np.testing.assert_allclose(ask(seen, observed=observed), expected, rtol=1e-10)
    np.testing.assert_allclose(ask(sparse.csr_array(filled)), expected, rtol=1e-10)
    complete = ask(seen)
    np.testing.assert_allclose(complete, ask(seen.toarray()), rtol=1e-10)
    assert not np.allclose(complete, expected, rtol=1e-3)  # the blocks matter


def test_every_figure_of_a_likelihood_is_that_of_the_filled_rows(fitted):
    model, seen, observed, filled = fitted
    ours, naive = model.likelihood(seen, observed), model.likelihood(filled)
    for one, other in zip(ours, naive, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


def test_rows_without_any_block_have_the_prior_mean(fitted):
    model, *_ = fitted
    nothing = ObservedBlocks(BLOCKS, np.zeros((2, 3), bool))
    found = model.transform(sparse.csr_array((2, 8)), nothing)
    np.testing.assert_allclose(found, [model.shapes_ / model.rate_] * 2, rtol=1e-6)


def test_stochastic_em_draws_the_same_from_sparse_rows():
    seen, observed, filled = with_blocks()
    options = {"refine": "saem", "n_sweeps": 20, "random_state": 0}
    ours = GammaPoisson(3, **options).fit(seen, observed=observed)
    assert_same_fit(ours, GammaPoisson(3, **options).fit(filled))
    assert ours.n_iter_ == 20


# Wide tables: more features than have an array of all pairs.

WIDE = 560
WIDE_BLOCKS = np.concatenate([np.zeros(280, int), 1 + np.arange(280) % 2])


@pytest.fixture(scope="module")
def wide():
    """A sparse table, its blocks, the same with NaN for gaps, and the topics."""
    rng = np.random.default_rng(1)
    topics = 0.9 * rng.dirichlet(np.full(WIDE, 0.3), size=3) + 0.1 / WIDE
    table, _ = simulate.sparse_gamma_poisson(3000, topics, [0.5] * 3, 1.5 / 600, rng)
    row_observed = rng.random((3000, 3)) < [1.0, 0.5, 0.8]
    seen = simulate.without_blocks(table, WIDE_BLOCKS, row_observed)
    filled = np.where(row_observed[:, WIDE_BLOCKS], table.toarray(), np.nan)
    return seen, ObservedBlocks(WIDE_BLOCKS, row_observed), filled, topics


@pytest.fixture(scope="module")
def wide_fit(wide):
    seen, observed, *_ = wide
    return GammaPoisson(3).fit(seen, observed=observed)


def test_a_wide_fit_is_that_with_all_pairs_of_features(wide, wide_fit):
    """Eigenvectors leave a residual of 1e-6 and stand well out; all else is the same sums."""
    dense = GammaPoisson(3, third_moment="implicit").fit(wide[2])
    assert dense.diagnostics_.spectrum.size == WIDE
    assert wide_fit.diagnostics_.spectrum.size < WIDE  # no array of all pairs
    assert wide_fit.diagnostics_.third_moment == "implicit"
    top = dense.diagnostics_.spectrum
    assert top[3] < top[2] / 10
    np.testing.assert_allclose(wide_fit.diagnostics_.spectrum[:3], top[:3], rtol=1e-9)
    assert_same_fit(wide_fit, dense, 3e-6)


def test_a_wide_fit_with_weights_and_stored_nans_is_that_with_all_pairs(wide):
    filled, weights = wide[2][:1000], np.random.default_rng(5).integers(0, 3, 1000)
    options = {"third_moment": "implicit"}
    ours = GammaPoisson(3, **options).fit(sparse.csr_array(filled), sample_weight=weights)
    assert_same_fit(ours, GammaPoisson(3, **options).fit(filled, sample_weight=weights), 3e-6)
    assert ours.diagnostics_.spectrum.size < WIDE


@pytest.mark.parametrize(("n_rows", "n_jobs"), [(250, 1), (999, 2), (10**6, 2)])
def test_how_a_wide_table_is_cut_and_on_how_many_threads_does_not_matter(
    wide, wide_fit, n_rows, n_jobs, monkeypatch
):
    monkeypatch.setattr(engine, "MAX_BLOCK_ROWS", n_rows)
    seen, observed, *_ = wide
    model = GammaPoisson(3, n_jobs=n_jobs).fit(seen, observed=observed)
    assert_same_fit(model, wide_fit)


@pytest.mark.parametrize("method", ["full", "partial"])
def test_other_methods_take_wide_tables_too(wide, method):
    seen, observed, filled, _ = wide
    options = {"method": method, "third_moment": "implicit"}
    ours = GammaPoisson(3, **options).fit(seen, observed=observed)
    assert_same_fit(ours, GammaPoisson(3, **options).fit(filled), 3e-6)


def test_topics_of_a_wide_table_are_found(wide, wide_fit):
    topics = wide[3]
    order = recovery.match(wide_fit.components_, topics)
    complete = WIDE_BLOCKS == 0
    assert recovery.angles(wide_fit.components_, topics, complete).max() < 0.05
    assert recovery.angles(wide_fit.components_, topics).max() < 0.06
    distance = np.abs(wide_fit.components_[order] - topics).sum(axis=1)
    assert distance.max() < 0.08
    np.testing.assert_allclose(wide_fit.shapes_, 0.5, rtol=0.15)
    np.testing.assert_allclose(wide_fit.rate_, 1.5 / 600, rtol=0.1)


def test_topics_of_a_wide_table_with_gaps_of_single_counts_are_found(wide):
    """Too many masks for joint counts: half of the features have gaps of their own."""
    topics, rng = wide[3], np.random.default_rng(6)
    table, _ = simulate.sparse_gamma_poisson(3000, topics, [0.5] * 3, 1.5 / 600, rng)
    chance = np.where(np.arange(WIDE) < 280, 1.0, rng.uniform(0.3, 0.9, WIDE))
    gappy = simulate.independent_gaps(table.toarray(), chance, rng)
    model = GammaPoisson(3).fit(sparse.csr_array(gappy))
    assert model.diagnostics_.third_moment == "implicit"
    assert model.diagnostics_.gaps_independent
    np.testing.assert_allclose(model.observed_fraction_, chance, atol=0.05)
    assert recovery.angles(model.components_, topics).max() < 0.06
    np.testing.assert_allclose(model.shapes_, 0.5, rtol=0.15)


def test_stochastic_em_draws_the_same_from_wide_rows_in_the_same_blocks(
    wide, wide_fit, monkeypatch
):
    seen, observed, filled, _ = wide
    some, names = slice(0, 600), tuple(map(str, range(WIDE)))
    monkeypatch.setattr(engine, "MAX_BLOCK_ROWS", FEWEST_ROWS)
    rows = engine.SparseRows.of(seen[some], names, WIDE_BLOCKS, observed.row_observed[some])
    start = GammaPoissonParameters(wide_fit.components_, wide_fit.shapes_, wide_fit.rate_)
    ours, naive = (
        refine(each, start, seed=0, n_sweeps=6).parameters
        for each in (rows, MemoryRows(filled[some], names))
    )
    np.testing.assert_allclose(ours.topics, naive.topics, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.shapes, naive.shapes, rtol=1e-9)
    assert ours.rate == pytest.approx(naive.rate, rel=1e-9)


def test_new_rows_of_a_wide_table_are_answered_like_filled_ones(wide, wide_fit):
    seen, observed, filled, _ = wide
    some = slice(0, 40)
    asked = seen[some], ObservedBlocks(WIDE_BLOCKS, observed.row_observed[some])
    expected = wide_fit.transform(filled[some])
    np.testing.assert_allclose(wide_fit.transform(*asked), expected, rtol=1e-10)
    likelihood, naive = wide_fit.likelihood(*asked), wide_fit.likelihood(filled[some])
    np.testing.assert_allclose(likelihood.log_likelihood, naive.log_likelihood, rtol=1e-10)
    np.testing.assert_allclose(likelihood.bound, naive.bound, rtol=1e-10)


def test_a_wide_table_without_gaps_is_as_good_as_all_pairs(wide):
    complete = wide[0][:, :280]
    both = sparse.hstack([complete, complete[:, ::-1]]).tocsr()
    ours = GammaPoisson(3).fit(both)
    assert ours.diagnostics_.third_moment_reason.startswith("there are no gaps")
    assert_same_fit(ours, GammaPoisson(3).fit(both.toarray()), 3e-6)


def test_an_explicit_third_moment_of_very_many_features_is_refused():
    d = 4097
    table = sparse.csr_array(np.random.default_rng(0).poisson(1.0, (30, d)))
    with pytest.raises(
        DataError,
        match=r"third_moment='explicit' would hold 2e\+10 numbers for the triples of 4097 features"
        r"\. Use third_moment='auto', which never forms them\.",
    ):
        GammaPoisson(2, third_moment="explicit").fit(table)


# What is refused.

ROW_OBSERVED = np.ones((10, 2), bool)
SMALL = sparse.csr_array(np.arange(40).reshape(10, 4) % 5)


def refuses(message, column_block, row_observed, table=SMALL):
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        GammaPoisson(1).fit(table, observed=ObservedBlocks(column_block, row_observed))


@pytest.mark.parametrize(
    ("row_observed", "got"),
    [
        (np.ones(10, bool), "bool of shape (10,)"),
        (np.ones((9, 2), bool), "bool of shape (9, 2)"),
        (np.ones((10, 2)), "float64 of shape (10, 2)"),
    ],
)
def test_row_observed_must_hold_a_truth_value_a_row_and_block(row_observed, got):
    refuses(
        f"row_observed must hold a truth value a row and block, 10 rows. Got an array of {got} "
        "instead.",
        [0, 0, 1, 1],
        row_observed,
    )


@pytest.mark.parametrize(
    ("column_block", "got"),
    [
        ([0, 0, 1], "int64 of shape (3,)."),
        ([0.0, 0.0, 1.0, 1.0], "float64 of shape (4,)."),
        ([[0, 0, 1, 1]], "int64 of shape (1, 4)."),
        ([0, 0, 1, 2], "int64 of shape (4,) from 0 to 2."),
        ([0, 0, 1, -1], "int64 of shape (4,) from -1 to 1."),
    ],
)
def test_column_block_must_hold_the_number_of_a_block_a_column(column_block, got):
    refuses(
        "column_block must hold a whole number from 0 to 1 for each of the 4 columns, the blocks "
        f"of row_observed. Got an array of {got}",
        column_block,
        ROW_OBSERVED,
    )


def test_a_count_where_nothing_was_observed_is_refused_by_place():
    row_observed = ROW_OBSERVED.copy()
    row_observed[3, 1] = False
    message = (
        "Row 3 holds 4 in column 2, but row_observed says that it does not have block 1. Mark the "
        "block as observed, or remove the count."
    )
    refuses(message, [0, 0, 1, 1], row_observed)


def test_new_rows_are_checked_for_counts_where_nothing_was_observed(fitted):
    model, seen, observed, _ = fitted
    wrong = ObservedBlocks(BLOCKS, np.zeros_like(observed.row_observed))
    with pytest.raises(DataError, match=r"Row 0 holds .* but row_observed says that it does not"):
        model.transform(seen, wrong)


def test_lists_say_as_well_which_blocks_there_are():
    lists = ObservedBlocks([0, 0, 1, 1], ROW_OBSERVED.tolist())
    block, observed = lists.arrays(10, 4)
    assert block.dtype == np.intp
    np.testing.assert_array_equal(block, [0, 0, 1, 1])
    np.testing.assert_array_equal(observed, ROW_OBSERVED)


def test_observed_blocks_of_a_dense_table_are_refused(tmp_path):
    message = re.escape("observed=ObservedBlocks(…) goes with a sparse matrix. In a dense table,")
    for table in (SMALL.toarray(), pd.DataFrame(SMALL.toarray()), str(tmp_path)):
        with pytest.raises(ValueError, match=message + " mark gaps with NaN"):
            GammaPoisson(1).fit(table, observed=ObservedBlocks([0, 0, 1, 1], ROW_OBSERVED))


def test_mixtures_of_gaussians_take_no_sparse_table():
    with pytest.raises(TypeError, match="Sparse data was passed for X, but dense data is required"):
        GaussianMixture(2).fit(SMALL)


BAD = {
    "infinite": (np.inf, "Infinite values in '6'. Replace them by numbers, or by NaN if they"),
    "minus infinite": (-np.inf, "Infinite values in '6'. Replace them by numbers, or by NaN if"),
    "negative": (-3.0, "Negative values in data: '6' should hold counts. Use NaN, not a"),
    "fractional": (0.5, "Feature '6' should hold counts, but some values are not whole numbers."),
}


@pytest.mark.parametrize(("value", "message"), BAD.values(), ids=BAD)
def test_bad_counts_get_the_sentence_that_they_get_when_filled_in(fitted, value, message):
    table = with_nans(300)
    table[5, 6] = value
    bad, match = sparse.csr_array(table), f"^{re.escape(message)}"
    for kind in (table, bad):
        with pytest.raises(DataError, match=match):
            GammaPoisson(2).fit(kind)
    for question in (*QUESTIONS, "likelihood"):
        with pytest.raises(DataError, match=match):
            getattr(fitted[0], question)(bad)


def test_new_rows_of_another_width_are_refused(fitted):
    with pytest.raises(ValueError, match="X has 4 features, but GammaPoisson is expecting 8"):
        fitted[0].transform(SMALL)


def test_wrong_row_weights_of_a_sparse_table_are_refused():
    with pytest.raises(ValueError, match="must hold one number a row, 10 in all"):
        GammaPoisson(1).fit(SMALL, sample_weight=[1.0, 2.0])


D_WIDE = 600


def wide_table(n=1000):
    """Counts of 600 words in three blocks, of which the last two are not always there."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.ones(D_WIDE), size=2)
    counts, _ = simulate.sparse_gamma_poisson(n, topics, [1.0, 1.0], 2 / 600, rng)
    return counts, np.repeat([0, 1, 2], [300, 150, 150]), rng


def cut(counts, blocks, *has):
    row_observed = np.column_stack([np.ones(counts.shape[0], bool), *has])
    seen = simulate.without_blocks(counts, blocks, row_observed)
    return seen, ObservedBlocks(blocks, row_observed)


@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
@pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning")
def test_a_wide_table_of_few_rows_never_forms_triples():
    counts, blocks, rng = wide_table(25)
    X, observed = cut(counts, blocks, rng.random(25) < 0.5, rng.random(25) < 0.7)
    assert GammaPoisson(2).fit(X, observed=observed).diagnostics_.third_moment == "implicit"


@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
def test_entangled_blocks_of_a_wide_table_are_solved_by_least_squares():
    counts, blocks, rng = wide_table(4000)
    has = rng.random(4000) < 0.5
    X, observed = cut(counts, blocks, has, has ^ (rng.random(4000) < 0.1))
    wide = GammaPoisson(2).fit(X, observed=observed)
    assert wide.diagnostics_.third_moment == "least squares"
    gappy = np.where(observed.row_observed[:, blocks], X.toarray(), np.nan)
    dense = GammaPoisson(2, third_moment="implicit").fit(gappy)
    assert dense.diagnostics_.third_moment == "least squares"
    np.testing.assert_allclose(wide.components_, dense.components_, atol=1e-7)
    np.testing.assert_allclose(wide.shapes_, dense.shapes_, rtol=1e-4)


def test_fit_transform_knows_the_blocks():
    counts, blocks, rng = wide_table()
    X, observed = cut(counts, blocks, rng.random(1000) < 0.5, rng.random(1000) < 0.7)
    model = GammaPoisson(2)
    found = model.fit_transform(X, observed=observed)
    np.testing.assert_array_equal(found, model.transform(X, observed))


def test_blocks_of_a_dense_table_are_refused_everywhere():
    counts, blocks, rng = wide_table()
    X, observed = cut(counts, blocks, rng.random(1000) < 0.5, rng.random(1000) < 0.7)
    model = GammaPoisson(2).fit(X, observed=observed)
    for method in (model.transform, model.score, model.perplexity, model.posterior):
        with pytest.raises(ValueError, match="goes with a sparse matrix"):
            method(X.toarray(), observed=observed)


def test_partial_works_where_blocks_are_never_together():
    counts, blocks, rng = wide_table()
    has = rng.random(1000) < 0.5
    X, observed = cut(counts, blocks, has, ~has)
    with pytest.raises(DataError, match="use method='partial'"):
        GammaPoisson(2).fit(X, observed=observed)
    model = GammaPoisson(2, method="partial").fit(X, observed=observed)
    assert not model.diagnostics_.gaps_independent


@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
def test_what_is_stored_in_a_missing_block_is_not_counted_twice():
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, np.nan], [2.0, 0.0]])
    X = sparse.csr_array(table)
    X.data[X.indptr[2] + 1] = np.nan
    X = sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
    observed = ObservedBlocks([0, 1], np.array([[1, 1], [1, 1], [1, 0], [1, 1]], bool))
    model = GammaPoisson(1).fit(X, observed=observed)
    np.testing.assert_allclose(model.observed_fraction_, [1.0, 0.75])
    # A zero that is stored there neither.
    zero = sparse.csr_array(([7.0, 1.0, 7.0, 3.0, 0.0], ([0, 0, 1, 1, 2], [1, 0, 1, 0, 1])), (3, 2))
    observed = ObservedBlocks([0, 1], np.array([[1, 1], [1, 1], [1, 0]], bool))
    with pytest.warns(DroppedFeatureWarning, match="'1' is constant"):
        GammaPoisson(1).fit(zero, observed=observed)


def test_long_doubles_are_read():
    counts, _, _ = wide_table(300)
    X = counts[:, :20]
    found = GammaPoisson(2).fit(X.astype(np.longdouble))
    np.testing.assert_allclose(found.components_, GammaPoisson(2).fit(X).components_)


def test_blocks_of_another_kind_are_named():
    counts, _, _ = wide_table(50)
    with pytest.raises(TypeError, match=r"must be ObservedBlocks.* Got a ndarray instead"):
        GammaPoisson(2).fit(counts, observed=np.ones(3))


@pytest.mark.parametrize("name", ["t.npz", "t.mtx", "t.mtx.gz"])
def test_sparse_files_are_read(name, tmp_path):
    counts, _, _ = wide_table(300)
    X = counts[:, :20].tocsr()
    path = tmp_path / name
    if name == "t.npz":
        sparse.save_npz(path, X)
    else:
        with (gzip.open if name.endswith("gz") else open)(path, "wb") as file:
            mmwrite(file, X)
    found = GammaPoisson(2).fit(path)
    np.testing.assert_allclose(found.components_, GammaPoisson(2).fit(X).components_, rtol=1e-12)
    # Who does not take sparse matrices is given all cells, a few rows at a time.
    dense = GaussianMixture(2).fit(X.toarray().astype(float))
    np.testing.assert_allclose(GaussianMixture(2).fit(path).means_, dense.means_, rtol=1e-9)


def test_a_damaged_sparse_file_is_named(tmp_path):
    counts, _, _ = wide_table(300)
    path = tmp_path / "t.mtx"
    mmwrite(path, counts[:, :20].tocsr())
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DataError, match=r"t\.mtx cannot be read as a sparse matrix: .* Write it"):
        GammaPoisson(2).fit(path)
