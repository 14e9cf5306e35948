"""Choose the number of components and the weights of columns, for any model."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import BaseEstimator, clone

from halfseen.data.errors import DataError
from halfseen.data.messages import setting
from halfseen.data.progress import Stages
from halfseen.data.rows import Rows
from halfseen.diagnostics.choice import CLEARLY, Choice
from halfseen.diagnostics.cross_validation import bins_for, cross_scores
from halfseen.diagnostics.number_of_components import MOST_COMPONENTS, ChoiceContext, choose
from halfseen.estimators.parameter_checks import check_count
from halfseen.estimators.reading import opened
from halfseen.inference.fit import Fit, fit_rows, look_through
from halfseen.inference.model import Model
from halfseen.inference.plan import Settings, check_adjustable
from halfseen.io.coding import unused_names
from halfseen.io.sequences import Sequenced
from halfseen.io.sparse_matrix import ObservedBlocks
from halfseen.models import MODELS, USUAL_MODEL
from halfseen.moments.survey import Survey


def choose_components(
    X: Any,
    model: Any = USUAL_MODEL,
    *,
    max_components: int = MOST_COMPONENTS,
    groups: Any = None,
    observed: ObservedBlocks | None = None,
    lengths: Any = None,
    sequence: Any = None,
    order: Any = None,
    step: float | None = None,
    X_single: Any = None,
) -> Choice:
    """Choose the number of components for the rows of ``X``.

    Groups of rows are claimed if a mixture predicts rows that were not used for fitting better than
    the best model of one flexible cloud (a normal, a t distribution, skewed, curved; for categories
    traits by which rows differ in degree). The answer is one of four cases: clear groups,
    overlapping groups, one cloud, or undecided. It does not depend on the covariance that a
    mixture is asked for. A sample of 2,000 rows is compared, fewer if many cells are missing.

    States along sequences are judged on halves of the sequences, fitted apart: a number is accepted
    if held-out rows are more likely than under the last accepted number, by more than a standard
    error; if the two fits give rows the same states (an adjusted Rand index of at least 0.6); and
    if the smallest holds at least 1 % of the rows, and 10.

    Topics are chosen by tests of the second moments: components are added while the largest
    eigenvalue that they leave is above the noise of the table, the 99 % quantile of a bootstrap
    over rows. One more or less is taken if held-out likelihood clearly prefers it.

    Parameters
    ----------
    X : array, data frame, sparse matrix, path or list of batches
        As for the model's ``fit``.
    model : estimator or str, default: the first of the registry
        What to choose for, or its name. An estimator's own ``n_components`` does not matter.
    max_components : int, default=20
        The most to try.
    groups : array of shape (n,) or None, default=None
        A label for each row if rows depend on each other, such as the patient it is of.
    observed : ObservedBlocks or None, default=None
        Which blocks of columns the rows of a sparse matrix have.
    lengths, sequence, order, step, X_single : array, str or float, default=None
        How rows follow each other, as in :meth:`HiddenMarkov.fit`, for models of sequences.

    Returns
    -------
    Choice
        The number, the case, the runner-up, the table of all numbers tried, a sentence, and a plot.

    Examples
    --------
    >>> import numpy as np
    >>> from halfseen import choose_components
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 6)) + 4 * np.eye(6)[rng.integers(3, size=3000)]
    >>> X[rng.random(X.shape) < 0.3] = np.nan
    >>> choose_components(X, "gaussian").n_components
    3
    """
    check_count("max_components", max_components, 1)
    estimator = unfitted(model).set_params(n_components="auto")
    settings, _ = estimator.checked()
    follow = {
        "lengths": lengths, "sequence": sequence, "order": order, "step": step, "single": X_single
    }  # fmt: skip
    given = in_sequences(estimator, X, follow)
    table = opened(estimator, given, None, observed)
    rows, stages = table.rows, table.stages
    kind = estimator._model()  # which may rest on what the columns are
    seen = look_through(settings, kind, rows, stages, unused_names(estimator))
    bins = None if groups is None else bins_for(groups, rows)
    with stages("number of components"):
        return choose(
            settings,
            kind,
            rows,
            seen,
            most=max_components,
            bins=bins,
            context=estimator.choosing(),
        )


def in_sequences(estimator: Any, X: Any, follow: dict[str, Any]) -> Any:
    """A table with the columns or lengths that define its sequences."""
    if estimator.about.sequences:
        return Sequenced(X, **follow)
    said = [name for name, value in follow.items() if value is not None]
    if said:
        takers = " or ".join(repr(name) for name, one in MODELS.items() if one.about.sequences)
        raise ValueError(
            f"{type(estimator).__name__} takes rows one by one, so that "
            f"{' and '.join(said).replace('single', 'X_single')} cannot be given. Use the model "
            f"{takers}, or groups for rows that only depend on each other."
        )
    return X


def unfitted(model: Any) -> Any:
    """A new unfitted estimator like ``model``, or of the named kind."""
    known = " or ".join(repr(name) for name in MODELS)
    if isinstance(model, str):
        if model not in MODELS:
            raise ValueError(f"model must be {known}, or an estimator. Got {model!r} instead.")
        model = MODELS[model]()
    if not isinstance(model, BaseEstimator):
        raise TypeError(
            f"model must be {known}, or an estimator. Got a {type(model).__name__} instead. The "
            "table comes before it."
        )
    return clone(model)


WAYS: dict[str, dict[str, str]] = {
    "observed": {"feature_weights": "observed", "moments": "available"},
    "sqrt": {"feature_weights": "sqrt", "moments": "available"},
    "signal": {"feature_weights": "signal", "moments": "available"},
    "adjusted": {"feature_weights": "auto", "moments": "adjusted"},
}
"""What is compared, as parameters of the estimators: both, whatever the user's own are."""


