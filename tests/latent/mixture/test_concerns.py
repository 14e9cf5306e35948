"""Cells that are told as mistyped."""

import numpy as np
import pytest

from halfseen import GaussianMixture


@pytest.mark.parametrize(
    ("code", "told"),
    [(1.0, "1 cell looks mistyped, or is far from all others: '0' (900)."), (-9.0, "'3' (6, such")],
)
def test_a_code_that_is_usual_in_another_group_is_not_mistyped(code, told):
    rng = np.random.default_rng(0)
    z = rng.integers(2, size=800)
    X = rng.normal(6.0 * z[:, None], size=(800, 4))
    X[:, 3] = np.where(z, 4.0, rng.choice([1.0, 2.0], 800))
    X[np.flatnonzero(z)[:6], 3] = code
    X[0, 0] = 900.0
    model = GaussianMixture(2, covariance_type="diag", random_state=0).fit(X)
    (sentence,) = (one.sentence for one in model.concerns(X) if one.kind == "outlying_cells")
    assert told in sentence
