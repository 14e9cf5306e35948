"""Autocorrelation within sequences that hidden states leave unexplained.

Within a state rows are taken to be independent, and real ones are not: a patient whose pressure is
above that of the state is so in the next row too. With ``x_t = μ_h + σ_h z_t`` the residual is

    z_t = u_t + e_t,   Cov(u_s, u_t) = c ρ^|s-t|,   Var(e_t) = 1 - c,

a part c of it that fades by ρ a row, and noise. Both numbers of a column are found by the
autocovariances of its observed residuals, which are sums over blocks; a gap is then filled with
what the state says and with u_t given all observed residuals of the sequence, by Kalman's filter
and smoother. States, moves and likelihoods know nothing of it.

References
----------
R. Kalman (1960), A new approach to linear filtering and prediction problems. H. Rauch, F. Tung,
C. Striebel (1965), Maximum likelihood estimates of linear dynamic systems.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.compiled import njit
from halfseen.data.rows import Block, Rows, with_gaps
from halfseen.data.sums import Sums
from halfseen.inference.model import Cells
from halfseen.latent import forward_backward

N_LAGS = 4
FARTHEST = 4.0
"""Spreads of a state: what is further from it is nothing to lean on."""
LEAST = 0.05
"""Correlation of neighbouring rows below which nothing lasts; chance alone has three errors."""
MOST = 0.99
FADING = np.linspace(0.0, 0.995, 200)
"""Values of ρ that are tried."""


@dataclass(frozen=True, eq=False)
class AutocovarianceSums(Sums):
    """Products of residuals by lag."""

    square: Array  # (d,)
    count: Array  # (d,)
    products: Array  # (l, d)
    counts: Array  # (l, d)

    @classmethod
    def of(cls, emission: Any, parameters: Any, shares: Callable[[Block], Array]) -> Any:
        def summarise(block: Block) -> AutocovarianceSums:
            z = residuals(block, *_moments(emission, parameters, shares(block)))
            there, z = ~np.isnan(z), np.nan_to_num(z)
            weight = block.row_weights()[:, None]
            sequence = forward_backward.sequence_numbers(block.sequence, len(block))
            products, counts = np.zeros((2, N_LAGS, z.shape[1]))
            for lag in range(1, min(N_LAGS, len(block) - 1) + 1):
                both = (sequence[lag:] == sequence[:-lag])[:, None] * weight[lag:]
                products[lag - 1] = (both * z[lag:] * z[:-lag]).sum(axis=0)
                counts[lag - 1] = (both * there[lag:] * there[:-lag]).sum(axis=0)
            return cls((weight * z**2).sum(axis=0), (weight * there).sum(axis=0), products, counts)

        return summarise

    def lasting(self) -> tuple[Array, Array]:
        """The variance c and autocorrelation ρ of each column (d,), by least squares over lags."""
        variance = np.maximum(self.square / np.maximum(self.count, 1.0), 1e-12)
        seen = self.products / np.maximum(self.counts, 1.0) / variance
        power = FADING[:, None] ** np.arange(1, N_LAGS + 1)  # (g, l)
        share = (power @ (self.counts * seen)) / np.maximum(power**2 @ self.counts, 1e-12)
        share = np.clip(share, 0.0, MOST)  # (g, d)
        miss = (self.counts * (seen - share[:, None] * power[:, :, None]) ** 2).sum(axis=1)
        best, d = miss.argmin(axis=0), np.arange(len(variance))
        chance = np.maximum(LEAST, 3 / np.sqrt(np.maximum(self.counts[0], 1.0)))
        lasts = seen[0] > chance
        return np.where(lasts, share[best, d], 0.0), np.where(lasts, FADING[best], 0.0)


def residuals(block: Block, mean: Array, spread: Array) -> Array:
    """Standardised residuals (n, d); NaN in gaps and where they are outliers."""
    away = (with_gaps(block) - mean) / spread
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(away) <= FARTHEST, away, np.nan)


def _moments(emission: Any, parameters: Any, shares: Array) -> tuple[Array, Array]:
    mean = shares @ emission.means(parameters)
    return mean, np.sqrt(np.maximum(shares @ emission.variances(parameters), 1e-300))


def autocorrelated_columns(parameters: Any) -> Mask:
    """Which columns are continuous, and have no value that many cells hold exactly; (d,)."""
    return np.asarray(parameters.numbers & np.isnan(parameters.spike))


def fit_autocorrelation(
    rows: Rows, emission: Any, parameters: Any, shares: Callable[[Block], Array]
) -> tuple[Array, Array]:
    """The c and ρ of each column (d,); NaN for columns without such residuals."""
    found: AutocovarianceSums = rows.accumulate(AutocovarianceSums.of(emission, parameters, shares))
    own = autocorrelated_columns(parameters)
    share, fading = (np.where(own, part, np.nan) for part in found.lasting())
    return share, fading


def cells_given_sequence(
    block: Block, emission: Any, parameters: Any, shares: Array, cells: Cells
) -> Cells:
    """Expected cells, given the residuals of observed cells of the same sequence."""
    lean = np.nan_to_num(parameters.lasting) > 0
    if not lean.any():
        return cells
    mean, spread = _moments(emission, parameters, shares)
    z = np.ascontiguousarray(residuals(block, mean, spread)[:, lean])
    share, fading = parameters.lasting[lean], parameters.fading[lean]
    level, doubt = np.zeros_like(z), np.zeros_like(z)
    begins = forward_backward.begins_of(block.sequence, len(block))
    smooth_levels(z, begins, share, fading, level, doubt)
    within = spread[:, lean] ** 2
    found, variance = cells.mean.copy(), cells.variance.copy()
    found[:, lean] += spread[:, lean] * level
    variance[:, lean] -= within * (share - doubt)
    gaps = ~block.observed
    return Cells(
        np.where(gaps, found, cells.mean), np.where(gaps, np.maximum(variance, 0.0), cells.variance)
    )


def draw_residuals(
    table: Array, begins: Any, emission: Any, parameters: Any, labels: Labels, random: Any
) -> Array:
    """Residuals (n, d) drawn given those observed in ``table`` (n, d), for states ``labels``.

    NaN in columns that do not lean.
    """
    lean = np.nan_to_num(parameters.lasting) > 0
    mean, spread = _of_labels(emission, parameters, labels)
    away = ((table - mean) / spread)[:, lean]
    with np.errstate(invalid="ignore"):
        z = np.where(np.abs(away) <= FARTHEST, away, np.nan)
    share, fading = parameters.lasting[lean], parameters.fading[lean]
    level = np.zeros_like(z)
    draw_levels(
        np.ascontiguousarray(z), begins, share, fading, random.standard_normal(z.shape), level
    )
    noise = np.sqrt(1 - share) * random.standard_normal(z.shape)
    every = np.full(table.shape, np.nan)
    every[:, lean] = mean[:, lean] + spread[:, lean] * (level + noise)
    return every


def _of_labels(emission: Any, parameters: Any, labels: Labels) -> tuple[Array, Array]:
    return (
        emission.means(parameters)[labels],
        np.sqrt(np.maximum(emission.variances(parameters), 1e-300))[labels],
    )


@njit(cache=True, nogil=True)
def _filter_level(
    z: Array, first: int, last: int, share: float, fading: float, mean: Array, variance: Array
) -> None:  # pragma: no cover - compiled
    """Kalman's filter of one column along one sequence; (n,) each."""
    more = share * (1 - fading * fading)
    for t in range(first, last):
        level, doubt = 0.0, share
        if t > first:
            level, doubt = fading * mean[t - 1], fading * fading * variance[t - 1] + more
        if z[t] == z[t]:
            gain = doubt / (doubt + 1 - share)
            level += gain * (z[t] - level)
            doubt *= 1 - gain
        mean[t], variance[t] = level, doubt


