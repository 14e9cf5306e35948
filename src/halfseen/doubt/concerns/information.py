"""Whether fewer components say as much, where no test of the moments tells."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from halfseen.doubt.concerns.case import Case
from halfseen.doubt.concerns.concern import Concern
from halfseen.doubt.cross_scores import of_models_not_kept
from halfseen.doubt.few_rows import few_rows
from halfseen.method.fit import fit_rows
from halfseen.method.learned import n_free
from halfseen.moments.survey import survey
from halfseen.rows.errors import DataError
from halfseen.rows.stages import Stages

MOST_ROWS = 5000
"""More are not needed to see that one component is too many."""


def one_too_many(case: Case) -> Iterator[Concern]:
    """A fit with one component fewer that has the lower Bayesian information criterion."""
    fitted, k = case.fitted, case.fitted.n_components
    by_likelihood = fitted.model.about.labels and not fitted.model.abilities.rank_tests
    if k < 2 or not by_likelihood or fitted.settings.refine is None:
        return
    if fitted.diagnostics.choice is not None:
        return  # it was chosen on more evidence than this, and said with the reason
    try:
        with of_models_not_kept():
            here, fewer = _criterion(case, k), _criterion(case, k - 1)
    except DataError:
        return
    if fewer < here:
        yield Concern(
            "too_many_components",
            f"{k} {case.components} are more than the rows support: with {k - 1} the Bayesian "
            f"information criterion is lower, by {here - fewer:.3g}. Use fewer, or "
            "n_components='auto' to have the number chosen.",
        )


def _criterion(case: Case, n_components: int) -> float:
    """``-2 log L + p log N``; lower is better."""
    fitted = case.fitted
    few = few_rows(case.rows, case.bins, MOST_ROWS)
    seen = survey(few.rows, fitted.settings.complete_above)
    settings = replace(fitted.settings, random_state=0, n_components=n_components)
    fit = fit_rows(settings, fitted.model, few.rows, seen, n_components, Stages())
    n_rows = seen.sums.n_rows
    height = (fit.climb.log_likelihood or 0.0) * n_rows if fit.climb else 0.0
    free = n_free(fit.parameters, fitted.model.axes)
    return float(-2 * height + free * np.log(n_rows))
