"""Prepare rows for the comparison: sample, canonical order, jitter, normal scores.

A margin is ``x`` with ``sinh(δ·asinh((x - ξ) / η) - ε)`` standard normal (Jones and Pewsey, 2009,
Sinh-arcsinh distributions), or the same of ``log(x - min + offset)``, whichever is likelier. Every
member has one mode, so that scores never turn two groups into one cloud, as the ranks would.
"""

import zlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.stats import rankdata

from halfseen.data.arrays import Array, Labels, Mask

MAX_TENDENCY_ROWS = 2_000
"""Rows that the comparison is made on, sampled if there are more."""
MOST_CELLS_WITH_GAPS, LEAST_ROWS_WITH_GAPS = 10_000, 300
"""Cells of these rows if some are missing, and rows that are taken all the same: each row may then
have a covariance of its own to invert."""
FEW_VALUES = 7
"""A column of at most so many distinct values is treated as categories: a density on it would
be a set of spikes."""
FEW_COUNTS = 15
"""The same of whole numbers of which one is in many cells, such as small counts: no normal has
their shape."""
HEAP = 0.2
"""Share of the cells of a column from which on one value is a heap."""
HEAP_NOISE = 0.15
"""Standard deviation of the noise on columns with a heap, in standard deviations of the column:
without it a density becomes an infinite spike there."""


LEAST_OUTSIDE = 20
"""Cells beside a heap from which on their own distribution is looked at."""
FURTHEST, IQR_OF_A_NORMAL = 20.0, 1.349
"""Robust standard deviations from the median beyond which distances count by their logarithm: a
mistyped value must not decide where a column's other values are, on its scale."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows in canonical order, with numbers standardised and jittered, categories as codes."""

    numbers: Array  # (n, p)  NaN in the gaps
    codes: Array  # (n, c)  0, 1, …; NaN in the gaps
    order: Labels  # (n,)  which of the rows given each of these is
    cluster: Labels  # (n,)  rows of one cluster depend on each other; one each if none do
    of_numbers: Labels  # (p,)  which of the columns given the numbers are
    of_codes: Labels  # (c,)  which of them the codes are

    @property
    def n_rows(self) -> int:
        return len(self.order)


def prepared(
    values: Array,
    categorical: Mask | None = None,
    clusters: Labels | None = None,
    *,
    split: bool = True,
) -> Prepared:
    """``values`` (n, d) with NaN in the gaps; ``categorical`` (d,), None if it is to be found.

    Rows of the same of ``clusters`` (n,) are never on both sides of a comparison. Beside
    categories, a column with a heap is ``split``: whether a cell is in the heap, and its value if
    it is not.

    Neither the order of rows and columns nor the units of columns matter: rows are sorted by
    symmetric functions of their ranks in the columns, and the noise that undoes rounding
    depends on these ranks alone.
    """
    values = np.asarray(values, dtype=float)
    if categorical is None:
        categorical = np.array([has_few_values(column) for column in values.T], dtype=bool)
    varies = np.array([len(np.unique(x[~np.isnan(x)])) > 1 for x in values.T], dtype=bool)
    if not varies.any():
        nobody = np.empty(0, dtype=np.intp)
        return Prepared(np.empty((0, 0)), np.empty((0, 0)), nobody, nobody, nobody, nobody)
    kept = np.flatnonzero(~np.isnan(values[:, varies]).all(axis=1))
    values, categorical = values[np.ix_(kept, varies)], categorical[varies]
    given = np.flatnonzero(varies)
    if split and categorical.any():
        values, categorical, given = _split(values, categorical, given)
    order = canonical_order(values)
    columns = _columns_in_order(values[order])
    values, categorical = values[order][:, columns], categorical[columns]
    numbers = [smoothed(column) for column in values[:, ~categorical].T]
    codes = [_coded(column) for column in values[:, categorical].T]
    place = kept[order]
    cluster = np.arange(len(place)) if clusters is None else _renumbered(clusters[place])
    given = given[columns]
    return Prepared(
        _stacked(numbers, len(order)),
        _stacked(codes, len(order)),
        place,
        cluster,
        given[~categorical],
        given[categorical],
    )


def _split(values: Array, categorical: Mask, given: Labels) -> tuple[Array, Mask, Labels]:
    """Split numbers with a frequent value into an indicator and the other numbers."""
    found, values, left = [], values.copy(), np.ones(len(given), dtype=bool)
    for j in np.flatnonzero(~categorical):
        levels, counts = np.unique(values[~np.isnan(values[:, j]), j], return_counts=True)
        if counts.max() > HEAP * counts.sum() and len(levels) > 2:
            heap = values[:, j] == levels[counts.argmax()]
            found.append((np.where(np.isnan(values[:, j]), np.nan, heap), given[j]))
            values[heap, j] = np.nan
            left[j] = counts.sum() - counts.max() >= LEAST_OUTSIDE
    if not found:
        return values, categorical, given
    indicators, of = zip(*found, strict=True)
    return (
        np.column_stack([values[:, left], *indicators]),
        np.r_[categorical[left], np.ones(len(found), bool)],
        np.r_[given[left], of],
    )


