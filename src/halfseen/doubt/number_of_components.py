"""Choosing the number of components: by the spectrum, then by held-out likelihood around it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from halfseen.doubt.choice import Choice, HeldOut
from halfseen.doubt.clusters import bins_for
from halfseen.doubt.cross_scores import N_FOLDS, cross_scores, of_models_not_kept
from halfseen.doubt.rank_test import RankTest, rank_tests
from halfseen.method.fit import Fit, fit_rows
from halfseen.method.model import Model
from halfseen.method.plan import Settings, check_used
from halfseen.moments.bin_sums import BinSums
from halfseen.moments.pairs import check_pairs
from halfseen.moments.spread import Spread
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Mask
from halfseen.rows.bins import Bins
from halfseen.rows.errors import DataError
from halfseen.rows.rows import Rows
from halfseen.rows.stages import Stages

P = TypeVar("P")
MOST_COMPONENTS = 20
MOST_FEATURES = 128
"""More features than this do not make the spectrum's choice better, only slower."""


def choose(
    settings: Settings,
    model: Model[P],
    rows: Rows,
    seen: Survey,
    *,
    most: int = MOST_COMPONENTS,
    bins: Bins | None = None,
) -> Choice:
    """The number of components for rows that were looked through."""
    if not model.abilities.polish_candidates:
        settings = replace(settings, refine=None)
    bins = bins_for(None, rows) if bins is None else bins
    features = seen.complete if settings.method == "partial" else seen.kept
    check_used(settings, features)
    n_features = int(np.count_nonzero(features))
    most = _most_possible(model, n_features, seen.sums.n_rows, most)
    if model.cumulants.rank(1) >= n_features:
        return Choice(1, (), (), "1 component: a single feature cannot tell more of them apart.")
    if not model.abilities.rank_tests:
        return _climbed(settings, model, rows, bins, most)
    tests = spectrum(rows, seen, model, features, bins, most)
    chosen = tests[-1].n_components
    around = [k for k in (chosen - 1, chosen, chosen + 1) if 1 <= k <= most]
    try:
        found = held_out(settings, model, rows, bins, around, chosen)
    except DataError as error:
        reason = f"{_of_spectrum(tests)} It could not be checked on held-out rows: {error}"
        return Choice(chosen, tests, (), reason)
    return _checked(tests, found)


def _most_possible(model: Model[Any], n_features: int, n_rows: float, most: int) -> int:
    """Components need features to span, and rows."""
    by_features = model.cumulants.most_components(n_features)
    return max(1, min(most, by_features, int(n_rows) // (2 * N_FOLDS)))


def spectrum(
    rows: Rows, seen: Survey, model: Model[Any], features: Mask, bins: Bins, most: int
) -> tuple[RankTest, ...]:
    """The tests of the second moments, on those of the ``features`` (d,) that say most."""
    features = telling_features(rows, seen, features, MOST_FEATURES)
    part = rows.select(features)
    sums = part.accumulate(BinSums.pairs(seen.sums.mean[features], bins))
    check_pairs(sums.whole.pairs.count, part.names)
    with of_models_not_kept():
        return rank_tests(
            sums, model.cumulants, seen.complete[features], most, np.random.default_rng(0)
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


def _climbed(settings: Settings, model: Model[Any], rows: Rows, bins: Bins, most: int) -> Choice:
    """For models whose spectrum says nothing: while another component clearly helps."""
    steps: list[HeldOut] = []
    chosen, why = 1, ", the most that were tried."
    while chosen < most:
        try:
            found = held_out(settings, model, rows, bins, [chosen, chosen + 1], chosen)
        except DataError as error:
            why = f": more could not be compared on held-out rows: {error}"
            break
        steps.extend(found if not steps else found[1:])
        if not found[1].worth_more:
            why = ": held-out rows are not clearly more likely under one more."
            break
        chosen += 1
    return Choice(chosen, (), tuple(steps), _counted(chosen) + why)


def _checked(tests: tuple[RankTest, ...], found: Sequence[HeldOut]) -> Choice:
    spectral = tests[-1].n_components
    # A component can be real and yet be learned too poorly to predict with: held-out rows speak
    # against it only if its eigenvalue is barely above the noise.
    beyond_doubt = spectral if all(test.clearly_more for test in tests[-2:-1]) else 1
    better = [
        one
        for one in found
        if (one.worth_more if one.n_components > spectral else one.clearly_better)
        and one.n_components >= beyond_doubt
    ]
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
        return f"The second moments support {_counted(last.n_components)}, the most tried."
    return (
        f"The second moments support {_counted(last.n_components)}: the next eigenvalue, "
        f"{last.eigenvalue:.3g}, is within the noise, {last.noise:.3g}."
    )


def _counted(n: int) -> str:
    return f"{n} component{'s' * (n != 1)}"


def held_out(
    settings: Settings,
    model: Model[P],
    rows: Rows,
    bins: Bins,
    candidates: Sequence[int],
    reference: int,
) -> tuple[HeldOut, ...]:
    """How well the candidates predict rows they were not learned from, beside the reference."""

    def fitting(k: int) -> Callable[[Rows, Survey], Fit[P]]:
        return lambda part, seen: fit_rows(settings, model, part, seen, k, Stages())

    scores = cross_scores(
        settings.complete_above, rows, model, bins, [fitting(k) for k in candidates]
    )
    against = list(candidates).index(reference)
    return tuple(
        HeldOut(k, scores.mean(i), *scores.gain(i, against)) for i, k in enumerate(candidates)
    )
