"""Flexible models of a single cloud, fitted to rows with gaps.

A normal, a multivariate t, an elliptical cloud whose radius has any one-peaked law, and a curved
chain of regressions, on the columns, on their scores and along the principal axes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtri_exp
from scipy.stats import chi2

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.diagnostics.cluster_tendency.preprocessing import (
    LOG_2PI,
    N_PARAMETERS,
    Margin,
    fitted_margin,
    fitted_margins,
    scores,
)


class Conditional(NamedTuple):
    """A normal distribution restricted to each pattern of gaps."""

    inverse: Array  # (g, d, d)  of the covariance of the observed columns, zero elsewhere
    log_determinant: Array  # (g,)  of that covariance
    regression: Array  # (g, d, d)  of all columns on the observed ones
    remainder: Array  # (g, d, d)  covariance of all columns given the observed ones


@dataclass(frozen=True, eq=False)
class RowsByPattern:
    """Rows grouped by the pattern of their gaps."""

    values: Array  # (n, d)  zero in the gaps
    observed: Mask  # (n, d)
    patterns: Mask  # (g, d)
    pattern: Labels  # (n,)

    @classmethod
    def of(cls, table: Array) -> "RowsByPattern":
        """Of a table (n, d) with NaN in the gaps."""
        observed = ~np.isnan(table)
        if observed.all():
            pattern = np.zeros(len(table), dtype=np.intp)
            return cls(table, observed, np.ones((1, table.shape[1]), dtype=bool), pattern)
        patterns, pattern = np.unique(observed, axis=0, return_inverse=True)
        return cls(np.where(observed, table, 0.0), observed, patterns, pattern.ravel())

    @property
    def complete(self) -> bool:
        return bool(self.observed.all())

    @property
    def n_observed(self) -> Array:
        return np.asarray(self.observed.sum(axis=1).astype(float))

    def conditional(self, covariance: Array) -> Conditional:
        seen = self.patterns[:, :, None] & self.patterns[:, None, :]
        eye = np.eye(len(covariance))
        within = np.where(seen, covariance, eye * ~self.patterns[:, :, None])
        inverse = np.where(seen, np.linalg.inv(within), 0.0)
        _, log_determinant = np.linalg.slogdet(within)
        regression = covariance @ inverse
        remainder = covariance - regression @ covariance
        return Conditional(inverse, log_determinant, regression, remainder)

    def distances(self, mean: Array, given: Conditional) -> Array:
        """Squared Mahalanobis distances of the observed cells from a mean (d,); (n,)."""
        deviation = np.where(self.observed, self.values - mean, 0.0)
        if len(self.patterns) == 1:
            return np.asarray(np.einsum("ni,ni->n", deviation @ given.inverse[0], deviation))
        scaled = np.einsum("nij,nj->ni", given.inverse[self.pattern], deviation)
        return np.asarray(np.einsum("ni,ni->n", scaled, deviation))

    def log_densities(self, mean: Array, given: Conditional) -> Array:
        distances = self.distances(mean, given)
        constant = given.log_determinant[self.pattern] + self.n_observed * LOG_2PI
        return -(distances + constant) / 2

    def expected(self, mean: Array, given: Conditional) -> Array:
        """Rows (n, d) with gaps filled by conditional expectations."""
        if self.complete:
            return self.values
        deviation = np.where(self.observed, self.values - mean, 0.0)
        filled = mean + np.einsum("nij,nj->ni", given.regression[self.pattern], deviation)
        return np.where(self.observed, self.values, filled)

    def remainder(self, given: Conditional, weights: Array) -> Array:
        """The sum of conditional covariances of gaps, with row weights (n,); (d, d)."""
        total = np.bincount(self.pattern, weights, minlength=len(self.patterns))
        return np.asarray(np.einsum("g,gij->ij", total, given.remainder))


def log_sum_exp(values: Array, axis: int) -> Array:
    """``log Σ exp`` of finite values; SciPy's, which also takes infinities, is ten times slower."""
    largest = values.max(axis=axis, keepdims=True)
    total = np.log(np.exp(values - largest).sum(axis=axis))
    return np.asarray(total + largest.squeeze(axis))


