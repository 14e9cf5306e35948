"""Factor analysers: normal columns correlated through a few shared factors."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from halfseen.data.arrays import Array, Labels
from halfseen.data.compiled import njit
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.products import upper_pairs
from halfseen.data.rows import Block, Rows
from halfseen.distributions.correlated_normal import CorrelatedNormal
from halfseen.distributions.covariances import (
    LEAST,
    collapsed_variances,
    common_variances,
    log_prior_of_variances,
)
from halfseen.distributions.emission import Step
from halfseen.distributions.outlier_limits import OutlierLimits, OutlierParameters, inside, limits
from halfseen.inference.model import Cells
from halfseen.inference.parameters import ANY, POSITIVE, SHARE, SHOWN, learned
from halfseen.moments.survey import Survey

FOLLOWS: Any = None


@dataclass(frozen=True, eq=False)
class FactorParameters(OutlierParameters):
    """``x = μ_k + s_k∘(Λ z + e)`` with probability π_k, ``z ~ N(0, I)``, ``e ~ N(0, diag ψ)``.

    s are standard deviations: rows of Λ and ψ, which all components share, have
    ``|λ_d|² + ψ_d = 1``.
    """

    weights: Array = learned("weights_", "k", SHARE)  # π
    means: Array = learned("means_", "kd", ANY)  # μ
    spreads: Array = learned("standard_deviations_", "kd", POSITIVE, 0.0)  # s
    pattern: Array = learned("shared_loadings_", "dq", ANY, 0.0)  # Λ
    loadings: Array = learned("loadings_", "kdq", ANY, 0.0, SHOWN, default=FOLLOWS)  # s Λ
    noise: Array = learned("noise_variances_", "kd", POSITIVE, 0.0, SHOWN, default=FOLLOWS)  # s² ψ

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "loadings", self.spreads[:, :, None] * self.pattern)
        object.__setattr__(self, "noise", self.spreads**2 * self.own)

    @property
    def own(self) -> Array:
        """``ψ``: the unique variance of each feature; (d,)."""
        left: Array = 1 - np.sum(self.pattern**2, axis=1)
        return left

    @property
    def variances(self) -> Array:
        """Variances of each feature in each component; (k, d)."""
        return self.spreads**2


# What rows say of the factors behind them, by matrix products over blocks.
#
# With m the cells that are there and ``y = (x - μ_k) / s_k``,
# ``G = I + Σ_d m_d λ_d λ_d'/ψ_d`` does not depend on the component, ``b_k = Σ_d m_d λ_d y_d/ψ_d``,
# and ``z | x, k ~ N(G⁻¹ b_k, G⁻¹)``.

LOG_2PI = math.log(2 * math.pi)


class Factors(NamedTuple):
    """The posterior of each row's factors under each component."""

    log_densities: Array  # (n, k)
    squares: Array  # (n, k)   distances from the means
    expected: Array  # (n, k, q)
    uncertain: Array  # (n, t)  G⁻¹, entries of the upper triangle
    values: Array  # (n, d)   from the middle, zero in the gaps
    there: Array  # (n, d)


def middle_of(parameters: FactorParameters) -> Array:
    """The origin from which values are measured to keep precision; (d,)."""
    middle: Array = parameters.weights @ parameters.means
    return middle


def factors_of(block: Block, parameters: FactorParameters) -> Factors:
    """The posterior of factors of a block's rows."""
    k, q = len(parameters.weights), parameters.pattern.shape[1]
    origin, own = middle_of(parameters), parameters.own
    x, there = block.about(origin), block.observed.astype(float)
    left, right = upper_pairs(q)
    scaled = parameters.pattern / own[:, None]  # (d, q)  λ / ψ
    means, precision = parameters.means - origin, 1 / (parameters.spreads**2 * own)
    gram = there @ (scaled[:, left] * parameters.pattern[:, right])
    # Columns of one product each: all components side by side.
    onto = (scaled[None] / parameters.spreads[:, :, None]).transpose(1, 0, 2).reshape(-1, k * q)
    shift = means.T.repeat(q, axis=1) * onto
    b = (x @ onto - there @ shift).reshape(-1, k, q)
    squares = (x * x) @ precision.T - 2 * (x @ (means * precision).T)
    squares += there @ (means**2 * precision).T
    dets = there @ np.log(parameters.spreads**2 * own).T
    expected, gain = np.empty((len(block), k, q)), np.empty((len(block), k))
    uncertain, log_det = np.empty_like(gram), np.empty(len(block))
    _solved(np.ascontiguousarray(gram), np.ascontiguousarray(b), expected, gain, uncertain, log_det)
    squares -= gain
    size = dets + log_det[:, None] + LOG_2PI * there.sum(axis=1)[:, None]
    return Factors(-0.5 * (squares + size), squares, expected, uncertain, x, there)


