"""Third moments: unbiased for every pattern of gaps, by enumerating all tables there could be."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import kstat

from halfseen.data.engines.memory import MemoryRows
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import Block
from halfseen.moments import symmetric_tensors, third_moment
from halfseen.moments.missing_patterns import JointGaps
from halfseen.moments.second_moment import Moments, PairSums
from halfseen.moments.third_moment import (
    Probe,
    ThirdSums,
    explicit,
    project_estimates,
    third_estimates,
)
from halfseen.moments.whitening import Whitening

ATOMS = np.array([[0.0, 1.0, 2.0], [1.0, -3.0, 0.5], [4.0, 2.0, -1.0]])
CHANCES = np.array([0.5, 0.3, 0.2])
MEAN = CHANCES @ ATOMS

PATTERNS = {
    "no gaps": ["111", "111", "111"],
    "no gaps, four rows": ["111"] * 4,
    "one feature has a gap": ["111", "101", "111", "111"],
    "each feature has its own gap": ["111", "011", "101", "110"],
    "gaps go together": ["111", "111", "111", "001", "001"],
    "one row holds all three": ["111", "110", "110", "001", "001"],
    "many gaps and an empty row": ["111", "100", "011", "111", "000"],
}


def probe(basis):
    d = len(basis)
    return Probe(Whitening(basis, basis, np.ones(d), np.ones(d)), np.empty((d, 0)))


def moments_of(table: np.ndarray, centred: bool) -> Moments:
    block = Block.from_table(table)
    features = FeatureSums.of(block)
    origin = features.mean if centred else np.zeros_like(features.mean)
    pairs = PairSums.about(origin)(block)
    return Moments.of_pairs(features, features.mean, pairs, centred)


def estimates(table: np.ndarray, centred: bool) -> np.ndarray:
    """All (d, d, d) estimates of the third moment, the slabs unpacked."""
    moments, d = moments_of(table, centred), table.shape[1]
    found = third_estimates(ThirdSums.about(moments.origin)(Block.from_table(table)), moments)
    faces = {j: found[place].reshape(j + 1, d - j) for j, place in symmetric_tensors.slabs(d)}
    full = np.empty((d, d, d))
    for triple in np.ndindex(d, d, d):
        i, j, k = sorted(triple)
        full[triple] = faces[j][i, k - j]
    return full


def expected(pattern: list[str], centred: bool) -> np.ndarray:
    """The mean of the estimate over every table of as many rows, with the gaps where they are."""
    gaps = np.array([[mark == "0" for mark in row] for row in pattern])
    total = np.zeros((3, 3, 3))
    for choice in product(range(len(ATOMS)), repeat=len(pattern)):
        table = np.where(gaps, np.nan, ATOMS[list(choice)])
        total += CHANCES[list(choice)].prod() * estimates(table, centred)
    return total


def table_with_gaps(n_rows: int, d: int) -> np.ndarray:
    generator = np.random.default_rng(d)
    table = generator.gamma(1.0, size=(n_rows, d)) @ generator.normal(size=(d, d)) + 2.0
    table[generator.random(table.shape) < np.linspace(0, 0.6, d)] = np.nan
    return table


def available_case(table: np.ndarray, centred: bool) -> np.ndarray:
    """Every entry from the rows that hold it, corrected by the formula of the docstring."""
    d, n = table.shape[1], np.count_nonzero(~np.isnan(table), axis=0)
    z = table - np.nanmean(table, axis=0) if centred else table
    full = np.empty((d, d, d))
    for i, j, k in np.ndindex(d, d, d):
        products = z[:, i] * z[:, j] * z[:, k]
        held = np.count_nonzero(~np.isnan(products))
        a, b, c = (1 / n[i], 1 / n[j], 1 / n[k]) if centred else (0, 0, 0)
        bias = 1 - (a + b + c) + (a * b + a * c + b * c) - held * a * b * c
        full[i, j, k] = np.nansum(products) / (held * bias)
    return full


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_third_cumulants_are_unbiased_for_every_pattern_of_gaps(pattern):
    z = ATOMS - MEAN
    truth = np.einsum("n,ni,nj,nk->ijk", CHANCES, z, z, z)
    seen = np.array([[mark == "1" for mark in row] for row in pattern]).sum(axis=0)
    assert (seen >= 3).all()  # two rows have no third cumulant
    np.testing.assert_allclose(expected(pattern, centred=True), truth, atol=1e-12)


def test_entries_that_two_rows_cannot_give_are_zero_and_the_others_unbiased():
    z = ATOMS - MEAN
    truth = np.einsum("n,ni,nj,nk->ijk", CHANCES, z, z, z)
    truth[0, 0, 0] = 0.0  # the first feature is observed twice
    estimate = expected(["111", "100", "011", "011", "011"], centred=True)
    np.testing.assert_allclose(estimate, truth, atol=1e-12)


def test_a_correction_that_is_rounding_gives_no_third_cumulant():
    n = 2 + 1e-14  # two rows, had their weights been added exactly
    moments = Moments(
        np.ones(1), np.ones(1), True, np.ones((1, 1)), JointGaps(np.full((1, 1), n), n)
    )
    assert third_estimates(ThirdSums(np.array([n]), np.ones(1)), moments)[0] == 0


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_raw_third_moments_are_unbiased_for_every_pattern_of_gaps(pattern):
    truth = np.einsum("n,ni,nj,nk->ijk", CHANCES, ATOMS, ATOMS, ATOMS)
    np.testing.assert_allclose(expected(pattern, centred=False), truth, atol=1e-12)


@pytest.mark.parametrize("n_rows", [3, 4, 50])
def test_without_gaps_the_diagonal_is_the_textbook_k_statistic(n_rows):
    table = np.random.default_rng(n_rows).gamma(1.0, size=(n_rows, 3))
    diagonal = np.einsum("iii->i", estimates(table, centred=True))
    np.testing.assert_allclose(diagonal, [kstat(column, 3) for column in table.T], rtol=1e-9)


def test_a_triple_that_no_row_holds_has_no_third_cumulant_about_the_mean():
    table = np.array([[1.0, 2.0, np.nan], [3.0, np.nan, 7.0], [np.nan, 5.0, 6.0]] * 2)
    table[3:] **= 2
    assert estimates(table, centred=True)[0, 1, 2] == 0


def test_a_triple_that_no_row_holds_has_no_third_cumulant_about_zero():
    table = np.array([[1.0, 2.0, np.nan], [3.0, np.nan, 7.0], [np.nan, 5.0, 6.0]] * 2)
    table[3:] **= 2
    m = np.nanmean(table, axis=0)
    ab, ac, bc = (np.nanmean(table[:, i] * table[:, j]) for i, j in [(0, 1), (0, 2), (1, 2)])
    naive = ab * m[2] + ac * m[1] + bc * m[0] - 2 * m.prod()
    for triple in [(0, 1, 2), (2, 1, 0), (1, 0, 2)]:
        np.testing.assert_allclose(estimates(table, centred=False)[triple], naive, rtol=1e-12)


def test_an_unseen_triple_of_a_normal_law_gets_its_true_moment():
    """Means μ and covariances C alone give E[xyz] of a law without third cumulants."""
    mean, root = np.array([1.0, -2.0, 0.5]), np.array([[2.0, 0, 0], [1, 1, 0], [0.5, -1, 1]])
    covariance = root @ root.T
    second = covariance + np.outer(mean, mean)
    moments = Moments(mean, np.zeros(3), False, second, JointGaps(np.full((3, 3), 4.0), 4.0))
    nothing = ThirdSums(np.zeros(10), np.zeros(10))
    truth = mean.prod() + mean @ [covariance[1, 2], covariance[0, 2], covariance[0, 1]]
    i, j, k = symmetric_tensors.triples(3)
    (place,) = np.flatnonzero((i == 0) & (j == 1) & (k == 2))
    np.testing.assert_allclose(third_estimates(nothing, moments)[place], truth, rtol=1e-14)


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("d", [1, 2, 5, 9])
def test_all_triples_at_once_give_what_a_slab_at_a_time_gives(d, centred, monkeypatch):
    rng = np.random.default_rng(d)
    table = rng.normal(size=(40, d))
    table[rng.random(table.shape) < 0.4] = np.nan
    table[:5] = 1.0
    moments = moments_of(table, centred)
    sums, basis = ThirdSums.about(moments.origin)(Block.from_table(table)), rng.normal(size=(d, 3))
    at_once = project_estimates(sums, moments, basis)
    monkeypatch.setattr(third_moment, "FEW_FEATURES", 0)
    np.testing.assert_allclose(at_once, project_estimates(sums, moments, basis), atol=1e-12)


@pytest.mark.parametrize("centred", [True, False])
def test_explicit_projects_the_available_case_tensor(centred):
    table = table_with_gaps(120, 6)
    basis = np.random.default_rng(0).normal(size=(6, 3))
    third = explicit(MemoryRows(table, tuple("abcdef")), moments_of(table, centred), probe(basis))
    naive = np.einsum("ijk,ia,jb,kc->abc", available_case(table, centred), basis, basis, basis)
    assert np.abs(third.tensor - naive).max() < 1e-10 * np.abs(naive).max()


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("n_rows", [1, 17, 119, 120, 1000])
def test_explicit_does_not_depend_on_blocks_or_threads(monkeypatch, n_rows, n_threads):
    monkeypatch.setattr("halfseen.data.engines.memory.BLOCK_ENTRIES", 1)
    monkeypatch.setattr("halfseen.data.engines.memory.FEWEST_ROWS", n_rows)
    table = table_with_gaps(120, 6)
    moments, basis = moments_of(table, True), np.random.default_rng(0).normal(size=(6, 3))
    third = explicit(MemoryRows(table, tuple("abcdef"), n_threads=n_threads), moments, probe(basis))
    naive = np.einsum("ijk,ia,jb,kc->abc", available_case(table, True), basis, basis, basis)
    assert np.abs(third.tensor - naive).max() < 1e-10 * np.abs(naive).max()


def test_explicit_of_weighted_rows_is_that_of_repeated_rows():
    table, times = table_with_gaps(40, 5), np.random.default_rng(3).integers(0, 3, 40)
    often, basis = np.repeat(table, times, axis=0), np.random.default_rng(0).normal(size=(5, 2))
    moments, names = moments_of(often, True), tuple("abcde")
    weighted = explicit(MemoryRows(table, names, times.astype(float)), moments, probe(basis))
    repeated = explicit(MemoryRows(often, names), moments, probe(basis))
    np.testing.assert_allclose(weighted.tensor, repeated.tensor, rtol=1e-10)


def test_explicit_tells_how_many_triples_no_row_holds():
    table = np.array([[1.0, 2.0, np.nan], [3.0, np.nan, 7.0], [np.nan, 5.0, 6.0]] * 2)
    third = explicit(MemoryRows(table, tuple("abc")), moments_of(table, False), probe(np.eye(3)))
    assert (third.route, third.n_unseen) == ("explicit", 1)
