"""From what users hand over to a fit: the whole of it in one place."""

from dataclasses import replace
from typing import Any, TypeVar

from halfseen.doubt.number_of_components import choose
from halfseen.method.fit import Fit, fit_rows, look_through
from halfseen.method.recipe import Recipe
from halfseen.tables.door import open_rows
from halfseen.tables.observed_blocks import ObservedBlocks

P = TypeVar("P")


def fit_table(
    estimator: Any,
    X: Any,
    sample_weight: Any,
    recipe: Recipe[P],
    observed: ObservedBlocks | None = None,
) -> Fit[P]:
    """Fit the recipe's model to the table ``X`` (n, d) with the estimator's parameters."""
    vars(estimator).pop("stream_", None)  # a fit starts anew
    rows, stages = open_rows(estimator, X, sample_weight, observed)
    seen = look_through(estimator, rows, recipe, stages)
    if estimator.n_components != "auto":
        return fit_rows(estimator, rows, seen, recipe, estimator.n_components, stages)
    with stages("number of components"):
        choice = choose(estimator, rows, seen, recipe)
    fit = fit_rows(estimator, rows, seen, recipe, choice.n_components, stages)
    return replace(fit, diagnostics=replace(fit.diagnostics, choice=choice))
