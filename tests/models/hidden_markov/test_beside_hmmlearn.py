"""The same model in hmmlearn says the same, where hmmlearn is installed."""

import numpy as np
import pytest

from halfseen import HiddenMarkov

pytest.importorskip("hmmlearn", reason="hmmlearn is not installed")
LENGTHS = [40, 1, 25, 60, 14]


def numbers(rng, states):
    return rng.normal(2.0 * states[:, None], [1.0, 0.5, 2.0])


def words(rng, states):
    chance = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    drawn = (rng.random((len(states), 1)) > chance[states].cumsum(axis=1)).sum(axis=1)
    return np.array(["low", "middle", "high"], dtype=object)[drawn][:, None]


@pytest.mark.parametrize("columns", [numbers, words])
def test_complete_sequences_have_the_likelihood_and_the_path_that_hmmlearn_gives_them(columns):
    rng = np.random.default_rng(0)
    states = np.repeat(rng.integers(2, size=28), 5)
    X = columns(rng, states)
    model = HiddenMarkov(2, outliers=None, random_state=0).fit(X, lengths=LENGTHS)
    theirs = model.to_hmmlearn()
    code = {word: i for i, word in enumerate(model.coding_.labels[0])}
    own = X if columns is numbers else np.vectorize(code.get)(X)
    assert theirs.score(own, LENGTHS) == pytest.approx(
        model.score_samples(X, LENGTHS).sum(), abs=1e-8
    )
    np.testing.assert_array_equal(theirs.predict(own, LENGTHS), model.predict(X, LENGTHS))
    ends = np.cumsum(LENGTHS)
    for first, last, height in zip(
        ends - LENGTHS, ends, model.score_samples(X, LENGTHS), strict=True
    ):
        assert theirs.score(own[first:last]) == pytest.approx(height, abs=1e-8)
    np.testing.assert_allclose(
        theirs.predict_proba(own, LENGTHS), model.predict_proba(X, LENGTHS), atol=1e-8
    )