@dataclass(frozen=True)
class Weighed:
    """The held-out likelihood of one way of weighting."""

    way: str
    parameters: dict[str, str]
    log_likelihood: float  # mean of the rows
    gain: float  # of that, over what the model does by itself
    error: float  # standard error of the gain


@dataclass(frozen=True)
class WeightsComparison:
    """Ways of weighting, best first."""

    ways: tuple[Weighed, ...]
    n_components: int
    usual: str  # what the model does by itself
    reason: str

    @property
    def best(self) -> str:
        """The recommended weights: the default, unless another is clearly better."""
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
    Weights matter for moments; a mixture that is refined by likelihood afterwards mostly ends at
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
            setting(method=estimator.method)
            + " takes features as equal, so there are no weights to compare. Use "
            + setting(method="weighted")
            + "."
        )
    settings, kind = estimator.set_params(refine=None, n_components=n_components).checked()
    table = opened(estimator, X, None, observed)
    rows, stages = table.rows, table.stages
    seen = look_through(settings, kind, rows, stages, unused_names(estimator))
    bins = bins_for(groups, rows)
    apart = None if groups is None else bins
    k = (
        choose(
            settings, kind, rows, seen, bins=apart, context=ChoiceContext(estimator.candidate())
        ).n_components
        if n_components == "auto"
        else int(n_components)
    )

    def fitting(parameters: dict[str, str]) -> Callable[[Rows, Survey], Fit[Any]]:
        way: Settings = replace(settings, **parameters)
        return lambda part, survey: fit_rows(way, kind, part, survey, k, Stages())

    possible = _possible(kind, seen)
    # All ways see the same folds, so that their scores differ by the way alone.
    fittings = [fitting(parameters) for parameters in possible.values()]
    scores = cross_scores(settings.complete_above, rows, kind, bins, fittings)
    usual = list(possible).index(kind.about.weighting)
    ways = [
        Weighed(way, parameters, scores.mean(i), *scores.gain(i, usual))
        for i, (way, parameters) in enumerate(possible.items())
    ]
    return _told(sorted(ways, key=lambda way: -way.log_likelihood), k, kind.about.weighting)


def _possible(model: Model[Any], seen: Survey) -> dict[str, dict[str, str]]:
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