DEGREES = (3.0, 5.0, 9.0, 18.0)
"""Degrees of freedom that are tried for a multivariate t."""
PASSES, TOLERANCE = 60, 5e-5
"""Most EM passes, and the gain in nats a row below which they end."""
FARTHEST = 35.0
"""Normal scores beyond which probabilities are below what a float can hold."""
RIDGE = 1e-6
"""Added to variances of standardised columns, as a share of them."""


@dataclass(frozen=True, eq=False)
class Elliptical:
    """Location and scatter; ``degrees`` is infinite for a normal distribution."""

    mean: Array  # (d,)
    scatter: Array  # (d, d)
    degrees: float = np.inf

    @property
    def n_parameters(self) -> int:
        d = len(self.mean)
        return d + d * (d + 1) // 2 + int(np.isfinite(self.degrees))

    def log_densities(self, rows: RowsByPattern, given: Conditional | None = None) -> Array:
        given = given or rows.conditional(self.scatter)
        if not np.isfinite(self.degrees):
            return rows.log_densities(self.mean, given)
        nu, m = self.degrees, rows.n_observed
        distances = rows.distances(self.mean, given)
        constant = gammaln((nu + m) / 2) - gammaln(nu / 2) - m / 2 * np.log(nu * np.pi)
        constant = constant - given.log_determinant[rows.pattern] / 2
        return np.asarray(constant - (nu + m) / 2 * np.log1p(distances / nu))

    def drawn(self, rows: RowsByPattern, rng: np.random.Generator) -> Array:
        """Rows (n, d) with their gaps filled by draws given the observed cells, if normal."""
        if rows.complete:
            return rows.values
        given, d = rows.conditional(self.scatter), len(self.mean)
        jitter = 1e-9 * np.trace(self.scatter) / d * np.eye(d)
        # Ones on the diagonal where columns are observed, so that the rest can be factorised.
        seen = np.eye(d) * rows.patterns[:, :, None]
        roots = np.linalg.cholesky(given.remainder + jitter + seen)
        noise = np.einsum("nij,nj->ni", roots[rows.pattern], rng.normal(size=rows.values.shape))
        return np.where(rows.observed, rows.values, rows.expected(self.mean, given) + noise)


def fitted_normal(rows: RowsByPattern) -> Elliptical:
    """The maximum-likelihood normal distribution."""
    return fitted_elliptical(rows, np.inf)


def fitted_diagonal(rows: RowsByPattern) -> Elliptical:
    """The maximum-likelihood normal distribution with independent columns."""
    n = np.maximum(rows.observed.sum(axis=0), 1)
    mean = rows.values.sum(axis=0) / n
    variance = np.where(rows.observed, (rows.values - mean) ** 2, 0.0).sum(axis=0) / n
    return Elliptical(mean, np.diag(variance + 1e-12))


def fitted_elliptical(
    rows: RowsByPattern, degrees: float, start: Elliptical | None = None
) -> Elliptical:
    """Maximum-likelihood location and scatter by EM, with weights of rows."""
    model = start or fitted_diagonal(rows)
    mean, scatter = model.mean, model.scatter
    n, before = len(rows.values), -np.inf
    floor = RIDGE * np.diag(np.diag(fitted_diagonal(rows).scatter))
    for _ in range(PASSES):
        model = Elliptical(mean, scatter, degrees)
        given = rows.conditional(scatter)
        now = float(model.log_densities(rows, given).mean())
        if now - before < TOLERANCE:
            break
        before = now
        weights = np.ones(n)
        if np.isfinite(degrees):
            weights = (degrees + rows.n_observed) / (degrees + rows.distances(mean, given))
        filled = rows.expected(mean, given)
        mean = weights @ filled / weights.sum()
        deviation = filled - mean
        # What is missing varies by the scatter over the row's weight, which cancels it here.
        scatter = (deviation * weights[:, None]).T @ deviation
        scatter = (scatter + rows.remainder(given, np.ones(n))) / n + floor
    return Elliptical(mean, scatter, degrees)


@dataclass(frozen=True, eq=False)
class Radial:
    """An elliptical distribution with any unimodal distribution of the radius.

    The squared radius of a normal row is chi-squared, so that the probability of a smaller one is
    uniform and its normal score ``w`` standard normal; here ``w`` has a sinh-arcsinh distribution.
    Balls, shells and heavy tails are such clouds. With gaps, the observed cells are.
    """

    normal: Elliptical
    radius: Margin

    @property
    def n_parameters(self) -> int:
        return self.normal.n_parameters + 4

    def log_densities(self, rows: RowsByPattern) -> Array:
        w = _radius_scores(self.normal, rows)
        z, log_jacobian = self.radius.scores(w)
        own = -(z**2) / 2 + log_jacobian + w**2 / 2
        return np.asarray(self.normal.log_densities(rows) + own)


