"""One scale, or two, behind columns of categories and numbers: no groups, a continuum.

A row has traits θ ~ N(0, I_q), q = 0, 1 or 2. A category has probabilities ``softmax(a_c + b_c·θ)``
(Bock's nominal response model); the normal score of a number is ``a + b·θ + σ·e``. The integral
over θ is by Gauss-Hermite quadrature, and cells that are missing drop out of the product.
"""

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from scipy.optimize import minimize

from halfseen.doubt.one_cloud.gaps import LOG_2PI, log_sum_exp
from halfseen.doubt.one_cloud.mixture import Table
from halfseen.rows.arrays import Array

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
    """Intercepts in the first column, slopes on the traits in the others."""

    categories: Array  # (m, 1 + q)
    numbers: Array  # (p, 1 + q)
    log_spread: Array  # (p,)
    levels: tuple[int, ...]

    @property
    def n_traits(self) -> int:
        """How many traits, ``q``."""
        return int(self.categories.shape[1]) - 1

    @property
    def n_parameters(self) -> int:
        """That are free: traits may be rotated."""
        q = self.n_traits
        rows = sum(self.levels) - len(self.levels) + len(self.numbers)
        return rows * (1 + q) + len(self.log_spread) - q * (q - 1) // 2

    def log_densities(self, table: Table, nodes: tuple[Array, Array] | None = None) -> Array:
        """Of the observed cells of each row; (n,)."""
        joint = _joint(self, table, *(nodes or quadrature(self.n_traits)))
        return np.asarray(log_sum_exp(joint, axis=1))

    def posterior(self, table: Table, nodes: tuple[Array, Array]) -> Array:
        """Probabilities of the nodes of a quadrature given each row; (n, v)."""
        joint = _joint(self, table, *nodes)
        return np.asarray(np.exp(joint - log_sum_exp(joint, axis=1)[:, None]))

    def probabilities(self, design: Array) -> Array:
        """Of the categories at each node; (m, v)."""
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
    start: Traits | None = None,
    nodes: tuple[Array, Array] | None = None,
    least_spread: float = LEAST_SPREAD,
) -> Traits:
    """The likeliest traits, by quasi-Newton steps on the likelihood and a weak prior of slopes.

    ``nodes`` are those of another quadrature than the usual one, as ``quadrature`` gives them, and
    no σ is less than ``least_spread``.
    """
    begun = start or _start(table, q)
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
    """Slopes from the first singular vectors of the standardised indicators and scores."""
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
    """Of the categories at each node; (m, v)."""
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
