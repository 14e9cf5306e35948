"""Topics by their words: what is likely and telling, what holds together, and where they lie."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from halfseen import GammaPoisson, simulate
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.diagnostics.topics import coherence, most_relevant
from halfseen.report.registry import portrait_of
from halfseen.report.topic_relations import hellinger, on_a_plane

NAMES = tuple("abcdef")


def test_relevance_is_between_share_and_lift():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.ones(9), 3)
    topics[0, 4] = 0.0
    average = topics.mean(axis=0)
    for weight in (0.0, 0.6, 1.0):
        for k, own in enumerate(most_relevant(topics, average, weight, 20)):
            score = {
                d: weight * np.log(topics[k, d]) + (1 - weight) * np.log(topics[k, d] / average[d])
                for d in range(9)
                if topics[k, d] > 0
            }
            assert own.tolist() == sorted(score, key=lambda d: -score[d])


def naive(table, words):
    """The mean NPMI of the pairs of some columns, row by row."""
    values = []
    for i, j in combinations(words, 2):
        seen = [(x[i] > 0, x[j] > 0) for x in table if not np.isnan(x[i]) and not np.isnan(x[j])]
        first, second = (np.mean([pair[side] for pair in seen]) for side in (0, 1))
        both = np.mean([a and b for a, b in seen])
        values.append(-1.0 if both == 0 else np.log(both / first / second) / -np.log(both))
    return np.mean(values)


@pytest.mark.parametrize("sparse", [True, False])
def test_coherence_is_that_of_pairs_row_by_row(sparse):
    rng = np.random.default_rng(1)
    table = rng.poisson(0.7, (60, 6)).astype(float)
    table[:, 1] = np.where(table[:, 0] > 0, 0.0, table[:, 1])  # never together
    table[rng.random(table.shape) < 0.2] = np.nan
    rows = MemoryRows(table, NAMES)
    if sparse:
        matrix = csr_array(np.where(np.isnan(table), 1.0, table))
        matrix.data[np.isnan(table[matrix.nonzero()])] = np.nan
        rows = SparseRows.of(matrix, NAMES)
    words = [np.array([3, 0, 1]), np.array([2, 4, 5, 3])]
    expected = [naive(table, own) for own in words]
    np.testing.assert_allclose(coherence(rows, words), expected, rtol=1e-12)


def test_words_that_are_never_counted_have_no_coherence():
    rows = MemoryRows(np.zeros((5, 6)), NAMES)
    assert np.isnan(coherence(rows, [np.array([0, 1])])).all()


def test_a_plane_keeps_the_distances_of_what_lies_on_it():
    points = np.random.default_rng(2).normal(size=(7, 2))
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    found, seen = on_a_plane(apart)
    np.testing.assert_allclose(np.linalg.norm(found[:, None] - found[None], axis=2), apart)
    assert seen == pytest.approx(1.0)


def test_distances_are_hellingers():
    one, other = np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.2, 0.8])
    pairs = zip(one, other, strict=True)
    expected = np.sqrt(sum((np.sqrt(a) - np.sqrt(b)) ** 2 for a, b in pairs) / 2)
    assert hellinger(np.array([one, other]))[0, 1] == pytest.approx(expected, abs=1e-12)


def test_common_words_lead_by_share_and_telling_ones_by_relevance(tmp_path: Path):
    rng = np.random.default_rng(3)
    topics = np.full((3, 42), 0.2 / 41)
    topics[:, 0] = 0.5
    for k in range(3):
        topics[k, 1 + 12 * k : 13 + 12 * k] += 0.3 / 12
    topics /= topics.sum(axis=1, keepdims=True)
    X = simulate.gamma_poisson(1500, topics, np.ones(3), 0.03, rng)[0]
    words = ["said", *(f"{topic}{i}" for topic in "xyz" for i in range(12)), *"abcde"]
    model = GammaPoisson(3).fit(csr_array(X), vocabulary=words)
    view = portrait_of(model)
    assert [own[0] for own in view.ranked_by(1.0).words(3)] == [0, 0, 0]
    assert all(0 not in own for own in view.ranked_by(0.2).words(5))
    model.report(csr_array(X), tmp_path / "page.html", relevance=0.2)
    page = (tmp_path / "page.html").read_text()
    for part in ("How the topics hold together", "A map of the topics", "beyond the model"):
        assert part in page
    with pytest.raises(ValueError, match=r"relevance must be from 0 to 1. Got 2 instead"):
        model.report(csr_array(X), tmp_path / "other.html", relevance=2)