def fitted_radial(rows: RowsByPattern, normal: Elliptical) -> Radial:
    """The maximum-likelihood radius around a normal distribution's mean and scatter."""
    return Radial(normal, fitted_margin(_radius_scores(normal, rows)))


def _radius_scores(normal: Elliptical, rows: RowsByPattern) -> Array:
    """Normal scores (n,) of the probability of a smaller radius."""
    given = rows.conditional(normal.scatter)
    squared, m = rows.distances(normal.mean, given), rows.n_observed
    lower, upper = chi2.logcdf(squared, m), chi2.logsf(squared, m)
    found = np.where(lower < upper, ndtri_exp(lower), -ndtri_exp(upper))
    return np.clip(found, -FARTHEST, FARTHEST)


LINE, BEND = 2.0, 15.0
"""Prior rows that hold the slopes, and the bends, of the mean of a standardised column at zero."""
OF_VARIANCE = 20.0
"""How much stronger slopes and bends of the log-variance are held."""
LIMIT = 4.0
"""Scores are cut off there before they bend anything: squares of outliers would decide all."""
MOST_LOG_VARIANCE = 4.0  # of a score: variances from 1/55 to 55, so that none overflows
ROUNDS, STEPS = 3, 4
"""Times that mean and variance are fitted in turn, and scoring steps of the variance in each."""


@dataclass(frozen=True, eq=False)
class Link:
    """The regression of one column on earlier ones."""

    column: int
    earlier: Labels  # (j,)
    mean: Array  # (f,)
    log_variance: Array  # (f + j,)


@dataclass(frozen=True, eq=False)
class Chain:
    """Regressions of columns on earlier ones; gaps are filled by a normal distribution."""

    links: tuple[Link, ...]
    normal: Elliptical

    @property
    def n_parameters(self) -> int:
        return sum(2 * len(link.mean) for link in self.links)

    def log_densities(self, rows: RowsByPattern) -> Array:
        found = np.zeros(len(rows.values))
        for link in self.links:
            features, of_variance = _features(rows, self.normal, link.earlier)
            log_variance = _bounded(of_variance @ link.log_variance)
            deviation = rows.values[:, link.column] - features @ link.mean
            own = -(deviation**2 / np.exp(log_variance) + log_variance + LOG_2PI) / 2
            found += np.where(rows.observed[:, link.column], own, 0.0)
        return found


def fitted_chain(rows: RowsByPattern, normal: Elliptical, order: Sequence[int]) -> Chain:
    """The chain of regressions in this order of columns."""
    links = (
        _link(rows, normal, np.array(order[:j], dtype=np.intp), c) for j, c in enumerate(order)
    )
    return Chain(tuple(links), normal)


def chain_orders(normal: Elliptical) -> list[list[int]]:
    """Columns ordered by the first principal component, and the reverse.

    Unlike the order of the columns in the table, this does not change when they are moved.
    """
    spread = np.sqrt(np.diag(normal.scatter))
    _, vectors = np.linalg.eigh(normal.scatter / np.outer(spread, spread))
    order = list(np.argsort(-np.abs(vectors[:, -1]), kind="stable"))
    return [order, order[::-1]] if len(order) > 1 else [order]


def _link(rows: RowsByPattern, normal: Elliptical, earlier: Labels, column: int) -> Link:
    seen = rows.observed[:, column]
    features, of_variance = (one[seen] for one in _features(rows, normal, earlier))
    y, j = rows.values[seen, column], len(earlier)
    held = np.concatenate([[0.0], np.full(j, LINE), np.full(2 * j, BEND)])
    held_variance = OF_VARIANCE * np.concatenate([held, np.full(j, LINE / OF_VARIANCE)])
    gamma = np.zeros(of_variance.shape[1])
    beta = np.zeros(features.shape[1])
    for _ in range(ROUNDS):
        weights = np.exp(-_bounded(of_variance @ gamma))
        weights = weights / weights.mean()
        beta = _ridge(features, weights, y, held)
        squares = (y - features @ beta) ** 2
        for _ in range(STEPS):
            s = _bounded(of_variance @ gamma)
            target = s + np.clip(squares * np.exp(-s) - 1, -1, 3)
            gamma = _ridge(of_variance, np.full(len(y), 0.5), target, held_variance / 2)
    gamma[0] += np.log(np.mean(squares * np.exp(-_bounded(of_variance @ gamma))))
    return Link(column, earlier, beta, gamma)


