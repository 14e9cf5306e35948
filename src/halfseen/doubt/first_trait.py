"""The line along which rows differ most: the first trait, or factor, behind all columns.

A row has one trait θ ~ N(0, 1). The normal score of a number is ``a + b·θ + σ·e``, and categories
have a multinomial logit in θ (``one_cloud/traits.py``); cells that are missing drop out. The share
of a column's variance that the trait explains is

    R² = Var(E[x | θ]) / Var(x),

for scores ``b² / (b² + σ²)``, for columns without an order that of the categories' indicators
together. Neither the order of rows and columns nor the units of columns matter.
"""

from dataclasses import dataclass

import numpy as np

from halfseen.doubt.one_cloud.margins import fitted_margins, scores
from halfseen.doubt.one_cloud.mixture import Table
from halfseen.doubt.one_cloud.prepared import Prepared, has_few_values, prepared
from halfseen.doubt.one_cloud.traits import Traits, fitted_traits
from halfseen.rows.arrays import Array, Mask

STEP, END = 0.1, 5.0
"""Distance of the quadrature nodes and the last of them, in standard deviations of the trait. Many
columns know θ to 0.1; wider steps, as Gauss-Hermite nodes have, would draw rows to the nodes."""
LEAST_SPREAD = 0.3
"""Of scores given the trait, which then explains at most 92 % of a column (a bound against Heywood
cases). In tables with columns that are nearly the same (HELPrct, support2, thyroid) the line so
explains one hundredth more of all columns; such columns may still be the line."""
LEAST_EXPLAINED = 0.05
"""Share of the variance of the second strongest column (a correlation of 0.22) below which there is
no line: one of a single column is that column."""


@dataclass(frozen=True, eq=False)
class FirstTrait:
    """How columns go along with the first trait, and where rows lie on it."""

    explained: Array  # (d,)  share of the variance of each column; NaN if it does not vary
    direction: Array  # (d,)  1 if the column rises along the trait, -1 if it falls, 0 if unordered
    positions: Array  # (n,)  posterior means of the trait; NaN in rows of which nothing is known
    errors: Array  # (n,)  posterior standard deviations
    likelier: bool  # than columns that are independent of each other, by BIC

    @property
    def share(self) -> float:
        """Of the variance of all columns, each standardised, that the trait explains."""
        return float(np.nanmean(self.explained)) if np.isfinite(self.explained).any() else 0.0

    @property
    def exists(self) -> bool:
        """Whether at least two columns go along with each other."""
        found = np.sort(self.explained[np.isfinite(self.explained)])
        return self.likelier and len(found) > 1 and bool(found[-2] >= LEAST_EXPLAINED)

    @property
    def fifths(self) -> Mask:
        """Which rows are in the lowest, the middle and the highest fifth of positions; (n, 3)."""
        x = self.positions
        ends = np.nanquantile(x, [0.2, 0.4, 0.6, 0.8])
        return np.column_stack([x <= ends[0], (x >= ends[1]) & (x <= ends[2]), x >= ends[3]])


def first_trait(values: Array, nominal: Mask) -> FirstTrait:
    """Of rows (n, d) with NaN in the gaps, and which columns (d,) hold codes without an order."""
    few = np.array([has_few_values(column) for column in values.T], dtype=bool)
    ready = prepared(values, nominal | few, split=False)
    table = _table(ready)
    if not table.n_rows:
        return _nothing(*values.shape)
    trait = fitted_traits(table, 1, nodes=_nodes(), least_spread=LEAST_SPREAD)
    explained, direction = np.full(values.shape[1], np.nan), np.zeros(values.shape[1])
    numbers, categories = ready.of_numbers, ready.of_codes
    explained[numbers], direction[numbers] = _of_numbers(trait)
    levels = [np.unique(x[~np.isnan(x)]) for x in values[:, categories].T]
    explained[categories], direction[categories] = _of_categories(
        trait, levels, nominal[categories]
    )
    means, errors = _positions(trait, table)
    sign = _sign(explained, direction, means)
    positions, spread = np.full(len(values), np.nan), np.full(len(values), np.nan)
    positions[ready.order], spread[ready.order] = sign * means, errors
    return FirstTrait(explained, sign * direction, positions, spread, _likelier(trait, table))


