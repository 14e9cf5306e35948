"""Concerns about columns: how values are missing, and columns that are noise."""

from collections.abc import Iterator

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.stats import chi2

from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import features, quoted
from halfseen.data.messages import leave_out
from halfseen.data.rows import Block, gathered, with_gaps
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity, Subject
from halfseen.diagnostics.number_of_components import N_REPLICATES
from halfseen.moments.missing_patterns import (
    FEW_ROWS,
    INDEPENDENT_BELOW,
    GapValueSums,
    joint_excess,
)
from halfseen.moments.resampling import Influence

ENOUGH = 0.95
"""Of the rows: a feature that is observed in so many has no gaps to speak of."""
TOGETHER = 0.8
"""Correlation of gaps above which features are missing as a block."""


def depend_on_values(case: ConcernContext) -> Iterator[Concern]:
    """Warn if a feature differs between rows with and without another feature."""
    mean = case.seen.sums.mean[case.features]
    coding = case.fitted.coding
    ordered = None if coding is None else ~coding.worded[case.features]
    shift = case.part.accumulate(GapValueSums.about(mean)).clearest_shift(ordered)
    if shift is None:
        return
    more = "higher" if shift.difference > 0 else "lower"
    yield Concern(
        "missing_not_at_random",
        f"Gaps are informative: where {quoted(case.names, [shift.where_missing])} is missing, "
        f"{quoted(case.names, [shift.feature])} is {more} by {abs(shift.difference):.2g} standard "
        f"deviations ({abs(shift.deviation):.0f} standard errors). Plain averages of columns "
        f"with gaps may be off. {_polish(case)}",
        Subject.GAPS,
        Gravity.CARE,
    )


def _polish(case: ConcernContext) -> str:
    if case.fitted.settings.refine is None:
        return (
            "Trust what rests on complete columns, and refine by likelihood, which allows for gaps "
            "that depend on what is observed."
        )
    return "Refinement by likelihood allows for gaps that depend on what is observed."


def in_blocks(case: ConcernContext) -> Iterator[Concern]:
    """Warn if features are missing together."""
    gaps = case.gaps
    matter = gaps.own < ENOUGH * gaps.n_rows  # the others have hardly a gap
    excess = joint_excess(gaps.count, gaps.n_rows) * np.outer(matter, matter)
    if np.abs(excess).max(initial=0.0) < INDEPENDENT_BELOW:
        return
    blocks = _blocks(excess / np.sqrt(gaps.n_rows))
    if not blocks:
        i, j = map(int, np.unravel_index(np.abs(excess).argmax(), excess.shape))
        how = "together" if excess[i, j] > 0 else "one instead of the other"
        yield Concern(
            "missing_together",
            f"Columns are not missing independently of each other: {quoted(case.names, [i, j])} "
            f"rather {how}. That is allowed for.",
            Subject.GAPS,
            Gravity.KNOW,
        )
        return
    listed = "; ".join(quoted(case.names, block) for block in blocks[:5])
    more = f"; and {len(blocks) - 5} more" if len(blocks) > 5 else ""
    yield Concern(
        "missing_together",
        f"Gaps come in groups: these columns are missing together: {listed}{more}. That is "
        "allowed for, but a row that lacks one of them mostly lacks the others, from which it "
        "could be worked out.",
        Subject.GAPS,
        Gravity.KNOW,
    )


def _blocks(correlation: Array) -> list[list[int]]:
    n, labels = connected_components(correlation > TOGETHER, directed=False)
    members = [list(map(int, np.flatnonzero(labels == block))) for block in range(n)]
    return sorted((block for block in members if len(block) > 1), key=len, reverse=True)


def few_together(case: ConcernContext) -> Iterator[Concern]:
    """Warn of features or pairs that are rarely observed."""
    own = case.gaps.own
    i, j, together = case.gaps.rarest()
    if together >= FEW_ROWS:
        return
    if not together and case.tables.names:
        return  # of which is said what it means that no table has both
    rare = int(own.argmin())
    few = [case.names[i] for i in np.flatnonzero(own < FEW_ROWS)]
    if own[rare] < FEW_ROWS:
        sentence: str = (
            f"{features(case.names, [rare])} is observed in only {own[rare]:g} rows, too few to "
            "say how it goes along with others. "
            + leave_out(few, capital=True)
            + ", or add rows that hold more."
        )
    elif not together:
        sentence = (
            f"{features(case.names, [i, j])} are never observed together: what the model says of "
            "how they go along rests on the other columns. Add rows that hold both if it matters."
        )
    else:
        sentence = (
            f"{features(case.names, [i, j])} are observed together in only {together:g} rows, too "
            "few to say how they go along: what the model says of that rests on the other columns. "
            "Add rows that hold both if it matters."
        )
    yield Concern(
        "few_joint_observations",
        sentence,
        Subject.GAPS,
        Gravity.CARE,
    )


LEVEL = 0.99  # of the noise that covariances must exceed: one alarm in a hundred tables
WEAK = 0.2
"""A feature may correlate so much with others, at most, to be called unrelated."""
MOST_LEVELS = 8
"""Categories of a column that are looked at, the commonest; more cost power."""


def unrelated_features(case: ConcernContext) -> Iterator[Concern]:
    """Warn of features unrelated to all others."""
    if case.unseen_pairs or len(case.names) < 3:
        return
    by_covariance = np.flatnonzero(
        _unrelated(Influence.on(lambda sums: sums.moments(centred=True).covariance, case.pairs))
    )
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


def _unrelated(covariance: Influence) -> Mask:
    """Features whose covariances are all within their noise and small; (d,)."""
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
    """Whether a feature is independent of what the others say about latent variables.

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
