"""A concern: columns that depend on each other within classes, which the model takes to be none."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri, softmax

from halfseen.data.arrays import Array, Labels
from halfseen.data.messages import Message, setting
from halfseen.data.rows import Block, gathered, with_gaps
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity
from halfseen.diagnostics.cross_validation import few_rows
from halfseen.distributions.cell_densities import cell_log_densities
from halfseen.distributions.mixed_parameters import MixedParameters
from halfseen.inference.parameters import select
from halfseen.latent.mixture.mutual_information import of_class
from halfseen.moments.survey import FEW_ROWS

MOST_ROWS, MOST_COLUMNS = 5000, 64
"""That are looked at; of columns, those that tell most of the class."""
CHANCE = 0.01
"""Probability that any pair of independent columns is named."""
WEAK = 0.1
"""Correlations within classes below this are too small to matter."""
TAILS = 0.005
"""Share of the cells of a column of numbers, at each end, that are drawn in: tails are no pairs."""
MOST_NAMED = 3


class Views(NamedTuple):
    """Columns as numbers: themselves, or one indicator a category."""

    values: Array  # (n, q)  NaN in the gaps
    column: Array  # (q,)    the column each is of


def locally_dependent(case: ConcernContext) -> Iterator[Concern]:
    """Pairs of columns that go along with each other within classes."""
    fitted: Any = case.fitted
    if fitted.n_components < 2 or case.rows.sparse:
        return
    few = few_rows(case.rows, case.bins, MOST_ROWS).rows.select(fitted.kept)
    table = gathered(few, with_gaps)
    told = np.where((~np.isnan(table)).sum(axis=0) < FEW_ROWS, -1.0, of_class(fitted.parameters))
    most = np.sort(np.argsort(-told, kind="stable")[: min(MOST_COLUMNS, int((told >= 0).sum()))])
    if len(most) < 2:
        return
    views = _views(fitted.parameters, table, most)
    pairs = _pairs(views, gathered(few, lambda block: _without_each(fitted, block, most)))
    if not pairs:
        return
    names = np.array(fitted.own_names, dtype=object)[fitted.kept][most]
    listed = "; ".join(
        f"'{names[i]}' and '{names[j]}' ({abs(strength):.2f})"
        for i, j, strength in pairs[:MOST_NAMED]
    )
    others = f"; and {len(pairs) - MOST_NAMED} other pairs" if len(pairs) > MOST_NAMED else ""
    remedy = Message(
        "Combine such columns into one, or leave one of them out; if there are many pairs, try "
        f"more {case.components}."
    )
    if fitted.parameters.numbers.all():
        remedy = "Let them, by a GaussianMixture with " + setting(covariance_type="auto") + "."
    yield Concern(
        "dependent_within",
        f"Columns go along with each other within {case.components}, which the model does not "
        f"allow for (strongest correlation of their values): {listed}{others}. Some "
        f"{case.components} may stand for that alone. " + remedy,
        gravity=Gravity.CARE,
    )


def _views(parameters: MixedParameters, table: Array, columns: Labels) -> Views:
    """Some of the kept ``columns`` of a table (n, kept) as numbers."""
    values, column = [], []
    for place, d in enumerate(columns):
        own = table[:, d, None]
        if parameters.of_levels[d]:
            levels = parameters.level_values[:, d]
            levels = levels[np.isfinite(levels)]
            levels = levels[1:] if len(levels) == 2 else levels
            values.append(np.where(np.isnan(own), np.nan, own == levels))
        else:
            values.append(np.clip(own, *np.nanquantile(own, [TAILS, 1 - TAILS])))
        column += [place] * values[-1].shape[1]
    return Views(np.hstack(values), np.array(column))


def _without_each(fitted: Any, block: Block, columns: Labels) -> Array:
    """Probabilities of classes given all cells of a row but one, and, last, given all; (n, d+1, k).

    The cell that is left out is that of each of the columns in turn.
    """
    own = np.isin(np.arange(block.n_features), columns)
    densities = fitted.model.emission.log_densities(block, fitted.parameters)
    joint = densities + np.log(fitted.parameters.weights)  # (n, k)
    cells = cell_log_densities(block.select(own), select(fitted.parameters, own))  # (k, n, d)
    others = joint[:, None] - cells.transpose(1, 2, 0)
    return np.asarray(softmax(np.concatenate([others, joint[:, None]], axis=1), axis=2))


def _pairs(views: Views, without: Array) -> list[tuple[int, int, float]]:
    """Pairs of columns that depend on each other given the class, strongest first.

    For columns i and j with views φ and ψ the score is ``Σ (φ - E φ)(ψ - E ψ)``, both expectations
    given all cells of a row but j. As φ is known then, the score has mean zero and variance
    ``Σ (φ - E φ)² var ψ`` whatever the gaps, skip patterns included. Of the two directions of a
    pair the weaker counts. That parameters were fitted makes scores smaller, not larger.
    """
    seen = ~np.isnan(views.values)
    values, known = np.where(seen, views.values, 0.0), seen.astype(float)
    weights = np.maximum(without[:, -1].T @ known, np.finfo(float).tiny)  # (k, q)
    mean = without[:, -1].T @ values / weights
    square = without[:, -1].T @ values**2 / weights
    q = values.shape[1]
    deviation, correlation = np.zeros((2, q, q))
    for j in range(without.shape[1] - 1):
        own, given = views.column == j, without[:, j]
        left = (values - given @ mean) * seen
        variance = (given @ square[:, own] - (given @ mean[:, own]) ** 2) * seen[:, own]
        score = left.T @ left[:, own]
        spread = np.sqrt(np.maximum((left**2).T @ variance, np.finfo(float).tiny))
        size = np.sqrt(((left**2).T @ known[:, own]) * (known.T @ left[:, own] ** 2))
        deviation[:, own] = score / spread
        correlation[:, own] = score / np.maximum(size, np.finfo(float).tiny)
    return _clear(views, known, deviation, correlation)


def _clear(
    views: Views, known: Array, deviation: Array, correlation: Array
) -> list[tuple[int, int, float]]:
    """Pairs of columns that are beyond chance both ways, by their strongest views."""
    compared = views.column[:, None] < views.column
    compared &= known.T @ known >= FEW_ROWS
    clear = -ndtri(CHANCE / max(2 * int(compared.sum()), 1))
    weaker = np.minimum(np.abs(deviation), np.abs(deviation.T))
    both = np.where(np.abs(correlation) < np.abs(correlation.T), correlation, correlation.T)
    stands_out = compared & (weaker > clear) & (np.abs(both) > WEAK)
    found: dict[tuple[int, int], float] = {}
    for a, b in np.argwhere(stands_out):
        pair = int(views.column[a]), int(views.column[b])
        if abs(both[a, b]) > abs(found.get(pair, 0.0)):
            found[pair] = float(both[a, b])
    ordered = sorted(found.items(), key=lambda one: -abs(one[1]))
    return [(*pair, strength) for pair, strength in ordered]
