"""Choosing the number of components: by the spectrum where rows apart confirm it, or by a climb."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

import numpy as np

from halfseen.doubt.choice import Choice, HeldOut
from halfseen.doubt.climb import (
    LEAST_ROWS,
    OF_ROWS,
    OF_SEQUENCES,
    Bounds,
    Rules,
    Tried,
    climbed,
    settled,
    too_small,
    why_not_reproduced,
)
from halfseen.doubt.clusters import bins_for
from halfseen.doubt.cross_scores import N_FOLDS, cross_scores, of_models_not_kept
from halfseen.doubt.few_rows import FewRows, few_rows
from halfseen.doubt.halves import MANY_ROWS, Halves, Trial
from halfseen.doubt.rank_test import RankTest, rank_tests
from halfseen.doubt.reasons import of_climb, of_spectrum, unconfirmed
from halfseen.method.at_hand import in_own_order
from halfseen.method.fit import Fit, fit_rows
from halfseen.method.model import Model
from halfseen.method.plan import Settings, check_used
from halfseen.moments.bin_sums import BinSums
from halfseen.moments.pairs import check_pairs
from halfseen.moments.spread import Spread
from halfseen.moments.survey import Survey, survey
from halfseen.rows.arrays import Mask
from halfseen.rows.bins import Bins
from halfseen.rows.errors import DataError
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.rows import Rows
from halfseen.rows.stages import Stages

P = TypeVar("P")
MOST_COMPONENTS = 20
MOST_FEATURES = 128
"""More features than this do not make the spectrum's choice better, only slower."""
MOST_ROWS = 10_000
"""More rows than this do not make halves say more, only slower."""
MOST_IN_SEQUENCE = 20_000
"""The same of rows that follow each other: they say less than as many that are apart."""
OF_SPECTRUM = Bounds(share=0.0, overlap=0.4)
"""Of components that stand out of the noise of the second moments: they may be rare."""
CANDIDATE_PASSES = 30
"""Fits that are only compared climb no longer: those with components too many hardly ever end."""


def choose(
    settings: Settings,
    model: Model[P],
    rows: Rows,
    seen: Survey,
    *,
    most: int = MOST_COMPONENTS,
    bins: Bins | None = None,
    candidate: Model[P] | None = None,
) -> Choice:
    """The number of components for rows that were looked through.

    ``candidate`` is the same model for fits that are only compared, if these may be coarser.
    """
    settings = replace(
        settings,
        refine=settings.refine if model.abilities.polish_candidates else None,
        # Fits that are compared differ in their components and rows, not in their luck.
        random_state=0 if settings.random_state is None else settings.random_state,
    )
    if bins is None:  # the order of the rows must not decide which lots they are in
        rows, seen = _in_own_order(rows, seen)
        bins = bins_for(None, rows)
    if not model.about.labels:  # what is read off moments, and scored as moments see rows
        settings, rows, seen = _calm(settings, model, rows, seen)
    features = seen.complete if settings.method == "partial" else seen.kept
    check_used(settings, features)
    n_features = int(np.count_nonzero(features))
    by_moments = _most_by_moments(model, n_features, seen.sums.n_rows, most)
    most = _most_possible(settings, model, seen.sums.n_rows, most, by_moments)
    if model.cumulants.rank(1) >= n_features:
        return Choice(1, (), (), "1 component: a single feature cannot tell more of them apart.")
    tests: tuple[RankTest, ...] = ()
    if model.abilities.rank_tests:
        try:
            _, calm, calm_seen = _calm(settings, model, rows, seen)
            of_calm = features if calm is rows else features[seen.kept]
            tests = spectrum(calm, calm_seen, model, of_calm, bins, by_moments)
        except DataError:  # such as pairs never seen together, which likelihood does without
            if settings.refine is None or not model.about.labels:
                raise
        if not model.about.labels:
            return _of_loadings(settings, model, rows, bins, tests, by_moments)
    # What the columns are, all rows say: halves are to differ in their components alone.
    part, kept = rows.select(seen.kept), seen.of_kept()
    model, candidate = (one.suited(part, kept) for one in (model, candidate or model))
    few = few_rows(rows, bins, MOST_IN_SEQUENCE if rows.sequenced else MOST_ROWS)
    return _of_halves(settings, model, candidate, few, seen, tests, most)