def summed(found: Factors, shares: Array) -> tuple[Array, ...]:
    """Sums for the M-step, given responsibilities ``shares`` (n, k).

    Σr m, Σr x, Σr x² (k, d), Σr m z, Σr x z (k, d, q) and Σr m zz' (k, d, t), of what is expected.
    """
    x, there = found.values, found.there
    weighed = shares[:, :, None] * found.expected
    both = np.empty((*shares.shape, found.uncertain.shape[1]))
    _weighed_squares(np.ascontiguousarray(shares), found.expected, found.uncertain, both)
    return (
        shares.T @ there,
        shares.T @ x,
        shares.T @ (x * x),
        _back(there, weighed),
        _back(x, weighed),
        _back(there, both),
    )


def _back(entries: Array, per_row: Array) -> Array:
    """``E' Y_k`` for each component, in one product; (k, d, m)."""
    n, k, m = per_row.shape
    product = entries.T @ per_row.reshape(n, k * m)
    return np.ascontiguousarray(product.reshape(-1, k, m).transpose(1, 0, 2))


@njit(cache=True, nogil=True, error_model="numpy")
def _weighed_squares(
    shares: Array, expected: Array, uncertain: Array, out: Array
) -> None:  # pragma: no cover - compiled
    """``r (z z' + G⁻¹)`` of each row and component, entries of the upper triangle; (n, k, t)."""
    n, k, q = expected.shape
    for r in range(n):
        for c in range(k):
            share, place = shares[r, c], 0
            for i in range(q):
                for j in range(i, q):
                    square = expected[r, c, i] * expected[r, c, j]
                    out[r, c, place] = share * (square + uncertain[r, place])
                    place += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _solved(
    gram: Array, b: Array, expected: Array, gain: Array, uncertain: Array, log_det: Array
) -> None:  # pragma: no cover - compiled
    """``G⁻¹ b``, ``b' G⁻¹ b``, ``G⁻¹`` and ``log |G|``, from ``G - I`` in ``gram`` (n, t)."""
    n, k, q = b.shape
    a, inverse = np.empty((q, q)), np.zeros((q, q))
    for r in range(n):
        place = 0
        for i in range(q):
            for j in range(i, q):
                a[j, i] = gram[r, place] + (1.0 if i == j else 0.0)
                place += 1
        total = 0.0
        for j in range(q):
            for i in range(j, q):
                left = a[i, j]
                for p in range(j):
                    left -= a[i, p] * a[j, p]
                if i == j:
                    a[j, j] = math.sqrt(left)
                    total += 2 * math.log(a[j, j])
                else:
                    a[i, j] = left / a[j, j]
        log_det[r] = total
        for i in range(q):  # L⁻¹
            inverse[i, i] = 1 / a[i, i]
            for j in range(i):
                left = 0.0
                for p in range(j, i):
                    left -= a[i, p] * inverse[p, j]
                inverse[i, j] = left / a[i, i]
        place = 0
        for i in range(q):
            for j in range(i, q):
                left = 0.0
                for p in range(j, q):
                    left += inverse[p, i] * inverse[p, j]
                uncertain[r, place] = left
                a[i, j] = left
                a[j, i] = left
                place += 1
        for c in range(k):
            square = 0.0
            for i in range(q):
                left = 0.0
                for j in range(q):
                    left += a[i, j] * b[r, c, j]
                expected[r, c, i] = left
                square += left * b[r, c, i]
            gain[r, c] = square


def whole(upper: Array, q: int) -> Array:
    """Symmetric matrices (..., q, q) from their upper triangles."""
    left, right = upper_pairs(q)
    matrices = np.empty((*upper.shape[:-1], q, q))
    matrices[..., left, right] = upper
    matrices[..., right, left] = upper
    return matrices


# What is likeliest of factors, feature by feature, from what an E-step sums, with a prior.
#
# Given the factors cells are independent, so that each feature has a regression of its own. In turn
# μ and λ, then ψ, then μ and s are where the penalised likelihood is highest given the others,
# which so never falls (ECM: X.-L. Meng, D. Rubin 1993). The variances s² of each feature have the
# prior of :mod:`halfseen.distributions.covariances`; loadings have a ridge in units of what they
# leave, so that no feature is explained whole.