def _renumbered(clusters: Labels) -> Labels:
    """Codes renumbered by first occurrence, so that names do not matter."""
    _, first, which = np.unique(clusters, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[which])


def canonical_order(values: Array) -> Labels:
    """An order (n,) of the rows that does not depend on their order, column order or units."""
    ranks = rankdata(values, axis=0, nan_policy="omit")
    keys = [np.nansum(ranks**power, axis=1) for power in (3, 2, 1)]
    return np.lexsort((*keys, np.isnan(values).sum(axis=1)))


def _columns_in_order(values: Array) -> Labels:
    """An order of the columns that does not depend on their positions or units; (d,)."""
    ranks = np.nan_to_num(rankdata(values, axis=0, nan_policy="omit"))
    return np.lexsort(ranks[::-1])


def smoothed(column: Array) -> Array:
    """A standardised column (n,) with jitter of one rounding step, more for frequent values."""
    column = _drawn_in(column)
    seen = ~np.isnan(column)
    levels, counts = np.unique(column[seen], return_counts=True)
    scaled = (column - np.nanmean(column)) / np.nanstd(column)
    ranks = np.where(seen, rankdata(column, nan_policy="omit"), 0.0)
    rng = np.random.default_rng(zlib.crc32(np.ascontiguousarray(ranks).tobytes()))
    if counts.max() > HEAP * seen.sum():
        scaled = scaled + rng.normal(0, HEAP_NOISE, len(column))
    if len(levels) < seen.sum() / 2:
        step = np.median(np.diff(levels)) / np.nanstd(column)
        scaled = scaled + rng.uniform(-step / 2, step / 2, len(column))
    return np.asarray(scaled)


def _drawn_in(column: Array) -> Array:
    """A column (n,) with extreme values moved inwards, in the same order."""
    low, middle, high = np.nanquantile(column, [0.25, 0.5, 0.75])
    spread = (high - low) / IQR_OF_A_NORMAL
    if spread == 0:
        return column
    away = (column - middle) / spread
    beyond = np.maximum(np.abs(away) - FURTHEST, 0.0)
    near = np.sign(away) * (np.minimum(np.abs(away), FURTHEST) + np.log1p(beyond))
    return np.where(beyond > 0, middle + spread * near, column)


def has_few_values(column: Array) -> bool:
    """Whether a column (n,) is treated as categories."""
    levels, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    heaped = counts.max(initial=0) > HEAP * counts.sum() and bool((levels % 1 == 0).all())
    return len(levels) <= (FEW_COUNTS if heaped else FEW_VALUES)


def _coded(column: Array) -> Array:
    """Categories (n,) coded by frequency, so that names do not matter."""
    seen = ~np.isnan(column)
    found = np.full(len(column), np.nan)
    found[seen] = np.unique(column[seen], return_inverse=True)[1]
    return found


def _stacked(columns: list[Array], n_rows: int) -> Array:
    return np.column_stack(columns) if columns else np.empty((n_rows, 0))


def sampled(values: Array, weights: Array | None = None) -> Labels:
    """A sample of the rows (n, d) that depends on their values alone; (m,).

    Rows that count for more are drawn more often.
    """
    most, n = MAX_TENDENCY_ROWS, len(values)
    if np.isnan(values).any():
        by_cells = MOST_CELLS_WITH_GAPS // max(values.shape[1], 1)
        most = min(most, max(by_cells, LEAST_ROWS_WITH_GAPS))
    if weights is not None and np.ptp(weights) > 0:
        return _by_weight(values, weights, most)
    if n <= most:
        return np.arange(n)
    drawn = np.random.default_rng(0).choice(n, most, replace=False)
    return canonical_order(values)[np.sort(drawn)]


def _by_weight(values: Array, weights: Array, most: int) -> Labels:
    """A systematic sample by weights, of the effective size (Kish)."""
    there = np.flatnonzero(weights > 0)
    there = there[canonical_order(values[there])]
    share = np.cumsum(weights[there]) / weights[there].sum()
    worth = weights.sum() ** 2 / (weights**2).sum()
    number = max(1, min(most, round(float(worth))))
    return there[np.searchsorted(share, (np.arange(number) + 0.5) / number)]


LOG_OFFSET = 0.1
"""Standard deviations between the smallest value and the zero of the logarithm."""
CLEARLY_LOG = 1.0
"""Nats by which the logarithm must be likelier than the values themselves."""
BOUNDS = ((-10.0, 10.0), (np.log(0.1), np.log(50.0)), (-6.0, 6.0), (np.log(0.2), np.log(5.0)))
"""Of ξ, log η, ε and log δ on standardised values. η stays above .1: less is a spike."""
N_PARAMETERS = 4  # of a sinh-arcsinh margin: ξ, η, ε and δ
LOG_2PI = float(np.log(2 * np.pi))


