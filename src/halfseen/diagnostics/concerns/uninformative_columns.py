"""A concern: columns that go along with no other, and so add noise only."""

from collections.abc import Iterator

import numpy as np
from scipy.stats import chi2

from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import quoted
from halfseen.data.messages import leave_out
from halfseen.data.rows import Block, gathered, with_gaps
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity, Subject
from halfseen.diagnostics.concerns.number_of_components import N_REPLICATES
from halfseen.moments.missing_patterns import FEW_ROWS
from halfseen.moments.resampling import Influence, OriginSums

LEVEL = 0.99
WEAK = 0.2
"""A feature may correlate so much with others, at most, to be called unrelated."""
MOST_LEVELS = 8
"""Categories of a column that are looked at, the commonest; more cost power."""


def unrelated_features(case: ConcernContext) -> Iterator[Concern]:
    """Features that go along with no other, nor with what the others say is hidden."""
    if case.unseen_pairs or len(case.names) < 3:
        return
    by_covariance = np.flatnonzero(_unrelated(Influence.on(_covariance, case.pairs)))
    places = np.flatnonzero(case.features)
    flagged = [int(i) for i in by_covariance if _tells_nothing(case, int(places[i]))]
    if not flagged:
        return
    is_, adds = ("is", "adds") if len(flagged) == 1 else ("are", "add")
    names = [case.names[i] for i in flagged]
    yield Concern(
        "noise_only_feature",
        f"{quoted(case.names, flagged)} {is_} not related to any other column, as far as these "
        f"rows can tell, and {adds} only noise. " + leave_out(names, capital=True) + ".",
        Subject.COLUMNS,
        Gravity.KNOW,
    )


def _covariance(sums: OriginSums) -> Array:
    return sums.moments(centred=True).covariance


def _unrelated(covariance: Influence) -> Mask:
    """Features whose covariances are all within their noise, and known to be small; (d,)."""
    off = ~np.eye(len(covariance.value), dtype=bool)
    error = np.maximum(covariance.error, np.finfo(float).tiny)
    multipliers = np.random.default_rng(0).standard_normal((N_REPLICATES, len(covariance.of_bins)))
    noise = np.abs(covariance.errors(multipliers)) / error  # (b, d, d)
    usual = np.quantile((noise * off).max(axis=2), LEVEL, axis=0)  # (d,)
    largest = (np.abs(covariance.value) / error * off).max(axis=1)
    spread = np.sqrt(np.maximum(covariance.value.diagonal(), np.finfo(float).tiny))
    at_most = (np.abs(covariance.value) + 2 * covariance.error) / np.outer(spread, spread)
    unrelated: Mask = (largest < usual) & ((at_most * off).max(axis=1) < WEAK)
    return unrelated


def _tells_nothing(case: ConcernContext, feature: int) -> bool:
    """Whether a feature is independent of what the other features say is hidden behind rows.

    Covariances do not show what categories in no order go along with, nor rare counts, of which
    each covariance is within its noise. Rows with another value than the commonest must be enough
    to tell.
    """
    fitted = case.fitted
    rows = case.sample.rows.select(fitted.kept)
    place = int(np.count_nonzero(fitted.kept[:feature]))

    def alone(block: Block) -> Array:
        one: Mask = np.arange(block.n_features) == place
        value = with_gaps(block.select(one))
        every = np.arange(len(block))
        others = block.without(every, np.full(len(block), place))
        return np.hstack([value, fitted.model.expected_latent(others, fitted.parameters)])

    found = gathered(rows, alone)
    found = found[~np.isnan(found).any(axis=1)]
    value, hidden = found[:, 0], found[:, 1:]
    levels, counts = np.unique(value, return_counts=True)
    if len(value) - counts.max(initial=0) < FEW_ROWS:
        return False
    seen = value[:, None]
    if fitted.nominal[feature]:
        seen = seen == levels[np.argsort(-counts, kind="stable")[:MOST_LEVELS]]
    return _independent(hidden, seen.astype(float))


def _independent(x: Array, y: Array) -> bool:
    """Whether two sets of columns (n, p) and (n, q) are uncorrelated, by Pillai's trace."""
    parts = []
    for one in (x, y):
        left, size, _ = np.linalg.svd(one - one.mean(axis=0), full_matrices=False)
        parts.append(left[:, size > 1e-9 * max(float(size.max(initial=0.0)), 1e-300)])
    trace = float(np.sum((parts[0].T @ parts[1]) ** 2))
    freedom = parts[0].shape[1] * parts[1].shape[1]
    return bool(chi2.sf(len(x) * trace, freedom) > 1 - LEVEL)
