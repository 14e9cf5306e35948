"""A concern: components that cut a continuum, which one cloud of rows describes better."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from halfseen.doubt.concerns.case import Case
from halfseen.doubt.concerns.concern import Concern
from halfseen.doubt.few_rows import few_rows
from halfseen.doubt.number_of_components import telling_features
from halfseen.doubt.one_cloud.elliptical import fitted_diagonal, fitted_normal
from halfseen.doubt.one_cloud.evidence import Cell, View
from halfseen.doubt.one_cloud.evidence import Rows as PreparedRows
from halfseen.doubt.one_cloud.mixture import fitted, prior_of
from halfseen.doubt.one_cloud.prepared import has_few_values, prepared
from halfseen.doubt.one_cloud.traits import fitted_traits
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.gathered import gathered, with_gaps

MOST_ROWS, MOST_COLUMNS = 2000, 32
"""That are looked at; of columns, those that vary most."""
MOST_CELLS, LEAST_ROWS = 10_000, 300
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
    """A model of some rows, and its Bayesian information criterion."""

    bic: float
    words: str = ""


def one_cloud(case: Case) -> Iterator[Concern]:
    """One normal, or one trait behind all items, that is likelier than the components."""
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
            "continuum, which exist by convention only. n_components='auto' compares both.",
        )


def _compared(case: Case) -> tuple[Judged, Judged]:
    """The components as they were learned, and the best single cloud, of the same rows.

    Columns are compared as they are and as normal scores, and rounding is undone, for both sides:
    neither skew nor heaps count for components.
    """
    fit = case.fitted
    features = telling_features(case.rows, case.seen, case.features, MOST_COLUMNS)
    rows = few_rows(case.rows, case.bins, _n_rows(case, features)).rows
    table = gathered(rows.select(features), with_gaps)
    given = gathered(rows.select(fit.kept), partial(fit.model.hidden, parameters=fit.parameters))
    ready = prepared(
        table, fit.nominal[features] | np.array([has_few_values(x) for x in table.T], dtype=bool)
    )
    views = list(PreparedRows(ready, KINDS, 0).views())
    components = [one for view in views for one in _components(view, given[ready.order])]
    return min(components, default=Judged(np.inf)), min(one for v in views for one in _clouds(v))


def _n_rows(case: Case, features: Mask) -> int:
    if (case.seen.sums.observed_fraction[features] == 1).all():
        return MOST_ROWS
    return int(np.clip(MOST_CELLS // max(int(features.sum()), 1), LEAST_ROWS, MOST_ROWS))


def _components(view: View, given: Array) -> Iterator[Judged]:
    """Mixtures that EM leads to from what rows are ``given`` (n, k) of the components."""
    prior = prior_of(view.table)
    for kind in ("diag",) if view.table.levels else KINDS:
        fit = fitted(view.table, kind, [given], prior)
        if fit is not None:
            height = fit.log_likelihood + float(view.log_jacobian.sum())
            yield Judged(Cell(view, fit.mixture, height).bic)


def _clouds(view: View) -> Iterator[Judged]:
    """Models of one cloud: independent columns, and one normal or one trait."""
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