def _of_halves(
    settings: Settings,
    model: Model[P],
    candidate: Model[P],
    few: FewRows,
    seen: Survey,
    tests: tuple[RankTest, ...],
    most: int,
) -> Choice:
    """By what halves of some of the rows agree on; all of them were ``seen``."""
    few_seen = seen if few.rows.sparse else survey(few.rows, settings.complete_above)
    rules = OF_SEQUENCES if few.rows.sequenced else OF_ROWS
    n_ways = 2 if few_seen.sums.n_rows >= MANY_ROWS else 4
    halves = Halves(settings, candidate, few.rows, few.bins, n_ways)
    trials: dict[int, Trial] = {}

    def tried(k: int, beside: Trial | None) -> Trial:
        so_far = trials.get(k, Trial(k))
        trials[k] = halves.tried(so_far, lambda trial: settled(trial, beside, n_ways, rules.usual))
        return trials[k]

    @cache
    def smallest(k: int) -> float:
        """Of the components of all rows."""
        with of_models_not_kept():
            fit = fit_rows(settings, model, few.rows, few_seen, k, Stages())
        return float(model.shares(fit.parameters).min())

    return decided(tests, tried, smallest, seen.sums.n_rows, most, model.about.noun, rules)


def _in_own_order(rows: Rows, seen: Survey) -> tuple[Rows, Survey]:
    own = in_own_order(rows, seen)
    if own is rows:
        return rows, seen
    sums = own.accumulate(FeatureSums.of)
    return own, replace(seen, sums=replace(sums, n_empty=seen.sums.n_empty))


def _calm(
    settings: Settings, model: Model[Any], rows: Rows, seen: Survey
) -> tuple[Settings, Rows, Survey]:
    """The kept features as moments should see them, if that is not as they are."""
    part, kept = rows.select(seen.kept), seen.of_kept()
    calm = model.suited(part, kept).calmed(part, kept)
    if calm is part:
        return settings, rows, seen
    weights = settings.feature_weights
    own = weights if isinstance(weights, str) else np.asarray(weights)[seen.kept]
    kept = replace(kept, sums=calm.accumulate(FeatureSums.of))
    return replace(settings, feature_weights=own), calm, kept


