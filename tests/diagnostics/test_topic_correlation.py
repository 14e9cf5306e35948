"""Topics that go along with each other beyond what the model has."""

import numpy as np
from scipy.sparse import csr_array

from halfseen import GammaPoisson

TOPICS = np.kron(np.eye(4), np.full(4, 0.22)) + 0.01


def counts(rng, together):
    """Four topics, of which the first two may be in the same rows."""
    loadings = rng.gamma(1.0, 25.0, size=(900, 4))
    if together:
        loadings[:, 1] = loadings[:, 0] * rng.uniform(0.5, 1.5, 900)
    return rng.poisson(loadings @ TOPICS).astype(float)


def test_topics_that_go_along_are_a_concern_and_others_are_not():
    rng = np.random.default_rng(0)
    gappy = counts(rng, together=False)
    gappy[rng.random(gappy.shape) < 0.1] = np.nan
    model = GammaPoisson(4).fit(gappy)
    kinds = {concern.kind for concern in model.concerns(gappy)}
    assert "correlated_components" not in kinds
    together = csr_array(counts(rng, together=True))
    first, second = (int(model.components_[:, d].argmax()) for d in (0, 4))
    (said,) = (c.sentence for c in model.concerns(together) if c.kind == "correlated_components")
    assert said.startswith("Some components go along with each other in rows more, or less, than")
    pair = f"component {min(first, second)} and component {max(first, second)} more (+0."
    assert pair in said
