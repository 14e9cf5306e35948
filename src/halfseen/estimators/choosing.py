"""Choosing the number of components: by the spectrum, then by held-out likelihood around it."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from halfseen.core.arrays import Mask
from halfseen.core.bin_sums import BinSums
from halfseen.core.bins import Bins
from halfseen.core.checks import check_pairs
from halfseen.core.errors import DataError
from halfseen.core.rank_test import RankTest, rank_tests
from halfseen.core.rows import Rows
from halfseen.core.spread import Spread
from halfseen.core.stages import Stages
from halfseen.core.survey import Survey
from halfseen.estimators.choice import Choice, HeldOut
from halfseen.estimators.cross_scores import N_FOLDS, cross_scores, of_models_not_kept
from halfseen.estimators.fitting import Fit, fit_rows
from halfseen.estimators.groups import bins_for
from halfseen.estimators.recipe import Recipe

P = TypeVar("P")
MOST_COMPONENTS = 20
MOST_FEATURES = 128
"""More features than this do not make the spectrum's choice better, only slower."""


def choose(
    estimator: Any,
    rows: Rows,
    seen: Survey,
    recipe: Recipe[P],
    *,
    most: int = MOST_COMPONENTS,
    bins: Bins | None = None,
) -> Choice:
    """The number of components for rows that were looked through."""
    recipe = recipe.for_candidates()
    bins = bins_for(None, rows) if bins is None else bins
    most = _most_possible(estimator, seen, most)
    if not recipe.spectral:
        return _climbed(estimator, rows, seen, recipe, bins, most)
    tests = spectrum(estimator, rows, seen, recipe, bins, most)
    chosen = tests[-1].n_components
    around = [k for k in (chosen - 1, chosen, chosen + 1) if 1 <= k <= most]
    try:
        found = held_out(estimator, rows, recipe, bins, around, chosen)
    except DataError as error:
        reason = f"{_of_spectrum(tests)} It could not be checked on held-out rows: {error}"
        return Choice(chosen, tests, (), reason)
    return _checked(tests, found)


def _most_possible(estimator: Any, seen: Survey, most: int) -> int:
    """Components need features to span, and rows."""
    features = seen.complete if estimator.method == "partial" else seen.kept
    n_features, n_rows = int(np.count_nonzero(features)), int(seen.sums.n_rows)
    return max(1, min(most, n_features - 1, n_rows // (2 * N_FOLDS)))


def spectrum(
    estimator: Any, rows: Rows, seen: Survey, recipe: Recipe[Any], bins: Bins, most: int
) -> tuple[RankTest, ...]:
    """The tests of the second moments, on the features that say most."""
    features = seen.complete if estimator.method == "partial" else seen.kept
    features = telling_features(rows, seen, features, MOST_FEATURES)
    part = rows.select(features)
    sums = part.accumulate(BinSums.pairs(seen.sums.mean[features], bins))
    check_pairs(sums.whole.pairs.count, part.names)
    with of_models_not_kept():
        return rank_tests(
            sums, recipe.model, seen.complete[features], most, np.random.default_rng(0)
        )


def telling_features(rows: Rows, seen: Survey, features: Mask, most: int) -> Mask:
    """Of ``features`` (d,) those that are observed most and vary most, ``most`` at most."""
    if np.count_nonzero(features) <= most:
        return features
    spread = rows.accumulate(Spread.about(np.nan_to_num(seen.sums.mean)))
    says = np.where(features, seen.sums.observed_fraction * spread.variance, -np.inf)
    telling = np.zeros_like(features)
    telling[np.argsort(says, kind="stable")[-most:]] = True
    return telling


def _climbed(
    estimator: Any, rows: Rows, seen: Survey, recipe: Recipe[Any], bins: Bins, most: int
) -> Choice:
    """For models whose spectrum says nothing: while another component clearly helps."""
    steps: list[HeldOut] = []
    chosen = 1
    while chosen < most:
        found = held_out(estimator, rows, recipe, bins, [chosen, chosen + 1], chosen)
        steps.extend(found if not steps else found[1:])
        if not found[1].clearly_better:
            break
        chosen += 1
    reason = (
        f"{chosen} components: held-out rows are not clearly more likely under one more."
        if chosen < most
        else f"{chosen} components, the most that were tried."
    )
    return Choice(chosen, (), tuple(steps), reason)


def _checked(tests: tuple[RankTest, ...], found: Sequence[HeldOut]) -> Choice:
    spectral = tests[-1].n_components
    # A component can be real and yet be learned too poorly to predict with: held-out rows speak
    # against it only if its eigenvalue is barely above the noise.
    beyond_doubt = spectral if all(test.clearly_more for test in tests[-2:-1]) else 1
    better = [one for one in found if one.clearly_better and one.n_components >= beyond_doubt]
    if not better:
        reason = f"{_of_spectrum(tests)} Held-out rows are not clearly more likely under others."
        return Choice(spectral, tests, tuple(found), reason)
    best = max(better, key=lambda one: one.gain)
    reason = (
        f"{_of_spectrum(tests)} But held-out rows are more likely under {best.n_components}, by "
        f"{best.gain:.3g} ± {best.error:.2g} a row."
    )
    return Choice(best.n_components, tests, tuple(found), reason)


def _of_spectrum(tests: tuple[RankTest, ...]) -> str:
    last = tests[-1]
    if last.more:
        return f"The second moments support {last.n_components} components, the most tried."
    return (
        f"The second moments support {last.n_components} components: the next eigenvalue, "
        f"{last.eigenvalue:.3g}, is within the noise, {last.noise:.3g}."
    )


def held_out(
    estimator: Any,
    rows: Rows,
    recipe: Recipe[P],
    bins: Bins,
    candidates: Sequence[int],
    reference: int,
) -> tuple[HeldOut, ...]:
    """How well the candidates predict rows they were not learned from, beside the reference."""

    def fitting(k: int) -> Callable[[Rows, Survey], Fit[P]]:
        return lambda part, seen: fit_rows(estimator, part, seen, recipe, k, Stages())

    scores = cross_scores(estimator, rows, recipe, bins, [fitting(k) for k in candidates])
    against = list(candidates).index(reference)
    return tuple(
        HeldOut(k, scores.mean(i), *scores.gain(i, against)) for i, k in enumerate(candidates)
    )