LEAST_OWN = 1e-3
"""Of a feature's variance, that no factor explains at least (a Heywood case would explain all)."""
ALIKE_ROWS = 0.3
"""Of the prior on variances, in rows of each component."""
LOADING_ROWS = 1.0
"""ν, in rows of the table, of the ridge ``-ν/2 Σ_d |λ_d|²/ψ_d`` on loadings beside what is left."""
NEWTON_STEPS = 30
AT_REST = 1e-12


def maximised(
    weights: Array, sums: tuple[Array, ...], before: FactorParameters, strength: float, floor: Array
) -> FactorParameters:
    """One round of conditional maximisation, with priors of a ``strength``.

    No cell has less than ``floor`` (d,) that no factor explains.
    """
    origin, q = middle_of(before), before.pattern.shape[1]
    count, first, second, factor, cross, upper = sums
    square = whole(upper, q)
    n = np.maximum(count, 1e-12)
    # About the best means: c = Σ r (x - x̄) z, C = Σ r (z - z̄)(z - z̄)', a = Σ r (x - x̄)².
    c = cross - (first / n)[:, :, None] * factor
    big = square - factor[:, :, :, None] * (factor / n[:, :, None])[:, :, None, :]
    a = np.maximum(second - first**2 / n, 0.0)
    s = before.spreads
    ridge = strength * LOADING_ROWS
    normal = big.sum(axis=0) + ridge * np.eye(q)
    pattern = np.linalg.solve(normal, np.sum(c / s[:, :, None], axis=0)[:, :, None])[..., 0]
    along = np.einsum("kdq,dq->kd", c, pattern)
    explained = np.einsum("dp,kdpq,dq->kd", pattern, big, pattern)
    own = np.sum(a / s**2 - 2 * along / s + explained, axis=0) + ridge * np.sum(pattern**2, axis=1)
    own = own / n.sum(axis=0)
    least = LEAST_OWN / (1 - LEAST_OWN) * np.sum(pattern**2, axis=1)
    own = np.maximum.reduce([own, least, np.max(floor / s**2, axis=0), np.full_like(own, 1e-12)])
    common = common_variances(s**2)
    inverse = _inverse_spreads(count, a / own, along / own, common, strength * ALIKE_ROWS, 1 / s)
    inverse = np.minimum(inverse, np.sqrt(own / np.maximum(floor, 1e-300)))
    found = (first - np.einsum("kdq,dq->kd", factor, pattern) / inverse) / n
    means = np.where(count > 1e-10, origin + found, before.means)
    size = np.sum(pattern**2, axis=1) + own
    return replace(
        before,
        weights=weights,
        means=means,
        spreads=np.sqrt(size) / inverse,
        pattern=pattern / np.sqrt(size)[:, None],
    )


def _inverse_spreads(
    count: Array, squares: Array, along: Array, common: Array, rows: float, start: Array
) -> Array:
    """``t = 1/s`` where ``N log t - A t²/2 + B t - κ/2 (W t² + 1/(W t²))`` is highest; (k, d).

    That is concave; Newton's steps in log t are damped until they are small.
    """
    a, t = squares + rows * common, start.copy()
    known = (a > 0) & (count + rows > 0)
    a = np.where(known, a, 1.0)
    for _ in range(NEWTON_STEPS):
        pull = rows / (common * t**2)
        slope = np.where(known, count - a * t**2 + along * t + pull, 0.0)  # in log t
        safe = 2 * a * t**2 + np.abs(along) * t + 2 * pull
        bend = safe - (np.abs(along) + along) * t
        step = np.clip(slope / np.where(bend > safe / 4, bend, safe), -1.0, 1.0)
        t = t * np.exp(step)
        if np.abs(step).max(initial=0.0) < AT_REST:
            break
    return t


def log_prior(parameters: FactorParameters, strength: float) -> float:
    """What the priors add to the log-likelihood of all rows."""
    ratio = np.sum(parameters.pattern**2, axis=1) / parameters.own
    of_variances = log_prior_of_variances(parameters.variances, strength * ALIKE_ROWS)
    return of_variances - 0.5 * strength * LOADING_ROWS * float(ratio.sum())


MOST_EXPLAINED = 0.9
"""Of a feature's variance, to begin with."""
FEWEST_ROWS = 1e-3


