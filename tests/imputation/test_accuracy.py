"""The accuracy that is said of fills is that of gaps like the real ones."""

import numpy as np
import pandas as pd
import pytest

from halfseen import Imputer
from halfseen.data.missing_patterns import FEWEST_CELLS, ImitatedGaps
from halfseen.imputation.accuracy import FillAccuracy, Refilled, r_squared


def copies(n=600, seed=0):
    """Two columns that are nearly the same, words for their sign, and a column that tells a bit."""
    rng = np.random.default_rng(seed)
    a, noise, other = rng.normal(size=(3, n))
    return pd.DataFrame(
        {
            "a": a,
            "b": a + 0.05 * noise,
            "word": np.where(a > 0, "high", "low"),
            "c": 0.5 * a + other,
        }
    )


def said(frame, **settings):
    found = Imputer(random_state=0, **settings).fit(frame).learned_.accuracy
    return {
        name: (found.variance[j], found.right[j], found.n_cells[j], found.missing_with[j])
        for j, name in enumerate(frame)
    }


def test_copies_that_are_missing_together_are_not_said_to_be_filled_well():
    frame = copies()
    together = frame.copy()
    together.loc[np.arange(600) % 3 == 0, ["a", "b", "word"]] = None
    found = said(together)
    assert found["a"][0] == pytest.approx(0.2, abs=0.1)  # what c tells: .25 / 1.25
    assert found["b"][0] == pytest.approx(0.2, abs=0.1)
    assert 0.45 < found["word"][1] < 0.75
    assert list(found["a"][3]) == [1, 2]
    one_by_one = frame.copy()
    for place, name in enumerate(("a", "b", "word")):
        one_by_one.loc[np.arange(600) % 9 == place, name] = None
    found = said(one_by_one)
    assert found["a"][0] > 0.98
    assert found["b"][0] > 0.98
    assert found["word"][1] > 0.95
    assert not len(found["a"][3])


def test_what_is_said_is_what_fills_of_cells_that_were_never_seen_have():
    rng = np.random.default_rng(1)
    truth = copies(3000, 1)
    gappy = truth.mask(np.array(rng.random(3000) < 0.3)[:, None] & [True, True, True, False])
    gappy["a"] = gappy["a"].mask(rng.random(3000) < 0.1)
    kept_back = gappy.notna().to_numpy() & (rng.random(3000) < 0.2)[:, None]
    pattern = gappy.isna().to_numpy()[rng.integers(3000, size=3000)]
    hidden = kept_back & pattern
    shown = gappy.mask(hidden)
    imputer = Imputer(random_state=0).fit(shown)
    filled, found = imputer.transform(shown), imputer.learned_.accuracy
    for j, name in enumerate(("a", "b")):
        own = hidden[:, j]
        alike = np.ones(own.sum()) / own.sum()
        true = r_squared(truth.loc[own, name].to_numpy(), filled.loc[own, name].to_numpy(), alike)
        assert found.variance[j] == pytest.approx(true, abs=0.1)
    own = hidden[:, 2]
    right = (truth.loc[own, "word"] == filled.loc[own, "word"]).mean()
    assert found.right[2] == pytest.approx(right, abs=0.1)


def test_noise_is_not_said_to_be_filled_at_all():
    """Fills of cells that had been learned from would seem to explain some of it."""
    rng = np.random.default_rng(2)
    table = rng.normal(size=(120, 12))
    table[rng.random(table.shape) < 0.15] = np.nan
    found = Imputer(random_state=0).fit(table).learned_.accuracy
    assert np.median(found.variance) < 0.03


def test_the_order_of_columns_does_not_matter():
    frame = copies(1500)
    frame.loc[np.arange(1500) % 3 == 0, ["a", "b"]] = None
    one, other = said(frame), said(frame[["c", "word", "b", "a"]])
    for name in ("a", "b"):
        assert one[name][0] == pytest.approx(other[name][0], abs=0.05)


def test_nothing_is_said_of_columns_without_gaps_or_with_few_known_cells():
    frame = copies()
    frame.loc[np.arange(600) % 3 == 0, "a"] = None
    frame.loc[FEWEST_CELLS - 2 :, "b"] = None
    found = said(frame)
    assert np.isfinite(found["a"][0])
    assert np.isnan([found[name][0] for name in ("b", "c", "word")]).all()
    assert found["b"][2] == found["c"][2] == 0
    explained = dict(zip(frame, Imputer().fit(frame).learned_.explained, strict=True))
    assert np.isnan(explained["b"])
    assert explained["word"] > 0.2  # of complete columns cells are hidden one at a time


def test_ratings_are_judged_as_they_are_filled():
    rng = np.random.default_rng(3)
    mood = rng.integers(1, 6, size=800)
    table = np.column_stack([mood, np.clip(mood + rng.integers(-1, 2, size=800), 1, 5)]) * 1.0
    table[::5, 0] = np.nan
    kinds = {0: "ordinal", 1: "ordinal"}
    medians, means = (
        Imputer(kinds, possible=one, random_state=0).fit(table).learned_.accuracy.variance[0]
        for one in (True, False)
    )
    assert 0.5 < medians < means < 0.9


def test_a_naive_loop_gives_the_same_shares():
    rng = np.random.default_rng(4)
    n, t = 60, 500
    known = np.ones((n, 3), dtype=bool)
    known[0] = False
    table = np.column_stack([rng.normal(size=n), rng.integers(3, size=(n, 2))])
    tests = ImitatedGaps(
        rng.integers(1, n, size=t), rng.random((t, 3)) < 0.8, rng.uniform(1, 3, size=t)
    )
    true = table[tests.row]
    found = Refilled(true, np.roll(true, 1, axis=0), rng.exponential(size=(t, 3)))
    numbers, levels = np.array([True, False, False]), np.array([False, True, True])
    accuracy = FillAccuracy.of(known, tests, found, numbers, levels)
    cells = [i for i in range(t) if tests.hidden[i, 0]]
    total = sum(tests.weight[i] for i in cells)
    mean = sum(tests.weight[i] * true[i, 0] for i in cells) / total
    left = sum(tests.weight[i] * (true[i, 0] - found.filled[i, 0]) ** 2 for i in cells)
    around = sum(tests.weight[i] * (true[i, 0] - mean) ** 2 for i in cells)
    assert accuracy.variance[0] == pytest.approx(1 - left / around)
    assert accuracy.explained[0] == 0.0
    cells = [i for i in range(t) if tests.hidden[i, 1]]
    total = sum(tests.weight[i] for i in cells)
    same = sum(tests.weight[i] for i in cells if true[i, 1] == found.filled[i, 1])
    share = [sum(tests.weight[i] for i in cells if true[i, 1] == k) / total for k in range(3)]
    assert accuracy.right[1] == pytest.approx(same / total)
    assert accuracy.commonest[1] == pytest.approx(max(share))
    assert accuracy.n_cells[1] == len({tests.row[i] for i in cells})
