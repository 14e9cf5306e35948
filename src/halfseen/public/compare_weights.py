"""Ways of weighting features, judged on the user's own data."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from halfseen.data.errors import DataError
from halfseen.data.progress import Stages
from halfseen.data.rows import Rows
from halfseen.diagnostics.choice import CLEARLY
from halfseen.diagnostics.cross_validation import bins_for, cross_scores
from halfseen.diagnostics.number_of_components import choose
from halfseen.inference.fit import Fit, fit_rows, look_through
from halfseen.inference.model import Model
from halfseen.inference.plan import Settings, check_adjustable
from halfseen.io.coding import unused_names
from halfseen.io.open_table import open_rows
from halfseen.io.sparse_matrix import ObservedBlocks
from halfseen.models import USUAL_MODEL
from halfseen.moments.survey import Survey
from halfseen.public.choose_components import unfitted

WAYS: dict[str, dict[str, str]] = {
    "observed": {"feature_weights": "observed", "moments": "available"},
    "sqrt": {"feature_weights": "sqrt", "moments": "available"},
    "signal": {"feature_weights": "signal", "moments": "available"},
    "adjusted": {"feature_weights": "auto", "moments": "adjusted"},
}
"""What is compared, as parameters of the estimators: both, whatever the user's own are."""


@dataclass(frozen=True)
class Weighed:
    """How well one way of weighting predicts rows that were not learned from."""

    way: str
    parameters: dict[str, str]
    log_likelihood: float  # mean of the rows
    gain: float  # of that, over what the model does by itself
    error: float  # standard error of the gain


@dataclass(frozen=True)
class WeightsComparison:
    """Ways of weighting, best first, and what follows."""

    ways: tuple[Weighed, ...]
    n_components: int
    usual: str  # what the model does by itself
    reason: str

    @property
    def best(self) -> str:
        """The way to take: the usual one, unless another is clearly better."""
        first = self.ways[0]
        return first.way if first.gain > CLEARLY * first.error else self.usual


def compare_weights(
    X: Any,
    model: Any = USUAL_MODEL,
    *,
    n_components: int | str = "auto",
    groups: Any = None,
    observed: ObservedBlocks | None = None,
) -> WeightsComparison:
    """Compare weights w = p, √p, signal-aware ones and adjusted moments by held-out likelihood.

    Each third of the rows is scored under models learned, by moments alone, from the other two.
    Weights matter for moments; a mixture that is polished by likelihood afterwards mostly ends at
    the same place whichever they were.

    Parameters
    ----------
    X : array, data frame, sparse matrix, path or list of batches
        As for the model's ``fit``.
    model : estimator or str, default: the first of the registry
        What to compare for: an estimator, or the name of a model, with its other parameters.
    n_components : int or "auto", default="auto"
        How many components to learn.
    groups : array of shape (n,) or None, default=None
        A label for each row if rows depend on each other, such as the patient it is of.
    observed : ObservedBlocks or None, default=None
        Which blocks of columns the rows of a sparse matrix have.

    Returns
    -------
    WeightsComparison
        The ways, best first, with what a row gains over the model's own way. Adjusted moments are
        left out where they cannot be had, such as without complete features.

    Examples
    --------
    >>> import numpy as np
    >>> from halfseen import compare_weights, simulate
    >>> rng = np.random.default_rng(0)
    >>> X, _ = simulate.gaussian_mixture(3000, [0.4, 0.6], rng.normal(0, 3, (2, 5)), 1.0, rng)
    >>> X = simulate.independent_gaps(X, [1, 1, 1, 0.3, 0.1], rng)
    >>> found = compare_weights(X, "gaussian", n_components=2)
    >>> sorted(way.way for way in found.ways)
    ['adjusted', 'observed', 'signal', 'sqrt']
    """
    estimator = unfitted(model)
    no_weights = estimator._model().abilities.no_weights
    if no_weights:
        raise ValueError(no_weights)
    if estimator.method != "weighted":
        raise ValueError(
            f"method='{estimator.method}' takes features as equal, so there are no weights to "
            "compare. Use method='weighted'."
        )
    settings, kind = estimator.set_params(refine=None, n_components=n_components).checked()
    rows, stages = open_rows(estimator, X, None, observed)
    seen = look_through(settings, kind, rows, stages, unused_names(estimator))
    bins = bins_for(groups, rows)
    apart = None if groups is None else bins
    k = (
        choose(settings, kind, rows, seen, bins=apart, candidate=estimator.candidate()).n_components
        if n_components == "auto"
        else int(n_components)
    )

    def fitting(parameters: dict[str, str]) -> Callable[[Rows, Survey], Fit[Any]]:
        way: Settings = replace(settings, **parameters)
        return lambda part, survey: fit_rows(way, kind, part, survey, k, Stages())

    possible = _possible(kind, seen)
    fittings = [fitting(parameters) for parameters in possible.values()]
    scores = cross_scores(settings.complete_above, rows, kind, bins, fittings)
    usual = list(possible).index(kind.about.weighting)
    ways = [
        Weighed(way, parameters, scores.mean(i), *scores.gain(i, usual))
        for i, (way, parameters) in enumerate(possible.items())
    ]
    return _told(sorted(ways, key=lambda way: -way.log_likelihood), k, kind.about.weighting)


def _possible(model: Model[Any], seen: Survey) -> dict[str, dict[str, str]]:
    """The ways that there are for a table."""
    try:
        check_adjustable(model.cumulants, seen.complete[seen.kept])
    except (DataError, ValueError):
        return {way: parameters for way, parameters in WAYS.items() if way != "adjusted"}
    return WAYS


def _told(ways: list[Weighed], n_components: int, usual: str) -> WeightsComparison:
    first = ways[0]
    if first.way == usual:
        reason = f"'{usual}', which the model uses by itself, is best."
    elif first.gain > CLEARLY * first.error:
        reason = (
            f"'{first.way}' is better than '{usual}', which the model uses by itself, by "
            f"{first.gain:.2g} ± {first.error:.1g} a row."
        )
    else:
        reason = (
            f"None is clearly better than '{usual}', which the model uses by itself: "
            f"'{first.way}' gains {first.gain:.2g} ± {first.error:.1g} a row."
        )
    return WeightsComparison(tuple(ways), n_components, usual, reason)
