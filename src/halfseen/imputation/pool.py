"""Pool estimates from several completed tables by Rubin's rules."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t

from halfseen.data.arrays import Array


@dataclass(frozen=True, eq=False)
class Pooled:
    """Pooled estimates of several completed tables; (p,) each. ``print`` shows a table.

    Attributes
    ----------
    estimate : ndarray of shape (p,)
        The mean of the estimates.
    std : ndarray of shape (p,)
        Its standard error, gaps being allowed for.
    low, high : ndarray of shape (p,)
        Ends of the confidence intervals.
    df : ndarray of shape (p,)
        Degrees of freedom of Student's t that intervals are taken from.
    missing_information : ndarray of shape (p,)
        How much of what there is to know of each was lost with the gaps, from 0 to 1.
    level : float
        The probability that an interval holds the truth.
    n_tables : int
        How many completed tables there were.
    covariance : ndarray of shape (p, p) or None
        Of the estimates together, if covariance matrices were given.
    """

    estimate: Array
    std: Array
    low: Array
    high: Array
    df: Array
    missing_information: Array
    level: float
    n_tables: int
    covariance: Array | None = None

    def __str__(self) -> str:
        head = f"{'estimate':>12}{'std':>12}{'low':>12}{'high':>12}{'df':>9}{'lost':>7}"
        columns = (self.estimate, self.std, self.low, self.high, self.df, self.missing_information)
        lines = [
            "".join(f"{value:12.5g}" for value in row[:4]) + f"{row[4]:9.4g}{row[5]:7.0%}"
            for row in zip(*columns, strict=True)
        ]
        foot = f"{self.level:.0%} intervals from {self.n_tables} completed tables."
        return "\n".join([head, *lines, foot])


def pool(estimates: Any, variances: Any, *, df: Any = None, level: float = 0.95) -> Pooled:
    """Pool estimates from several completed tables by Rubin's rules.

    With m tables, estimates ``Q_i`` and their variances ``U_i``: the estimate is their mean, its
    variance ``T = mean(U) + (1 + 1/m) var(Q)``: what one complete table would leave unsure, and
    what the gaps do.

    Parameters
    ----------
    estimates : array of shape (m,) or (m, p)
        What each completed table gives.
    variances : array of the same shape, or of shape (m, p, p)
        Squared standard errors of these, or covariance matrices, as if tables had no gaps.
    df : float, array of shape (p,) or None, default=None
        Degrees of freedom that a table without gaps would leave, such as ``n - 2`` for a slope;
        None if rows are many.
    level : float, default=0.95
        The probability that an interval holds the truth.

    Returns
    -------
    Pooled
        With estimate, std, low, high, df and missing_information.

    References
    ----------
    D. Rubin (1987), Multiple imputation for nonresponse in surveys. J. Barnard, D. Rubin (1999),
    Small-sample degrees of freedom with multiple imputation.

    Examples
    --------
    >>> from halfseen import pool
    >>> found = pool([1.0, 1.2, 0.8], [0.04, 0.05, 0.03], df=48)
    >>> float(found.estimate[0]), float(found.std[0].round(3)), float(found.df[0].round(1))
    (1.0, 0.306, 4.7)
    """
    estimates, variances = np.asarray(estimates, float), np.asarray(variances, float)
    _check(estimates, variances, level)
    each = estimates.reshape(len(estimates), -1)
    m, p = each.shape
    matrices = variances.reshape(m, p, p) if variances.size == m * p * p and p > 1 else None
    own = variances.reshape(m, p) if matrices is None else np.diagonal(matrices, axis1=1, axis2=2)
    within, between = own.mean(axis=0), each.var(axis=0, ddof=1)
    more = (1 + 1 / m) * between
    total = within + more
    freedom = _freedom(more / np.where(total > 0, total, 1.0), m, df)
    ratio = np.divide(more, within, out=np.full(p, np.inf), where=within > 0)
    with np.errstate(invalid="ignore"):
        lost = np.where(np.isinf(ratio), 1.0, (ratio + 2 / (freedom + 3)) / (ratio + 1))
    estimate, std = each.mean(axis=0), np.sqrt(total)
    reach = t.ppf((1 + level) / 2, freedom) * std
    covariance = None
    if matrices is not None:
        covariance = matrices.mean(axis=0) + (1 + 1 / m) * np.cov(each.T)
    return Pooled(
        estimate,
        std,
        estimate - reach,
        estimate + reach,
        freedom,
        np.where(more > 0, lost, 0.0),
        float(level),
        m,
        covariance,
    )


def _freedom(share: Array, m: int, df: Any) -> Array:
    """Barnard and Rubin's degrees of freedom; ``share`` (p,) of the variance is due to gaps.

    If all of it is, a complete table leaves nothing unsure, and ``df`` says nothing: there are as
    many degrees of freedom as draws beyond the first.
    """
    with np.errstate(divide="ignore"):
        by_tables = (m - 1) / share**2
    if df is None:
        return np.asarray(by_tables)
    complete = np.broadcast_to(np.asarray(df, float), share.shape)
    observed = (complete + 1) / (complete + 3) * complete * (1 - share)
    with np.errstate(divide="ignore"):
        found: Array = 1 / (1 / by_tables + 1 / observed)
    return np.where(share < 1, found, by_tables)


def _check(estimates: Array, variances: Array, level: float) -> None:
    if estimates.ndim not in (1, 2) or len(estimates) < 2:
        raise ValueError(
            "estimates must have a row for each of at least 2 completed tables. Got an array of "
            f"shape {estimates.shape}."
        )
    shapes = [estimates.shape]
    if estimates.ndim == 2:
        shapes.append((*estimates.shape, estimates.shape[1]))
    if variances.shape not in shapes:
        said = " or ".join(map(str, shapes))
        raise ValueError(
            f"variances must have the shape {said}, as estimates have {estimates.shape}. Got "
            f"{variances.shape}."
        )
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1. Got {level!r} instead.")
    if not (np.isfinite(estimates).all() and np.isfinite(variances).all()):
        raise ValueError("estimates and variances must be finite. Leave out what has no estimate.")
