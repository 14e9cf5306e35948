"""Choose the number of components.

Groups of rows, one a row: by whether they predict held-out rows better than one cloud
(:mod:`halfseen.diagnostics.cluster_tendency.decision`). States along sequences: by what halves
of the sequences agree on. Topics: by tests of the second moments, and held-out rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.progress import Stages
from halfseen.data.resampling import Bins
from halfseen.data.rows import Rows, gathered, with_gaps
from halfseen.data.sampling import sample_binned
from halfseen.diagnostics.choice import (
    Choice,
    HeldOut,
    RankTest,
    as_choice,
    of_climb,
    of_spectrum,
)
from halfseen.diagnostics.cluster_tendency import number_of_groups
from halfseen.diagnostics.cluster_tendency.preprocessing import has_few_values
from halfseen.diagnostics.cross_validation import (
    N_FOLDS,
    bins_for,
    cross_scores,
    of_models_not_kept,
)
from halfseen.diagnostics.split_half import (
    LEAST_ROWS,
    MANY_ROWS,
    Halves,
    Trial,
    Tried,
    climbed,
    settled,
    too_small,
)
from halfseen.inference.fit import Fit, fit_rows
from halfseen.inference.model import Cumulants, Model
from halfseen.inference.plan import Settings, check_used
from halfseen.inference.small_tables import in_canonical_order
from halfseen.moments.resampling import BinSums, Influence, OriginSums
from halfseen.moments.second_moment import check_pairs
from halfseen.moments.survey import Spread, Survey, survey

P = TypeVar("P")
MOST_COMPONENTS = 20  # tried, if nobody says how many
MOST_FEATURES = 128
"""More features than this do not make the spectrum's choice better, only slower."""
MAX_SEQUENCE_ROWS = 20_000
"""Rows of sequences that halves are compared on: more tell no more, only more slowly."""
MOST_COMPARED_ROWS, MOST_COMPARED_COLUMNS = 5_000, 32
"""Groups are looked for in a sample of so many rows, and in the columns that go along most with
others: more say hardly more, and covariances of them take long."""
CANDIDATE_PASSES = 30
"""Fits that are only compared climb no longer: those with components too many hardly ever end."""


class ChoiceContext(NamedTuple):
    """What a choice has to know of an estimator beside its model."""

    candidate: Model[Any] | None = None  # for fits that are only compared, which may be coarser
    nominal: Mask | None = None  # (d,)  features that hold categories
    informative_gaps: bool = False  # whether it tells of groups, too, if a feature is observed


NO_CONTEXT = ChoiceContext()


def choose(
    settings: Settings,
    model: Model[P],
    rows: Rows,
    seen: Survey,
    *,
    most: int = MOST_COMPONENTS,
    bins: Bins | None = None,
    context: ChoiceContext = NO_CONTEXT,
) -> Choice:
    """Choose the number of components for surveyed rows."""
    if model.about.labels and not model.about.sequences:
        return _of_groups(settings, model, rows, seen, most, bins, context)
    settings = replace(
        settings,
        refine=settings.refine if model.abilities.refine_candidates else None,
        # Fits that are compared differ in their components and rows, not in their luck.
        random_state=0 if settings.random_state is None else settings.random_state,
    )
    if bins is None:  # the order of the rows must not decide which lots they are in
        rows, seen = _in_own_order(rows, seen)
        bins = bins_for(None, rows)
    if model.about.labels:
        return _of_states(settings, model, context.candidate or model, rows, seen, most, bins)
    return _of_topics(settings, model, rows, seen, most, bins)


def _of_groups(
    settings: Settings,
    model: Model[Any],
    rows: Rows,
    seen: Survey,
    most: int,
    bins: Bins | None,
    context: ChoiceContext,
) -> Choice:
    """Choose by cluster tendency, from the rows alone."""
    features = seen.complete if settings.method == "partial" else seen.kept
    check_used(settings, features)
    few = sample_binned(rows, bins or Bins(1), MOST_COMPARED_ROWS)
    part = few.rows.select(features)
    values = gathered(part, with_gaps)
    categorical = np.array([has_few_values(column) for column in values.T], dtype=bool)
    if context.nominal is not None:
        categorical |= context.nominal[features]
    if context.informative_gaps:
        gaps = np.isnan(values)
        gaps = gaps[:, gaps.any(axis=0)]
        values = np.hstack([values, gaps.astype(float)])
        categorical = np.r_[categorical, np.ones(gaps.shape[1], bool)]
    columns = _most_related(values)
    decision = number_of_groups(
        values[:, columns],
        categorical[columns],
        most=most,
        weights=gathered(part, lambda block: block.row_weights()),
        clusters=None if bins is None else few.bins.labels,
    )
    return as_choice(decision, model.about.noun)