def first_factors(some: MemoryRows, mean: Array, spread: Array, n_factors: int) -> Array:
    """Leading directions (d, q) of some rows, with gaps at the middle, as start loadings.

    Correlations of rows with gaps come out too small by how often cells are there; that is undone.
    """
    table = some.table if some.columns is None else some.table[:, some.columns]
    values = np.nan_to_num((table - mean) / spread)
    there = np.maximum(np.mean(~np.isnan(table), axis=0), FEWEST_ROWS)
    _, sizes, right = np.linalg.svd(values / np.sqrt(len(values)), full_matrices=False)
    found = np.zeros((len(mean), n_factors))
    some_factors = min(n_factors, len(sizes))
    noise = np.mean(sizes[some_factors:] ** 2) if some_factors < len(sizes) else 0.0
    strength = np.sqrt(np.maximum(sizes[:some_factors] ** 2 - noise, 1e-4))
    found[:, :some_factors] = (right[:some_factors].T * strength) / np.sqrt(there)[:, None]
    size = np.sum(found**2, axis=1)
    scale = np.sqrt(np.minimum(1.0, MOST_EXPLAINED / np.maximum(size, 1e-300)))
    loadings: Array = found * scale[:, None]
    return loadings


def turned(pattern: Array, own: Array) -> Array:
    """Loadings rotated so that ``Λ'ψ⁻¹Λ`` is diagonal, largest first."""
    _, vectors = np.linalg.eigh((pattern.T / own) @ pattern)
    found = pattern @ vectors[:, ::-1]
    largest = found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])]
    signed: Array = found * np.where(largest < 0, -1.0, 1.0)
    return signed


