"""Moves of components out of places that no small step leads out of."""

import numpy as np
import pytest

from benchmarks.contaminated import draw
from halfseen import GaussianMixture
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.sampling import sample_shuffled
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.inference.multi_start import EMStart, plan_for
from halfseen.latent.initialisation import moves
from halfseen.latent.mixture import FEW_PASSES, Search
from halfseen.moments.survey import survey


@pytest.mark.parametrize("k", [2, 3, 6])
def test_a_move_leaves_one_component_out_and_cuts_another(k):
    rng = np.random.default_rng(k)
    shares, values = rng.dirichlet(np.full(k, 3.0), 200), rng.normal(size=(200, 4))
    found = list(moves(shares, values))
    assert len(found) == min(k, 3) * (k - 1)
    easiest = np.argsort([-np.sum(np.log(1 - shares[:, j])) for j in range(k)])[:3]
    for n, moved in enumerate(found):
        assert moved.shape == (200, k)
        np.testing.assert_allclose(moved.sum(axis=1), 1)
        left_out, cut = easiest[n // (k - 1)], n % (k - 1)
        others = np.delete(shares, left_out, axis=1)
        others /= others.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(moved[:, -2:].sum(axis=1), others[:, cut], atol=1e-9)
        np.testing.assert_allclose(moved[:, :-2], np.delete(others, cut, axis=1), atol=1e-9)


def test_a_component_is_cut_across_its_longest_direction():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, 5)) * [1, 1, 6, 1, 1]
    (moved, _) = moves(np.column_stack([np.full(300, 0.999), np.full(300, 0.001)]), values)
    side = moved[:, 0] > 0.5
    assert abs(np.corrcoef(side, values[:, 2] > values[:, 2].mean())[0, 1]) > 0.95


def among(rows, sample):
    """A search of all rows whose starts are tried on a sample."""
    plan = plan_for(len(rows.table))
    n_rows, n_sample = float(len(rows.table)), float(len(sample.table))
    return Search(rows, n_rows, sample, n_sample, survey(rows, 0.95), plan)


def test_a_climb_that_ended_in_a_wrong_place_is_moved_to_the_right_one():
    rng = np.random.default_rng(0)
    truth = np.array([[0.0, 0, 0], [20, 0, 0], [20, 8, 0]])
    label = rng.integers(3, size=900)
    X = truth[label] + rng.normal(size=(900, 3))
    rows = MemoryRows(X, tuple("abc"))
    seen = survey(rows, 0.95)
    _, model = GaussianMixture(3, covariance_type="diag", random_state=0).checked()
    model = model.adapted_to(rows, seen)
    wrong = np.array([[-0.5, 0, 0], [0.5, 0, 0], [20, 4, 0]])  # two for one, one for two
    start = model.emission.em_start(
        MixtureParameters(np.full(3, 1 / 3), wrong, np.array([[1.0, 1, 1], [1, 1, 1], [1, 17, 1]]))
    )
    stuck = model.run_em(rows, start, 300)
    there = model.emission.means(model.emission.finalised(rows, stuck.parameters))
    assert np.abs(np.sort(there[:, 1]) - [0, 0, 8]).max() > 3
    moved, work = model._split_and_merged(among(rows, rows), stuck)
    assert moved.convergence.log_likelihood > stuck.convergence.log_likelihood + 0.1
    means = model.emission.means(model.emission.finalised(rows, moved.parameters))
    np.testing.assert_allclose(means[np.lexsort(means.round(0).T)], truth, atol=0.3)
    assert work > 0
    again, _ = model._split_and_merged(among(rows, rows), moved)
    assert again is moved


def test_a_place_that_no_move_betters_is_kept():
    X = np.random.default_rng(0).normal(size=(300, 3)) + 9 * np.eye(3)[np.arange(300) % 2]
    rows = MemoryRows(X, tuple("abc"))
    _, model = GaussianMixture(2, random_state=0).checked()
    model = model.adapted_to(rows, survey(rows, 0.95))
    means = 9 * np.eye(3)[:2]
    start = model.emission.em_start(MixtureParameters(np.full(2, 0.5), means, np.ones((2, 3))))
    there = model.run_em(rows, start, 300)
    assert model._split_and_merged(among(rows, rows), there)[0] is there


def test_a_climb_that_is_not_at_its_end_is_moved_too():
    """Wrong places are often those where every pass gains a little."""
    X = draw("0/1 columns", 1001).values
    mixture = GaussianMixture(4, covariance_type="tied_diag", random_state=0)
    usual, patient = (mixture.set_params(max_iter=n).fit(X).score(X) for n in (500, 2000))
    assert usual == pytest.approx(patient, abs=1e-3)


def test_of_many_rows_only_moves_that_lead_elsewhere_go_on_to_all():
    rng = np.random.default_rng(0)
    n, truth = 25_000, np.array([[0.0, 0, 0], [20, 0, 0], [20, 8, 0]])
    rows = MemoryRows(truth[rng.integers(3, size=n)] + rng.normal(size=(n, 3)), tuple("abc"))
    _, model = GaussianMixture(3, covariance_type="diag", random_state=0).checked()
    model = model.adapted_to(rows, survey(rows, 0.95))

    def at(means, spreads):
        every = MixtureParameters(np.full(3, 1 / 3), np.array(means), np.array(spreads))
        return model.run_em(rows, model.emission.em_start(every), 300)

    wrong = at([[-0.5, 0, 0], [0.5, 0, 0], [20, 4, 0.0]], [[1.0, 1, 1], [1, 1, 1], [1, 17, 1]])
    right = at(truth, np.ones((3, 3)))
    both = [EMStart("back", wrong.parameters), EMStart("better", right.parameters)]
    found, passes = model._promising(rows, both, wrong.parameters)
    assert [one.name for one in found] == ["better"]
    assert passes == 3 * FEW_PASSES
    assert not model._promising(rows, both, right.parameters)[0]
    some = sample_shuffled(rows, 1000)
    moved, work = model._split_and_merged(among(rows, some), wrong)
    means = model.emission.means(model.emission.finalised(rows, moved.parameters))
    np.testing.assert_allclose(means[np.lexsort(means.round(0).T)], truth, atol=0.1)
    assert work > 0
