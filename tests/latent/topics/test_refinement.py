"""Topics are refined where counts are few and far between."""

import numpy as np
import pytest

from halfseen import GammaPoisson, simulate

TOPICS = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.3, 0.5]])


@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
@pytest.mark.parametrize(("rate", "refined"), [(1.0, True), (0.05, False)])
def test_what_is_left_open_is_decided_by_how_much_cells_count(rate, refined):
    X, _ = simulate.gamma_poisson(400, TOPICS, [1.0, 1.0], rate, np.random.default_rng(0))
    model = GammaPoisson(2, refine="auto", n_sweeps=3, random_state=0).fit(X)
    assert model.n_iter_ == (3 if refined else 0)
    assert ("were refined" in model.diagnostics_.refine_reason) == refined
    assert bool(model._model().abilities.no_intervals) == refined
    if not refined:
        assert model.intervals(X, n_replicates=50)["components_"].low.shape == (2, 4)
