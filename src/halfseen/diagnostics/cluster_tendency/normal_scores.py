"""Normal scores of single columns, by a family of unimodal distributions.

A column is ``x`` with ``sinh(δ·asinh((x - ξ) / η) - ε)`` standard normal (Jones and Pewsey, 2009,
Sinh-arcsinh distributions), or the same of ``log(x - min + offset)``, whichever is likelier. Every
member has one mode, so that scores never turn two groups into one cloud, as the ranks would.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from halfseen.data.arrays import Array

LOG_OFFSET = 0.1
"""Standard deviations between the smallest value and the zero of the logarithm."""
CLEARLY_LOG = 1.0
"""Nats by which the logarithm must be likelier than the values themselves."""
BOUNDS = ((-10.0, 10.0), (np.log(0.1), np.log(50.0)), (-6.0, 6.0), (np.log(0.2), np.log(5.0)))
"""Of ξ, log η, ε and log δ on standardised values. η stays above .1: less is a spike."""
N_PARAMETERS = 4
LOG_2PI = float(np.log(2 * np.pi))


class Scores(NamedTuple):
    """Scores of values, and the logarithm of the derivative that densities are multiplied by."""

    z: Array
    log_jacobian: Array


@dataclass(frozen=True)
class Margin:
    """The distribution of one column."""

    centre: float
    spread: float
    least: float | None  # of the standardised training values, if the logarithm is taken
    shape: tuple[float, float, float, float]  # ξ, log η, ε, log δ

    def scores(self, column: Array) -> Scores:
        """Of the values of a column (n,); NaN in the gaps."""
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
    """The likeliest margin of the observed cells of a column (n,)."""
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
    """The shape of standardised values (n,) and its log-likelihood."""
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
    """Of each column of a table (n, d)."""
    return tuple(fitted_margin(column) for column in table.T)


def scores(margins: tuple[Margin, ...], table: Array) -> Scores:
    """Scores (n, d) of a table, and the sum of log-derivatives over the observed cells (n,)."""
    found = [margin.scores(column) for margin, column in zip(margins, table.T, strict=True)]
    z = np.column_stack([one.z for one in found])
    return Scores(z, np.nansum(np.column_stack([one.log_jacobian for one in found]), axis=1))
