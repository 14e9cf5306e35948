"""AIC and BIC."""

import copy
import math
from typing import Any, NamedTuple

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows, any_observed
from halfseen.inference.parameters import n_free
from halfseen.moments.survey import survey


class AtMaximum(NamedTuple):
    """Log-likelihood, number of parameters and rows at the maximum."""

    log_likelihood: float
    n_rows: float  # that hold at least one observed cell
    n_free: int

    @property
    def aic(self) -> float:
        """Akaike information criterion."""
        return -2 * self.log_likelihood + 2 * self.n_free

    @property
    def bic(self) -> float:
        """Bayesian information criterion."""
        return -2 * self.log_likelihood + self.n_free * math.log(self.n_rows)


def at_maximum(estimator: Any, rows: Rows) -> AtMaximum:
    """The maximum of the likelihood without priors, started at a fit of these rows.

    Where the likelihood has no maximum there (a component shrinks to a point), at the fit itself.
    """
    fitted = estimator.fitted
    rows = rows.select(fitted.kept)
    model, parameters = fitted.model, fitted.parameters
    if estimator.refine is not None and estimator.prior:
        plain = copy.copy(estimator)
        plain.prior = None
        model = plain._model()
        parameters = model.without_prior(rows, survey(rows, 1.0), parameters)

    def summarise(block: Block) -> Array:
        something = any_observed(block)
        height = np.where(something, model.log_likelihood(block, parameters), 0.0)
        sums: Array = block.weighed(np.column_stack([height, something])).sum(axis=0)
        return sums

    total, n_rows = rows.accumulate(summarise)
    return AtMaximum(float(total), float(n_rows), n_free(parameters, model.axes))
