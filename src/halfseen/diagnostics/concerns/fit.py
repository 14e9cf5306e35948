"""Concerns about the fit: overlap of components, and their number."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.formatting import percent
from halfseen.data.messages import setting
from halfseen.data.progress import Stages
from halfseen.data.rows import gathered, with_gaps
from halfseen.data.sampling import sample_binned
from halfseen.diagnostics.cluster_tendency.evidence import Cell, Comparison, View
from halfseen.diagnostics.cluster_tendency.latent_traits import fitted_traits
from halfseen.diagnostics.cluster_tendency.mixture import fitted, prior_of
from halfseen.diagnostics.cluster_tendency.preprocessing import has_few_values, prepared
from halfseen.diagnostics.cluster_tendency.single_density import fitted_diagonal, fitted_normal
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity, Subject
from halfseen.diagnostics.cross_validation import of_models_not_kept
from halfseen.diagnostics.number_of_components import N_REPLICATES, rank_test, telling_features
from halfseen.inference.fit import fit_rows
from halfseen.inference.parameters import n_free
from halfseen.moments.survey import survey

UNEXPLAINED = 0.5  # share of the third moments from which moments tell little
SMALLEST_COMPONENT = 50
"""Rows from which the averages of a component are worth telling."""
LEAST_ROWS = 10
"""Rows behind an average, from which it is no longer nearly one of them."""
AS_ROWS = "What is learned of so few is nearly what is known of one of them: share it only as rows."
FEWER, CHANCE = 0.05, 0.001
"""By how much the share of values within reach must be below the expected one to matter."""


def not_told_apart(case: ConcernContext) -> Iterator[Concern]:
    """Warn if components leave much of the third moments unexplained."""
    left = case.fitted.diagnostics.off_diagonal_fraction
    if left > UNEXPLAINED:
        yield Concern(
            "unexplained_third_moments",
            f"The {case.components} leave {percent(left)} of the third moments unexplained, so "
            "they were not clearly told apart by moments alone.",
            gravity=Gravity.CARE,
        )


def not_converged(case: ConcernContext) -> Iterator[Concern]:
    """Warn of an EM run that was stopped before convergence."""
    if not case.fitted.converged:
        yield Concern(
            "not_converged",
            "The likelihood was still rising when the fit was stopped, so another fit may differ.",
        )


def small_components(case: ConcernContext) -> Iterator[Concern]:
    """Warn of components with very few rows."""
    model, sums = case.fitted.model, case.seen.sums
    if not model.about.labels:
        return
    n_rows = sums.n_rows + sums.n_empty
    for component, share in enumerate(model.shares(case.fitted.parameters)):
        behind = share * n_rows
        if behind < SMALLEST_COMPONENT:
            nearly_rows = f" {AS_ROWS}" if behind < LEAST_ROWS else ""
            yield Concern(
                "small_component",
                f"{case.called(component).capitalize()} has about {behind:.0f} rows, too few to "
                f"describe it well.{nearly_rows}",
                gravity=Gravity.CARE,
            )


def too_sure_of_values(case: ConcernContext) -> Iterator[Concern]:
    """Warn if values are further from expectations than the model predicts."""
    found = case.hidden_values
    if found is None:
        return
    within, expected = found.within, found.expected_within
    by_chance = binom.cdf(round(within * len(found.true)), len(found.true), expected)
    if within < expected - FEWER and by_chance < CHANCE:
        yield Concern(
            "too_sure_of_values",
            f"Only {percent(within)} of values that were hidden and filled in again lie within two "
            f"standard deviations of what was expected ({percent(expected)} should): single values "
            "are less certain than the model thinks.",
            Subject.VALUES,
            Gravity.CARE,
        )


CORRELATION_P_VALUE = 0.01  # of all pairs together
TELLING = 0.15
"""Correlations beyond the model below this are too small to matter."""
MOST_NAMED = 3  # pairs in one sentence


def go_along(case: ConcernContext) -> Iterator[Concern]:
    """Warn if loadings are more, or less, correlated than the model predicts."""
    found = case.loadings_together
    if found is None:
        return
    k = len(found.seen)
    clear = -ndtri(CORRELATION_P_VALUE / (k * (k - 1)))
    stands_out = (np.abs(found.deviation) > clear) & (np.abs(found.beyond) > TELLING)
    pairs = [(int(i), int(j)) for i, j in np.argwhere(np.triu(stands_out, 1))]
    if not pairs:
        return
    pairs.sort(key=lambda pair: -abs(found.beyond[pair]))
    said = "; ".join(
        f"{case.called(i)} and {case.called(j)} "
        f"{'more' if found.beyond[i, j] > 0 else 'less'} ({found.seen[i, j]:+.2f} against "
        f"{found.expected[i, j]:+.2f})"
        for i, j in pairs[:MOST_NAMED]
    )
    others = f"; and {len(pairs) - MOST_NAMED} other pairs" if len(pairs) > MOST_NAMED else ""
    yield Concern(
        "correlated_components",
        f"Some {case.components} go along with each other in rows more, or less, than the model "
        f"allows for (rank correlations, and those of rows that the model draws): {said}{others}. "
        f"What the model expects of rows with both is off, and {case.components} that go along may "
        "be parts of one.",
        gravity=Gravity.CARE,
    )


def number_of_components(case: ConcernContext) -> Iterator[Concern]:
    """Warn of more components than the spectrum supports, or fewer."""
    k = case.fitted.n_components
    model = case.fitted.model
    if not model.abilities.rank_tests or case.unseen_pairs:
        return
    if case.fitted.diagnostics.choice is not None:
        return  # it was chosen on more evidence than this, and said with the reason
    multipliers = np.random.default_rng(0).standard_normal((N_REPLICATES, case.bins.n))
    complete = case.seen.complete[case.features]
    most = _most_tested(case)
    with of_models_not_kept():
        fewer, here = (
            rank_test(case.pairs, model.cumulants, complete, number, multipliers)
            if 1 <= number <= most
            else None
            for number in (k - 1, k)
        )
    if fewer is not None and not fewer.more:
        yield Concern(
            "too_many_components",
            f"{k} {case.components} are more than the second moments support: with {k - 1} the "
            f"largest eigenvalue left, {fewer.eigenvalue:.3g}, is already within the noise, "
            f"{fewer.noise:.3g}. Use fewer, or "
            + setting(n_components="auto")
            + " to have the number chosen.",
        )
    elif here is not None and here.clearly_more:
        yield Concern(
            "too_few_components",
            f"{k} {case.components} leave an eigenvalue of {here.eigenvalue:.3g} in the second "
            f"moments, above the noise, {here.noise:.3g}. There may be more of them, or columns "
            f"go along with each other within {case.components}, which the model does not "
            "allow for.",
        )


def _most_tested(case: ConcernContext) -> int:
    """The largest number of components that the test can judge."""
    n_features = int(np.count_nonzero(case.features))
    return min(n_features - 1, case.fitted.model.cumulants.most_components(n_features))


def noise_of_spectrum(case: ConcernContext) -> float | None:
    """The upper limit of noise eigenvalues of ``diagnostics_.spectrum``.

    None if that cannot be told: too many features, or a model that has no such test.
    """
    model, weights = case.fitted.model, case.fitted.feature_weights[case.features]
    k = case.fitted.n_components
    everything = np.array_equal(case.features, case.fitted.kept) and (weights > 0).all()
    if not (everything and model.abilities.rank_tests) or case.unseen_pairs:
        return None
    if k > _most_tested(case):
        return None
    multipliers = np.random.default_rng(0).standard_normal((N_REPLICATES, case.bins.n))
    complete = case.seen.complete[case.features]
    with of_models_not_kept():
        return rank_test(case.pairs, model.cumulants, complete, k, multipliers, weights).noise


MAX_SPLIT_ROWS = 5000
"""Rows on which one component fewer is tried: more are not needed to see that one is too many."""


def one_too_many(case: ConcernContext) -> Iterator[Concern]:
    """Warn if one component fewer has a lower BIC."""
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
            + setting(n_components="auto")
            + " to have the number chosen.",
        )


def _criterion(case: ConcernContext, n_components: int) -> float:
    """``-2 log L + p log N``; lower is better."""
    fitted = case.fitted
    few = sample_binned(case.rows, case.bins, MAX_SPLIT_ROWS)
    seen = survey(few.rows, fitted.settings.complete_above)
    settings = replace(fitted.settings, random_state=0, n_components=n_components)
    fit = fit_rows(settings, fitted.model, few.rows, seen, n_components, Stages())
    n_rows = seen.sums.n_rows
    height = (fit.convergence.log_likelihood or 0.0) * n_rows if fit.convergence else 0.0
    free = n_free(fit.parameters, fitted.model.axes)
    return float(-2 * height + free * np.log(n_rows))


MAX_ROWS_ONE_CLUSTER, MOST_COLUMNS = 2000, 32
"""That are looked at; of columns, those that vary most."""
MOST_CELLS, LEAST_ROWS_WITH_GAPS = 10_000, 300
"""Of tables with gaps, where each row may have a covariance of its own to invert."""
AHEAD = 10.0
"""By how much the Bayesian information criterion of one cloud must be lower: very strong evidence
by Kass and Raftery (1995)."""
KINDS = ("tied_diag", "diag", "tied")
"""Covariances that components are allowed, so that correlated groups are not called a cloud."""
ALONE = "columns that are independent of each other, without any {}"
TOGETHER = "one cloud in which columns go along with each other"
TRAIT = "one trait behind all columns, by which rows differ in degree,"


class Judged(NamedTuple):
    """A model of sampled rows, and its BIC."""

    bic: float
    words: str = ""


def one_cloud(case: ConcernContext) -> Iterator[Concern]:
    """Warn if one normal, or one trait, is likelier than the components."""
    fit = case.fitted
    if fit.n_components < 2 or not fit.model.about.labels or fit.settings.refine is None:
        return
    if case.rows.sequenced or case.rows.sparse:
        return
    if fit.diagnostics.choice is not None:
        return  # the number was chosen on more evidence than this, and said with the reason
    components, cloud = _compared(case)
    if components.bic - cloud.bic > AHEAD:
        yield Concern(
            "one_cloud",
            f"Rows are described better by {cloud.words.format(case.components)} than by "
            f"{fit.n_components} {case.components}: the Bayesian information criterion is lower by "
            f"{components.bic - cloud.bic:.3g}. The {case.components} may be cuts through a "
            "continuum, which exist by convention only. "
            + setting(n_components="auto")
            + " compares both.",
        )


def _compared(case: ConcernContext) -> tuple[Judged, Judged]:
    """The components and the best single cloud, on the same rows.

    Columns are compared as they are and as normal scores, and rounding is undone, for both sides:
    neither skew nor heaps count for components.
    """
    fit = case.fitted
    features = telling_features(case.rows, case.seen, case.features, MOST_COLUMNS)
    rows = sample_binned(case.rows, case.bins, _n_rows(case, features)).rows
    table = gathered(rows.select(features), with_gaps)
    given = gathered(
        rows.select(fit.kept), partial(fit.model.expected_latent, parameters=fit.parameters)
    )
    ready = prepared(
        table, fit.nominal[features] | np.array([has_few_values(x) for x in table.T], dtype=bool)
    )
    views = list(Comparison(ready).views())
    components = [one for view in views for one in _components(view, given[ready.order])]
    return min(components, default=Judged(np.inf)), min(one for v in views for one in _clouds(v))


def _n_rows(case: ConcernContext, features: Mask) -> int:
    if (case.seen.sums.observed_fraction[features] == 1).all():
        return MAX_ROWS_ONE_CLUSTER
    return int(
        np.clip(
            MOST_CELLS // max(int(features.sum()), 1), LEAST_ROWS_WITH_GAPS, MAX_ROWS_ONE_CLUSTER
        )
    )


def _components(view: View, given: Array) -> Iterator[Judged]:
    """Mixtures from EM started at responsibilities ``given`` (n, k)."""
    prior = prior_of(view.table)
    for kind in ("diag",) if view.table.levels else KINDS:
        fit = fitted(view.table, kind, [given], prior)
        if fit is not None:
            height = fit.log_likelihood + float(view.log_jacobian.sum())
            yield Judged(Cell(view, fit.mixture, height).bic)


def _clouds(view: View) -> Iterator[Judged]:
    """Single-cloud models: independent columns, one normal, or one trait."""
    table, numbers = view.table, view.table.numbers
    if table.levels:
        for words, traits in ((ALONE, 0), (TRAIT, 1)):
            model = fitted_traits(table, traits)
            yield _judged(view, model.log_densities(table), model.n_parameters, words)
        return
    diagonal, normal = fitted_diagonal(numbers), fitted_normal(numbers)
    yield _judged(view, diagonal.log_densities(numbers), 2 * table.n_numbers, ALONE)
    yield _judged(view, normal.log_densities(numbers), normal.n_parameters, TOGETHER)


def _judged(view: View, log_densities: Array, n_parameters: int, words: str) -> Judged:
    height = float(log_densities.sum() + view.log_jacobian.sum())
    n_free = n_parameters + view.of_margins
    return Judged(-2 * height + n_free * float(np.log(view.table.n_rows)), words)
