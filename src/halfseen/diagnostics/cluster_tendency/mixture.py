"""Mixtures of normals and categories, fitted by EM to rows with gaps.

Within a component the numbers are normal, with one of four kinds of covariance, and each category
column is independent of all others. Covariances are those of ``PRIOR_ROWS`` more
rows like the mean component,

    Σ_k = (W_k + a·W / n) / (N_k + a),   W = Σ_k W_k,

so that components of few rows do not collapse, however far apart they are. Affine maps of the
columns (of diagonal kinds: scales) change nothing.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from halfseen.data.arrays import Array, Labels
from halfseen.diagnostics.cluster_tendency.preprocessing import LOG_2PI
from halfseen.diagnostics.cluster_tendency.single_density import (
    Conditional,
    RowsByPattern,
    fitted_normal,
    log_sum_exp,
)
from halfseen.inference.multi_start import k_means

KINDS = ("tied_diag", "diag", "tied", "full")
PRIOR_ROWS = 0.2
"""Rows that the prior of covariances and of probabilities of categories counts for."""
FLOOR = 1e-6
"""Of the covariance of one cloud, added to the prior rows: columns may be constant in groups."""
PASSES, TOLERANCE = 150, 1e-5
"""Most EM passes, and the gain in nats a row below which they end."""
SCREENING_PASSES = 6
"""EM passes after which only the likeliest start goes on."""
SMALLEST_NORMAL = 3
"""Rows that a component needs at least, if its covariance is diagonal or shared."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as mixtures see them."""

    numbers: RowsByPattern
    indicators: Array  # (n, m)  1 for the category that a cell has, all zero in the gaps
    levels: tuple[int, ...]  # categories of each column; they sum to m

    @classmethod
    def of(cls, numbers: Array, codes: Array, levels: tuple[int, ...]) -> "Table":
        """Of numbers (n, p) and codes of categories (n, c), NaN in the gaps."""
        return cls(RowsByPattern.of(numbers), indicators(codes, levels), levels)

    @property
    def n_rows(self) -> int:
        return len(self.indicators)

    @property
    def n_numbers(self) -> int:
        return int(self.numbers.values.shape[1])


def indicators(codes: Array, levels: tuple[int, ...]) -> Array:
    """An indicator column for each category; (n, m)."""
    found = [codes[:, j, None] == np.arange(level) for j, level in enumerate(levels)]
    return np.hstack(found).astype(float) if found else np.empty((len(codes), 0))