def _most_by_moments(model: Model[Any], n_features: int, n_rows: float, most: int) -> int:
    """Components need features to span, and rows."""
    by_features = model.cumulants.most_components(n_features)
    return max(1, min(most, by_features, int(n_rows) // (2 * N_FOLDS)))


def _most_possible(
    settings: Settings, model: Model[Any], n_rows: float, most: int, by_moments: int
) -> int:
    """What is learned by likelihood needs rows alone; what is read off moments features too."""
    by_likelihood = settings.refine is not None or not model.abilities.rank_tests
    if not (by_likelihood and model.about.labels):
        return by_moments
    return max(1, min(most, int(n_rows) // (2 * LEAST_ROWS)))


def decided(
    tests: tuple[RankTest, ...],
    tried: Tried,
    smallest: Callable[[int], float],
    n_rows: float,
    most: int,
    noun: str,
    rules: Rules = OF_ROWS,
) -> Choice:
    """The number, from tests of the second moments, trials on halves and fits to all rows."""
    doubt = ""
    if tests:
        found = _by_spectrum(tests, tried, smallest, n_rows, most)
        if isinstance(found, Choice):
            return found
        doubt = unconfirmed(tests, found)
    try:
        way = climbed(tried, n_rows, most, rules)
    except DataError as error:
        reason = f"1 component: more could not be compared on held-out rows: {error}"
        return Choice(1, tests, (), doubt + reason)
    while (k := way.chosen.n_components) > 1:
        why = too_small(smallest(k), n_rows)
        if not why:
            break
        way = way.without(k, f"fitted to all rows, {why}")
    return Choice(k, tests, way.steps, doubt + of_climb(way, noun))


def _by_spectrum(
    tests: tuple[RankTest, ...],
    tried: Tried,
    smallest: Callable[[int], float],
    n_rows: float,
    most: int,
) -> Choice | str:
    """The spectrum's number if rows apart confirm it, or why they do not.

    What a rank test takes for granted, noise that is alike in all columns and rows, shows in
    components that reproduce; where it is not so, its components stand for the noise.
    """
    spectral = tests[-1].n_components
    try:
        reference = tried(spectral, None)
        why = why_not_reproduced(reference, n_rows, OF_SPECTRUM) if spectral > 1 else ""
        if why:
            return why
        trials = {spectral: reference}
        if spectral > 1:
            trials[spectral - 1] = tried(spectral - 1, reference)
    except DataError as error:
        return Choice(spectral, tests, (), _unchecked(tests, error))
    if spectral < most:
        with suppress(DataError):  # more than can be had are no better
            trials[spectral + 1] = tried(spectral + 1, reference)
    found = [_beside(trials[k], reference) for k in sorted(trials)]
    chosen, more = moved(tests, found), found[-1]
    if chosen > spectral:
        return (
            f"held-out rows are more likely under {chosen}, by {more.gain:.3g} ± {more.error:.2g} "
            "a row"
        )
    # A trifle is gained by what stands for noise, but that does not reproduce.
    real = more.clearly_better and not why_not_reproduced(
        trials[more.n_components], n_rows, OF_SPECTRUM
    )
    if more.n_components > spectral and real:
        chosen = more.n_components
    if chosen > 1:
        why = why_not_reproduced(trials[chosen], n_rows, OF_SPECTRUM) or too_small(
            smallest(chosen), n_rows, OF_SPECTRUM.share
        )
        if why:
            return why
    steps = (replace(one, accepted=one.n_components == chosen) for one in found)
    reason = of_spectrum(tests, chosen, found, trials[chosen].agreement)
    return Choice(chosen, tests, tuple(steps), reason)


def _around(k: int, most: int) -> list[int]:
    return [one for one in (k - 1, k, k + 1) if 1 <= one <= most]


def _beside(trial: Trial, reference: Trial) -> HeldOut:
    return HeldOut(
        trial.n_components,
        trial.log_likelihood,
        *trial.gain(reference),
        over=reference.n_components,
        agreement=trial.agreement if trial.n_components > 1 else None,
        overlap=trial.overlap if trial.n_components > 1 else None,
        smallest=trial.smallest if trial.n_components > 1 else None,
    )


def _unchecked(tests: tuple[RankTest, ...], error: DataError) -> str:
    return f"{of_spectrum(tests)} It could not be checked on held-out rows: {error}"


def _of_loadings(
    settings: Settings,
    model: Model[Any],
    rows: Rows,
    bins: Bins,
    tests: tuple[RankTest, ...],
    most: int,
) -> Choice:
    """For rows that are all components at once, which halves cannot agree on row by row."""
    spectral = tests[-1].n_components
    try:
        found = held_out(settings, model, rows, bins, _around(spectral, most), spectral)
    except DataError as error:
        return Choice(spectral, tests, (), _unchecked(tests, error))
    chosen = moved(tests, found)
    steps = tuple(replace(one, accepted=one.n_components == chosen) for one in found)
    return Choice(chosen, tests, steps, of_spectrum(tests, chosen, found))


def moved(tests: tuple[RankTest, ...], found: Sequence[HeldOut]) -> int:
    """The spectrum's number, or another that held-out rows clearly prefer."""
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
    return max(better, key=lambda one: one.gain).n_components if better else spectral


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
        HeldOut(k, scores.mean(i), *scores.gain(i, against), over=reference)
        for i, k in enumerate(candidates)
    )