def _nothing(n: int, d: int) -> FirstTrait:
    """Of a table in which no column varies."""
    gaps = np.full(n, np.nan)
    return FirstTrait(np.full(d, np.nan), np.zeros(d), gaps, gaps, False)


def _nodes() -> tuple[Array, Array]:
    """Equally spaced nodes, as ``quadrature`` has them: design (v, 2) and log-weights (v,)."""
    theta = np.arange(-END, END + STEP / 2, STEP)
    log_weights = -(theta**2) / 2
    return np.column_stack([np.ones(len(theta)), theta]), log_weights - np.log(
        np.exp(log_weights).sum()
    )


def _table(ready: Prepared) -> Table:
    """Numbers as normal scores, categories as indicators."""
    numbers = ready.numbers
    if numbers.size:
        numbers = scores(fitted_margins(numbers), numbers).z
    levels = tuple(int(np.nanmax(x)) + 1 for x in ready.codes.T) if len(ready.codes) else ()
    return Table.of(numbers, ready.codes, levels)


def _of_numbers(trait: Traits) -> tuple[Array, Array]:
    """Shares of variance and directions of the scores; (p,) each."""
    slope = trait.numbers[:, 1]
    return slope**2 / (slope**2 + np.exp(2 * trait.log_spread)), np.sign(slope)


def _of_categories(trait: Traits, levels: list[Array], nominal: Mask) -> tuple[Array, Array]:
    """The same of columns of few values, which are ``levels``; those in no order have none."""
    design, log_weights = _nodes()
    weights, theta = np.exp(log_weights), design[:, 1]
    parts = np.split(trait.probabilities(design), np.cumsum(trait.levels)[:-1])
    explained, direction = np.zeros(len(levels)), np.zeros(len(levels))
    for i, (own, probabilities) in enumerate(zip(levels, parts, strict=False)):
        standard = (own - own.mean()) / own.std()
        values = np.eye(len(own)) if nominal[i] else standard[None]  # (r, m)
        given = values @ probabilities  # (r, v)  expected at each node
        mean = given @ weights
        total = values**2 @ probabilities @ weights - mean**2
        explained[i] = float((given**2 @ weights - mean**2).sum() / total.sum())
        direction[i] = 0.0 if nominal[i] else float(np.sign(given[0] @ (weights * theta)))
    return explained, direction


def _positions(trait: Traits, table: Table) -> tuple[Array, Array]:
    """Posterior means and standard deviations of the trait; (n,) each."""
    nodes = _nodes()
    posterior, theta = trait.posterior(table, nodes), nodes[0][:, 1]
    means = posterior @ theta
    return means, np.sqrt(np.maximum(posterior @ theta**2 - means**2, 0.0))


def _sign(explained: Array, direction: Array, positions: Array) -> float:
    """That makes the strongest columns rise; if none has an order, that puts the long tail last.

    A sum over columns of cubed correlations, so that their order does not matter in ties.
    """
    correlations = direction * np.sqrt(np.nan_to_num(explained))
    total = float((correlations**3).sum()) or float((positions**3).sum())
    return -1.0 if total < 0 else 1.0


def _likelier(trait: Traits, table: Table) -> bool:
    """Whether the Bayesian information criterion prefers the trait to independent columns."""
    alone = fitted_traits(table, 0)
    gain = float((trait.log_densities(table, _nodes()) - alone.log_densities(table)).sum())
    more = trait.n_parameters - alone.n_parameters
    return 2 * gain > more * float(np.log(table.n_rows))