@dataclass(frozen=True, eq=False)
class Mixture:
    """Weights, means and covariances of numbers, and probabilities of categories."""

    kind: str
    weights: Array  # (k,)
    means: Array  # (k, p)
    covariances: Array  # (k, p, p)
    log_probabilities: Array  # (k, m)

    @property
    def n_components(self) -> int:
        return len(self.weights)

    def joint(self, table: Table, given: "list[Conditional] | None" = None) -> Array:
        """``log π_k p_k(x)`` of the observed cells of each row; (n, k)."""
        found = table.indicators @ self.log_probabilities.T + np.log(self.weights)
        if not table.n_numbers:
            return np.asarray(found)
        if "diag" in self.kind:
            return np.asarray(found + self._independent(table.numbers))
        given = given or self.conditionals(table.numbers)
        for k, mean in enumerate(self.means):
            found[:, k] += table.numbers.log_densities(mean, given[k])
        return np.asarray(found)

    def _independent(self, rows: RowsByPattern) -> Array:
        precision = 1 / np.diagonal(self.covariances, axis1=1, axis2=2)  # (k, p)
        observed = rows.observed.astype(float)
        constant = self.means**2 * precision - np.log(precision) + LOG_2PI
        linear = rows.values @ (self.means * precision).T
        return linear - (rows.values**2 @ precision.T + observed @ constant.T) / 2

    def conditionals(self, rows: RowsByPattern) -> "list[Conditional]":
        """Covariances restricted to each pattern of gaps."""
        if self.kind == "tied":
            return [rows.conditional(self.covariances[0])] * self.n_components
        return [rows.conditional(one) for one in self.covariances]

    def log_densities(self, table: Table) -> Array:
        return np.asarray(log_sum_exp(self.joint(table), axis=1))

    def labels(self, table: Table) -> Labels:
        return np.asarray(self.joint(table).argmax(axis=1))

    def responsibilities(self, table: Table) -> Array:
        joint = self.joint(table)
        return np.asarray(np.exp(joint - log_sum_exp(joint, axis=1)[:, None]))

    def n_parameters(self, levels: tuple[int, ...]) -> int:
        k, p = self.means.shape
        each = {"tied_diag": p, "diag": k * p, "tied": p * (p + 1) // 2}
        spread = each.get(self.kind, k * p * (p + 1) // 2)
        return int(k - 1 + k * p + spread + k * (sum(levels) - len(levels)))


class Prior(NamedTuple):
    """The pseudo-rows of the prior."""

    covariance: Array  # (p, p)  of one cloud
    probabilities: Array  # (m,)  of the categories of the table


def prior_of(table: Table) -> Prior:
    """The prior: the whole table as one cloud."""
    scatter = fitted_normal(table.numbers).scatter if table.n_numbers else np.empty((0, 0))
    return Prior(scatter, _shares(table.indicators.sum(axis=0) + 0.5, table.levels))


class Fit(NamedTuple):
    """A mixture and the log-likelihood of the rows it was fitted to."""

    mixture: Mixture
    log_likelihood: float


def fitted(
    table: Table,
    kind: str,
    starts: list[Array],
    prior: Prior,
    filled: Table | None = None,
    passes: int = PASSES,
) -> Fit | None:
    """The best EM fit from several responsibilities (n, k); None if a component is empty.

    Of several starts only the best after a few passes goes on; these passes see rows whose gaps
    are ``filled``, which takes a fraction of the time.
    """
    if len(starts) > 1:
        few = [_climbed(filled or table, kind, one, prior, SCREENING_PASSES) for one in starts]
        best = max((one for one in few if one), key=lambda one: one.log_likelihood, default=None)
        starts = [best.mixture.responsibilities(table)] if best else []
    return _climbed(table, kind, starts[0], prior, passes) if starts else None


def _climbed(table: Table, kind: str, start: Array, prior: Prior, passes: int) -> Fit | None:
    least = table.n_numbers + 1 if kind == "full" else SMALLEST_NORMAL
    given, before = start, -np.inf
    mixture, seen = None, list[Conditional]()
    for _ in range(passes):
        if (given.sum(axis=0) < least).any():
            return None
        mixture = _m_step(table, kind, given, mixture, seen, prior)
        seen = [] if "diag" in kind or not table.n_numbers else mixture.conditionals(table.numbers)
        joint = mixture.joint(table, seen)
        rows = log_sum_exp(joint, axis=1)
        given = np.exp(joint - rows[:, None])
        now = float(rows.mean())
        if now - before < TOLERANCE:
            break
        before = now
    return Fit(mixture, now * table.n_rows) if mixture else None


def _m_step(
    table: Table,
    kind: str,
    given: Array,
    last: Mixture | None,
    seen: list[Conditional],
    prior: Prior,
) -> Mixture:
    k, total = given.shape[1], given.sum(axis=0)
    if not table.n_numbers:
        means, covariances = np.empty((k, 0)), np.empty((k, 0, 0))
    elif "diag" in kind:
        means, covariances = _diagonal(table.numbers, kind, given, prior)
    else:
        if last is None and not table.numbers.complete:
            seen = [table.numbers.conditional(prior.covariance)] * k
        means, covariances = _correlated(table.numbers, kind, given, last, seen, prior)
    counts = given.T @ table.indicators + PRIOR_ROWS * prior.probabilities
    shares = _shares(counts, table.levels)
    return Mixture(kind, total / total.sum(), means, covariances, np.log(shares))


def _diagonal(rows: RowsByPattern, kind: str, given: Array, prior: Prior) -> tuple[Array, Array]:
    observed, values = rows.observed.astype(float), rows.values
    count = np.maximum(given.T @ observed, 1e-9)  # (k, p)
    means = given.T @ values / count
    squares = np.maximum(given.T @ values**2 - count * means**2, 0.0)
    if kind == "tied_diag":
        squares = np.broadcast_to(squares.sum(axis=0), squares.shape)
        count = np.broadcast_to(count.sum(axis=0), count.shape)
    typical = squares.sum(axis=0) / count.sum(axis=0) + FLOOR * np.diag(prior.covariance)
    variances = (squares + PRIOR_ROWS * typical) / (count + PRIOR_ROWS)
    return means, variances[:, :, None] * np.eye(values.shape[1])


def _correlated(
    rows: RowsByPattern,
    kind: str,
    given: Array,
    last: Mixture | None,
    seen: list[Conditional],
    prior: Prior,
) -> tuple[Array, Array]:
    k, p = given.shape[1], rows.values.shape[1]
    means, scatter = np.empty((k, p)), np.empty((k, p, p))
    total = given.sum(axis=0)
    for j in range(k):
        r = given[:, j]
        if rows.complete:
            filled, missing = rows.values, np.zeros((p, p))
        else:
            mean = _observed_mean(rows, r) if last is None else last.means[j]
            filled, missing = rows.expected(mean, seen[j]), rows.remainder(seen[j], r)
        means[j] = r @ filled / total[j]
        deviation = filled - means[j]
        scatter[j] = (deviation * r[:, None]).T @ deviation + missing
    if kind == "tied":
        scatter = np.broadcast_to(scatter.sum(axis=0), scatter.shape)
        total = np.full(k, total.sum())
    typical = scatter.sum(axis=0) / total.sum() + FLOOR * prior.covariance
    weight = (total + PRIOR_ROWS)[:, None, None]
    return means, (scatter + PRIOR_ROWS * typical) / weight


def _observed_mean(rows: RowsByPattern, r: Array) -> Array:
    return np.asarray(r @ rows.values / np.maximum(r @ rows.observed, 1e-9))


def _shares(counts: Array, levels: tuple[int, ...]) -> Array:
    ends = np.cumsum(levels)[:-1]
    parts = np.split(counts, ends, axis=-1) if levels else []
    found = [part / part.sum(axis=-1, keepdims=True) for part in parts]
    return np.concatenate(found, axis=-1) if found else np.empty((*counts.shape[:-1], 0))


MOST_IN_TREE = 600
"""Rows up to which Ward's tree is cut as well: it takes all pairs of rows."""
RUNS = 6
"""Runs of k-means from different centres, of which the tightest is taken."""
SHARE = 0.9
"""Of a row, that starts in the group it was put in; the rest is spread over all."""


@dataclass(frozen=True, eq=False)
class Starts:
    """Views of the rows for k-means, and hierarchical clusterings of them."""

    views: tuple[Array, ...]  # (n, f) each
    trees: tuple[Array, ...]
    filled: Table  # the rows without gaps among the numbers

    @classmethod
    def of(cls, table: Table, seed: int) -> "Starts":
        """Gaps of numbers are filled by draws from one normal cloud; categories are indicators."""
        rng = np.random.default_rng(seed)
        views: list[Array] = []
        whole = table
        categories = _scaled(table.indicators)
        if table.n_numbers:
            normal = fitted_normal(table.numbers)
            filled = normal.drawn(table.numbers, rng)
            whole = Table(RowsByPattern.of(filled), table.indicators, table.levels)
            views.append(np.hstack([_scaled(filled), categories]))
            if table.n_numbers > 1:
                values, vectors = np.linalg.eigh(np.cov(filled.T))
                sphered = (filled - filled.mean(axis=0)) @ vectors / np.sqrt(values + 1e-9)
                views.append(np.hstack([sphered, categories]))
        else:
            views.append(categories)
        few = table.n_rows <= MOST_IN_TREE
        trees = [linkage(view, "ward") for view in views] if few else []
        return cls(tuple(views), tuple(trees), whole)

    def responsibilities(self, k: int, seed: int) -> list[Array]:
        labels = [_k_means(view, k, seed) for view in self.views]
        labels += [fcluster(tree, k, "maxclust").astype(np.intp) - 1 for tree in self.trees]
        found = [np.eye(k)[one] for one in labels if len(np.unique(one)) == k]
        return [SHARE * one + (1 - SHARE) / k for one in found]


def _k_means(view: Array, k: int, seed: int) -> Labels:
    """The tightest of several runs; labels (n,)."""
    random, once = np.random.default_rng(seed), np.ones(len(view))
    best, least = np.zeros(len(view), dtype=np.intp), np.inf
    for _ in range(RUNS):
        labels = k_means(view, once, k, random).argmax(axis=1)
        member = np.eye(k)[labels]
        centres = member.T @ view / np.maximum(member.sum(axis=0), 1.0)[:, None]
        within = float(np.square(view - centres[labels]).sum())
        if within < least:
            best, least = labels, within
    return best


def _scaled(table: Array) -> Array:
    return np.asarray((table - table.mean(axis=0)) / np.maximum(table.std(axis=0), 1e-9))
