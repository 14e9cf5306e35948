"""Latent trait models: one or two continuous traits behind all columns.

A row has traits θ ~ N(0, I_q), q = 0, 1 or 2. A category has probabilities ``softmax(a_c + b_c·θ)``
(Bock's nominal response model); the normal score of a number is ``a + b·θ + σ·e``. The integral
over θ is by Gauss-Hermite quadrature, and cells that are missing drop out of the product.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from scipy.optimize import minimize

from halfseen.data.arrays import Array, Mask
from halfseen.diagnostics.cluster_tendency.mixture import Table
from halfseen.diagnostics.cluster_tendency.preprocessing import (
    LOG_2PI,
    Prepared,
    fitted_margins,
    has_few_values,
    prepared,
    scores,
)
from halfseen.diagnostics.cluster_tendency.single_density import Cloud, log_sum_exp

NODES = {1: 21, 2: 9}
"""Quadrature nodes of each trait."""
SLOPE_PRIOR = 0.1
"""Precision of the normal prior of slopes around zero: a slope of 3 costs half a nat."""
LEAST_SPREAD, MOST_SPREAD = 0.02, 50.0
"""Bounds of σ of scores, which have a standard deviation of about 1: where a column is nearly a
function of the traits, steps without bounds overflow."""
PASSES = 200
"""Most steps of the optimiser."""


@dataclass(frozen=True, eq=False)
class Traits:
    """Intercepts in the first column, loadings on the traits in the others."""

    categories: Array  # (m, 1 + q)
    numbers: Array  # (p, 1 + q)
    log_spread: Array  # (p,)
    levels: tuple[int, ...]

    @property
    def n_traits(self) -> int:
        return int(self.categories.shape[1]) - 1

    @property
    def n_parameters(self) -> int:
        """The number of free parameters, up to rotation of the traits."""
        q = self.n_traits
        rows = sum(self.levels) - len(self.levels) + len(self.numbers)
        return rows * (1 + q) + len(self.log_spread) - q * (q - 1) // 2

    def log_densities(self, table: Table, nodes: tuple[Array, Array] | None = None) -> Array:
        joint = _joint(self, table, *(nodes or quadrature(self.n_traits)))
        return np.asarray(log_sum_exp(joint, axis=1))

    def posterior(self, table: Table, nodes: tuple[Array, Array]) -> Array:
        joint = _joint(self, table, *nodes)
        return np.asarray(np.exp(joint - log_sum_exp(joint, axis=1)[:, None]))

    def probabilities(self, design: Array) -> Array:
        return np.asarray(np.exp(_log_probabilities(self, design)))


def quadrature(q: int) -> tuple[Array, Array]:
    """Design ``1, θ`` of the nodes (v, 1 + q), and their log-weights (v,)."""
    if q == 0:
        return np.ones((1, 1)), np.zeros(1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES[q])
    grid = np.array(list(product(nodes, repeat=q)))
    log_weights = np.log(np.array(list(product(weights / weights.sum(), repeat=q))))
    return np.column_stack([np.ones(len(grid)), grid]), log_weights.sum(axis=1)


def fitted_traits(
    table: Table,
    q: int,
    nodes: tuple[Array, Array] | None = None,
    least_spread: float = LEAST_SPREAD,
) -> Traits:
    """Penalised maximum-likelihood traits by quasi-Newton steps.

    ``nodes`` are those of another quadrature than the usual one, as ``quadrature`` gives them, and
    no σ is less than ``least_spread``.
    """
    begun = _start(table, q)
    found = minimize(
        _loss,
        _flat(begun),
        args=(begun, table, *(nodes or quadrature(q))),
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] * (begun.categories.size + begun.numbers.size)
        + [(np.log(least_spread), np.log(MOST_SPREAD))] * len(begun.log_spread),
        options={"maxiter": PASSES, "maxcor": 20},
    )
    return _shaped(found.x, begun)


def _start(table: Table, q: int) -> Traits:
    """Start loadings from singular vectors of standardised indicators and scores."""
    m, p = len(table.indicators.T), table.n_numbers
    shares = np.maximum(table.indicators.mean(axis=0), 1e-3)
    spread = np.sqrt(shares * (1 - np.minimum(shares, 0.999)))
    standard = np.hstack([(table.indicators - shares) / spread, table.numbers.values])
    _, _, vectors = np.linalg.svd(standard, full_matrices=False)
    slopes = np.zeros((m + p, q))
    slopes[:, : min(q, len(vectors))] = vectors[:q].T
    begun = np.column_stack([np.zeros(m + p), slopes])
    begun[:m, 0] = np.log(shares)
    return Traits(begun[:m], begun[m:], np.full(p, -0.1), table.levels)


def _log_probabilities(traits: Traits, design: Array) -> Array:
    logits = traits.categories @ design.T
    ends = np.cumsum(traits.levels)[:-1]
    parts = np.split(logits, ends) if traits.levels else []
    found = [part - log_sum_exp(part, axis=0) for part in parts]
    return np.concatenate(found) if found else logits


def _joint(traits: Traits, table: Table, design: Array, log_weights: Array) -> Array:
    """``log w_v p(x | θ_v)`` of the observed cells of each row; (n, v)."""
    found = table.indicators @ _log_probabilities(traits, design) + log_weights
    if table.n_numbers:
        z, observed = table.numbers.values, table.numbers.observed.astype(float)
        mean, precision = traits.numbers @ design.T, np.exp(-2 * traits.log_spread)
        scaled = mean * precision[:, None]
        own = (z**2) @ precision + observed @ (2 * traits.log_spread + LOG_2PI)
        found += z @ scaled - observed @ (mean * scaled) / 2 - own[:, None] / 2
    return np.asarray(found)


def _flat(traits: Traits) -> Array:
    parts = (traits.categories.ravel(), traits.numbers.ravel(), traits.log_spread)
    return np.concatenate(parts)


def _shaped(flat: Array, like: Traits) -> Traits:
    a, b = like.categories.size, like.numbers.size
    return Traits(
        flat[:a].reshape(like.categories.shape),
        flat[a : a + b].reshape(like.numbers.shape),
        flat[a + b :],
        like.levels,
    )


def _loss(
    flat: Array, like: Traits, table: Table, design: Array, log_weights: Array
) -> tuple[float, Array]:
    """Minus the mean log-likelihood and log-prior, and its gradient."""
    traits = _shaped(flat, like)
    joint = _joint(traits, table, design, log_weights)
    rows = log_sum_exp(joint, axis=1)
    given = np.exp(joint - rows[:, None])  # (n, v)
    by_categories = table.indicators.T @ given
    probabilities = np.exp(_log_probabilities(traits, design))
    for part in _columns(table.levels):
        by_categories[part] -= by_categories[part].sum(axis=0) * probabilities[part]
    gradient = Traits(
        by_categories @ design, *_gradient_of_numbers(traits, table, design, given), table.levels
    )
    slopes = np.concatenate([traits.categories[:, 1:].ravel(), traits.numbers[:, 1:].ravel()])
    for own, by in ((traits.categories, gradient.categories), (traits.numbers, gradient.numbers)):
        by[:, 1:] -= SLOPE_PRIOR * own[:, 1:]
    value = float(rows.sum()) - SLOPE_PRIOR / 2 * float(slopes @ slopes)
    return -value / table.n_rows, -_flat(gradient) / table.n_rows


def _gradient_of_numbers(
    traits: Traits, table: Table, design: Array, given: Array
) -> tuple[Array, Array]:
    z, observed = table.numbers.values, table.numbers.observed.astype(float)
    mean, precision = traits.numbers @ design.T, np.exp(-2 * traits.log_spread)
    sums, counts = z.T @ given, observed.T @ given  # (p, v)
    by_numbers = ((sums - counts * mean) * precision[:, None]) @ design
    squares = (z**2).sum(axis=0) + (counts * mean**2 - 2 * sums * mean).sum(axis=1)
    return by_numbers, squares * precision - observed.sum(axis=0)


def _columns(levels: tuple[int, ...]) -> list[slice]:
    ends = np.cumsum((0, *levels))
    return [slice(a, b) for a, b in pairwise(ends)]


def clouds_of_categories(
    numbers: tuple[Array, Array], codes: tuple[Array, Array], levels: tuple[int, ...]
) -> Iterator[Cloud]:
    """Models of one cloud for categories and numbers: no trait, one trait or two."""
    train, test = numbers
    jacobians = np.zeros(len(train)), np.zeros(len(test))
    of_margins = 0
    if train.shape[1]:
        margins = fitted_margins(train)
        (train, of_train), (test, of_test) = scores(margins, train), scores(margins, test)
        jacobians, of_margins = (of_train, of_test), 2 * train.shape[1]
    rows, others = (Table.of(n, c, levels) for n, c in zip((train, test), codes, strict=True))
    for q in (0, 1, 2):
        traits = fitted_traits(rows, q)
        yield Cloud(
            f"{q} traits",
            of_margins + traits.n_parameters,
            traits.log_densities(rows) + jacobians[0],
            traits.log_densities(others) + jacobians[1],
        )


STEP, END = 0.1, 5.0
"""Distance of the quadrature nodes and the last of them, in standard deviations of the trait. Many
columns know θ to 0.1; wider steps, as Gauss-Hermite nodes have, would draw rows to the nodes."""
MIN_TRAIT_SCALE = 0.3
"""Of scores given the trait, which then explains at most 92 % of a column (a bound against Heywood
cases). In tables with columns that are nearly the same (HELPrct, support2, thyroid) the line so
explains one hundredth more of all columns; such columns may still be the line."""
LEAST_EXPLAINED = 0.05
"""Share of the variance of the second strongest column (a correlation of 0.22) below which there is
no line: one of a single column is that column."""


@dataclass(frozen=True, eq=False)
class FirstTrait:
    """Correlations of columns with the first trait, and positions of rows on it."""

    explained: Array  # (d,)  share of the variance of each column; NaN if it does not vary
    direction: Array  # (d,)  1 if the column rises along the trait, -1 if it falls, 0 if unordered
    positions: Array  # (n,)  posterior means of the trait; NaN in rows of which nothing is known
    errors: Array  # (n,)  posterior standard deviations
    likelier: bool  # than columns that are independent of each other, by BIC

    @property
    def share(self) -> float:
        """The share of the variance of all standardised columns that the trait explains."""
        return float(np.nanmean(self.explained)) if np.isfinite(self.explained).any() else 0.0

    @property
    def exists(self) -> bool:
        """Whether at least two columns are related."""
        found = np.sort(self.explained[np.isfinite(self.explained)])
        return self.likelier and len(found) > 1 and bool(found[-2] >= LEAST_EXPLAINED)

    @property
    def fifths(self) -> Mask:
        """Which rows are in the lowest, the middle and the highest fifth of positions; (n, 3)."""
        x = self.positions
        ends = np.nanquantile(x, [0.2, 0.4, 0.6, 0.8])
        return np.column_stack([x <= ends[0], (x >= ends[1]) & (x <= ends[2]), x >= ends[3]])


def first_trait(values: Array, nominal: Mask) -> FirstTrait:
    """The first trait of rows (n, d) with NaN in the gaps; ``nominal`` (d,) have no order."""
    few = np.array([has_few_values(column) for column in values.T], dtype=bool)
    ready = prepared(values, nominal | few, split=False)
    table = _table(ready)
    if not table.n_rows:
        return _nothing(*values.shape)
    trait = fitted_traits(table, 1, nodes=_nodes(), least_spread=MIN_TRAIT_SCALE)
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
    numbers = ready.numbers
    if numbers.size:
        numbers = scores(fitted_margins(numbers), numbers).z
    levels = tuple(int(np.nanmax(x)) + 1 for x in ready.codes.T) if len(ready.codes) else ()
    return Table.of(numbers, ready.codes, levels)


def _of_numbers(trait: Traits) -> tuple[Array, Array]:
    slope = trait.numbers[:, 1]
    return slope**2 / (slope**2 + np.exp(2 * trait.log_spread)), np.sign(slope)


def _of_categories(trait: Traits, levels: list[Array], nominal: Mask) -> tuple[Array, Array]:
    """Correlations of categorical columns with the trait; nominal ones have none."""
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
    """The sign that makes the strongest columns rise, or else puts the long tail last.

    A sum over columns of cubed correlations, so that their order does not matter in ties.
    """
    correlations = direction * np.sqrt(np.nan_to_num(explained))
    total = float((correlations**3).sum()) or float((positions**3).sum())
    return -1.0 if total < 0 else 1.0


def _likelier(trait: Traits, table: Table) -> bool:
    alone = fitted_traits(table, 0)
    gain = float((trait.log_densities(table, _nodes()) - alone.log_densities(table)).sum())
    more = trait.n_parameters - alone.n_parameters
    return 2 * gain > more * float(np.log(table.n_rows))
