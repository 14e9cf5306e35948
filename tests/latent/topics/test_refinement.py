"""Topics are polished where counts are few and far between."""

import numpy as np
import pytest

from halfseen import GammaPoisson, simulate

TOPICS = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.3, 0.5]])


@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
@pytest.mark.parametrize(("rate", "polished"), [(1.0, True), (0.05, False)])
def test_what_is_left_open_is_decided_by_how_much_cells_count(rate, polished):
    X, _ = simulate.gamma_poisson(400, TOPICS, [1.0, 1.0], rate, np.random.default_rng(0))
    model = GammaPoisson(2, refine="auto", n_sweeps=3, random_state=0).fit(X)
    assert model.n_iter_ == (3 if polished else 0)
    assert ("were polished" in model.diagnostics_.refine_reason) == polished
    assert bool(model._model().abilities.no_intervals) == polished
    if not polished:
        assert model.intervals(X, n_replicates=50)["components_"].low.shape == (2, 4)