def _most_related(values: Array) -> NDArray[np.intp]:
    """Columns of ``values`` (n, d), those that correlate most with others if they are many."""
    d = values.shape[1]
    if d <= MOST_COMPARED_COLUMNS:
        return np.arange(d)
    seen = ~np.isnan(values)
    ranks = np.where(seen, rankdata(values, axis=0, nan_policy="omit"), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        standard = np.nan_to_num((ranks - np.nanmean(ranks, axis=0)) / np.nanstd(ranks, axis=0))
    together = np.maximum(seen.T.astype(float) @ seen, 1.0)
    # Pairs that few rows hold correlate by chance alone.
    z = (standard.T @ standard) / together * np.sqrt(np.maximum(together - 3, 0.0))
    related = np.sum(z**2 * ~np.eye(d, dtype=bool), axis=0)
    return np.sort(np.argsort(-related, kind="stable")[:MOST_COMPARED_COLUMNS])


def _of_states(
    settings: Settings,
    model: Model[P],
    candidate: Model[P],
    rows: Rows,
    seen: Survey,
    most: int,
    bins: Bins,
) -> Choice:
    """Choose the number of states by split-half agreement."""
    most = max(1, min(most, int(seen.sums.n_rows) // (2 * LEAST_ROWS)))
    # What the columns are, all rows say: halves are to differ in their components alone.
    part, kept = rows.select(seen.kept), seen.of_kept()
    model, candidate = (one.adapted_to(part, kept) for one in (model, candidate))
    few = sample_binned(rows, bins, MAX_SEQUENCE_ROWS)
    few_seen = survey(few.rows, settings.complete_above)
    n_ways = 2 if few_seen.sums.n_rows >= MANY_ROWS else 4
    halves = Halves(settings, candidate, few.rows, few.bins, n_ways)
    trials: dict[int, Trial] = {}

    def tried(k: int, beside: Trial | None) -> Trial:
        so_far = trials.get(k, Trial(k))
        trials[k] = halves.tried(so_far, lambda trial: settled(trial, beside, n_ways))
        return trials[k]

    @cache
    def smallest(k: int) -> float:
        """Of the components of all rows."""
        with of_models_not_kept():
            fit = fit_rows(settings, model, few.rows, few_seen, k, Stages())
        return float(model.shares(fit.parameters).min())

    return decided(tried, smallest, seen.sums.n_rows, most, model.about.noun)


def _of_topics(
    settings: Settings, model: Model[P], rows: Rows, seen: Survey, most: int, bins: Bins
) -> Choice:
    """Choose by rank tests of second moments, corrected by held-out rows."""
    settings, rows, seen = _winsorised(settings, model, rows, seen)  # as moments see rows
    features = seen.complete if settings.method == "partial" else seen.kept
    check_used(settings, features)
    n_features = int(np.count_nonzero(features))
    if model.cumulants.rank(1) >= n_features:
        return Choice(1, (), (), "1 component: a single feature cannot tell more of them apart.")
    by_features = model.cumulants.most_components(n_features)
    most = max(1, min(most, by_features, int(seen.sums.n_rows) // (2 * N_FOLDS)))
    tests = spectrum(rows, seen, model, features, bins, most)
    spectral = tests[-1].n_components
    try:
        found = held_out(
            settings,
            model,
            rows,
            bins,
            [k for k in (spectral - 1, spectral, spectral + 1) if 1 <= k <= most],
            spectral,
        )
    except DataError as error:
        reason = f"{of_spectrum(tests)} It could not be checked on held-out rows: {error}"
        return Choice(spectral, tests, (), reason)
    chosen = moved(tests, found)
    steps = tuple(replace(one, accepted=one.n_components == chosen) for one in found)
    return Choice(chosen, tests, steps, of_spectrum(tests, chosen, found))


def _in_own_order(rows: Rows, seen: Survey) -> tuple[Rows, Survey]:
    own = in_canonical_order(rows, seen)
    if own is rows:
        return rows, seen
    sums = own.accumulate(FeatureSums.of)
    return own, replace(seen, sums=replace(sums, n_empty=seen.sums.n_empty))


def _winsorised(
    settings: Settings, model: Model[Any], rows: Rows, seen: Survey
) -> tuple[Settings, Rows, Survey]:
    """Kept features without the influence of outliers, if that makes a difference."""
    part, kept = rows.select(seen.kept), seen.of_kept()
    winsorised = model.adapted_to(part, kept).winsorised(part, kept)
    if winsorised is part:
        return settings, rows, seen
    weights = settings.feature_weights
    own = weights if isinstance(weights, str) else np.asarray(weights)[seen.kept]
    kept = replace(kept, sums=winsorised.accumulate(FeatureSums.of))
    return replace(settings, feature_weights=own), winsorised, kept


def decided(
    tried: Tried, smallest: Callable[[int], float], n_rows: float, most: int, noun: str
) -> Choice:
    """The number of states, from trials on halves and fits to all rows."""
    try:
        way = climbed(tried, n_rows, most)
    except DataError as error:
        reason = f"1 component: more could not be compared on held-out rows: {error}"
        return Choice(1, (), (), reason)
    while (k := way.chosen.n_components) > 1:
        why = too_small(smallest(k), n_rows)
        if not why:
            break
        way = way.without(k, f"fitted to all rows, {why}")
    return Choice(k, (), way.steps, of_climb(way, noun))


def moved(tests: tuple[RankTest, ...], found: Sequence[HeldOut]) -> int:
    """The number by the spectrum, or one that held-out rows clearly prefer."""
    spectral = tests[-1].n_components
    # A real component may be learned too poorly to predict with. Held-out rows count against it
    # only if its eigenvalue is barely above the noise.
    certain = spectral if all(test.clearly_more for test in tests[-2:-1]) else 1
    better = [
        one
        for one in found
        if (one.worth_more if one.n_components > spectral else one.clearly_better)
        and one.n_components >= certain
    ]
    return max(better, key=lambda one: one.gain).n_components if better else spectral


def spectrum(
    rows: Rows, seen: Survey, model: Model[Any], features: Mask, bins: Bins, most: int
) -> tuple[RankTest, ...]:
    """Rank tests of the second moments of the most informative ``features`` (d,)."""
    features = telling_features(rows, seen, features, MOST_FEATURES)
    part = rows.select(features)
    sums = part.accumulate(BinSums.pairs(seen.sums.mean[features], bins))
    check_pairs(sums.whole.pairs.count, part.names)
    with of_models_not_kept():
        return rank_tests(
            sums, model.cumulants, seen.complete[features], most, np.random.default_rng(0)
        )


def telling_features(rows: Rows, seen: Survey, features: Mask, most: int) -> Mask:
    """The most observed and most variable ``features`` (d,), at most ``most``."""
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
    """Held-out likelihoods of the candidates beside the reference."""

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


N_REPLICATES = 400
"""Draws of the noise of eigenvalues."""
LEVEL = 0.99
"""Of the noise that an eigenvalue must exceed."""


def rank_tests(
    sums: BinSums,
    cumulants: Cumulants[Any],
    complete: Mask,
    most: int,
    generator: np.random.Generator,
) -> tuple[RankTest, ...]:
    """Tests from one component upwards, up to the first that finds only noise.

    The rank of the second moments is the number of eigenvalues above the noise (Y. Cheng, X. He,
    Y. Liu, 2015, Model selection for topic models via spectral decomposition), here that of the
    table itself, in which each pair of features has a quality of its own.
    """
    multipliers = generator.standard_normal((N_REPLICATES, sums.n_bins))
    tests: list[RankTest] = []
    while len(tests) < most and all(test.more for test in tests[-1:]):
        tests.append(rank_test(sums, cumulants, complete, len(tests) + 1, multipliers))
    return tuple(tests)


def rank_test(
    sums: BinSums,
    cumulants: Cumulants[Any],
    complete: Mask,
    n_components: int,
    multipliers: Array,
    feature_weights: Array | None = None,
) -> RankTest:
    """Test whether the next eigenvalue exceeds those of noise.

    With r dimensions of signal and P the projection on the others, the (r+1)-th eigenvalue of the
    weighted signal is, to first order, ``λ_max(P E P)`` of its error E. Bins of rows, reweighted
    by ``multipliers`` (b, g) of mean 0 and variance 1, draw from the law of that error: what the
    model makes of the moments is differentiated, so the model has to say nothing more. Features
    weigh as much as they are observed, unless ``feature_weights`` (d,) say otherwise.
    """
    weighted = _weighted_signal(sums, cumulants, complete, n_components, feature_weights)
    signal = Influence.on(weighted, sums)
    values, vectors = np.linalg.eigh(signal.value)
    rank = cumulants.rank(n_components)
    rest = vectors[:, : len(values) - rank]
    within = Influence(signal.value, rest.T @ signal.of_bins @ rest)
    noise = np.linalg.eigvalsh(within.errors(multipliers))[:, -1]
    eigenvalue = float(values[len(values) - rank - 1])
    return RankTest(
        n_components,
        eigenvalue,
        float(np.quantile(noise, LEVEL)),
        float((1 + np.count_nonzero(noise >= eigenvalue)) / (1 + len(noise))),
    )


def _weighted_signal(
    sums: BinSums,
    cumulants: Cumulants[Any],
    complete: Mask,
    n_components: int,
    feature_weights: Array | None,
) -> Callable[[OriginSums], Array]:
    """The signal (d, d) of sums, with weights that are the same for all of them."""
    whole = sums.reweighted(np.ones(sums.n_bins)).moments(cumulants.centred)
    unit = cumulants.signal(whole, complete, n_components).unit
    fraction = whole.observed_fraction if feature_weights is None else feature_weights
    weights = fraction / unit

    def signal(replicate: OriginSums) -> Array:
        matrix = cumulants.signal(
            replicate.moments(cumulants.centred), complete, n_components
        ).matrix
        return np.asarray(weights[:, None] * matrix * weights)

    return signal
