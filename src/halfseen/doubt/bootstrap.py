"""The bootstrap of a fitted estimator, from the table it was learned from to intervals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.utils.validation import check_is_fitted

from halfseen.doubt.clusters import bins_for
from halfseen.doubt.intervals import Interval, Public, Scale, check_level, intervals_from
from halfseen.doubt.learned_rows import open_again
from halfseen.doubt.replicates import moment_replicates
from halfseen.estimators.parameters import check_count
from halfseen.method.recipe import Recipe
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.bins import Bins
from halfseen.rows.naming import quoted
from halfseen.rows.rows import Rows
from halfseen.tables.observed_blocks import ObservedBlocks

P = TypeVar("P")
N_REPLICATES = 200
FEWEST_REPLICATES = 50
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Uncertain(Generic[P]):
    """A fitted model as the bootstrap sees it."""

    parameters: P  # of the kept features
    scales: Mapping[str, Scale]  # of the attributes that get intervals
    public: Callable[[P, Survey], Public]  # those attributes
    places: Callable[[P], Array]  # where components are, to tell which is which; (k, d)
    reordered: Callable[[P, Any], P]
    refined: Callable[[Rows, Bins, Array], list[P]] | None  # replicates of a polished fit


def bootstrapped(
    estimator: Any,
    X: Any,
    recipe: Recipe[P],
    uncertain: Uncertain[P],
    *,
    level: float,
    groups: Any,
    n_replicates: int,
    sample_weight: Any,
    observed: ObservedBlocks | None = None,
) -> dict[str, Interval]:
    """Confidence intervals of all that a fitted estimator learned from the rows of ``X``."""
    check_is_fitted(estimator)
    check_level(level)
    check_count("n_replicates", n_replicates, FEWEST_REPLICATES, ", or the ends are chance")
    _check_rows_are_there(estimator)
    rows, seen = _same_rows(estimator, X, sample_weight, observed)
    bins = bins_for(groups, rows, sample_weight)
    # The Bayesian bootstrap: every bin counts for something, so no feature is ever lost.
    weights = np.random.default_rng(0).exponential(size=(n_replicates, bins.n))
    found = _replicates(estimator, rows, seen, recipe, uncertain, bins, weights)
    values = [uncertain.public(one, seen) for one in found]
    estimate = {name: getattr(estimator, name) for name in uncertain.scales}
    return intervals_from(estimate, values, uncertain.scales, level, bins.n)


def _check_rows_are_there(estimator: Any) -> None:
    if hasattr(estimator, "stream_"):
        raise ValueError(
            "A model learned by partial_fit() has no rows to bootstrap from. Use fit() for "
            "intervals."
        )


def _same_rows(
    estimator: Any, X: Any, sample_weight: Any, observed: ObservedBlocks | None
) -> tuple[Rows, Survey]:
    """The rows that the estimator was fitted to, and not some others."""
    rows, seen = open_again(estimator, X, sample_weight, observed)
    if not learned_from(estimator, seen):
        raise ValueError(
            "Intervals are those of the table that a model was learned from, and X is another: "
            f"{_difference(estimator, seen)}. Give the same X (and sample_weight), or fit to this "
            "one."
        )
    return rows, seen


def learned_from(estimator: Any, seen: Survey) -> bool:
    """Whether a table looks to be the one that the estimator was fitted to."""
    before, now = estimator.observed_fraction_, seen.sums.observed_fraction
    return bool((np.abs(before - now) < SAME).all()) and np.array_equal(
        seen.kept, estimator.kept_features_
    )


def _difference(estimator: Any, seen: Survey) -> str:
    """What tells a table from the one that the estimator was fitted to, by its first feature."""
    before, now = estimator.observed_fraction_, seen.sums.observed_fraction
    differs = np.abs(before - now) >= SAME
    if differs.any():
        first = int(np.argmax(differs))
        how = f"is observed in {now[first]:.4g} of its rows and was in {before[first]:.4g}"
    else:
        first = int(np.argmax(seen.kept != estimator.kept_features_))
        how = "varies and did not" if seen.kept[first] else "is constant and was not"
    return f"{quoted(seen.names, [first])} {how}"


def _replicates(
    estimator: Any,
    rows: Rows,
    seen: Survey,
    recipe: Recipe[P],
    uncertain: Uncertain[P],
    bins: Bins,
    weights: Array,
) -> list[P]:
    """Parameters of the kept features, components in the estimator's order."""
    if uncertain.refined is not None:
        return uncertain.refined(rows.select(seen.kept), bins, weights)
    k, home = estimator.n_components_, uncertain.places(uncertain.parameters)
    found = moment_replicates(estimator, rows, seen, recipe, k, bins, weights)
    return [uncertain.reordered(one, _matching(home, uncertain.places(one))) for one in found]


def _matching(ours: Array, theirs: Array) -> Any:
    """Which of their components goes with each of ours."""
    apart = ((ours[:, None] - theirs[None]) ** 2).sum(axis=2)
    return linear_sum_assignment(apart)[1]
