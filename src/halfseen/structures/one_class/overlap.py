"""Components of which rows do not tell which they are from."""

from collections.abc import Iterator

import numpy as np

from halfseen.doubt.concerns.case import Case
from halfseen.doubt.concerns.concern import Concern
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block

OVERLAP = 0.3
"""From 0, apart, to 1, the same: two equal normals 2.4 standard deviations apart have 0.3."""


def overlap(case: Case) -> Iterator[Concern]:
    """Two components of which rows do not tell which they are from."""
    fitted = case.fitted
    if fitted.n_components < 2:
        return

    def products(block: Block) -> Array:
        shares = fitted.model.hidden(block, fitted.parameters)
        both: Array = shares.T @ block.weighed(shares)
        return both

    shared = case.rows.select(fitted.kept).accumulate(products)
    own = shared.sum(axis=1)
    between = shared * np.add.outer(own, own) / np.maximum(np.outer(own, own), 1e-300)
    np.fill_diagonal(between, 0.0)
    i, j = map(int, np.unravel_index(between.argmax(), between.shape))
    if between[i, j] > OVERLAP:
        yield Concern(
            "overlapping_components",
            f"{case.called(i).capitalize()} and {case.called(j)} overlap: what is observed in a "
            f"row often cannot tell which it is from (overlap {between[i, j]:.2f}; 0 is apart, 1 "
            "the same). Do not read much into the label of a row; use probabilities"
            + ("." if fitted.diagnostics.choice else f", or fewer {case.components}."),
        )
