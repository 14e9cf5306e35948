import numpy as np
import pytest

from halfseen.data.engines.memory import MemoryRows
from halfseen.moments.robust_statistics import FarSums, far_values, robust_summary
from halfseen.moments.survey import survey

RNG = np.random.default_rng(0)


def told(X):
    rows = MemoryRows(X, tuple(map(str, range(X.shape[1]))))
    return far_values(rows, survey(rows, 1.0).sums)


def test_a_value_far_from_all_others_is_told_with_the_furthest_of_those():
    X = RNG.normal(7.4, 0.05, (2000, 2))
    X[3, 1] = 74.0
    (found,) = told(X)
    assert (found.feature, found.n_cells) == (1, 1)
    assert found.furthest == pytest.approx(74.0)
    assert found.others == pytest.approx(np.delete(X[:, 1], 3).max())


def test_both_sides_are_told_apart():
    X = RNG.normal(170.0, 10.0, (3000, 1))
    X[:4], X[10:12] = 1.7, 432.0
    X[20:30] = np.nan
    below, above = told(X)
    assert (below.n_cells, below.furthest) == (4, pytest.approx(1.7))
    assert (above.n_cells, above.furthest) == (2, pytest.approx(432.0))


@pytest.mark.parametrize(
    "draw",
    [RNG.normal, RNG.exponential, RNG.lognormal, RNG.laplace, RNG.gumbel, RNG.uniform],
    ids=lambda draw: draw.__name__,
)
def test_tails_of_usual_distributions_are_not(draw):
    assert told(draw(size=(5000, 8))) == []


def test_any_split_gives_the_same():
    X = np.where(RNG.random((400, 3)) < 0.1, np.nan, RNG.normal(size=(400, 3)))
    X[7, 0] = 90.0
    rows = MemoryRows(X, ("a", "b", "c"))
    seen = robust_summary(rows, survey(rows, 1.0).sums)
    whole = rows.accumulate(FarSums.beyond(seen))
    parts = [MemoryRows(part, rows.names) for part in (X[:7], X[7:8], X[8:8], X[8:])]
    sums = [part.accumulate(FarSums.beyond(seen)) for part in parts]
    total = sums[2] + sums[3] + sums[0] + sums[1]
    for one, other in zip(vars(whole).values(), vars(total).values(), strict=True):
        np.testing.assert_allclose(one, other)