class Scores(NamedTuple):
    """Scores of values, and the logarithm of the derivative that densities are multiplied by."""

    z: Array
    log_jacobian: Array


@dataclass(frozen=True)
class Margin:
    """The fitted distribution of one column."""

    centre: float
    spread: float
    least: float | None  # of the standardised training values, if the logarithm is taken
    shape: tuple[float, float, float, float]  # ξ, log η, ε, log δ

    def scores(self, column: Array) -> Scores:
        """Normal scores of a column (n,); NaN in the gaps."""
        x = (column - self.centre) / self.spread
        log_jacobian = np.full_like(x, -np.log(self.spread))
        if self.least is not None:
            # Below the smallest training value the logarithm goes on as a straight line.
            above = np.maximum(x - self.least, 0.0) + LOG_OFFSET
            x = np.log(above) + np.minimum(x - self.least, 0.0) / LOG_OFFSET
            log_jacobian -= np.log(above)
        z, own = sinh_arcsinh(x, np.array(self.shape))
        return Scores(z, log_jacobian + own)


def fitted_margin(column: Array) -> Margin:
    """The maximum-likelihood margin of a column (n,)."""
    seen = column[~np.isnan(column)]
    centre, spread = float(seen.mean()), float(max(seen.std(), 1e-12))
    x = (seen - centre) / spread
    plain, value = _likeliest(x)
    least = float(x.min())
    logged = np.log(x - least + LOG_OFFSET)
    centred = (logged - logged.mean()) / logged.std()
    shape, log_value = _likeliest(centred)
    log_value -= float(np.sum(logged)) + len(x) * float(np.log(logged.std()))
    if log_value <= value + CLEARLY_LOG:
        return Margin(centre, spread, None, plain)
    xi, log_eta, epsilon, log_delta = shape
    scale = float(logged.std())
    own = (float(logged.mean()) + scale * xi, log_eta + float(np.log(scale)), epsilon, log_delta)
    return Margin(centre, spread, least, own)


def sinh_arcsinh(x: Array, shape: Array) -> Scores:
    """Scores of standardised values (n,), and ``log dz/dx``."""
    xi, log_eta, epsilon, log_delta = shape
    u = (x - xi) / np.exp(log_eta)
    t = np.exp(log_delta) * np.arcsinh(u) - epsilon
    log_jacobian = log_delta - log_eta + _log_cosh(t) - np.log1p(u**2) / 2
    return Scores(np.sinh(t), log_jacobian)


def _likeliest(x: Array) -> tuple[tuple[float, float, float, float], float]:
    start = np.array([0.0, 0.0, 0.0, 0.0])
    found = minimize(_loss, start, args=(x,), jac=True, method="L-BFGS-B", bounds=BOUNDS)
    xi, log_eta, epsilon, log_delta = map(float, found.x)
    return (xi, log_eta, epsilon, log_delta), -float(found.fun) * len(x) - len(x) * LOG_2PI / 2


def _loss(shape: Array, x: Array) -> tuple[float, Array]:
    """Minus the mean log-density of values (n,) without its constant, and its gradient (4,)."""
    xi, log_eta, epsilon, log_delta = shape
    eta, delta = np.exp(log_eta), np.exp(log_delta)
    u = (x - xi) / eta
    a = np.arcsinh(u)
    t = delta * a - epsilon
    z = np.sinh(t)
    value = -(z**2) / 2 + log_delta - log_eta + _log_cosh(t) - np.log1p(u**2) / 2
    by_t = -z * np.cosh(t) + np.tanh(t)
    by_u = by_t * delta / np.sqrt(1 + u**2) - u / (1 + u**2)
    gradient = (-by_u / eta, -by_u * u - 1, -by_t, by_t * delta * a + 1)
    return -float(value.mean()), -np.array([one.mean() for one in gradient])


def _log_cosh(t: Array) -> Array:
    return np.asarray(np.abs(t) + np.log1p(np.exp(-2 * np.abs(t))) - np.log(2))


def fitted_margins(table: Array) -> tuple[Margin, ...]:
    """The margins of all columns of a table (n, d)."""
    return tuple(fitted_margin(column) for column in table.T)


def scores(margins: tuple[Margin, ...], table: Array) -> Scores:
    """Scores (n, d) of a table, and the sum of log-derivatives over the observed cells (n,)."""
    found = [margin.scores(column) for margin, column in zip(margins, table.T, strict=True)]
    z = np.column_stack([one.z for one in found])
    return Scores(z, np.nansum(np.column_stack([one.log_jacobian for one in found]), axis=1))