@dataclass(frozen=True, eq=False, kw_only=True)
class FactorNormal(CorrelatedNormal[FactorParameters]):
    """``x | k ~ N(μ_k, s_k∘(ΛΛ' + diag ψ)∘s_k)``, with numbers that grow with columns alone.

    Z. Ghahramani, G. Hinton (1996), The EM algorithm for mixtures of factor analyzers; here all
    components share the factors, and have spreads of their own.
    """

    n_factors: int

    def for_table(self, rows: Rows, kept: Survey) -> Self:
        """The same with bounds for means, and fewer factors than columns."""
        few = max(1, min(self.n_factors, len(kept.names) - 1))
        return replace(
            self, n_factors=few, outlier_limits=OutlierLimits.of(rows, kept, self.outliers)
        )

    def independent(self, weights: Array, means: Array, variances: Array) -> FactorParameters:
        pattern = np.zeros((means.shape[1], self.n_factors))
        return FactorParameters(
            weights=weights, means=means, spreads=np.sqrt(variances), pattern=pattern
        )

    def single(self, some: MemoryRows, mean: Array, variance: Array) -> FactorParameters:
        """One component with start loadings from some rows."""
        found = self.independent(np.ones(1), mean[None], variance[None])
        pattern = first_factors(some, mean, np.sqrt(variance), self.n_factors)
        return self.em_start(replace(found, pattern=pattern))

    def apart(self, alone: FactorParameters, weights: Array, means: Array) -> FactorParameters:
        means = np.clip(means, *limits(self.outlier_limits))
        between = weights @ (means - weights @ means) ** 2
        left = np.maximum(alone.variances[0] - between, LEAST * alone.variances[0])
        spreads = np.repeat(np.sqrt(left)[None], len(means), axis=0)
        return self.within(replace(alone, weights=weights, means=means, spreads=spreads))

    def log_densities(self, block: Block, parameters: FactorParameters) -> Array:
        block, alone = inside(block, parameters)
        found = factors_of(block, parameters).log_densities
        return found if alone is None else found + alone[:, None]

    def expect(self, parameters: FactorParameters) -> Step:
        """The E-step on a block without outlying cells."""

        def step(block: Block, log_weights: Array) -> tuple[float, Array, tuple[Array, ...]]:
            found = factors_of(block, parameters)
            joint = found.log_densities + log_weights
            highest = joint.max(axis=1, keepdims=True, initial=-np.inf)
            shares = np.exp(joint - highest)
            total = shares.sum(axis=1, keepdims=True)
            shares = block.weighed(shares / total)
            likelihood = block.weighed((np.log(total) + highest)[:, 0]).sum()
            return float(likelihood), shares.sum(axis=0), summed(found, shares)

        return step

    def given(self, block: Block, shares: Array, parameters: FactorParameters) -> tuple[Array, ...]:
        return summed(factors_of(block, parameters), shares)

    def prior(self, parameters: FactorParameters) -> float:
        """The log-prior of scales and unique variances.

        Without a prior places where a component shrinks to a point are ruled out.
        """
        if not self.strength and collapsed_variances(parameters.variances):
            return -np.inf
        return log_prior(parameters, self.strength)

    def maximise(
        self, weights: Array, sums: tuple[Array, ...], before: FactorParameters
    ) -> FactorParameters:
        return maximised(weights, sums, before, self.strength, self._floor(before))

    def _floor(self, parameters: FactorParameters) -> Array:
        if self.outlier_limits is None:
            return np.zeros(parameters.means.shape[1])
        return self.outlier_limits.floor(len(parameters.weights))

    def within(self, parameters: FactorParameters) -> FactorParameters:
        """Means within their bounds, and positive unique variances."""
        size = np.sum(parameters.pattern**2, axis=1)
        shrink = np.sqrt(np.minimum(1.0, (1 - LEAST_OWN) / np.maximum(size, 1e-300)))
        spreads = parameters.spreads
        if self.outlier_limits is not None:
            widest = self.outlier_limits.high - self.outlier_limits.low
            own = np.maximum(1 - np.minimum(size, 1 - LEAST_OWN), LEAST_OWN)
            spreads = np.clip(spreads, 1e-6 * widest, widest)
            spreads = np.maximum(spreads, np.sqrt(self._floor(parameters) / own))
        return replace(
            parameters,
            means=np.clip(parameters.means, *limits(self.outlier_limits)),
            spreads=spreads,
            pattern=parameters.pattern * shrink[:, None],
        )

    def finalised(self, rows: Rows, parameters: FactorParameters) -> FactorParameters:
        """The parameters with rotated loadings; the rotation changes no density."""
        return replace(parameters, pattern=turned(parameters.pattern, parameters.own))

    def units(self, parameters: FactorParameters) -> Mapping[str, Array]:
        return {"means": parameters.spreads, "pattern": np.ones(1)}

    def covariances(self, parameters: FactorParameters) -> Array:
        shared = parameters.pattern @ parameters.pattern.T + np.diag(parameters.own)
        s = parameters.spreads
        found: Array = shared * s[:, :, None] * s[:, None, :]
        return found

    def squares(self, block: Block, parameters: FactorParameters) -> Array:
        return factors_of(block, parameters).squares

    def expected(self, block: Block, shares: Array, parameters: FactorParameters) -> Cells:
        block, _ = inside(block, parameters)
        found, pattern = factors_of(block, parameters), parameters.pattern
        square = whole(found.uncertain, pattern.shape[1])
        unsure = np.einsum("npq,dp,dq->nd", square, pattern, pattern, optimize=True)
        unsure += parameters.own
        each = [
            mean + s * (z @ pattern.T)
            for mean, s, z in zip(
                parameters.means, parameters.spreads, found.expected.swapaxes(0, 1), strict=True
            )
        ]
        mean = sum(r[:, None] * one for r, one in zip(shares.T, each, strict=True))
        variance = (shares @ parameters.variances) * unsure
        for r, one in zip(shares.T, each, strict=True):
            variance += r[:, None] * (one - mean) ** 2
        there = block.observed
        return Cells(np.where(there, block.values, mean), np.where(there, 0.0, variance))

    def draw_given(
        self, block: Block, labels: Labels, parameters: FactorParameters, random: Any
    ) -> Array:
        block, _ = inside(block, parameters)
        found, q = factors_of(block, parameters), parameters.pattern.shape[1]
        root = np.linalg.cholesky(whole(found.uncertain, q))
        z = found.expected[np.arange(len(block)), labels]
        z = z + np.einsum("npq,nq->np", root, random.standard_normal(z.shape))
        drawn = self._from(z, parameters, labels, random)
        return np.where(block.observed, block.values, drawn)

    def alike(self, parameters: FactorParameters, like: FactorParameters) -> FactorParameters:
        left, _, right = np.linalg.svd(parameters.pattern.T @ like.pattern)
        return replace(parameters, pattern=parameters.pattern @ left @ right)

    def draw(self, parameters: FactorParameters, labels: Labels, random: Any) -> Array:
        z = random.standard_normal((len(labels), parameters.pattern.shape[1]))
        return self._from(z, parameters, labels, random)

    def _from(self, z: Array, parameters: FactorParameters, labels: Labels, random: Any) -> Array:
        own = np.sqrt(parameters.own)
        alike = z @ parameters.pattern.T + own * random.standard_normal((len(z), len(own)))
        rows: Array = parameters.means[labels] + parameters.spreads[labels] * alike
        return rows
