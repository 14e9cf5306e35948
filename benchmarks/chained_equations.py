"""Multiple imputation by chained equations as R's mice does it by default, for tables of numbers.

Each column with gaps is regressed in turn on all others, by least squares; coefficients and the
residual variance are drawn from their posterior distribution under a flat prior. Gaps get values of
rows whose predicted value is close ("pmm", five donors, type-1 matching), or normal residuals
("norm"). Predictors that are nearly collinear, or nearly the same as the column, are left out, as
mice does. A column is visited five times.

References
----------
S. van Buuren, K. Groothuis-Oudshoorn (2011), mice: multivariate imputation by chained equations in
R. S. van Buuren (2018), Flexible imputation of missing data, algorithms 3.1 and 3.3.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
ITERATIONS, DONORS, RIDGE = 5, 5, 1e-5
"""Defaults of mice: visits of each column, candidate rows, relative ridge of singular designs."""
SMALLEST_EIGENVALUE, HIGHEST_CORRELATION = 1e-4, 0.99
"""Defaults of mice: beyond these a predictor is left out."""


def chained_equations(X: Array, number: int, method: str, seed: int) -> list[Array]:
    """Completed tables of ``X`` (n, d), which has NaN in the gaps."""
    return [_completed(X, method, np.random.default_rng([seed, i])) for i in range(number)]


def _completed(X: Array, method: str, rng: np.random.Generator) -> Array:
    known, table = ~np.isnan(X), X.copy()
    gappy = np.flatnonzero(~known.all(axis=0))
    for j in gappy:
        table[~known[:, j], j] = rng.choice(X[known[:, j], j], (~known[:, j]).sum())
    for _ in range(ITERATIONS):
        for j in gappy:
            rows, others = known[:, j], np.delete(table, j, axis=1)
            kept = others[:, _independent(others[rows], X[rows, j])]
            design = np.column_stack([np.ones(len(X)), kept])
            table[~rows, j] = METHODS[method](design[rows], X[rows, j], design[~rows], rng)
    return table


def _independent(others: Array, y: Array) -> Any:
    """Columns of ``others`` (n, p) that are neither constant, nor collinear, nor the same as y."""
    keep = np.flatnonzero(others.std(axis=0) > 0)
    with np.errstate(invalid="ignore"):
        keep = keep[[np.corrcoef(others[:, i], y)[0, 1] < HIGHEST_CORRELATION for i in keep]]
    while len(keep) > 1:
        values, vectors = np.linalg.eigh(np.corrcoef(others[:, keep].T))
        if values[0] >= SMALLEST_EIGENVALUE * values[-1]:
            break
        keep = np.delete(keep, np.abs(vectors[:, 0]).argmax())
    return keep


def _posterior(design: Array, y: Array, rng: np.random.Generator) -> tuple[Array, Array, float]:
    """Least squares, a draw of coefficients, and of the residual standard deviation."""
    gram = design.T @ design
    gram[np.diag_indices_from(gram)] *= 1 + (RIDGE if np.linalg.cond(gram) > 1e15 else 0.0)
    inverse = np.linalg.inv(gram)
    estimate = np.linalg.lstsq(design, y, rcond=None)[0]
    left = ((y - design @ estimate) ** 2).sum()
    sigma = np.sqrt(left / rng.chisquare(max(len(y) - design.shape[1], 1)))
    root: Any = np.linalg.cholesky((inverse + inverse.T) / 2)
    return (
        np.asarray(estimate, float),
        estimate + sigma * root @ rng.normal(size=len(estimate)),
        float(sigma),
    )


def _normal(design: Array, y: Array, of_gaps: Array, rng: np.random.Generator) -> Array:
    _, drawn, sigma = _posterior(design, y, rng)
    found: Array = of_gaps @ drawn + sigma * rng.normal(size=len(of_gaps))
    return found


def _matched(design: Array, y: Array, of_gaps: Array, rng: np.random.Generator) -> Array:
    estimate, drawn, _ = _posterior(design, y, rng)
    apart = np.abs((of_gaps @ drawn)[:, None] - design @ estimate)
    near = np.argsort(apart, axis=1)[:, :DONORS]
    return y[near[np.arange(len(near)), rng.integers(near.shape[1], size=len(near))]]


METHODS = {"norm": _normal, "pmm": _matched}