@njit(cache=True, nogil=True)
def smooth_levels(
    z: Array, begins: Any, share: Array, fading: Array, level: Array, doubt: Array
) -> None:  # pragma: no cover - compiled
    """Mean and variance of u (n, d) given all observed residuals of a sequence."""
    n, d = z.shape
    mean, variance = np.empty(n), np.empty(n)
    for j in range(d):
        rho, more = fading[j], share[j] * (1 - fading[j] * fading[j])
        for s in range(len(begins) - 1):
            first, last = begins[s], begins[s + 1]
            _filter_level(z[:, j], first, last, share[j], rho, mean, variance)
            for t in range(last - 1, first - 1, -1):
                level[t, j], doubt[t, j] = mean[t], variance[t]
                if t < last - 1:
                    ahead = rho * rho * variance[t] + more
                    back = rho * variance[t] / ahead
                    level[t, j] += back * (level[t + 1, j] - rho * mean[t])
                    doubt[t, j] += back * back * (doubt[t + 1, j] - ahead)


@njit(cache=True, nogil=True)
def draw_levels(
    z: Array, begins: Any, share: Array, fading: Array, chance: Array, level: Array
) -> None:  # pragma: no cover - compiled
    """Draw u (n, d) given all observed residuals, from normal ``chance`` (n, d)."""
    n, d = z.shape
    mean, variance = np.empty(n), np.empty(n)
    for j in range(d):
        rho, more = fading[j], share[j] * (1 - fading[j] * fading[j])
        for s in range(len(begins) - 1):
            first, last = begins[s], begins[s + 1]
            _filter_level(z[:, j], first, last, share[j], rho, mean, variance)
            for t in range(last - 1, first - 1, -1):
                middle, left = mean[t], variance[t]
                if t < last - 1:
                    ahead = rho * rho * variance[t] + more
                    back = rho * variance[t] / ahead
                    middle += back * (level[t + 1, j] - rho * mean[t])
                    left -= back * back * ahead
                level[t, j] = middle + np.sqrt(max(left, 0.0)) * chance[t, j]