def _ridge(features: Array, weights: Array, target: Array, held: Array) -> Array:
    weighted = features * weights[:, None]
    gram = weighted.T @ features + np.diag(held + 1e-9)
    return np.asarray(np.linalg.solve(gram, weighted.T @ target))


def _bounded(log_variance: Array) -> Array:
    return np.clip(log_variance, -MOST_LOG_VARIANCE, MOST_LOG_VARIANCE)


def _features(rows: RowsByPattern, normal: Elliptical, earlier: Labels) -> tuple[Array, Array]:
    """Features ``1, z, |z|, z²`` of earlier columns (n, f), and which are missing.

    Gaps among the earlier columns are filled by what the other earlier ones let expect.
    """
    observed = rows.observed[:, earlier]
    part = RowsByPattern.of(np.where(observed, rows.values[:, earlier], np.nan))
    if len(earlier) and not part.complete:
        own = Elliptical(normal.mean[earlier], normal.scatter[np.ix_(earlier, earlier)])
        values = part.expected(own.mean, part.conditional(own.scatter))
    else:
        values = part.values
    z = np.clip(values, -LIMIT, LIMIT)
    ones = np.ones((len(z), 1))
    features = np.column_stack([ones, z, np.abs(z) - np.sqrt(2 / np.pi), z**2 - 1])
    return features, np.column_stack([features, ~observed])


Density = Elliptical | Radial | Chain


class Cloud(NamedTuple):
    """A single-cloud model, fitted to training rows."""

    name: str
    n_parameters: int
    of_train: Array  # (n,)  log-densities of the rows it was fitted to
    of_test: Array  # (m,)  of others


def clouds_of_numbers(train: Array, test: Array) -> Iterator[Cloud]:
    """Single-cloud models of columns, of their normal scores, and along principal axes."""
    yield from _of_view(train, test, "")
    if train.shape[1] > 1 and not (np.isnan(train).any() or np.isnan(test).any()):
        mean = train.mean(axis=0)
        _, vectors = np.linalg.eigh(np.cov(train.T))
        vectors = vectors[:, ::-1]  # a rotation, so that densities stay
        yield from _of_view((train - mean) @ vectors, (test - mean) @ vectors, " on principal axes")


def _of_view(train: Array, test: Array, view: str) -> Iterator[Cloud]:
    rows, others = RowsByPattern.of(train), RowsByPattern.of(test)
    if not view:
        for name, model in _models(rows):
            yield Cloud(
                name, _n(name, model), model.log_densities(rows), model.log_densities(others)
            )
    margins = fitted_margins(train)
    (z, log_jacobian), (other_z, other_jacobian) = scores(margins, train), scores(margins, test)
    rows, others = RowsByPattern.of(z), RowsByPattern.of(other_z)
    of_margins = N_PARAMETERS * train.shape[1]
    for name, model in _models(rows, curved=True):
        yield Cloud(
            f"{name} of scores{view}",
            of_margins + _n(name, model) - 2 * train.shape[1],
            model.log_densities(rows) + log_jacobian,
            model.log_densities(others) + other_jacobian,
        )


def _n(name: str, model: Density) -> int:
    """Free parameters; off the diagonal there are none in independent columns."""
    d = len(model.mean) if isinstance(model, Elliptical) else 0
    return 2 * d if name == "independent columns" else model.n_parameters


def _models(rows: RowsByPattern, *, curved: bool = False) -> Iterator[tuple[str, Density]]:
    yield "independent columns", fitted_diagonal(rows)
    if rows.values.shape[1] < 2:
        return
    normal = fitted_normal(rows)
    yield "normal", normal
    yield "free radius", fitted_radial(rows, normal)
    for degrees in DEGREES:
        yield f"t{degrees:.0f}", fitted_elliptical(rows, degrees, normal)
    for order in chain_orders(normal) if curved else ():
        yield "curved", fitted_chain(rows, normal, order)
